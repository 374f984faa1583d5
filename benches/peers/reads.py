"""Queries on the same tables, in one process per peer."""

import sys

import queries
from answers import difference
from peer_process import PeerFailed
from timing import Outcome, median

COLD_RUNS = 3


def request(name, sql):
    return {"plan" if name == queries.MANY_PLAN else "run": sql}


def check(name, rows, answers):
    """Raises what is wrong about an answer."""
    wrong = None if name == queries.MANY_PLAN else difference(rows, answers[name])
    if wrong:
        raise PeerFailed(f"wrong: {wrong}")


def warm_outcome(process, name, sql, answers, runs):
    """The first execution in its process, and the median of those after it."""
    try:
        first, rows = process.ask(request(name, sql))
        check(name, rows, answers)
        return Outcome(first, median([process.ask(request(name, sql))[0] for _ in range(runs)]))
    except PeerFailed as failure:
        return Outcome(problem=str(failure))


def measure(processes, tables, wanted, answers, runs):
    """Query -> peer -> outcome. All peers run side by side and are asked by turns, so that what else the machine does
    meets them alike."""
    unopened = {}
    for peer, process in processes.items():
        try:
            for table in tables:
                process.open(table)
        except PeerFailed as failure:
            unopened[peer] = Outcome(problem=str(failure))
    figures = {}
    for turn, (name, sql) in enumerate(wanted.items()):
        print(name, file=sys.stderr)
        peers = list(processes)
        first = turn % len(peers)
        outcomes = {}
        for peer in peers[first:] + peers[:first]:
            done = unopened.get(peer)
            outcomes[peer] = done or warm_outcome(processes[peer], name, sql, answers, runs)
        figures[name] = {peer: outcomes[peer] for peer in peers}
    return figures


def cold_outcome(new_process, table, name, sql, answers):
    """Opening the table and the query, in processes that know nothing of it yet."""
    costs = []
    try:
        for _ in range(COLD_RUNS):
            process = new_process()
            try:
                process.ask({"run": "select 1 as one"})
                opening = process.open(table)
                cost, rows = process.ask(request(name, sql))
                check(name, rows, answers)
            finally:
                process.stop()
            costs.append(opening.plus(cost))
    except PeerFailed as failure:
        return Outcome(problem=str(failure))
    return Outcome(warm=median(costs))


def measure_cold(new_processes, table, wanted, answers):
    """The same for the table of 2,000 files, cold."""
    figures = {}
    for name, sql in wanted.items():
        print(f"{name}, cold", file=sys.stderr)
        figures[name] = {
            peer: cold_outcome(new_process, table, name, sql, answers) for peer, new_process in new_processes.items()
        }
    return figures
