"""The figures as Markdown."""

from timing import geometric_mean

TARN = "Tarn"


def short(value):
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


class Notes:
    """Problems, told once below a table and named by number in it."""

    def __init__(self):
        self.problems = []

    def mark(self, problem):
        problem = " ".join(problem.split())[:300]
        if problem not in self.problems:
            self.problems.append(problem)
        word = problem.partition(":")[0]
        return f"{'wrong' if word.startswith('wrong') else 'error'} [{self.problems.index(problem) + 1}]"

    def lines(self):
        return [f"{number}. {problem}" for number, problem in enumerate(self.problems, 1)]


def row(cells):
    return f"| {' | '.join(cells)} |"


def table(head, rows):
    return [row(head), row(["---"] + ["---:"] * (len(head) - 1)), *map(row, rows), ""]


def best(outcomes, measure):
    """Who took least."""
    right = {peer: measure(outcome) for peer, outcome in outcomes.items() if not outcome.problem}
    return min(right, key=right.get) if right else "nobody"


def costs(title, figures, measure):
    """Lines of a table with a row per statement and a column per peer; the best one in bold."""
    peers = list(next(iter(figures.values())))
    notes, rows = Notes(), []
    for name, outcomes in figures.items():
        cells = {p: notes.mark(o.problem) if o.problem else short(measure(o)) for p, o in outcomes.items()}
        winner = best(outcomes, measure)
        rows.append([name] + [f"**{cells[p]}**" if p == winner else cells[p] for p in peers])
    return [f"### {title}", "", *table([""] + peers, rows), *notes.lines(), ""]


def ratios(figures, ours, theirs, measure):
    """Statement -> Tarn's cost by a peer's, where both are right."""
    pairs = {name: (outcomes[ours], outcomes[theirs]) for name, outcomes in figures.items()}
    return {
        name: measure(a) / max(measure(b), 0.01) for name, (a, b) in pairs.items() if not a.problem and not b.problem
    }


def is_tpch(name):
    return name[0] == "q" and name[1:].isdigit()


def mean_cells(found):
    """Geometric means over all, over TPC-H, and over the others; of how many."""
    groups = [found.items(), [i for i in found.items() if is_tpch(i[0])], [i for i in found.items() if not is_tpch(i[0])]]
    for group in groups:
        values = [ratio for _, ratio in group]
        mean = geometric_mean(values)
        yield "–" if mean is None else f"{mean:.2f} ({len(values)})"


def read_ratios(figures, measure):
    """Tarn by each peer: geometric means, and where Tarn is farthest ahead and behind."""
    peers = [peer for peer in next(iter(figures.values())) if peer != TARN]
    rows = []
    for peer in peers:
        found = ratios(figures, TARN, peer, measure)
        ranked = sorted(found, key=found.get)
        ends = [", ".join(f"{n} {found[n]:.2f}" for n in names) for names in (ranked[:3], ranked[-3:][::-1])]
        rows.append([peer, *mean_cells(found), *ends])
    return table(["Tarn by", "all", "TPC-H", "others", "farthest ahead", "farthest behind"], rows)


def change_ratios(figures, measure):
    """Tarn by each other contender, in the same mode and version."""
    contenders = [c for c in next(iter(figures.values())) if not c.startswith(TARN)]
    rows = []
    for name in figures:
        cells = []
        for contender in contenders:
            ours = f"{TARN} {contender.partition(' ')[2]}"
            found = ratios({name: figures[name]}, ours, contender, measure)
            cells.append(f"{found[name]:.2f}" if found else "–")
        rows.append([name, *cells])
    return table(["Tarn by"] + contenders, rows)


def highest_peaks(figures):
    """One row: the most memory that each peer held, first runs included."""
    peers = list(next(iter(figures.values())))

    def highest(peer):
        costs = [cost for outcomes in figures.values() for cost in (outcomes[peer].first, outcomes[peer].warm)]
        return max((cost.peak_mib for cost in costs if cost), default=0)

    return table(["peak memory, MiB"] + peers, [[""] + [short(highest(peer)) for peer in peers]])


def cpu(outcome):
    return outcome.warm.cpu_ms


def wall(outcome):
    return outcome.warm.wall_ms


def peak(outcome):
    return outcome.warm.peak_mib


def setup(facts):
    versions = ", ".join(f"{peer} {version}" for peer, version in facts["versions"].items())
    lines = [
        "# Tarn and its peers",
        "",
        f"{len(facts['cores'])} cores ({facts['processor']}), TPC-H at scale factor {facts['scale']:g}; load average "
        f"{facts['load'][0]:.1f} at the start, {facts['load'][1]:.1f} at the end.",
        "",
        f"Versions: {versions}.",
        "",
    ]
    return lines + [f"- {peer} was not measured: {reason}" for peer, reason in facts["unavailable"].items()] + [""]


def reads(facts, figures):
    runs = f"median of {facts['runs']} warm runs"
    lines = ["## Reads", "", "Ratios of CPU time; in brackets, of how many statements.", ""]
    lines += read_ratios(figures, cpu)
    lines += highest_peaks(figures)
    lines += costs(f"CPU time, ms, {runs}", figures, cpu)
    lines += costs(f"Wall time, ms, {runs}", figures, wall)
    lines += costs("CPU time, ms, first run in its process", figures, lambda o: o.first.cpu_ms)
    return lines + costs("Wall time, ms, first run in its process", figures, lambda o: o.first.wall_ms)


def cold(figures):
    lines = ["## 2,000 files, cold: opening the table and the query in a new process", "", *read_ratios(figures, cpu)]
    return lines + costs("CPU time, ms", figures, cpu) + costs("Wall time, ms", figures, wall)


def changes(facts, figures):
    lines = ["## Changes of rows", "", f"Median of {facts['rounds']} rounds; ratios of CPU time.", ""]
    lines += change_ratios(figures, cpu)
    lines += costs("CPU time, ms", figures, cpu) + costs("Wall time, ms", figures, wall)
    return lines + costs("Peak memory of the process, MiB", figures, peak)


def render(facts, figures):
    """All that was measured."""
    lines = setup(facts)
    if "reads" in figures:
        lines += reads(facts, figures["reads"])
    if "cold" in figures:
        lines += cold(figures["cold"])
    if "changes" in figures:
        lines += changes(facts, figures["changes"])
    return "\n".join(lines)
