# SPDX-License-Identifier: MIT
"""Which of the program's own nonblocking messages Lapwing moves: those from the progress threshold on.

A wait ends several messages, and a profile has the sum of their bytes alone. The sizes of the messages are those of
their starts: what starts have moved is shared out over the waits that can have ended it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lapwing.model.classes import CallClass, shorten_name
from lapwing.model.profile import JobProfile, RankProfile, SiteStatistics, SizeBucket
from lapwing.model.setup import Setup
from lapwing.model.sites import CallGroup, SiteTimes, list_buckets
from lapwing.model.transfers import RECEIVE_STARTS, SEND_STARTS

# Persistent starts and collectives go on whatever their size is (dispatch_assist() of src/mpi/dispatch.c).
MESSAGE_STARTS = SEND_STARTS | RECEIVE_STARTS | {"Isendrecv", "Isendrecv_replace"}
# A lower threshold is named if it lets so much of what is started go on.
MOVED_SHARE_MIN = 0.9
# Below, what the engine takes for an operation is more than its transfer (docs/decisions.md).
THRESHOLD_BYTES_MIN = 4096


@dataclass(frozen=True)
class Moved:
    """What part of a rank's nonblocking bytes goes on in the background.

    of_all: of all that it starts. of_large: of what those waits and tests end that end the threshold or more.
    """

    of_all: float = 1.0
    of_large: float = 1.0


EVERYTHING = Moved()


def list_starts(rank: RankProfile) -> list[tuple[SiteStatistics, SizeBucket]]:
    """Return the sizes of what a rank starts, as far as they are known."""
    starts = [site for site in rank.sites if site.call_class is CallClass.START]
    return [(site, bucket) for site in starts for bucket in list_buckets(site) if bucket.count and bucket.bytes_total]


def is_moved(site: SiteStatistics, bucket: SizeBucket, threshold_bytes: int) -> bool:
    """Say whether starts of one size go on in the background."""
    return shorten_name(site.function) not in MESSAGE_STARTS or bucket.bytes_total / bucket.count >= threshold_bytes


def sum_ended_bytes(rank: RankProfile, threshold_bytes: int) -> int:
    """Return the bytes that those waits and tests end that end the threshold or more."""
    ends = [site for site in rank.sites if site.call_class in (CallClass.WAIT, CallClass.TEST)]
    buckets = [bucket for site in ends for bucket in list_buckets(site) if bucket.count]
    return sum(bucket.bytes_total for bucket in buckets if bucket.bytes_total / bucket.count >= threshold_bytes)


def measure_moved(rank: RankProfile, setup: Setup) -> Moved:
    """Return what part of a rank's nonblocking bytes goes on; everything where no size is known."""
    least_bytes = setup.progress_threshold_bytes
    starts = list_starts(rank)
    whole = sum(bucket.bytes_total for _, bucket in starts)
    if not whole:
        return EVERYTHING
    moved = sum(bucket.bytes_total for site, bucket in starts if is_moved(site, bucket, least_bytes))
    ended = sum_ended_bytes(rank, least_bytes)
    return Moved(moved / whole, min(1.0, moved / ended) if ended else moved / whole)


def choose_share(site: SiteStatistics, group: CallGroup, moved: Moved, setup: Setup) -> float:
    """Return what part of some waits' or tests' bytes goes on: nothing of what is below the threshold altogether.

    A test that ends nothing works for all that is under way.
    """
    is_unknown = not site.sizes and not site.bytes.count
    if is_unknown or site.call_class is CallClass.TEST:
        return moved.of_all
    is_small = moved.of_all < 1 and group.size_bytes < setup.progress_threshold_bytes
    return 0.0 if is_small else moved.of_large


def select_moved(times: SiteTimes, moved: Moved, setup: Setup) -> tuple[CallGroup, ...]:
    """Return that part of a wait's or test's calls that goes on in the background."""
    return tuple(scale_group(group, choose_share(times.site, group, moved, setup)) for group in times.groups)


def scale_group(group: CallGroup, share: float) -> CallGroup:
    """Take a part of what calls move."""
    return replace(
        group,
        size_bytes=group.size_bytes * share,
        data_ns=group.data_ns * share,
        idle_ns=group.idle_ns * share,
        turn_ns=group.turn_ns * share,
    )


def find_threshold(buckets: Iterable[SizeBucket]) -> int:
    """Return the greatest power of two that nearly all bytes of these sizes reach; 0 without any."""
    ordered = sorted(buckets, key=lambda bucket: -bucket.bits)
    whole, so_far = sum(bucket.bytes_total for bucket in ordered), 0
    for bucket in ordered:
        so_far += bucket.bytes_total
        if so_far >= MOVED_SHARE_MIN * whole:
            return 1 << (bucket.bits - 1)
    return 0


def choose_threshold(profile: JobProfile, setup: Setup) -> int | None:
    """Return a lower progress threshold that the program's messages reach; None where there is nothing to lower."""
    starts = [pair for rank in profile.ranks for pair in list_starts(rank)]
    sizes = [bucket for site, bucket in starts if shorten_name(site.function) in MESSAGE_STARTS]
    threshold_bytes = find_threshold(sizes)
    is_lower = THRESHOLD_BYTES_MIN <= threshold_bytes < setup.progress_threshold_bytes
    return threshold_bytes if is_lower and setup.carries_nonblocking else None
