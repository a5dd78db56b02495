# SPDX-License-Identifier: MIT
"""A simulated MPI of ranks that compute and exchange messages: the model's predictions are held against it.

It knows nothing of the model: ranks are sequences of steps, and every message has a time at which its
sender and its receiver are ready for it. Without progress a nonblocking operation is only ready inside its
wait; with progress from its start. Messages of one direction follow each other on the link. The same
program is run in several ways; the stock run is also written down as a profile.
"""

from collections import defaultdict
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from lapwing.model.profile import (
    FunctionStatistics,
    JobProfile,
    Moments,
    RankProfile,
    SiteStatistics,
    SizeBucket,
    Slack,
    SlackBucket,
    Source,
    Way,
)

CALL_NS = 300
NS_PER_BYTE = 8.0  # 1 Gb/s


@dataclass(frozen=True)
class Step:
    """One step of a rank. message: its number, the same on both ranks. site: stands for a place in the source."""

    verb: str  # compute, send, recv, isend, irecv, wait, touch
    site: str = ""
    time_ns: float = 0.0
    messages: tuple[int, ...] = ()
    size_bytes: int = 0


Program = Sequence[Step]
FUNCTIONS = {"send": "MPI_Send", "recv": "MPI_Recv", "isend": "MPI_Isend", "irecv": "MPI_Irecv", "wait": "MPI_Waitall"}


@dataclass
class Log:
    """What one rank did: durations, slack and computation before by site, its end."""

    calls: dict[tuple[str, str], list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))
    slack: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    before: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    end_ns: float = 0.0
    covered_ns: float = 0.0


@dataclass
class Message:
    """One message: when its ends are ready for it."""

    size_bytes: int = 0
    ready_ns: dict[str, float] = field(default_factory=dict)
    done_ns: float | None = None


class Simulation:
    """One run of two ranks."""

    def __init__(self, programs: Sequence[Program], way: Way, ratio: float = 1.0) -> None:
        self.programs = programs
        self.has_progress = way in (Way.EVENTS, Way.DEDICATED, Way.DEFERRED, Way.DEFERRED_DEDICATED)
        self.defers = way in (Way.DEFERRED, Way.DEFERRED_DEDICATED)
        self.ratio = ratio if way in (Way.DEDICATED, Way.DEFERRED_DEDICATED) else 1.0
        self.messages: dict[int, Message] = defaultdict(Message)
        self.link_free_ns: dict[int, float] = defaultdict(float)
        self.order: dict[int, list[int]] = {rank: self.list_sends(rank) for rank in range(len(programs))}
        self.logs = [Log() for _ in programs]

    def list_sends(self, rank: int) -> list[int]:
        """Return the rank's outgoing messages in order."""
        return [n for step in self.programs[rank] if step.verb in ("send", "isend") for n in step.messages]

    def advance_link(self, rank: int) -> None:
        """Let the rank's outgoing messages pass, in order, as far as both ends are known to be ready."""
        while self.order[rank]:
            message = self.messages[self.order[rank][0]]
            if len(message.ready_ns) < 2:
                return
            begin_ns = max(*message.ready_ns.values(), self.link_free_ns[rank])
            message.done_ns = self.link_free_ns[rank] = begin_ns + message.size_bytes * NS_PER_BYTE
            self.order[rank].pop(0)

    def run(self) -> list[Log]:
        """Run all ranks to their ends."""
        waiting = dict(enumerate(self.execute(rank) for rank in range(len(self.programs))))
        while waiting:
            before = sum(len(m.ready_ns) for m in self.messages.values()), sum(map(len, self.order.values()))
            finished = [rank for rank, generator in waiting.items() if next(generator, "end") == "end"]
            for rank in range(len(self.programs)):
                self.advance_link(rank)
            for rank in finished:
                del waiting[rank]
            after = sum(len(m.ready_ns) for m in self.messages.values()), sum(map(len, self.order.values()))
            assert finished or before != after, "the simulated program is deadlocked"
        return self.logs

    def wait_for(self, numbers: Sequence[int]) -> Generator[str, None, float]:
        """Give other ranks their turn until the messages are over; return when the last one was."""
        while any(self.messages[number].done_ns is None for number in numbers):
            yield "blocked"
        return max((self.messages[number].done_ns or 0.0 for number in numbers), default=0.0)

    def execute(self, rank: int) -> Generator[str, None, None]:
        """Run one rank."""
        log, now, computed, computed_at_call = self.logs[rank], 0.0, 0.0, 0.0
        ends: dict[int, str] = {}
        returned: dict[int, tuple[float, float, tuple[str, str]]] = {}
        started: dict[int, tuple[float, float]] = {}
        pending: set[int] = set()
        for step in self.programs[rank]:
            begin, key = now, (FUNCTIONS.get(step.verb, ""), step.site)
            if step.verb == "compute":
                now += step.time_ns * self.ratio
                computed += step.time_ns * self.ratio
                log.covered_ns += step.time_ns * self.ratio if pending else 0.0
                continue
            if step.verb == "touch":
                for number in step.messages:
                    if number in returned:
                        wall, before, site = returned.pop(number)
                        log.slack[site].append((computed - before, now - wall))
                now = max(now, (yield from self.wait_for(step.messages)))
                continue
            for number in step.messages if step.verb != "wait" else ():
                ends[number] = "send" if "send" in step.verb else "recv"
                self.messages[number].size_bytes = step.size_bytes
                if self.has_progress or not step.verb.startswith("i"):
                    self.messages[number].ready_ns[ends[number]] = now
            now += CALL_NS
            if step.verb in ("send", "recv") and not self.defers:
                now = max(now, (yield from self.wait_for(step.messages)))
            if step.verb in ("send", "recv"):
                returned.update(dict.fromkeys(step.messages, (now, computed, key)))
            if step.verb in ("isend", "irecv"):
                pending.update(step.messages)
                started.update(dict.fromkeys(step.messages, (now, computed)))
            if step.verb == "wait":
                for number in step.messages:
                    self.messages[number].ready_ns.setdefault(ends[number], begin)
                first, before = min(started[number] for number in step.messages)
                log.slack[key].append((computed - before, begin - first))
                now = max(now, (yield from self.wait_for(step.messages)))
                pending.difference_update(step.messages)
            size = step.size_bytes or sum(self.messages[number].size_bytes for number in step.messages)
            log.calls[key].append((now - begin, size))
            log.before[key].append(computed - computed_at_call)
            computed_at_call = computed
        log.end_ns = now


def make_moments(values: Sequence[float]) -> Moments:
    """Summarise."""
    rounded = [round(value) for value in values]
    return Moments(len(rounded), sum(rounded), min(rounded), max(rounded)) if rounded else Moments()


def make_sizes(calls: Sequence[tuple[float, int]]) -> tuple[SizeBucket, ...]:
    """Put calls into buckets of size."""
    buckets: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for call in calls:
        buckets[call[1].bit_length()].append(call)
    return tuple(
        SizeBucket(bits, len(rows), sum(r[1] for r in rows), round(sum(r[0] for r in rows)), round(min(rows)[0]))
        for bits, rows in sorted(buckets.items())
    )


def make_slack(samples: Sequence[tuple[float, float]]) -> Slack | None:
    """Put slack samples into buckets."""
    buckets: dict[int, list[float]] = defaultdict(list)
    for computation_ns, _ in samples:
        buckets[round(computation_ns).bit_length()].append(computation_ns)
    rows = tuple(SlackBucket(bits, len(b), round(sum(b))) for bits, b in sorted(buckets.items()))
    return Slack(len(samples), rows, round(sum(wall for _, wall in samples))) if samples else None


def make_rank(rank: int, log: Log) -> RankProfile:
    """Write a rank's log down as a recorder would."""
    sites = [
        SiteStatistics(
            function=function,
            time=make_moments([time for time, _ in calls]),
            file=place,
            line=1,
            bytes=make_moments([float(size) for _, size in calls]),
            sizes=make_sizes(calls),
            slack=make_slack(log.slack[function, place]),
            computation_before=make_moments(log.before[function, place]),
        )
        for (function, place), calls in log.calls.items()
    ]
    by_function: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for (function, _), calls in log.calls.items():
        by_function[function] += calls
    functions = tuple(
        FunctionStatistics(name, make_moments([t for t, _ in calls]), make_moments([float(s) for _, s in calls]))
        for name, calls in by_function.items()
    )
    return RankProfile(rank, round(log.end_ns), functions, tuple(sites), f"h{rank}", round(log.covered_ns))


def profile_programs(programs: Sequence[Program], way: Way = Way.STOCK, ratio: float = 1.0) -> JobProfile:
    """Run in a way and return the profile, as for ranks of 16 cores."""
    logs = Simulation(programs, way, ratio).run()
    ranks = tuple(make_rank(rank, log) for rank, log in enumerate(logs))
    return JobProfile(Source.DOCUMENT, ranks, way, cores_per_rank=16)


def measure_programs(programs: Sequence[Program], way: Way, ratio: float = 1.0) -> float:
    """Run in a way and return the job's time in ns."""
    return max(log.end_ns for log in Simulation(programs, way, ratio).run())
