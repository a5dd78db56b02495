# SPDX-License-Identifier: MIT
"""Predicted beside measured: a row for each program and setting, made of what `lapwing advise` wrote, and the page."""

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from lapwing.advise.advice import Advice, Measured, WayAdvice
from lapwing.advise.judge import Outcome, judge_speedups, predict_speedup
from lapwing.advise.ways import GAIN_MIN
from lapwing.model.profile import Way

HEAD = """# Predictions of programs never seen

Programs that were not written for Lapwing, and from which no number of the model was taken: predicted beside measured.
`tests/packages/predictions.py --table FILE` prints this page from what `tests/packages/predictions.py --results FILE`
wrote; do not edit it. [The model](model.md) says how predictions are made. What messages take in a setting is measured
first (`lapwing probe --system`). Then `lapwing advise` runs each program as it is, then profiled, then with stock MPI
and under Lapwing in turn.

All times are those of the launcher's whole line. Under Lapwing they contain the start of `lapwing run` itself, about
0.1 s: that alone makes a speedup of 0.95 of a run of two seconds. The times that programs report themselves do not
contain it; [Measurements](measurements.md#programs-with-nothing-to-gain) has those of programs with nothing to gain.

- **stock**: the launcher's time without Lapwing's library, median of the rounds (quartiles).
- **profile**: by how much longer the profiled run took than that. It is one run (the fastest of up to three where the
  machine disturbed the first), so it scatters as a single run does.
- **predicted**: the time under `lapwing run`, from that profile alone, with its interval.
- **measured**: the same, median of the rounds (quartiles). Stock and Lapwing take turns.
- **miss**: predicted / measured - 1. **of MPI**: the same without what passes before `MPI_Init` and after
  `MPI_Finalize`, which is not predicted; "-" where what is left is shorter than 0.2 s.
- **speedup**: predicted, and measured with bounds, each of which holds with 95 %.
- **verdict**: what `lapwing advise` says after these rounds. It is contradicted where the measurement does not
  agree with the prediction, or with the cause that is named, or where further rounds ("check") do not agree with it.
"""
SCHEMA = 1


@dataclass(frozen=True)
class Setting:
    """Where programs run: on emulated hosts with links of this rate, or over shared memory."""

    ranks: int
    rate: str  # as tc writes it; empty: shared memory

    @property
    def name(self) -> str:
        """Return the name that options and tables use."""
        return f"{self.ranks}x{self.rate or 'memory'}"

    @property
    def title(self) -> str:
        """Return words for people."""
        rate = self.rate.removesuffix("gbit")
        return f"{self.ranks} hosts, {rate} Gb/s" if self.rate else f"{self.ranks} ranks, shared memory"


# What matters most comes first: a quiet machine is not there for long.
SETTINGS = (
    Setting(2, "1gbit"),
    Setting(2, "5gbit"),
    Setting(2, ""),
    *(Setting(ranks, rate) for rate in ("1gbit", "5gbit", "") for ranks in (3, 4)),
)


INSIDE_S = 0.2  # between MPI_Init and MPI_Finalize; the start scatters by some 0.02 s


@dataclass(frozen=True)
class Row:
    """One program in one setting. Times in seconds; quartiles and bounds are (low, high).

    failure: why there are no figures. load: of the machine before the first run. with_system: what messages take was
    measured apart. outside_s: what the profiled run took
    before MPI_Init and after MPI_Finalize, and `lapwing run` beside its launcher. check: bounds of further rounds.
    """

    program: str
    setting: str
    version: str = ""
    date: str = field(default_factory=lambda: time.strftime("%Y-%m-%d"))
    load: float = 0.0
    with_system: bool = False
    failure: str = ""
    rounds: int = 0
    stock_s: float = 0.0
    stock_quartiles_s: Sequence[float] = ()
    profile_cost: float = 0.0
    predicted_s: float = 0.0
    predicted_bounds_s: Sequence[float] = ()
    measured_s: float = 0.0
    measured_quartiles_s: Sequence[float] = ()
    outside_s: float = 0.0
    predicted_speedup: float = 0.0
    speedup: float = 0.0
    speedup_bounds: Sequence[float] | None = None
    verdict: str = ""
    sentence: str = ""
    check: Sequence[float] | None = None
    contradiction: str = ""
    schema: int = SCHEMA

    @property
    def miss(self) -> float:
        """Return by what part of the measured time the prediction is off."""
        return self.predicted_s / self.measured_s - 1

    @property
    def inner_miss(self) -> float | None:
        """Return the same of the time that is predicted; None where that is too short beside the start's scatter."""
        inside_s = self.measured_s - self.outside_s
        return (self.predicted_s - self.outside_s) / inside_s - 1 if inside_s >= INSIDE_S else None


def find_way(advice: Advice, way: Way) -> WayAdvice:
    """Return what is known of a way."""
    return next(entry for entry in advice.ways if entry.way is way)


def name_verdict(advice: Advice) -> str:
    """Return the verdict in few words."""
    if advice.best is not None:
        return "use it"
    measured = find_way(advice, Way.DEFERRED).measured
    return "cannot tell" if measured is None or measured.outcome is Outcome.OPEN else "leave it"


def judge_check(verdict: str, check: Measured | None) -> str:
    """Say how further rounds contradict a verdict; nothing where they do not."""
    outcome = judge_speedups(check.interval, check.is_idle) if check else Outcome.OPEN
    if verdict == "use it" and outcome in (Outcome.SAME, Outcome.SLOWER):
        return "further rounds show no such gain"
    return "further rounds show a gain" if verdict == "leave it" and outcome is Outcome.FASTER else ""


def find_contradiction(advice: Advice, check: Measured | None = None) -> str:
    """Say what of an advice does not agree with what was measured; nothing where all does."""
    deferred, stock = find_way(advice, Way.DEFERRED), find_way(advice, Way.STOCK)
    measured, texts = deferred.measured, []
    if measured and deferred.predicted and stock.predicted:
        promised = predict_speedup(deferred.predicted, stock.predicted.time_s)[0] >= 1 + GAIN_MIN
        if promised and measured.outcome in (Outcome.SAME, Outcome.SLOWER):
            texts.append("a gain was predicted, and none is there")
        if not promised and measured.outcome is Outcome.FASTER:
            texts.append("a gain is there, and none was predicted")
        if "does not mend" in " ".join(advice.verdict) and measured.speedup.median >= 1 + GAIN_MIN:
            texts.append("a gain is called impossible")
    checked = judge_check(name_verdict(advice), check)
    return "; ".join([*texts, *([checked] if checked else [])])


def make_row(about: Row, advice: Advice, check: Advice | None = None) -> Row:
    """Make a row of what advise found. about: which program, where, and when. check: of further rounds."""
    stock, deferred = find_way(advice, Way.STOCK), find_way(advice, Way.DEFERRED)
    was, now, predicted = stock.measured, deferred.measured, deferred.predicted
    if was is None or now is None or predicted is None or stock.predicted is None:
        reason = deferred.reason or advice.verdict[0]
        return replace(about, failure=f"not measured: {reason}")
    checked = find_way(check, Way.DEFERRED).measured if check else None
    return replace(
        about,
        rounds=advice.round_count,
        stock_s=was.time.median,
        stock_quartiles_s=(was.time.first_quartile, was.time.third_quartile),
        profile_cost=(advice.profile_s + advice.launch_s) / was.time.median - 1,
        predicted_s=predicted.time_s,
        predicted_bounds_s=(predicted.low_s, predicted.high_s),
        measured_s=now.time.median,
        measured_quartiles_s=(now.time.first_quartile, now.time.third_quartile),
        outside_s=advice.launch_s + advice.start_s,
        predicted_speedup=predict_speedup(predicted, stock.predicted.time_s)[0],
        speedup=now.speedup.median,
        speedup_bounds=(now.interval.low, now.interval.high) if now.interval else None,
        verdict=name_verdict(advice),
        sentence=advice.verdict[0],
        check=(checked.interval.low, checked.interval.high) if checked and checked.interval else None,
        contradiction=find_contradiction(advice, checked),
    )


def append_row(path: Path, row: Row) -> None:
    """Keep a row; an interruption loses none."""
    with path.open("a") as stream:
        stream.write(json.dumps(asdict(row)) + "\n")


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Read what was kept; of a program and setting the last row counts."""
    found: dict[tuple[str, str], Row] = {}
    for path in paths:
        for line in path.read_text().splitlines() if path.exists() else ():
            fields: Mapping[str, Any] = json.loads(line)
            if fields.get("schema") == SCHEMA:
                row = Row(**fields)
                found[row.program, row.setting] = row
    return list(found.values())


def read_load() -> float:
    """Return what else runs on the machine."""
    return round(os.getloadavg()[0], 1)


def format_percent(part: float) -> str:
    """Write a part with its sign."""
    return f"{100 * part:+.1f} %"


def format_range(value: float, bounds: Sequence[float] | None, digits: int = 2) -> str:
    """Write a number and its bounds."""
    text = f"{value:.{digits}f}"
    return f"{text} ({bounds[0]:.{digits}f}-{bounds[1]:.{digits}f})" if bounds else text


def format_row(row: Row) -> list[str]:
    """Write a row of the table."""
    if row.failure:
        return [row.program, row.version, row.failure, *[""] * (len(COLUMNS) - 3)]
    checked = f"; check {row.check[0]:.2f}-{row.check[1]:.2f}" if row.check else ""
    return [
        row.program,
        row.version,
        format_range(row.stock_s, row.stock_quartiles_s),
        format_percent(row.profile_cost),
        format_range(row.predicted_s, row.predicted_bounds_s),
        format_range(row.measured_s, row.measured_quartiles_s),
        format_percent(row.miss),
        "-" if row.inner_miss is None else format_percent(row.inner_miss),
        f"{row.predicted_speedup:.2f}",
        format_range(row.speedup, row.speedup_bounds) + checked,
        f"{row.verdict}; contradicted: {row.contradiction}" if row.contradiction else row.verdict,
    ]


COLUMNS = (
    "program",
    "version",
    "stock s",
    "profile",
    "predicted s",
    "measured s",
    "miss",
    "of MPI",
    "speedup predicted",
    "measured",
    "verdict",
)


def describe_misses(name: str, misses: Sequence[float]) -> str:
    """Give the median and the worst of some misses."""
    sizes = sorted(map(abs, misses))
    return f"{name} {100 * median(sizes):.1f} % in the median, {100 * sizes[-1]:.1f} % at worst"


def count_contradicted(rows: Sequence[Row]) -> str:
    """Say how many verdicts do not agree with what was measured."""
    count = sum(bool(row.contradiction) for row in rows)
    if count == 1:
        return "1 verdict is contradicted"
    return f"{count or 'No'} verdicts are contradicted"


def format_dates(rows: Sequence[Row]) -> str:
    """Write when rows were measured: one day, or the first and the last."""
    days = sorted({row.date for row in rows})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def summarise_rows(rows: Sequence[Row]) -> str:
    """Say how good the predictions of a setting are."""
    measured = [row for row in rows if not row.failure]
    if not measured:
        return "No program could be measured."
    misses = describe_misses("the miss is", [row.miss for row in measured])
    inner = describe_misses("of MPI", [row.inner_miss for row in measured if row.inner_miss is not None])
    cost = median(row.profile_cost for row in measured)
    loads = [row.load for row in measured]
    guessed = sum(not row.with_system for row in measured)
    guesses = f" Of {guessed} programs what messages take was guessed from the profile." if guessed else ""
    counts = sorted({row.rounds for row in measured})
    rounds = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return (
        f"{len(measured)} programs: {misses}; {inner}. Profiles cost {format_percent(cost)} in the median. "
        f"{count_contradicted(measured)}. {rounds} rounds each; load of the machine before each {min(loads):.1f} to "
        f"{max(loads):.1f}; {format_dates(measured)}.{guesses}"
    )


def format_line(cells: Sequence[str]) -> str:
    """Write a line of a table."""
    return f"| {' | '.join(cells)} |"


def format_setting(setting: Setting, rows: Sequence[Row]) -> list[str]:
    """Write the section of a setting."""
    table = [format_line(COLUMNS), "|---" * len(COLUMNS) + "|", *(format_line(format_row(row)) for row in rows)]
    return ["", f"## {setting.title}", "", summarise_rows(rows), "", *table]


def format_page(rows: Sequence[Row], program_count: int) -> str:
    """Write the page: what was measured, and what was not. program_count: of all programs."""
    by_setting = {setting: [row for row in rows if row.setting == setting.name] for setting in SETTINGS}
    lines = [HEAD]
    for setting, own in by_setting.items():
        measured = sum(not row.failure for row in own)
        state = f"{measured} of {program_count} programs" if measured else "not measured"
        lines.append(f"- {setting.title}: {state}")
    for setting, own in by_setting.items():
        lines += format_setting(setting, own) if own else []
    return "\n".join(lines) + "\n"
