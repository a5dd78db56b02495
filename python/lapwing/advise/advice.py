# SPDX-License-Identifier: MIT
"""What `lapwing advise` found, in one piece: what reports show and what --json writes (docs/advice.schema.json).

Times are in seconds, those of runs the launcher's: from its start to its end. Stock runs without Lapwing's library. A
predicted time is what the model says of MPI_Init to MPI_Finalize, and launch_s. The ways that `lapwing run` turns on
have start_s, too, whether predicted or measured, and so has a rewrite, which needs its progress.
"""

from dataclasses import dataclass

from lapwing.advise.judge import Outcome, Predicted
from lapwing.bench.interval import Interval
from lapwing.bench.measures import Spread
from lapwing.model.profile import Way


@dataclass(frozen=True)
class Measured:
    """The runs of one way, a time for each round. speedup: stock's time over this one's, round by round.

    interval: the bounds of the speedup; None where there are too few rounds.
    is_inside: the median speedup lies in the predicted interval.
    is_idle: the way changed nothing in any of its runs.
    """

    times_s: tuple[float, ...]
    time: Spread
    speedup: Spread
    outcome: Outcome
    is_inside: bool
    is_idle: bool = False
    interval: Interval | None = None


@dataclass(frozen=True)
class WayAdvice:
    """One way to run. reason: why it was not measured, or why its measurement ended."""

    way: Way
    command: str = ""
    predicted: Predicted | None = None
    measured: Measured | None = None
    reason: str = ""


@dataclass(frozen=True)
class SiteAdvice:
    """A blocking call where overlap is possible. Gains are predicted, per rank: by Lapwing, and by a rewrite.

    touched_at: the place of the first touch, and later_s how long after the call's return it comes.
    """

    function: str
    place: str
    text: str
    lapwing_gain_s: float
    rewrite_gain_s: float
    touched_at: str = ""
    later_s: float | None = None


@dataclass(frozen=True)
class Point:
    """A point of the paper's figure 5: the speedup that its model predicts for a share of blocking calls."""

    alpha: float
    speedup: float


@dataclass(frozen=True)
class Advice:
    """Everything. verdict: sentences, the first one says what to do. best: the way that it names; None for stock.

    profile_s: the profiled run from MPI_Init to MPI_Finalize, on the slowest rank.
    launch_s: what its launcher took beside.
    start_s: what `lapwing run` takes beside the launcher.
    is_measured: at least one whole round was run.
    scatter: by what part of itself stock's time differs from one round to the next.
    """

    verdict: tuple[str, ...]
    command: str
    program: str
    rank_count: int
    profile_s: float
    best: Way | None = None
    is_measured: bool = False
    is_interrupted: bool = False
    round_count: int = 0
    scatter: float = 0.0
    launch_s: float = 0.0
    start_s: float = 0.0
    ways: tuple[WayAdvice, ...] = ()
    sites: tuple[SiteAdvice, ...] = ()
    findings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    curve: tuple[Point, ...] = ()
    break_even_alpha: float | None = None
