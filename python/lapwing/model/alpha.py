# SPDX-License-Identifier: MIT
"""Speedup over alpha, the share of blocking calls made nonblocking: figure 5 of the dedicated-core paper.

A curve comes from a profile, or from parameters typed in by the names of the paper's Tables I and II.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lapwing.errors import LapwingError
from lapwing.model.calibration import derive_parameters
from lapwing.model.paper import (
    PaperParameters,
    calculate_break_even_alpha,
    calculate_dedicated_s,
    calculate_speedup,
    calculate_speedup_slope,
    leaves_time,
)
from lapwing.model.profile import JobProfile
from lapwing.model.setup import estimate_ratio, measure_ratio

CURVE_POINTS = 11
VALUE_LEAST, VALUE_LIMIT = 1e-12, 1e12  # beside 0: beyond them nothing is meant, and products leave what a float holds
# The paper's names, and those of PaperParameters; times in seconds, counts of one rank.
SYMBOLS: Mapping[str, str] = {
    "t_comp": "computation_s",
    "N_core": "core_count",
    "t_MPIblocking": "blocking_s",
    "N_blocking": "blocking_count",
    "N_nonblock": "nonblocking_count",
    "N_test": "test_count",
    "N_wait": "wait_count",
    "t_minMPInonblock": "nonblocking_min_s",
    "t_minMPItest": "test_min_s",
    "t_minMPIwait": "wait_min_s",
    "t_MPIother": "other_s",
}
NO_PROGRESS = "t_noprogress"
NEEDED = (NO_PROGRESS, "t_comp", "N_core")
EXAMPLE = "--typed 'mine: t_noprogress=112,t_comp=94.55,N_core=16,N_blocking=5863,t_MPIblocking=19.16'"


@dataclass(frozen=True)
class AlphaRun:
    """One run without progress."""

    name: str
    parameters: PaperParameters
    no_progress_s: float


@dataclass(frozen=True)
class AlphaCurve:
    """What the paper's model says of a run. points: (alpha, speedup). slope: of the speedup, at alpha 0."""

    run: AlphaRun
    points: tuple[tuple[float, float], ...]
    slope: float
    break_even_alpha: float | None

    def speedup(self, alpha: float) -> float:
        """Return the speedup at any alpha."""
        return calculate_speedup(self.run.parameters, self.run.no_progress_s, alpha)

    def time_s(self, alpha: float) -> float:
        """Return t_dedicated."""
        return calculate_dedicated_s(self.run.parameters, alpha)


def make_curve(run: AlphaRun) -> AlphaCurve:
    """Apply the model at all alphas."""
    alphas = [number / (CURVE_POINTS - 1) for number in range(CURVE_POINTS)]
    return AlphaCurve(
        run=run,
        points=tuple((alpha, calculate_speedup(run.parameters, run.no_progress_s, alpha)) for alpha in alphas),
        slope=calculate_speedup_slope(run.parameters, run.no_progress_s),
        break_even_alpha=calculate_break_even_alpha(run.parameters, run.no_progress_s),
    )


def take_run(profile: JobProfile) -> AlphaRun:
    """Take the parameters of a profile; an error where no core can be given up."""
    if profile.cores_per_rank is None or profile.cores_per_rank < 2:
        known = "is not known" if profile.cores_per_rank is None else "is 1"
        cause = f"{profile.name}: the number of cores of a rank {known}, and a dedicated core needs two"
        raise LapwingError(cause, "say it with --cores N")
    parameters = derive_parameters(profile, profile.cores_per_rank)
    if not leaves_time(parameters):
        cause = f"{profile.name}: calls of MPI take all of the ranks' time, so that the paper's model leaves none"
        raise LapwingError(cause, "profile a run in which one thread of a rank calls MPI")
    return AlphaRun(profile.name, parameters, profile.elapsed_ns / 1e9)


def take_fitted_run(profile: JobProfile) -> AlphaRun | None:
    """Take the same with the first summand of the formula as measured (`--calibrate`), instead of N / (N - 1)."""
    ratio = estimate_ratio(profile)
    if measure_ratio(profile.calibration) is None or ratio is None:
        return None
    run = take_run(profile)
    cores, computation_s = run.parameters.core_count, run.parameters.computation_s
    linear = replace(run.parameters, computation_s=computation_s * ratio.expected * (cores - 1) / cores)
    return AlphaRun(f"{run.name}, computation as measured", linear, run.no_progress_s)


def parse_number(name: str, text: str) -> float:
    """Read one parameter."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    is_value = value == 0 or VALUE_LEAST <= value < VALUE_LIMIT
    if not is_value or (name == "N_core" and (value < 2 or value != int(value))):
        raise LapwingError(f"{name}={text} is no value of it", f"write for example {EXAMPLE}")
    return value


def parse_typed(text: str) -> AlphaRun:
    """Read `NAME: symbol=value,...` in the paper's symbols; times in seconds. The name may be left out."""
    head, colon, rest = text.partition(":")
    values: dict[str, float] = {}
    for word in filter(None, (part.strip() for part in (rest if colon else head).split(","))):
        name, _, value = word.partition("=")
        if name != NO_PROGRESS and name not in SYMBOLS:
            known = ", ".join((NO_PROGRESS, *SYMBOLS))
            raise LapwingError(f"the paper has no parameter {name!r}", f"choose from {known}")
        if name in values:
            raise LapwingError(f"{text!r}: {name} is there twice", "leave one of them out")
        values[name] = parse_number(name, value)
    missing = [name for name in NEEDED if name not in values]
    if missing:
        raise LapwingError(f"{text!r} lacks {', '.join(missing)}", f"write for example {EXAMPLE}")
    for name in NEEDED:
        if values[name] == 0:
            raise LapwingError(f"{text!r} has {name}=0, which must be above 0", f"write for example {EXAMPLE}")
    if values["t_comp"] > values[NO_PROGRESS]:
        raise LapwingError(f"{text!r} has more computation than time", f"t_comp is a part of {NO_PROGRESS}")
    parameters = {SYMBOLS[name]: value for name, value in values.items() if name != NO_PROGRESS}
    parameters = {"blocking_s": 0.0, **parameters}
    core_count = int(parameters.pop("core_count"))
    run = PaperParameters(core_count=core_count, **parameters)
    return AlphaRun(head.strip() if colon else "typed in", run, values[NO_PROGRESS])


def parse_alpha(text: str) -> float:
    """Read a share."""
    try:
        alpha = float(text)
    except ValueError:
        alpha = -1.0
    if not 0 <= alpha <= 1:
        raise LapwingError(f"--alpha {text} is no share", "give 0 to 1")
    return alpha
