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
    Peer,
    RankProfile,
    Row,
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


Key = tuple[str, str]  # function and site


@dataclass
class Log:
    """What one rank did: durations, slack and computation before by site, its end."""

    calls: dict[Key, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))
    slack: dict[Key, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    before: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[Key, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    end_ns: float = 0.0
    covered_ns: float = 0.0


@dataclass
class OpenRow:
    """A blocking call whose buffer is untouched: what it and the calls behind it have sent and received."""

    key: Key
    verb: str
    size_bytes: int
    behind: dict[str, int] = field(default_factory=lambda: {"send": 0, "recv": 0})

    def find_spared(self) -> int:
        """Return what travels at once with the call beyond what does without it."""
        with_call = dict(self.behind)
        with_call[self.verb] += self.size_bytes
        return min(with_call.values()) - min(self.behind.values())


@dataclass
class Rank:
    """Where one rank is. now_ns: its clock; computed_ns: what of it was computation, and how much at the last call.

    ends: of which end of a message it is. returned, started: clock and computation when a blocking call returned, or a
    nonblocking one; pending: what was started and not waited for.
    """

    log: Log
    now_ns: float = 0.0
    computed_ns: float = 0.0
    computed_at_call_ns: float = 0.0
    ends: dict[int, str] = field(default_factory=dict)
    returned: dict[int, tuple[float, float, Key]] = field(default_factory=dict)
    started: dict[int, tuple[float, float]] = field(default_factory=dict)
    pending: set[int] = field(default_factory=set)
    rows: dict[int, OpenRow] = field(default_factory=dict)

    def note_row(self, numbers: Sequence[int], key: Key, verb: str, size_bytes: int) -> None:
        """Note a blocking call behind those whose buffers are untouched, unless there is work between them."""
        for row in self.rows.values() if self.computed_ns == self.computed_at_call_ns else ():
            row.behind[verb] += size_bytes
        self.rows.update({number: OpenRow(key, verb, size_bytes) for number in numbers})

    def compute(self, time_ns: float) -> None:
        """Compute."""
        self.now_ns += time_ns
        self.computed_ns += time_ns
        self.log.covered_ns += time_ns if self.pending else 0.0

    def note_return(self, numbers: Sequence[int], key: Key, is_blocking: bool) -> None:
        """Note when the call came back that messages were begun with."""
        if is_blocking:
            self.returned.update(dict.fromkeys(numbers, (self.now_ns, self.computed_ns, key)))
            return
        self.pending.update(numbers)
        self.started.update(dict.fromkeys(numbers, (self.now_ns, self.computed_ns)))

    def note_touch(self, numbers: Sequence[int]) -> None:
        """Log the slack of the calls whose buffers are touched for the first time."""
        for number in numbers:
            if number in self.rows:
                row = self.rows.pop(number)
                self.log.rows[row.key].append((row.size_bytes, row.find_spared()))
            if number in self.returned:
                returned_ns, computed_ns, key = self.returned.pop(number)
                self.log.slack[key].append((self.computed_ns - computed_ns, self.now_ns - returned_ns))

    def note_wait(self, numbers: Sequence[int], key: Key, begin_ns: float) -> None:
        """Log the slack of a wait: since the earliest start."""
        first_ns, computed_ns = min(self.started[number] for number in numbers)
        self.log.slack[key].append((self.computed_ns - computed_ns, begin_ns - first_ns))

    def log_call(self, key: Key, time_ns: float, size_bytes: int) -> None:
        """Log a call that is over."""
        self.log.calls[key].append((time_ns, size_bytes))
        self.log.before[key].append(self.computed_ns - self.computed_at_call_ns)
        self.computed_at_call_ns = self.computed_ns


@dataclass
class Message:
    """One message: when its ends are ready for it."""

    size_bytes: int = 0
    ready_ns: dict[str, float] = field(default_factory=dict)
    done_ns: float | None = None


class Simulation:
    """One run of two ranks.

    contention: by what part of itself a transfer in a wait becomes longer where a thread polls beside it.
    """

    def __init__(self, programs: Sequence[Program], way: Way, ratio: float = 1.0, contention: float = 0.0) -> None:
        self.programs = programs
        self.contention = contention if way in (Way.DEDICATED, Way.DEFERRED_DEDICATED) else 0.0
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

    def find_ready_ns(self, numbers: Sequence[int], begin_ns: float) -> float:
        """Return when both ends were ready for the last of some messages, but not before a wait's begin."""
        return max([begin_ns, *(time_ns for number in numbers for time_ns in self.messages[number].ready_ns.values())])

    def execute(self, number: int) -> Generator[str, None, None]:
        """Run one rank."""
        rank = Rank(self.logs[number])
        for step in self.programs[number]:
            if step.verb == "compute":
                rank.compute(step.time_ns * self.ratio)
            elif step.verb == "touch":
                rank.note_touch(step.messages)
                yield from self.block(rank, step.messages)
            else:
                yield from self.call(rank, step)
        rank.log.end_ns = rank.now_ns

    def block(self, rank: Rank, numbers: Sequence[int]) -> Generator[str, None, None]:
        """Let a rank wait until the messages are over."""
        rank.now_ns = max(rank.now_ns, (yield from self.wait_for(numbers)))

    def call(self, rank: Rank, step: Step) -> Generator[str, None, None]:
        """Run one MPI call, and log it."""
        begin_ns, key = rank.now_ns, (FUNCTIONS[step.verb], step.site)
        rank.now_ns += CALL_NS
        if step.verb == "wait":
            yield from self.wait(rank, step.messages, key, begin_ns)
        else:
            yield from self.start(rank, step, key, begin_ns)
        size = step.size_bytes or sum(self.messages[number].size_bytes for number in step.messages)
        rank.log_call(key, rank.now_ns - begin_ns, size)

    def start(self, rank: Rank, step: Step, key: Key, begin_ns: float) -> Generator[str, None, None]:
        """Begin messages; a blocking call waits for them, where it is not deferred."""
        is_blocking = not step.verb.startswith("i")
        for number in step.messages:
            rank.ends[number] = "send" if "send" in step.verb else "recv"
            self.messages[number].size_bytes = step.size_bytes
            if self.has_progress or is_blocking:
                self.messages[number].ready_ns[rank.ends[number]] = begin_ns
        if is_blocking and not self.defers:
            yield from self.block(rank, step.messages)
        if is_blocking:
            rank.note_row(step.messages, key, step.verb, step.size_bytes)
        rank.note_return(step.messages, key, is_blocking)

    def wait(self, rank: Rank, numbers: Sequence[int], key: Key, begin_ns: float) -> Generator[str, None, None]:
        """Wait for messages that were begun: without progress they are ready only now."""
        for number in numbers:
            self.messages[number].ready_ns.setdefault(rank.ends[number], begin_ns)
        rank.note_wait(numbers, key, begin_ns)
        yield from self.block(rank, numbers)
        rank.now_ns += self.contention * max(0.0, rank.now_ns - self.find_ready_ns(numbers, begin_ns))
        rank.pending.difference_update(numbers)


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


def make_row(rows: Sequence[tuple[int, int]]) -> Row | None:
    """Add up what crosses."""
    return Row(len(rows), sum(size for size, _ in rows), sum(spared for _, spared in rows)) if rows else None


def make_peers(rank: int, calls: Sequence[tuple[float, int]]) -> tuple[Peer, ...]:
    """All goes to the other rank of two."""
    return (Peer(1 - rank, len(calls), sum(size for _, size in calls)),)


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
            peers=make_peers(rank, calls),
            row=make_row(log.rows[function, place]),
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


def measure_programs(programs: Sequence[Program], way: Way, ratio: float = 1.0, contention: float = 0.0) -> float:
    """Run in a way and return the job's time in ns."""
    return max(log.end_ns for log in Simulation(programs, way, ratio, contention).run())
