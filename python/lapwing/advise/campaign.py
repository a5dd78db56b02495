# SPDX-License-Identifier: MIT
"""A campaign: several command lines, inputs and rank counts, each advised on, side by side as in the dedicated-core
paper (figures 2 to 4, Tables I and II)."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lapwing.advise.advice import Advice, WayAdvice
from lapwing.advise.judge import predict_speedup
from lapwing.errors import LapwingError
from lapwing.model.alpha import AlphaCurve, make_curve, take_run
from lapwing.model.calibration import ClassSummary, summarise_classes
from lapwing.model.classes import CallClass
from lapwing.model.profile import JobProfile, Way

EXAMPLE = "write lines as in: small, 2 ranks: mpirun -n 2 ./app small.dat"


@dataclass(frozen=True)
class CampaignLine:
    """One line of the inputs."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class CampaignRun:
    """What was found of one line. curve: the paper's model; None where a rank has no core to give up.

    computation_s, mpi_s and classes: of the mean rank in the profiled run.
    """

    name: str
    advice: Advice
    core_count: int | None
    computation_s: float
    classes: Mapping[CallClass, ClassSummary]
    curve: AlphaCurve | None

    @property
    def mpi_s(self) -> float:
        """Return the time in MPI."""
        return sum(summary.total_s for summary in self.classes.values())


@dataclass(frozen=True)
class CampaignBar:
    """One bar of the figures: a speedup over the run without progress. low, high: its interval, if it has one."""

    label: str
    speedup: float
    low: float | None = None
    high: float | None = None


def parse_inputs(text: str) -> list[CampaignLine]:
    """Read `NAME: COMMAND` lines; empty ones, and those that begin with #, say nothing."""
    lines = []
    for number, row in enumerate(text.splitlines(), 1):
        row = row.strip()
        if not row or row.startswith("#"):
            continue
        if "\0" in row:
            raise LapwingError(f"line {number} of the inputs has a NUL, which no command line has", EXAMPLE)
        name, colon, command = row.partition(": ")
        try:
            words = tuple(shlex.split(command))
        except ValueError as error:
            raise LapwingError(f"line {number} of the inputs: {error}", EXAMPLE) from error
        if not colon or not name.strip() or not words:
            raise LapwingError(f"line {number} of the inputs has no name and command: {row}", EXAMPLE)
        lines.append(CampaignLine(name.strip(), words))
    names = [line.name for line in lines]
    if not lines or len(set(names)) < len(names):
        raise LapwingError("the inputs need lines, each with a name of its own", EXAMPLE)
    return lines


def summarise_run(name: str, advice: Advice, profile: JobProfile) -> CampaignRun:
    """Put together what is shown of one line."""
    ranks = max(1, len(profile.ranks))
    return CampaignRun(
        name=name,
        advice=advice,
        core_count=profile.cores_per_rank,
        computation_s=sum(rank.computation_ns for rank in profile.ranks) / ranks / 1e9,
        classes=summarise_classes(profile),
        curve=make_curve(replace(take_run(profile), name=name)) if advice.curve else None,
    )


def find_way(run: CampaignRun, way: Way) -> WayAdvice | None:
    """Return what was found of a way."""
    return next((entry for entry in run.advice.ways if entry.way is way), None)


def list_bars(run: CampaignRun) -> list[CampaignBar]:
    """Return the bars of one run: the paper's model of a dedicated core, then each way, predicted and measured."""
    stock = find_way(run, Way.STOCK)
    bars = [CampaignBar("paper's model, dedicated core", run.curve.points[0][1])] if run.curve else []
    for entry in run.advice.ways:
        if entry.way is Way.STOCK or (entry.measured is None and entry.way is not Way.DEDICATED):
            continue
        if entry.predicted and stock and stock.predicted:
            speedup, low, high = predict_speedup(entry.predicted, stock.predicted.time_s)
            bars.append(CampaignBar(f"{entry.way.value}, predicted", speedup, low, high))
        if entry.measured:
            bounds = entry.measured.interval
            ends = (bounds.low, bounds.high) if bounds else (None, None)
            bars.append(CampaignBar(f"{entry.way.value}, measured", entry.measured.speedup.median, *ends))
    return bars


def measure_dedicated_s(run: CampaignRun) -> float | None:
    """Return the median time with a dedicated core from MPI_Init to MPI_Finalize, as that of the profiled run is."""
    dedicated = find_way(run, Way.DEDICATED)
    if dedicated is None or dedicated.measured is None:
        return None
    return max(0.0, dedicated.measured.time.median - run.advice.launch_s - run.advice.start_s)


def list_parameters(run: CampaignRun) -> dict[str, float | None]:
    """Return the rows of Tables I and II, with N and t_min of every class; times in seconds."""
    rows: dict[str, float | None] = {
        "ranks": run.advice.rank_count,
        "t_noprogress": run.advice.profile_s,
        "t_MPI": run.mpi_s,
        "t_model": run.curve.time_s(0.0) if run.curve else None,
        "t_dedicated": measure_dedicated_s(run),
        "N_core": run.core_count,
        "t_comp": run.computation_s,
    }
    names = {CallClass.BLOCKING: "blocking", CallClass.START: "nonblock", CallClass.TEST: "test"}
    names |= {CallClass.WAIT: "wait", CallClass.OTHER: "other"}
    for call_class, name in names.items():
        summary = run.classes[call_class]
        rows |= {f"N_{name}": summary.count, f"t_minMPI{name}": summary.minimum_s, f"t_MPI{name}": summary.total_s}
    return rows
