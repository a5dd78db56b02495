# SPDX-License-Identifier: MIT
"""Sums a profiled job up, one rank after the other: what all reports print."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lapwing.model.check import refuse_damaged
from lapwing.model.classes import CallClass, classify_function
from lapwing.model.profile import RankProfile, SiteStatistics, Touch, name_address
from lapwing.model.recorded import make_rank
from lapwing.model.switched import read_options, switch_off
from lapwing.profile.job_file import ProfileJob, count_jobs

CLASSES = (CallClass.BLOCKING, CallClass.WAIT, CallClass.START, CallClass.TEST, CallClass.OTHER)
SITES_MAX = 20000  # of a whole job; more are put together by function


@dataclass
class Sum:
    """Calls over all ranks."""

    count: int = 0
    time_ns: int = 0
    time_min_ns: int = 0
    time_max_ns: int = 0
    bytes: int = 0
    bytes_count: int = 0

    def add(self, entry: SiteStatistics) -> None:
        """Add the calls of one rank."""
        least = entry.time.minimum
        self.time_min_ns = least if not self.count else min(self.time_min_ns, least)
        self.time_max_ns = max(self.time_max_ns, entry.time.maximum)
        self.count += entry.time.count
        self.time_ns += entry.time.total
        self.bytes += entry.bytes.total
        self.bytes_count += entry.bytes.count

    @property
    def mean_ns(self) -> float:
        """Return the mean time of a call."""
        return self.time_ns / self.count if self.count else 0.0


@dataclass
class TouchSum:
    """A place that touches a site's buffers first."""

    file: str
    line: int
    caller: str
    module: str
    offset: int
    count: int = 0
    wall_ns: int = 0

    @property
    def mean_ns(self) -> float:
        """Return how long after the call."""
        return self.wall_ns / self.count if self.count else 0.0

    @property
    def place(self) -> str:
        """Return the place for people."""
        return describe_place(self.file, self.line, self.caller, self.module, self.offset)


@dataclass
class SiteTotals:
    """A call site over all ranks."""

    function: str
    file: str
    line: int
    caller: str
    module: str
    offset: int
    sum: Sum = field(default_factory=Sum)
    ranks: int = 0
    time_of_slowest_ns: int = 0
    sampled_count: int = 0
    censored_count: int = 0
    slack_wall_ns: int = 0
    slack_computation_ns: int = 0
    transfer_ns: float = 0.0
    touches: dict[tuple[str, int, str, int], TouchSum] = field(default_factory=dict)
    passes: Counter[str] = field(default_factory=Counter)
    held_count: int = 0
    unheld: Counter[str] = field(default_factory=Counter)
    sizes: Counter[int] = field(default_factory=Counter)
    before_ns: int = 0
    before_count: int = 0

    @property
    def call_class(self) -> CallClass:
        """Return the paper's class."""
        return classify_function(self.function)

    @property
    def place(self) -> str:
        """Return the place for people."""
        return describe_place(self.file, self.line, self.caller, self.module, self.offset)

    @property
    def slack_mean_ns(self) -> float | None:
        """Return the mean wall time of the slack; None when it was not measured."""
        return self.slack_wall_ns / self.sampled_count if self.sampled_count else None

    @property
    def computation_mean_ns(self) -> float | None:
        """Return the part of the slack in which the program computed."""
        return self.slack_computation_ns / self.sampled_count if self.sampled_count else None

    def add(self, site: SiteStatistics) -> None:
        """Add a rank's calls."""
        self.sum.add(site)
        self.ranks += 1
        self.time_of_slowest_ns = max(self.time_of_slowest_ns, site.time.total)
        self.before_ns += site.computation_before.total
        self.before_count += site.computation_before.count
        self.passes.update(site.passes)
        self.held_count += site.held_count or 0
        self.unheld.update(site.unheld)
        self.sizes.update({bucket.bits: bucket.count for bucket in site.sizes})
        # Of a size, the fastest call met a peer that was ready.
        self.transfer_ns += sum(bucket.count * bucket.time_min_ns for bucket in site.sizes)
        for touch in site.touches:
            self._add_touch(touch)
        if site.slack:
            self.sampled_count += site.slack.sampled_count
            self.censored_count += site.slack.censored_count
            self.slack_wall_ns += site.slack.wall_total_ns
            self.slack_computation_ns += sum(bucket.computation_total_ns for bucket in site.slack.buckets)

    def _add_touch(self, touch: Touch) -> None:
        where = (touch.file, touch.line, *(("", 0) if touch.file else (touch.module, touch.offset)))
        new = TouchSum(touch.file, touch.line, touch.caller, touch.module, touch.offset)
        entry = self.touches.setdefault(where, new)
        entry.count += touch.count
        entry.wall_ns += touch.wall_total_ns

    @property
    def first_touch(self) -> TouchSum | None:
        """Return the most frequent place of the first touch."""
        return max(self.touches.values(), key=lambda touch: touch.count, default=None)


@dataclass(frozen=True)
class RankRow:
    """A rank in short."""

    rank: int
    host: str
    elapsed_ns: int
    computation_ns: int
    class_ns: Mapping[CallClass, int]
    is_complete: bool
    has_threaded_calls: bool = False


@dataclass
class JobTotals:
    """A whole job."""

    about: Mapping[str, Any]
    ranks: list[RankRow] = field(default_factory=list)
    functions: dict[str, Sum] = field(default_factory=dict)
    sites: dict[tuple[str, str, int], SiteTotals] = field(default_factory=dict)
    watch_count: int = 0
    watch_cost_ns: int = 0
    lost_calls: int = 0
    lost_requests: int = 0
    libraries: Counter[str] = field(default_factory=Counter)
    world_size: int = 0

    @property
    def elapsed_ns(self) -> int:
        """Return the time of the slowest rank."""
        return max((rank.elapsed_ns for rank in self.ranks), default=0)

    @property
    def rank_time_ns(self) -> int:
        """Return the sum of the ranks' times: what shares are parts of."""
        return sum(rank.elapsed_ns for rank in self.ranks)

    @property
    def has_threaded_calls(self) -> bool:
        """Say whether several threads of a rank called MPI: their times add up, maybe to more than the rank's."""
        return any(rank.has_threaded_calls for rank in self.ranks)

    @property
    def job_count(self) -> int:
        """Return how many jobs the command started: more than one where a script has several launchers."""
        return count_jobs(rank.rank for rank in self.ranks)

    @property
    def computation_ns(self) -> int:
        """Return the time outside MPI."""
        return sum(rank.computation_ns for rank in self.ranks)

    def class_ns(self, call_class: CallClass) -> int:
        """Return the time in calls of a class."""
        return sum(rank.class_ns.get(call_class, 0) for rank in self.ranks)

    def class_count(self, call_class: CallClass) -> int:
        """Return the calls of a class."""
        return sum(total.count for name, total in self.functions.items() if classify_function(name) is call_class)

    def class_bytes(self, call_class: CallClass) -> int:
        """Return the bytes of the messages of a class."""
        return sum(total.bytes for name, total in self.functions.items() if classify_function(name) is call_class)

    def list_sites(self) -> list[SiteTotals]:
        """Return the sites, the longest first."""
        return sorted(self.sites.values(), key=lambda site: -site.sum.time_ns)

    def list_functions(self) -> list[tuple[str, Sum]]:
        """Return the functions, the longest first."""
        return sorted(self.functions.items(), key=lambda entry: -entry[1].time_ns)

    def add(self, rank: RankProfile) -> None:
        """Add a rank."""
        times: Counter[CallClass] = Counter()
        for site in rank.sites:
            times[site.call_class] += site.time.total
            self.functions.setdefault(site.function, Sum()).add(site)
            self._find_site(site).add(site)
        computation_ns = rank.computation_ns
        marks = (rank.is_complete, rank.has_threaded_calls)
        self.ranks.append(RankRow(rank.rank, rank.host, rank.elapsed_ns, computation_ns, dict(times), *marks))

    def _find_site(self, site: SiteStatistics) -> SiteTotals:
        is_full = len(self.sites) >= SITES_MAX and site.key not in self.sites
        key = (site.function, "", 0) if is_full else site.key
        place = ("", 0, "", "", 0) if is_full else (site.file, site.line, site.caller, site.module, site.offset)
        return self.sites.setdefault(key, SiteTotals(site.function, *place))


def describe_place(file: str, line: int, caller: str, module: str, offset: int) -> str:
    """Write a place for people: file and line, else function and address."""
    if file:
        return f"{file.rsplit('/', 1)[-1]}:{line}"
    return name_address(caller, module, offset) or "an unknown place"


def sum_profile(job: ProfileJob) -> JobTotals:
    """Sum a record up; one rank is in memory at a time."""
    totals, options = JobTotals(job.about), read_options(job.about, str(job.path))
    for rank, atlas in job.iterate_ranks():
        found = switch_off(make_rank(rank, atlas), options)
        totals.add(found if job.is_checked else refuse_damaged(found, str(job.path)))
        totals.watch_count += rank.header.watch_count
        totals.watch_cost_ns += rank.header.watch_cost_ns
        totals.lost_calls += rank.header.lost_calls
        totals.lost_requests += rank.header.lost_requests
        totals.libraries[rank.header.mpi_library] += 1
        totals.world_size = max(totals.world_size, rank.header.size)
    return totals
