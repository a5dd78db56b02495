# SPDX-License-Identifier: MIT
"""A program whose blocking calls are made nonblocking, by and by: what was predicted from the blocking version beside
what the converted ones take. Alpha is the share of converted calls (dedicated-core paper, figure 5).

No core is given up, as in bench/predict.py: each rank has one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lapwing.bench.contenders import Contender
from lapwing.bench.demo import NX, NY, Outcome, parse_outcome
from lapwing.bench.measures import summarise
from lapwing.bench.place import Place
from lapwing.bench.predict import NOTHING_DEFERRED, calculate_paper_us
from lapwing.errors import LapwingError
from lapwing.model.classes import CallClass
from lapwing.model.profile import JobProfile, Way
from lapwing.model.reader import read_profile
from lapwing.model.study import study_profile

BLOCKING_ALONE, EVERYTHING = 0, 100
PERCENTS = (BLOCKING_ALONE, 50, EVERYTHING)

Advance = Callable[[], None]


@dataclass(frozen=True)
class Solver:
    """The solver at some place. planes: of a rank."""

    place: Place
    program: Path
    planes: int
    steps: int

    def run(self, contender: Contender, percent: int) -> Outcome:
        """Run it with so many of a hundred exchanges converted."""
        words = [str(self.program), str(NX), str(NY), str(self.planes), str(self.steps), str(percent)]
        return parse_outcome(self.place.run_as(contender, words, 1))

    def profile(self, percent: int) -> tuple[JobProfile, Outcome]:
        """Run it profiled."""
        record = self.place.folder / f"converted-{percent}.record"
        outcome = self.run(Contender("profile", options=[], record=record), percent)
        return read_profile(record), outcome


@dataclass
class Runs:
    """What was run. outside_s: of the profiled blocking version, beside its steps. times_s: with progress by events."""

    profiles: dict[int, JobProfile] = field(default_factory=dict)
    outside_s: float = 0.0
    stock_s: list[float] = field(default_factory=list)
    times_s: dict[int, list[float]] = field(default_factory=dict)
    checksums: set[str] = field(default_factory=set)


def gather_converted(solver: Solver, rounds: int, advance: Advance) -> Runs:
    """Profile each version, then run all of them in turn."""
    runs = Runs(times_s={percent: [] for percent in PERCENTS})
    for percent in PERCENTS:
        runs.profiles[percent], outcome = solver.profile(percent)
        runs.checksums.add(outcome.checksum)
        if percent == BLOCKING_ALONE:
            runs.outside_s = max(0.0, runs.profiles[percent].elapsed_ns / 1e9 - outcome.time_s)
        advance()
    for _ in range(rounds):
        outcomes = [solver.run(Contender("stock"), BLOCKING_ALONE)]
        runs.stock_s.append(outcomes[0].time_s)
        for percent in PERCENTS:
            outcomes.append(solver.run(Contender("events", options=NOTHING_DEFERRED), percent))
            runs.times_s[percent].append(outcomes[-1].time_s)
        runs.checksums |= {outcome.checksum for outcome in outcomes}
        advance()
    return runs


def count_blocking(profile: JobProfile) -> int:
    """Return how many blocking calls all ranks made."""
    functions = (function for rank in profile.ranks for function in rank.functions)
    return sum(function.time.count for function in functions if function.call_class is CallClass.BLOCKING)


def measure_alpha(blocking: JobProfile, converted: JobProfile) -> float:
    """Return what share of the blocking calls is gone."""
    count = count_blocking(blocking)
    return 1 - count_blocking(converted) / count if count else 0.0


@dataclass(frozen=True)
class Line:
    """What the blocking version's profile says of all alphas: the refined model at both ends, linear between them.

    alpha: of all calls whose conversion pays. Times in seconds, low and high the interval's ends.
    """

    alpha: float
    at_none_s: Mapping[str, float]
    at_all_s: Mapping[str, float]

    def predict_s(self, share: float) -> dict[str, float]:
        """Return the times when this share of what pays is converted."""
        ends = self.at_none_s, self.at_all_s
        return {name: (1 - share) * ends[0][name] + share * ends[1][name] for name in ends[0]}


def draw_line(profile: JobProfile, outside_s: float) -> Line:
    """Predict from the blocking version."""
    study = study_profile(replace(profile, cores_per_rank=1))
    ends = [study.predictions[way] for way in (Way.EVENTS, Way.REWRITTEN)]
    times = [
        {
            name: ns / 1e9 - outside_s
            for name, ns in (("expected", end.expected_ns), ("low", end.low_ns), ("high", end.high_ns))
        }
        for end in ends
    ]
    return Line(ends[1].alpha or 0.0, times[0], times[1])


def describe_percent(runs: Runs, line: Line, percent: int) -> dict[str, Any]:
    """Set the prediction for one version beside its runs."""
    blocking = runs.profiles[BLOCKING_ALONE]
    spread, predicted = summarise(runs.times_s[percent]), line.predict_s(percent / EVERYTHING)
    alpha = line.alpha * percent / EVERYTHING
    paper_s = calculate_paper_us(blocking, alpha) / 1e6 - runs.outside_s
    return {
        "percent": percent,
        "alpha_predicted": alpha,
        "alpha_measured": measure_alpha(blocking, runs.profiles[percent]),
        "predicted_s": predicted["expected"],
        "low_s": predicted["low"],
        "high_s": predicted["high"],
        "measured_s": spread.as_json(),
        "error": predicted["expected"] / spread.median - 1,
        "is_within": predicted["low"] <= spread.median <= predicted["high"],
        "paper_s": paper_s,
        "paper_error": paper_s / spread.median - 1,
    }


def describe_converted(runs: Runs) -> dict[str, Any]:
    """Calculate everything; refuse runs whose results differ."""
    if len(runs.checksums) > 1:
        raise LapwingError(f"results differ: {sorted(runs.checksums)}", "please report it with this line", 1)
    line = draw_line(runs.profiles[BLOCKING_ALONE], runs.outside_s)
    rows = [describe_percent(runs, line, percent) for percent in PERCENTS]
    return {"stock_s": summarise(runs.stock_s).as_json(), "versions": rows, "slopes": compare_slopes(rows)}


def compare_slopes(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return by how much the speedup over the blocking version grows from alpha 0 to alpha 1."""
    first, last = rows[0], rows[-1]

    def calculate(time_of: Callable[[Mapping[str, Any]], float], alpha: float) -> float:
        return (time_of(first) / time_of(last) - 1) / alpha if alpha else 0.0

    return {
        "predicted": calculate(lambda row: float(row["predicted_s"]), last["alpha_predicted"]),
        "measured": calculate(lambda row: float(row["measured_s"]["median"]), last["alpha_measured"]),
        "paper": calculate(lambda row: float(row["paper_s"]), last["alpha_predicted"]),
    }
