# SPDX-License-Identifier: MIT
"""Call sites whose slack is the same computation: exchanges that stand one after the other before it.

A halo exchange of six calls has six sites with the slack of one computation each, but the computation is there once. A
profile does not say which windows (from a call's return to the touch of its buffer) lie within which. It says how long
a site's windows were inside other MPI calls, and how much computation lies between a call and the one before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lapwing.model.profile import Moments
from lapwing.model.sites import SiteTimes

# Of a call's mean time: so much of it inside another site's windows, and it lies there.
PART_INSIDE = 0.5
# Of a window's computation: not more of it before the next call (packing), or that one has a window of its own.
PART_BETWEEN = 0.1
# Of the greatest computation before a call: where the mean is no more, several calls follow each other.
PART_OF_FIRST = 0.6


@dataclass(frozen=True)
class Windows:
    """The windows of a site: means per call. wait_ns: time inside other MPI calls before the touch."""

    call_count: int
    call_ns: float
    computation_ns: float
    wait_ns: float
    before_ns: float


def find_typical_ns(before: Moments) -> float:
    """Return what lies before most calls of a site: little in a loop of several calls a round, for all but the first.

    One call alone, at the program's start, makes no loop.
    """
    return before.minimum if before.mean <= PART_OF_FIRST * before.maximum else before.mean


def measure_windows(times: SiteTimes) -> Windows | None:
    """Return what the profile says of a site's windows; None when its slack was not measured."""
    site = times.site
    if site.slack is None or not site.slack.sampled_count:
        return None
    computation_ns = sum(bucket.computation_total_ns for bucket in site.slack.buckets)
    wait_ns = max(0, site.slack.wall_total_ns - computation_ns)
    count = site.slack.sampled_count
    before_ns = find_typical_ns(site.computation_before)
    return Windows(site.time.count, site.time.mean, computation_ns / count, wait_ns / count, before_ns)


def lies_within(inner: Windows, outer: Windows) -> bool:
    """Say whether calls of one site are made inside the windows of another (or of the same): before its touch."""
    is_near = inner.before_ns <= PART_BETWEEN * outer.computation_ns
    return inner.call_count == outer.call_count and is_near and outer.wait_ns >= PART_INSIDE * inner.call_ns


def group_sites(sites: Sequence[SiteTimes]) -> list[list[int]]:
    """Put sites whose windows share their computation together: lists of positions; sites without slack are alone."""
    windows = [measure_windows(times) for times in sites]
    groups: list[list[int]] = []
    for position, own in enumerate(windows):
        near = [group for group in groups if own and any(is_shared(own, windows[other]) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(member for group in near for member in group), position])
    return groups


def is_shared(one: Windows, other: Windows | None) -> bool:
    """Say whether either site's calls lie within the other's windows."""
    return other is not None and (lies_within(one, other) or lies_within(other, one))


def find_depth(group: Sequence[SiteTimes]) -> float:
    """Return how many windows of each site of a group are open at once: more than one where a loop makes the calls.

    Of m calls in a row, the first window has m - 1 calls inside, the last one none: together m (m - 1) / 2.
    """
    windows = [known for known in map(measure_windows, group) if known]
    calls_ns = sum(site.call_count * site.call_ns for site in windows)
    if not calls_ns or (len(windows) == 1 and not lies_within(windows[0], windows[0])):
        return 1.0
    inside_ns = sum(site.call_count * site.wait_ns for site in windows)
    return max(1.0, (1.0 + 2.0 * inside_ns / calls_ns) / len(windows))
