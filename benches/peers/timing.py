"""What a statement cost, and how costs are summed up."""

import math
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    wall_ms: float
    cpu_ms: float
    """User and system time of the peer's process."""
    peak_mib: float = 0.0
    """The most memory that the process held during the statement."""

    def plus(self, other):
        peak = max(self.peak_mib, other.peak_mib)
        return Cost(self.wall_ms + other.wall_ms, self.cpu_ms + other.cpu_ms, peak)


@dataclass(frozen=True)
class Outcome:
    """Of one statement at one peer."""

    first: Cost = None
    """The first execution, where it is told apart."""
    warm: Cost = None
    """The median of those after it, or of all."""
    problem: str = None
    """Why there is no cost, or why it does not count."""


def median(costs):
    """The median of each measure; peak memory is the highest."""
    return Cost(
        statistics.median(c.wall_ms for c in costs),
        statistics.median(c.cpu_ms for c in costs),
        max(c.peak_mib for c in costs),
    )


def geometric_mean(ratios):
    """`None` without any."""
    ratios = list(ratios)
    if not ratios:
        return None
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios))
