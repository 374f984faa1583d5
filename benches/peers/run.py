"""Measures Tarn beside its peers and prints Markdown. README.md says how."""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import queries
import reads
import report
import row_changes
from environments import ENVIRONMENTS, Unavailable, prepare
from peer_process import PeerFailed, PeerProcess

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("TARN_PEERS_CACHE") or Path.home() / ".cache/tarn-peers")
PEERS = {
    "DuckDB": "duckdb",
    "polars": "polars",
    "repark": "repark",
    "Sail": "sail",
    "chDB": "chdb",
    "DataFusion": "datafusion",
}
"""Name -> environment and engine."""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="reads, cold, changes; all of them by default")
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor of TPC-H")
    parser.add_argument("--runs", type=int, default=5, help="warm runs of each query")
    parser.add_argument("--rounds", type=int, default=3, help=f"rounds of each change, at most {row_changes.ROUNDS}")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="processors for every peer")
    parser.add_argument("--peers", default=",".join(PEERS), help="names, comma-separated")
    parser.add_argument("--queries", default="", help="names, comma-separated; all by default")
    parser.add_argument("--tarn", type=Path, help="a peer_session that is built already")
    return parser.parse_args()


def build_tarn():
    command = "cargo build --release --features sql --bin peer_session --message-format json".split()
    manifest = ["--manifest-path", HERE.parent / "Cargo.toml"]
    done = subprocess.run(command + manifest, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return [message["executable"] for message in messages if message.get("executable")][-1]


def commit():
    """What Tarn is measured, to the commit."""
    words = ["git", "-C", HERE, "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(words, capture_output=True, text=True).stdout.strip() or "of no commit"


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


class Bench:
    """Data, environments and commands; what must be made is made here."""

    def __init__(self, options):
        self.options = options
        self.cores = sorted(os.sched_getaffinity(0))[: options.cores]
        CACHE.mkdir(parents=True, exist_ok=True)
        self.scratch = tempfile.mkdtemp(prefix="scratch-", dir=CACHE)
        environments = {e.name: e for e in ENVIRONMENTS}
        self.generator = prepare(environments["generator"], CACHE)
        self.data = self.make_data()
        self.pythons, self.unavailable = {}, {}
        for peer in [name for name in PEERS if name in options.peers.split(",")]:
            try:
                self.pythons[peer] = prepare(environments[PEERS[peer]], CACHE)
            except Unavailable as reason:
                self.unavailable[peer] = str(reason)
                print(f"{peer}: {reason}", file=sys.stderr)
        self.tarn = (options.tarn or Path(build_tarn())).resolve()

    def make_data(self):
        folder = CACHE / f"sf{self.options.scale:g}"
        if not (folder / "catalog.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            print(f"generating {folder.name}", file=sys.stderr)
            words = [self.generator, HERE / "generate.py", str(self.options.scale), folder]
            subprocess.run(words, check=True, stdout=sys.stderr)
        return folder

    def peers(self):
        return [report.TARN, *self.pythons]

    def process(self, peer, *catalog_uri):
        threads = str(len(self.cores))
        if peer == report.TARN:
            return PeerProcess(lambda folder: [self.tarn, folder, threads], self.cores, self.scratch)
        words = [self.pythons[peer], HERE / "session.py", PEERS[peer], threads]
        return PeerProcess(lambda folder: [*words, folder, *catalog_uri], self.cores, self.scratch)

    @contextlib.contextmanager
    def writing(self, peer):
        """A peer's process with a catalog to write to."""
        with contextlib.ExitStack() as stack:
            catalog_uri = [stack.enter_context(self.rest_catalog())] if peer == "DuckDB" else []
            process = self.process(peer, *catalog_uri)
            stack.callback(process.stop)
            yield process

    @contextlib.contextmanager
    def rest_catalog(self):
        folder = tempfile.mkdtemp(dir=self.scratch)
        words = [self.generator, HERE / "rest_catalog.py", folder]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()
            server.wait()
            shutil.rmtree(folder, ignore_errors=True)

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)


def measure_reads(bench, tables, answers):
    """Figures, and the peers' versions."""
    wanted = queries.reads(bench.options.scale)
    if bench.options.queries:
        wanted = {name: sql for name, sql in wanted.items() if name in bench.options.queries.split(",")}
    processes = {peer: bench.process(peer) for peer in bench.peers()}
    try:
        return reads.measure(processes, tables, wanted, answers, bench.options.runs)
    finally:
        for process in processes.values():
            process.stop()


def measure_cold(bench, tables, answers):
    (table,) = [table for table in tables if table["name"] == "many_small"]
    new_processes = {peer: lambda peer=peer: bench.process(peer) for peer in bench.peers()}
    return reads.measure_cold(new_processes, table, queries.many(bench.options.scale), answers)


def measure_changes(bench):
    sums = json.loads((bench.data / "changes/sums.json").read_text())[str(bench.options.rounds)]
    return row_changes.measure(bench.peers(), bench.writing, bench.data, sums, bench.options.rounds)


def versions(bench):
    found = {}
    for peer in bench.peers():
        process = bench.process(peer)
        try:
            process.start()
            found[peer] = process.version
        except PeerFailed as failure:
            bench.unavailable[peer] = str(failure)
        finally:
            process.stop()
    found[report.TARN] += f" ({commit()})"
    return found


def main():
    options = arguments()
    parts = options.parts or ["reads", "cold", "changes"]
    bench = Bench(options)
    tables = json.loads((bench.data / "catalog.json").read_text())
    answers = json.loads((bench.data / "answers.json").read_text())
    facts = {key: getattr(options, key) for key in ["scale", "runs", "rounds"]}
    facts.update(cores=bench.cores, processor=processor(), versions=versions(bench), unavailable=bench.unavailable)
    measures = {
        "reads": lambda: measure_reads(bench, tables, answers),
        "cold": lambda: measure_cold(bench, tables, answers),
        "changes": lambda: measure_changes(bench),
    }
    load, figures = os.getloadavg()[0], {}
    try:
        for part in parts:
            figures[part] = measures[part]()
            facts["load"] = [load, os.getloadavg()[0]]
            (CACHE / "figures.json").write_text(json.dumps([facts, figures], default=asdict))
    finally:
        bench.close()
    print(report.render(facts, figures))


main()
