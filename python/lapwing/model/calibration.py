# SPDX-License-Identifier: MIT
"""From a profile to the parameters of the paper's model (Section IV).

The paper's rows are those of one rank and it does not say which, or how ranks are put together. Here:
sums and counts are means over the ranks, minima are the least of all ranks, and the time without progress
is that of the slowest rank.
"""

from dataclasses import dataclass

from lapwing.model.classes import CallClass
from lapwing.model.paper import PaperParameters
from lapwing.model.profile import JobProfile

NS_PER_S = 1e9


@dataclass(frozen=True)
class ClassSummary:
    """The calls of one class: of a mean rank, in seconds. minimum_s is the least of all ranks."""

    count: float
    total_s: float
    minimum_s: float


def summarise_class(profile: JobProfile, call_class: CallClass) -> ClassSummary:
    """Sum a class up."""
    times = [f.time for rank in profile.ranks for f in rank.functions if f.call_class is call_class and f.time.count]
    ranks = max(1, len(profile.ranks))
    return ClassSummary(
        count=sum(time.count for time in times) / ranks,
        total_s=sum(time.total for time in times) / ranks / NS_PER_S,
        minimum_s=min((time.minimum for time in times), default=0) / NS_PER_S,
    )


def summarise_classes(profile: JobProfile) -> dict[CallClass, ClassSummary]:
    """Sum all classes up."""
    return {call_class: summarise_class(profile, call_class) for call_class in CallClass}


def derive_parameters(profile: JobProfile, core_count: int) -> PaperParameters:
    """Return the paper's parameters of a run."""
    classes = summarise_classes(profile)
    computation_s = sum(rank.computation_ns for rank in profile.ranks) / max(1, len(profile.ranks)) / NS_PER_S
    return PaperParameters(
        computation_s=computation_s,
        core_count=core_count,
        blocking_s=classes[CallClass.BLOCKING].total_s,
        blocking_count=classes[CallClass.BLOCKING].count,
        nonblocking_count=classes[CallClass.START].count,
        test_count=classes[CallClass.TEST].count,
        wait_count=classes[CallClass.WAIT].count,
        nonblocking_min_s=classes[CallClass.START].minimum_s,
        test_min_s=classes[CallClass.TEST].minimum_s,
        wait_min_s=classes[CallClass.WAIT].minimum_s,
        other_s=classes[CallClass.OTHER].total_s,
    )
