# SPDX-License-Identifier: MIT
"""A job's profile in memory: what the model needs, and what the record reader fills.

Times are integers in nanoseconds of a monotonic clock, sizes are in bytes, ranks are those of
MPI_COMM_WORLD. A field that was not measured is None or empty, never a guess. The calls of a rank
are those of the thread that initialised MPI; where several threads called MPI, all of them, and
`has_threaded_calls` is set. Calls that MPI functions make among themselves are not counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lapwing.model.classes import CallClass, classify_function, is_message


class Source(StrEnum):
    """Where a profile comes from: decides what can be known from it."""

    RECORD = "record"
    DOCUMENT = "document"
    MPIP = "mpiP"


class Way(StrEnum):
    """A way to run a program, and how (docs/model.md).

    EVENTS and DEDICATED help the program's own nonblocking calls only; the deferred ways help blocking
    calls, too; for the rewritten ones somebody has changed the source.
    """

    STOCK = "stock"
    EVENTS = "progress by events"
    DEDICATED = "dedicated core"
    DEFERRED = "deferred by Lapwing"
    DEFERRED_DEDICATED = "deferred, dedicated core"
    REWRITTEN = "rewritten by hand"
    REWRITTEN_DEDICATED = "rewritten, dedicated core"


def name_address(caller: str, module: str, offset: int) -> str:
    """Write a place in a program without debug information: function and address, as far as they are known."""
    name = module.rsplit("/", 1)[-1]
    address = f"{name}+{offset:#x}" if name else ""
    function = caller if not caller or caller.endswith(")") else f"{caller}()"
    return f"{function} in {address}" if function and address else function or address


UNKNOWN_PLACE = "unknown place"


@dataclass(frozen=True)
class Moments:
    """A sample in short: of times in ns or sizes in bytes. An empty one is all zeros."""

    count: int = 0
    total: int = 0
    minimum: int = 0
    maximum: int = 0

    @property
    def mean(self) -> float:
        """Return the mean; 0 of an empty sample."""
        return self.total / self.count if self.count else 0.0


@dataclass(frozen=True)
class SizeBucket:
    """The calls whose messages have `bits` binary digits: 2**(bits - 1) to 2**bits - 1 bytes; bits 0 is 0 bytes.

    A start's, send's or receive's size is that of its message (Sendrecv: the larger one of the two;
    collectives: what this rank sends or receives, the larger one). A wait's or test's size is the sum
    of the messages that it completed. time_total_ns and time_min_ns are the durations of these calls.
    """

    bits: int
    count: int
    bytes_total: int
    time_total_ns: int
    time_min_ns: int


@dataclass(frozen=True)
class SlackBucket:
    """The samples whose computation time has `bits` binary digits in ns, as in SizeBucket."""

    bits: int
    count: int
    computation_total_ns: int


@dataclass(frozen=True)
class Slack:
    """How long a transfer could have gone on beside computation, over the sampled calls of a site.

    A blocking call: from its return to the first touch of its buffer (receive: any access; send: a
    write; a later MPI or libc call that uses the memory counts as a touch; Sendrecv: the earlier of its
    two buffers). A wait (Wait, Waitall, ...): from the return of the earliest start among the requests
    that it completed to the entry of the wait.

    The buckets hold the *computation* part of each sample: the wall time less what this thread spent
    inside MPI meanwhile. Communication beside communication is not counted as overlap (NAS BT-MZ).
    Samples of one site are spread evenly over the run.
    """

    sampled_count: int
    buckets: tuple[SlackBucket, ...]
    wall_total_ns: int
    # Of the samples: those whose watch ended before a touch (a limit, MPI_Finalize); their time is a lower bound.
    censored_count: int = 0


@dataclass(frozen=True)
class Touch:
    """Where the buffers of a call site were first touched, and how often there.

    wall_total_ns: the sum of the times from the calls' returns to these touches.
    """

    count: int
    file: str = ""
    line: int = 0
    caller: str = ""
    module: str = ""
    offset: int = 0
    wall_total_ns: int = 0


@dataclass(frozen=True)
class Row:
    """What calls of a site would let travel at once, if they returned early, with messages of the calls behind them.

    Over sampled_count calls that could: bytes_total in the direction that has more; crossing_bytes of these would
    travel beside messages of the other direction that stock sends or receives after them. The calls stand in a row:
    hardly anything is computed between them, and nothing that the first one moves is touched.
    """

    sampled_count: int
    bytes_total: int
    crossing_bytes: int


@dataclass(frozen=True)
class Peer:
    """What a site exchanged with one rank."""

    rank: int
    count: int
    bytes_total: int


@dataclass(frozen=True)
class FunctionStatistics:
    """One MPI function on one rank. `time` counts every call; `bytes` the calls that move a message."""

    function: str
    time: Moments
    bytes: Moments = Moments()

    @property
    def call_class(self) -> CallClass:
        """Return the paper's class."""
        return classify_function(self.function)


@dataclass(frozen=True)
class SiteStatistics:
    """One call site on one rank: the return address of the call, in the module that holds it.

    time, bytes: as for the function. sizes: the same calls, split by message size; calls that no bucket
    counts are of unknown size.
    slack: of blocking calls and waits; None when nothing was sampled.
    late_peer_ns: the part of time.total in which no data could flow because a peer had not entered its
    matching call; None when not measured (the model then estimates it from the fastest calls).
    deferrable_count: how many of the calls Lapwing had no reason to pass; None when it did not look.
    passes: of the sampled calls, those whose buffers could not be watched, by reason.
    held_count: of the sampled calls with large messages, those from which `lapwing run` could return early; None when
    nobody asked. unheld: the others, by the reason why their memory can neither be held nor copied.
    ordered_count: of reductions, the calls whose result may change with the order of the operands, or that call a
    function of the program's: Lapwing passes these. None when not known.
    computation_before: for each call, the time since this thread's previous MPI call returned.
    sent_bytes, received_bytes: of blocking messages, those of 4 KiB or more, each direction for itself; None when not
    known.
    row: of blocking messages; None when nothing was sampled.
    """

    function: str
    time: Moments
    module: str = ""
    offset: int = 0
    file: str = ""
    line: int = 0
    caller: str = ""
    bytes: Moments = Moments()
    sizes: tuple[SizeBucket, ...] = ()
    slack: Slack | None = None
    touches: tuple[Touch, ...] = ()
    peers: tuple[Peer, ...] = ()
    late_peer_ns: int | None = None
    deferrable_count: int | None = None
    passes: Mapping[str, int] = field(default_factory=dict)
    held_count: int | None = None
    unheld: Mapping[str, int] = field(default_factory=dict)
    ordered_count: int | None = None
    computation_before: Moments = Moments()
    sent_bytes: int | None = None
    received_bytes: int | None = None
    row: Row | None = None

    @property
    def call_class(self) -> CallClass:
        """Return the paper's class."""
        return classify_function(self.function)

    @property
    def both_ways_bytes(self) -> int | None:
        """Return the bytes that calls send while they receive as many; None when not known."""
        if self.sent_bytes is None or self.received_bytes is None:
            return None
        return min(self.bytes.total, max(0, self.sent_bytes + self.received_bytes - self.bytes.total))

    @property
    def both_ways_share(self) -> float | None:
        """Return the same as a part of all bytes; None where it is not known, or there are no bytes."""
        known_bytes = self.both_ways_bytes
        return None if known_bytes is None or not self.bytes.total else known_bytes / self.bytes.total

    @property
    def lacks_sizes(self) -> bool:
        """Say whether nothing is known of the sizes of these messages: mpiP does not look at those of receives."""
        return is_message(self.function) and self.time.count > 0 and self.bytes.count == 0 and not self.sizes

    @property
    def key(self) -> tuple[str, str, int]:
        """Return what makes this the same site on other ranks and in other runs."""
        return (self.function, self.file, self.line) if self.file else (self.function, self.module, self.offset)

    @property
    def place(self) -> str:
        """Return the place for people."""
        if self.file:
            return f"{self.file}:{self.line}" if self.line else self.file
        return name_address(self.caller, self.module, self.offset) or UNKNOWN_PLACE


@dataclass(frozen=True)
class Engine:
    """What Lapwing's own progress cost on one rank, in a run that had any.

    cpu_ns: processor time of the engine thread. hold_ns: arming and releasing holds. ops, bytes_total: what
    was carried in the background.
    """

    cpu_ns: int = 0
    hold_ns: int = 0
    ops: int = 0
    bytes_total: int = 0


@dataclass(frozen=True)
class RankProfile:
    """One rank. elapsed_ns runs from the return of MPI_Init to the entry of MPI_Finalize.

    functions and sites count the same calls twice, in two ways; a call outside the span is in neither.
    is_complete: it reached MPI_Finalize. The numbers of a rank that was killed may be off by the call that it
    was in, so they are not held against each other.
    covered_ns: computation time (outside MPI) while at least one nonblocking operation of the program was
    pending; None when not measured.
    """

    rank: int
    elapsed_ns: int
    functions: tuple[FunctionStatistics, ...]
    sites: tuple[SiteStatistics, ...] = ()
    host: str = ""
    covered_ns: int | None = None
    engine: Engine | None = None
    has_threaded_calls: bool = False
    is_complete: bool = True

    @property
    def mpi_ns(self) -> int:
        """Return t_MPI: the time inside MPI."""
        return sum(function.time.total for function in self.functions)

    @property
    def computation_ns(self) -> int:
        """Return t_comp: the time outside MPI. Threads that call MPI at once can use it up; never negative."""
        return max(0, self.elapsed_ns - self.mpi_ns)

    @property
    def counted_share(self) -> float:
        """Return what part of the time in MPI is the rank's own: calls of several threads overlap, and add up."""
        if not self.has_threaded_calls or self.mpi_ns <= self.elapsed_ns:
            return 1.0
        return self.elapsed_ns / self.mpi_ns


@dataclass(frozen=True)
class Link:
    """How long a message takes when both ends are ready, and what it costs each end's processor.

    From a measurement on the same machine (round trips of `lapwing bench pingpong`, halved).
    """

    latency_ns: float
    bytes_per_s: float
    cpu_ns_per_byte: float | None = None


@dataclass(frozen=True)
class Calibration:
    """Computation times of the same work on N and on N - 1 cores, of short runs in turn.

    Without times where the cores are not those of the profile.
    """

    core_count: int
    full_ns: tuple[int, ...]
    reduced_ns: tuple[int, ...]


@dataclass(frozen=True)
class Sweep:
    """Computation times of the mean rank, in ns: some runs with each number of threads."""

    threads: tuple[int, ...]
    times_ns: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class JobProfile:
    """All ranks of one run.

    cores_per_rank: the cores that one rank computes on (N of the paper); None when not known.
    spare_cores: cores of each host that no rank computes on; an engine there slows nobody.
    scaling: the computation over threads, where that was measured; the calibration is then the fit's.
    matches_first: whether Lapwing would let receives return only when their messages have been announced (`--match`);
        None when not known.
    missing_count: how many ranks of the job are not among `ranks`.
    carries_nonblocking: whether the run's options let nonblocking operations go on under Lapwing: neither
        `--nonblocking off` nor `--progress off`.
    unknown: sentences that say what this source cannot tell.
    """

    source: Source
    ranks: tuple[RankProfile, ...]
    way: Way = Way.STOCK
    name: str = ""
    command: str = ""
    cores_per_rank: int | None = None
    spare_cores: int = 0
    link: Link | None = None
    calibration: Calibration | None = None
    scaling: Sweep | None = None
    matches_first: bool | None = None
    missing_count: int = 0
    carries_nonblocking: bool = True
    unknown: tuple[str, ...] = ()

    @property
    def rank_count(self) -> int:
        """Return the size of the job."""
        return len(self.ranks) + self.missing_count

    @property
    def has_threaded_calls(self) -> bool:
        """Say whether several threads of a rank called MPI."""
        return any(rank.has_threaded_calls for rank in self.ranks)

    @property
    def adds_up_threads(self) -> bool:
        """Say whether calls of several threads add up to more than a rank ran: they are then no parts of its time."""
        return any(rank.counted_share < 1 for rank in self.ranks)

    @property
    def elapsed_ns(self) -> int:
        """Return the time of the slowest rank."""
        return max((rank.elapsed_ns for rank in self.ranks), default=0)
