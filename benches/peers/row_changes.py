"""Changes of a table of 6 million rows (`lineitem` at scale factor 1, unpartitioned, keys scattered)."""

import sys
from dataclasses import dataclass

import queries
from answers import difference
from engines import SPARK_PROPERTIES, Dialect, duckdb, repark, sail
from peer_process import PeerFailed
from timing import Outcome, median

ROUNDS = 5
"""The most rounds there are sources for; each round of a statement changes other rows."""

MERGE = (
    "merge into {table} t using {source} s on t.l_orderkey = s.l_orderkey and t.l_linenumber = s.l_linenumber "
    "when matched then update set l_quantity = s.l_quantity, l_comment = s.l_comment "
    "when not matched then {insert_all}"
)

CHECK = "select count(*) as c, sum(l_quantity) as q, sum(l_extendedprice) as p, sum(l_tax) as x from {table}"

DIALECTS = {
    "Tarn": Dialect(
        table="{}",
        parquet="parquet.`{}`",
        create="create table {table} using iceberg " + SPARK_PROPERTIES,
        insert_all="insert *",
    ),
    "DuckDB": duckdb.DIALECT,
    "Sail": sail.DIALECT,
    "repark": repark.DIALECT,
}


@dataclass(frozen=True)
class Contender:
    peer: str
    mode: str
    version: int

    def __str__(self):
        return f"{self.peer} {self.mode} v{self.version}"


CONTENDERS = [
    Contender("Tarn", "merge-on-read", 3),
    Contender("Tarn", "merge-on-read", 2),
    Contender("DuckDB", "merge-on-read", 2),
    Contender("Sail", "merge-on-read", 3),
    Contender("repark", "merge-on-read", 2),
    Contender("Tarn", "copy-on-write", 2),
    Contender("Sail", "copy-on-write", 2),
    Contender("repark", "copy-on-write", 2),
]
"""What each peer can do. DuckDB writes no other mode, and Sail updates by merge-on-read in version 3 alone."""


def merge(table, source, insert_all):
    return MERGE.format(table=table, source=source, insert_all=insert_all)


def update(table, round):
    return f"update {table} set l_tax = 0.5 where l_orderkey % 100 = {11 + round * 10}"


def delete(table, round):
    return f"delete from {table} where l_orderkey % 100 = {7 + round * 10}"


class Statements:
    """What one contender is asked, as lists of statements, one for each round."""

    def __init__(self, contender, data, rounds):
        self.contender = contender
        self.dialect = DIALECTS[contender.peer]
        self.data = data
        self.rounds = range(rounds)

    def table(self, name):
        return self.dialect.table.format(name)

    def source(self, path):
        return self.dialect.parquet.format(self.data / path)

    def create(self, name, folder):
        mode, version = self.contender.mode, self.contender.version
        table = self.table(name)
        return self.dialect.create.format(table=table, name=name, mode=mode, version=version, folder=folder)

    def prepared(self, folder):
        """Before anything is measured: the table that rows are appended to."""
        return f"{self.create('appended', folder)} as select * from {self.source('raw/lineitem.parquet')} limit 0"

    def measured(self, folder):
        table, insert_all = self.table("lineitem"), self.dialect.insert_all
        append = f"insert into {self.table('appended')} select * from {self.source('changes/append.parquet')}"
        q6 = [queries.tpch(6).replace("from lineitem", f"from {table}")] * (len(self.rounds) + 1)
        yield "ctas", [f"{self.create('lineitem', folder)} as select * from {self.source('raw/lineitem.parquet')}"]
        yield "append", [append for _ in self.rounds]
        yield "q6 before", q6
        yield "merge", [merge(table, self.source(f"changes/merge_{r}.parquet"), insert_all) for r in self.rounds]
        yield "update", [update(table, r) for r in self.rounds]
        yield "delete", [delete(table, r) for r in self.rounds]
        yield "q6 after", q6

    def check(self):
        return CHECK.format(table=self.table("lineitem"))


AFTER_CHANGES = ["merge", "update", "delete", "q6 after"]
"""Statements whose figures do not count when the table is wrong in the end."""


def measure_one(process, statements, sums):
    """Statement -> outcome. A statement that fails leaves the others to be tried."""
    outcomes = {}
    process.ask({"run": "select 1 as one"})
    process.ask({"run": statements.prepared(process.folder)})
    for name, texts in statements.measured(process.folder):
        print(f"{statements.contender}: {name}", file=sys.stderr)
        try:
            costs = [process.ask({"run": text})[0] for text in texts]
            # The first q6 finds caches empty. Each round of a change is like the others.
            outcomes[name] = Outcome(warm=median(costs[1:] if name.startswith("q6") else costs))
        except PeerFailed as failure:
            outcomes[name] = Outcome(problem=str(failure))
    _, rows = process.ask({"run": statements.check()})
    wrong = difference(rows, [sums])
    for name in AFTER_CHANGES if wrong else []:
        outcomes[name] = Outcome(problem=outcomes[name].problem or f"wrong in the end: {wrong}")
    return outcomes


def measure(peers, start, data, sums, rounds):
    """Statement -> contender -> outcome. `start` gives the process of one of `peers`, or raises what prevents it; its
    tables go with it."""
    figures = {}
    for contender in [c for c in CONTENDERS if c.peer in peers]:
        statements = Statements(contender, data, rounds)
        try:
            with start(contender.peer) as process:
                outcomes = measure_one(process, statements, sums)
        except PeerFailed as failure:
            outcomes = {name: Outcome(problem=str(failure)) for name, _ in statements.measured("")}
        for name, outcome in outcomes.items():
            figures.setdefault(name, {})[str(contender)] = outcome
    return figures
