# SPDX-License-Identifier: MIT
"""Predicted beside measured: programs of known character, profiled once, then run in each way.

The refined model's prediction for a way comes from the record of one profiled run. A core of its own for the
engine cannot be had where each rank computes on one core, so the paper's formula is applied without its price of
a core (t_comp as measured, the limit of many cores): alpha is 0 where blocking calls stay, 1 where all are deferred.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from lapwing.bench import measures
from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.place import Place
from lapwing.bench.plan import check_names, choose_repetitions, estimate_round_trip_us
from lapwing.bench.turns import Turns, take_turn
from lapwing.errors import LapwingError
from lapwing.model.calibration import derive_parameters
from lapwing.model.paper import calculate_terms
from lapwing.model.profile import JobProfile, Way
from lapwing.model.reader import read_profile
from lapwing.model.study import study_profile

CHARACTERS = ("nonblocking", "waiting", "bundled", "slack", "tight", "small", "uneven", "collective", "in_order")
PROFILE = "profile"
WAYS = {STOCK: Way.STOCK, "events": Way.EVENTS, "deferred": Way.DEFERRED}
PREDICTED = ("events", "deferred")  # of stock itself the profile is a measurement
NOTHING_DEFERRED = ("--sends", "off", "--receives", "off", "--collectives", "off", "--waits", "off")
ALPHAS = {"events": 0.0, "deferred": 1.0}
WORK_SHARE = 1.25  # of the given work, in a round of most characters
RANKS = 2

Advance = Callable[[], None]


@dataclass(frozen=True)
class Task:
    """One character at one size."""

    character: str
    size_bytes: int
    compute_us: float
    rounds: int

    def words(self, units_per_us: float) -> list[str]:
        """Return the program's arguments."""
        units = max(1, round(self.compute_us * units_per_us))
        return [self.character, str(units), str(self.size_bytes), str(self.rounds)]


@dataclass(frozen=True)
class Case:
    """A task with one MPI. records: where its profiles are kept, if anywhere."""

    label: str
    place: Place
    program: Path
    task: Task
    units_per_us: float
    records: Path | None = None

    def choose_record(self, number: int) -> Path:
        """Return the file of a round's profile."""
        if self.records is None:
            return self.place.folder / "profile.record"
        return self.records / f"{self.label}-{self.task.character}-{self.task.size_bytes}-{number}.record"


@dataclass
class Outcome:
    """What the runs of a case gave. profiles: of each round, the first is the one that predicts."""

    turns: Turns = field(default_factory=Turns)
    profiles: list[JobProfile] = field(default_factory=list)


@dataclass(frozen=True)
class Forecast:
    """What is predicted for one way, in microseconds. paper_us: None where the paper says nothing."""

    expected_us: float
    low_us: float
    high_us: float
    paper_us: float | None


def parse_characters(text: str) -> list[str]:
    """Read a list of characters."""
    return check_names(text.split(","), CHARACTERS, "character")


def plan_tasks(
    characters: Iterable[str], sizes: Sequence[int], compute_us: float, rate: str, limit: int, cap_s: float
) -> list[Task]:
    """Choose how many rounds each takes; an even number, since the ranks take turns in sending."""
    tasks = []
    for character in characters:
        for size in sizes:
            once_us = estimate_round_trip_us(size, rate) / 2 + WORK_SHARE * compute_us
            rounds = choose_repetitions(once_us, limit, cap_s)
            tasks.append(Task(character, size, compute_us, rounds + rounds % 2))
    return tasks


def list_ways(record: Path) -> list[Contender]:
    """Return who runs in turn."""
    return [
        Contender(PROFILE, options=[], record=record),
        Contender(STOCK),
        Contender("events", options=NOTHING_DEFERRED),
        Contender("deferred", options=[]),
    ]


def gather(cases: Sequence[Case], rounds: int, advance: Advance) -> list[Outcome]:
    """Run all ways of all cases in turn; a slow minute of the machine then falls on all of them."""
    outcomes = [Outcome() for _ in cases]
    for number in range(rounds):
        for case, outcome in zip(cases, outcomes, strict=True):
            gather_once(case, outcome, case.choose_record(number), advance)
    return outcomes


def gather_once(case: Case, outcome: Outcome, record: Path, advance: Advance) -> None:
    """Run all ways of a case once, and read what was profiled; a way that fails is left out from then on."""
    record.unlink(missing_ok=True)
    line = [str(case.program), *case.task.words(case.units_per_us)]
    for contender in list_ways(record):
        if contender.name not in outcome.turns.failures:
            take_turn(case.place, contender, line, RANKS, outcome.turns)
        advance()
    if record.exists():
        outcome.profiles.append(read_profile(record))


def collect_times(turns: Turns, name: str) -> list[float]:
    """Return the time of each run: its slower rank's."""
    ranks = (turns.rows[name, number] for number in range(RANKS))
    return [max(row["elapsed_us"] for row in rows) for rows in zip(*ranks, strict=True)]


def check_sums(turns: Turns) -> None:
    """Refuse times of runs that did not receive the same bytes."""
    rows = [row for rows in turns.rows.values() for row in rows]
    for rank in range(RANKS):
        sums = {row["checksum"] for row in rows if row["rank"] == rank}
        if len(sums) > 1:
            text = f"rank {rank} received different bytes in different runs (sums {sorted(sums)})"
            raise LapwingError(text, "please report it with this line", 1)


def calculate_paper_us(profile: JobProfile, alpha: float) -> float:
    """Apply the paper's formula without its price of a core: t_comp stays what it is on all cores."""
    parameters = derive_parameters(profile, RANKS)  # the number of cores has no part in what is taken from the terms
    return (parameters.computation_s + calculate_terms(parameters, alpha).mpi_s) * 1e6


def forecast(profile: JobProfile) -> dict[str, Forecast]:
    """Predict every way that is run."""
    study = study_profile(replace(profile, cores_per_rank=1))
    forecasts = {}
    for name, way in WAYS.items():
        prediction = study.predictions[way]
        times_us = [time_ns / 1e3 for time_ns in (prediction.expected_ns, prediction.low_ns, prediction.high_ns)]
        paper_us = calculate_paper_us(profile, ALPHAS[name]) if name in ALPHAS else None
        forecasts[name] = Forecast(times_us[0], times_us[1], times_us[2], paper_us)
    return forecasts


def compare_way(prediction: Forecast, times_us: Sequence[float]) -> dict[str, Any]:
    """Set one way's prediction beside its measured median; errors are shares of the measured time."""
    spread = measures.summarise(times_us)
    paper = prediction.paper_us
    return {
        "measured_us": spread.as_json(),
        "predicted_us": prediction.expected_us,
        "low_us": prediction.low_us,
        "high_us": prediction.high_us,
        "error": prediction.expected_us / spread.median - 1,
        "is_within": prediction.low_us <= spread.median <= prediction.high_us,
        "paper_us": paper,
        "paper_error": None if paper is None else paper / spread.median - 1,
    }


def describe_case(label: str, task: Task, outcome: Outcome) -> dict[str, Any]:
    """Calculate everything about one case."""
    turns = outcome.turns
    row: dict[str, Any] = {
        "mpi": label,
        "character": task.character,
        "size_bytes": task.size_bytes,
        "compute_us": task.compute_us,
        "rounds": task.rounds,
        "failures": turns.failures,
    }
    if turns.failures or not outcome.profiles:
        return {**row, "ways": {}, "profile_ratio": None}
    check_sums(turns)
    forecasts = [forecast(profile) for profile in outcome.profiles]
    ways = {name: compare_way(forecasts[0][name], collect_times(turns, name)) for name in WAYS}
    for name, way in ways.items():
        by_each_us = [one[name].expected_us for one in forecasts]
        way["predicted_by_each_profile_us"] = by_each_us
        way["error_of_median"] = median(by_each_us) / way["measured_us"]["median"] - 1
    pairs = zip(collect_times(turns, PROFILE), collect_times(turns, STOCK), strict=True)
    ratios = [profiled / stock for profiled, stock in pairs]
    return {**row, "ways": ways, "profile_ratio": measures.summarise(ratios).as_json(), "profile_ratios": ratios}


def summarise_errors(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, float]:
    """Return median and worst of the sizes of the errors."""
    errors = [abs(row[key]) for row in rows]
    return {"count": len(errors), "median": median(errors), "worst": max(errors)}


def summarise_ways(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarise the predicted ways over all cases: each, and all together."""
    summary = {}
    for label, names in (*((name, (name,)) for name in PREDICTED), ("all", PREDICTED)):
        rows = [result["ways"][name] for result in results for name in names if name in result["ways"]]
        if rows:
            summary[label] = {
                "refined": summarise_errors(rows, "error"),
                "refined_median_of_profiles": summarise_errors(rows, "error_of_median"),
                "paper": summarise_errors(rows, "paper_error"),
                "within_interval": sum(row["is_within"] for row in rows),
            }
    return summary


def summarise_cost(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarise by character what profiling costs: profiled by stock time, of runs in turn."""
    cost = {}
    for character in CHARACTERS:
        ratios = [
            ratio
            for row in results
            if row["character"] == character and row["profile_ratio"]
            for ratio in row["profile_ratios"]
        ]
        if ratios:
            cost[character] = measures.summarise(ratios).as_json()
    return cost
