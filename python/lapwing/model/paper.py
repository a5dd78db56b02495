# SPDX-License-Identifier: MIT
"""The model of the dedicated-core paper, as it is printed there.

A. Denis, J. Jaeger, E. Jeannot, F. Reynier: "One core dedicated to MPI nonblocking communication
progression? A model to assess whether it is worth it", CCGrid 2022, hal-03695835. Section numbers
below are the paper's. Nothing is tuned: docs/model.md sets the results beside the paper's own.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperParameters:
    """The rows of the paper's Tables I and II: one run without progress. Times in seconds.

    Counts are calls of one rank. blocking_s is the sum over the blocking calls, as the tables give it;
    the formula of Section III-D writes the same as N_blocking times the time of one call.
    """

    computation_s: float
    core_count: int
    blocking_s: float
    blocking_count: float = 0.0
    nonblocking_count: float = 0.0
    test_count: float = 0.0
    wait_count: float = 0.0
    nonblocking_min_s: float = 0.0
    test_min_s: float = 0.0
    wait_min_s: float = 0.0
    other_s: float = 0.0


@dataclass(frozen=True)
class PaperTerms:
    """The summands of t_dedicated in Section III-D, in seconds."""

    computation_s: float
    nonblocking_s: float
    test_s: float
    wait_s: float
    blocking_s: float
    other_s: float

    @property
    def mpi_s(self) -> float:
        """Return t_MPIdedicated (III-C2c)."""
        return self.nonblocking_s + self.test_s + self.wait_s + self.blocking_s + self.other_s

    @property
    def total_s(self) -> float:
        """Return t_dedicated (III-D)."""
        return self.computation_s + self.mpi_s


def calculate_computation_s(computation_s: float, core_count: int) -> float:
    """Return t_newcomp: linear scaling from N cores to N - 1 (III-B2)."""
    if core_count < 2:
        raise ValueError("a dedicated core needs at least two cores")
    return computation_s * core_count / (core_count - 1)


def calculate_overhead_s(computation_s: float, core_count: int) -> float:
    """Return t_overhead: what giving up one of N cores costs the computation (III-B2)."""
    return calculate_computation_s(computation_s, core_count) - computation_s


def calculate_blocking_s(parameters: PaperParameters, alpha: float) -> float:
    """Return t_MPIoldblocking when a share alpha of the blocking calls has become a start and a wait (III-C2b).

    The time of a blocking call is all its own: t_MPIblockprogress is zero, as Section IV assumes.
    """
    transformed_s = parameters.nonblocking_min_s + parameters.wait_min_s
    return alpha * parameters.blocking_count * transformed_s + (1 - alpha) * parameters.blocking_s


def calculate_terms(parameters: PaperParameters, alpha: float = 0.0) -> PaperTerms:
    """Return the summands of t_dedicated for a share alpha of blocking calls made nonblocking (III-D)."""
    if not 0 <= alpha <= 1:
        raise ValueError("alpha is a share: from 0 to 1")
    return PaperTerms(
        computation_s=calculate_computation_s(parameters.computation_s, parameters.core_count),
        nonblocking_s=parameters.nonblocking_count * parameters.nonblocking_min_s,
        test_s=parameters.test_count * parameters.test_min_s,
        wait_s=parameters.wait_count * parameters.wait_min_s,
        blocking_s=calculate_blocking_s(parameters, alpha),
        other_s=parameters.other_s,
    )


def calculate_dedicated_s(parameters: PaperParameters, alpha: float = 0.0) -> float:
    """Return t_dedicated (III-D)."""
    return calculate_terms(parameters, alpha).total_s


def leaves_time(parameters: PaperParameters) -> bool:
    """Say whether anything is left to be compared with where all blocking calls are rewritten.

    Nothing is where calls of several threads add up to all of a rank's time.
    """
    return calculate_dedicated_s(parameters, alpha=1.0) > 0


def calculate_speedup(parameters: PaperParameters, no_progress_s: float, alpha: float = 0.0) -> float:
    """Return s_model = t_noprogress / t_model (V); figure 5 draws it over alpha."""
    return no_progress_s / calculate_dedicated_s(parameters, alpha)


def calculate_time_slope_s(parameters: PaperParameters) -> float:
    """Return d t_dedicated / d alpha: constant, since alpha enters once and linearly (III-D)."""
    transformed_s = parameters.nonblocking_min_s + parameters.wait_min_s
    return parameters.blocking_count * transformed_s - parameters.blocking_s


def calculate_speedup_slope(parameters: PaperParameters, no_progress_s: float, alpha: float = 0.0) -> float:
    """Return d speedup / d alpha, the metric that Section VI-C reads off figure 5."""
    time_s = calculate_dedicated_s(parameters, alpha)
    return -no_progress_s * calculate_time_slope_s(parameters) / time_s**2


def calculate_break_even_alpha(parameters: PaperParameters, no_progress_s: float) -> float | None:
    """Return the smallest share from which a dedicated core pays; None when no share is enough."""
    excess_s = calculate_dedicated_s(parameters) - no_progress_s
    if excess_s <= 0:
        return 0.0
    slope_s = calculate_time_slope_s(parameters)
    return -excess_s / slope_s if slope_s < 0 and -excess_s / slope_s <= 1 else None
