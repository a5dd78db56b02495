# SPDX-License-Identifier: MIT
"""What must hold in any profile, whoever wrote it: the model divides and pools without looking again."""

from collections.abc import Callable, Iterator
from functools import partial

from lapwing.errors import RecordError
from lapwing.model.profile import JobProfile, Moments, RankProfile, SiteStatistics, SizeBucket, SlackBucket, Source
from lapwing.model.scaling import is_sound_sweep
from lapwing.profile.job_file import ONE_JOB_REMEDY, SEVERAL_JOBS, count_jobs


def check_moments(moments: Moments, place: str) -> None:
    """Check that count, sum and extremes can belong to one sample."""
    if moments.count == 0 and moments.total == 0:
        return
    # One part in 1000 for readers of rounded reports.
    fits = moments.minimum * moments.count <= moments.total * 1.001 + moments.count
    if moments.count == 0 or not fits or moments.minimum > moments.maximum:
        raise ValueError(f"the numbers of {place} contradict each other")


def check_size_bucket(bucket: SizeBucket, place: str) -> None:
    """Check one bucket of sizes."""
    if bucket.bits > 63 or bucket.time_min_ns * bucket.count > bucket.time_total_ns * 1.001 + bucket.count:
        raise ValueError(f"the message sizes of {place} contradict each other")


def check_slack_bucket(bucket: SlackBucket, place: str) -> None:
    """Check one bucket of slack."""
    if bucket.bits > 63 or (bucket.count == 0 and bucket.computation_total_ns > 0):
        raise ValueError(f"the slack of {place} contradicts itself")


def check_site(site: SiteStatistics, place: str) -> None:
    """Check one site."""
    check_moments(site.time, place)
    check_moments(site.bytes, place)
    for size in site.sizes:
        check_size_bucket(size, place)
    if sum(size.count for size in site.sizes) > site.time.count:
        raise ValueError(f"the message sizes of {place} add up to more than its calls")
    for bucket in site.slack.buckets if site.slack else ():
        check_slack_bucket(bucket, place)


def check_rank(rank: RankProfile) -> None:
    """Check one rank. One that was killed may have counted a call and not yet its time."""
    if not rank.is_complete:
        return
    for function in rank.functions:
        check_moments(function.time, f"{function.function} on rank {rank.rank}")
    for site in rank.sites:
        check_site(site, f"{site.function} at {site.place} on rank {rank.rank}")
    if rank.mpi_ns > rank.elapsed_ns * 1.01 + 1000 and not rank.has_threaded_calls:
        raise ValueError(f"rank {rank.rank} spends more time in MPI than it runs")


def list_samples(rank: RankProfile) -> Iterator[tuple[str, Moments]]:
    """Yield the samples of a rank, each with its place."""
    for function in rank.functions:
        yield f"{function.function} on rank {rank.rank}", function.time
    for site in rank.sites:
        for moments in (site.time, site.bytes):
            yield f"{site.function} at {site.place} on rank {rank.rank}", moments


def check_maxima(rank: RankProfile, may_lack: bool = False) -> None:
    """Check that no mean lies above its maximum. may_lack: a maximum of 0 is one that the writer did not know."""
    for place, moments in list_samples(rank) if rank.is_complete else ():
        is_known = moments.maximum > 0 or not may_lack
        if is_known and moments.total > moments.maximum * moments.count * 1.001 + moments.count:
            raise ValueError(f"the numbers of {place} contradict each other")


def refuse(check: Callable[[], None], source: str) -> None:
    """Turn what a check finds into the one error that names it."""
    try:
        check()
    except ValueError as error:
        raise RecordError(f"{source} is damaged: {error}", "profile again") from error


def refuse_damaged(rank: RankProfile, source: str) -> RankProfile:
    """Return a rank of a record without a check, in which any bit may have changed; refuse contradictions."""
    refuse(partial(check_rank, rank), source)
    refuse(partial(check_maxima, rank), source)
    return rank


def check_ranks_differ(profile: JobProfile, source: str) -> None:
    """Refuse a rank that is there twice: in a record of ours there are then several jobs."""
    count = count_jobs(rank.rank for rank in profile.ranks)
    if count > 1 and profile.source is Source.RECORD:
        raise RecordError(f"{source} holds {count} jobs: {SEVERAL_JOBS}", ONE_JOB_REMEDY)
    if count > 1:
        raise RecordError(f"{source} holds the same rank twice", "profile again")


def check_profile(profile: JobProfile, source: str) -> JobProfile:
    """Return the profile, or raise the one error that names its first contradiction."""
    if not profile.ranks or profile.elapsed_ns == 0:
        raise RecordError(f"{source} holds no rank that ran", "profile a run that reaches MPI_Finalize")
    check_ranks_differ(profile, source)
    for rank in profile.ranks:
        refuse(partial(check_rank, rank), source)
        if profile.source is not Source.RECORD:
            refuse(partial(check_maxima, rank, may_lack=True), source)
    refuse(partial(check_setting, profile), source)
    return profile


def check_setting(profile: JobProfile) -> None:
    """Check what stands beside the ranks."""
    if profile.link is not None and profile.link.bytes_per_s <= 0:
        raise ValueError("the link carries nothing")
    calibration = profile.calibration
    if calibration is not None and (
        not calibration.full_ns or not calibration.reduced_ns or min(calibration.full_ns) == 0
    ):
        raise ValueError("the calibration has no times")
    if profile.scaling is not None and not is_sound_sweep(profile.scaling):
        raise ValueError("the sweep over threads lacks times, or has the same number twice")
