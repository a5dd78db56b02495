# SPDX-License-Identifier: MIT
"""Makes random MPI programs that are correct: from a seed, and nothing else.

Events are planned in one global order in which every blocking call could be carried out at once; each rank runs its
part of it. So a program cannot deadlock, whatever is buffered (MPI 4.1, 3.5), and since nothing depends on timing, a
program gives the same result in every run: the same bytes, statuses and return codes.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import layouts
from language import Line, Program
from layouts import BUILTINS, Block, Layout

HEAP, ALIGNED, MAPPED, HUGE, STATIC, STACK, MPI_MEMORY, ARENA, SHARED, FILE = range(1, 11)
KIND_WEIGHTS = dict(zip(range(1, 11), (6, 3, 14, 1, 4, 1, 1, 8, 1, 1), strict=True))  # of memory, in that order
PLACE_BYTES = {STATIC: 8 << 20, ARENA: 8 << 20, STACK: 1 << 20}
PLACE_ALIGNMENT = 8
REQUESTS, STATUSES, JOB_STATUSES, TYPES_MAX, COMMS_MAX, BUFFERS_MAX = 48, 24, range(24, 32), 76, 12, 480
STANDARD, SYNCHRONOUS, BUFFERED, READY = range(4)
WAYS_TO_WAIT, WAIT, WAITALL = 9, 0, 2  # run_wait() of interpreter/requests.c
COMMON_TAG, ANY, NULL, AT_ROOT, IGNORED, IN_PLACE = 7, -1, -2, -3, -1, -1
ATTACHED_BYTES, ATTACHED_OVERHEAD = 4 << 20, 2048
PAGE_BYTES = 4096
BUFFER_BYTES_MOST = 400000
GATHERED_BYTES_MOST = 1500000  # several pieces
BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, SCAN, REDUCE_SCATTER, EXSCAN = range(11)
LISTED = 10  # and the number of a function: the one that names counts rank by rank (interpreter/collectives.c)
PARTS = 10  # block_count()
IN_PLACE_AT_ROOT = (REDUCE, GATHER, SCATTER)  # the others: on all ranks, but for MPI_Bcast
MOVING = (BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL)  # any type; the others reduce
# Operations, and the types that they are defined for (MPI 4.1, 6.9.2), if their bits are the same in any order.
SUM, MAX, BXOR, MIN, PROD, BAND, BOR, LAND, LOR, LXOR, MINLOC, MAXLOC = range(12)
INTEGERS = (
    layouts.SHORT, layouts.INT, layouts.UINT64_T, layouts.UNSIGNED, layouts.SIGNED_CHAR, layouts.UNSIGNED_CHAR,
    layouts.UNSIGNED_SHORT, layouts.LONG, layouts.UNSIGNED_LONG, layouts.LONG_LONG, layouts.UNSIGNED_LONG_LONG,
)  # fmt: skip
FLOATS = (layouts.DOUBLE, layouts.FLOAT)
REDUCTIONS: Mapping[int, Sequence[int]] = {
    **dict.fromkeys((SUM, PROD, LAND, LOR, LXOR), INTEGERS),
    **dict.fromkeys((BXOR, BAND, BOR), (*INTEGERS, layouts.BYTE)),
    **dict.fromkeys((MAX, MIN), (*INTEGERS, *FLOATS, *FLOATS)),
    **dict.fromkeys((MINLOC, MAXLOC), (layouts.TWO_INTS,)),
}
OFTEN_REDUCED = (layouts.INT, layouts.UNSIGNED)  # MPI_SUM of these is what ranks may add up themselves
# Functions between two groups: its number, and what makes it the one with lists.
BETWEEN = (
    *((what, 0) for what in (BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE_SCATTER)),
    *((what, LISTED) for what in (GATHER, SCATTER, ALLGATHER, ALLTOALL)),
    (ALLTOALL, LISTED + 1),
)
# Functions among neighbors: the plain one's number, and what makes it theirs.
AMONG_NEIGHBORS = 14
NEIGHBORED = (
    *((what, AMONG_NEIGHBORS) for what in (ALLGATHER, ALLTOALL)),
    *((what, AMONG_NEIGHBORS + 2) for what in (ALLGATHER, ALLTOALL)),
    (ALLTOALL, AMONG_NEIGHBORS + 3),
)

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Features:
    """What a program may use. Lapwing turns itself off for some of it, so not every program has it."""

    ranks: int = 2
    threads: bool = False  # a second thread that touches memory
    multiple: bool = False  # ... and calls MPI
    buffered: bool = False  # MPI_Bsend
    truncation: bool = True
    collectives: bool = True
    forks: bool = True
    requests: bool = True  # many nonblocking and persistent calls; without, more is deferred
    early: bool = False  # nothing that early receives refuse: synchronous sends, matched probes, persistent receives


@dataclass(eq=False)
class Busy:
    """Bytes of a buffer that a pending operation reads or writes."""

    blocks: Sequence[Block]
    is_written: bool


@dataclass(eq=False)
class Buffer:
    """Memory of one rank."""

    index: int
    kind: int
    length: int
    busy: list[Busy] = field(default_factory=list)

    def is_free(self, blocks: Sequence[Block], is_written: bool) -> bool:
        """May an operation use these bytes now?"""
        return not any((is_written or busy.is_written) and layouts.overlap(blocks, busy.blocks) for busy in self.busy)


@dataclass(eq=False)
class Comm:
    """A communicator: one group, or two for an intercommunicator."""

    index: int
    sides: tuple[tuple[int, ...], ...]
    users: int = 0  # pending operations
    is_ring: bool = False  # its ranks have neighbors

    @property
    def members(self) -> tuple[int, ...]:
        """All ranks (of MPI_COMM_WORLD)."""
        return tuple(rank for side in self.sides for rank in side)

    @property
    def is_inter(self) -> bool:
        """Two groups?"""
        return len(self.sides) == 2

    def peers(self, rank: int) -> tuple[int, ...]:
        """Whom a rank can send to."""
        return self.sides[1] if self.is_inter and rank in self.sides[0] else self.sides[0]

    def number(self, rank: int, other: int) -> int:
        """What a rank calls another one here."""
        return self.peers(rank).index(other)


@dataclass(eq=False)
class Pending:
    """A request, or a job of the second thread, that must be waited for."""

    slot: int  # -1: a job
    group: int
    comm: Comm | None
    buffers: list[tuple[Buffer, Busy]]
    is_ready: bool = False  # its counterpart has been started: a wait will end
    persistent: "Persistent | None" = None
    undefined: "Undefined | None" = None  # what it leaves so


@dataclass(frozen=True)
class Undefined:
    """Bytes that an operation may leave in any state: they are written before anybody looks."""

    buffer: Buffer
    offset: int
    length: int


@dataclass(eq=False)
class Persistent:
    """A persistent request. `message`: what its next start says."""

    slot: int
    group: int
    message: "Message"
    buffer: Buffer
    blocks: Sequence[Block]
    is_send: bool
    mode: int = STANDARD


@dataclass(eq=False)
class Stream:
    """The messages from one rank to another on a communicator, which MPI keeps in order (3.5)."""

    unposted: list["Message"] = field(default_factory=list)  # sent; the receive has not been posted
    reserved: "Message | None" = None  # a receive that would take any message waits for this one


@dataclass(frozen=True)
class Place:
    """Where an operation reads or writes."""

    buffer: Buffer
    offset: int
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Call:
    """A collective, as all ranks or one of them call it. `form`: what makes a function's number that of its twin."""

    group: int
    comm: Comm
    what: int
    form: int
    root: int
    operation: int
    layout: Layout
    count: int
    is_nonblocking: bool
    is_in_place: bool = False

    @property
    def is_reduction(self) -> bool:
        """Does it use its operation?"""
        return self.what not in (BARRIER, *MOVING)


@dataclass(eq=False)
class Message:
    """One message; either half may be started first if it is nonblocking."""

    group: int
    comm: Comm
    source: int
    dest: int
    tag: int
    is_loose: bool  # received with MPI_ANY_TAG, or sent with a tag that others have too
    sent: Layout
    sent_count: int
    received: Layout
    received_count: int
    send_form: str
    receive_form: str
    is_sent: bool = False
    is_posted: bool = False
    halves: list[Pending] = field(default_factory=list)

    @property
    def stream(self) -> tuple[int, int, int]:
        """Its stream's key; several communicators of one split share an index but no rank."""
        return (self.comm.index, self.source, self.dest)


@dataclass(eq=False)
class Rank:
    """What one rank has."""

    buffers: list[Buffer] = field(default_factory=list)
    made: int = 0
    pending: list[Pending] = field(default_factory=list)
    persistent: list[Persistent] = field(default_factory=list)
    slots: list[int] = field(default_factory=lambda: list(range(REQUESTS)))
    statuses: dict[int, int] = field(default_factory=dict)  # slot to type
    recent: list[tuple[Buffer, int, Block]] = field(default_factory=list)
    place_bytes: dict[int, int] = field(default_factory=lambda: dict.fromkeys(PLACE_BYTES, 0))
    job: Pending | None = None
    attached: int = 0  # bytes of the attached buffer that sends may have used


def block_count(count: int, step: int) -> int:
    """A block's length, as in interpreter/lists.c."""
    is_short = count % 4 == 1 and step % 2 == 0
    return count // PARTS**2 if is_short else count - count // PARTS * (step % PARTS)


class Draft:
    """A program in the making."""

    def __init__(self, seed: int, features: Features) -> None:
        self.random = random.Random(seed)
        self.features = features
        self.ranks = [Rank() for _ in range(features.ranks)]
        self.lines: list[Line] = []
        self.layouts = list(BUILTINS)
        self.dead_types: set[int] = set()
        world = Comm(0, (tuple(range(features.ranks)),))
        self.comms = [world]
        self.alone = [Comm(1, ((rank,),)) for rank in range(features.ranks)]
        self.comms_made = 2
        self.job_comm: Comm | None = None
        self.streams: dict[tuple[int, int, int], Stream] = {}
        self.halves: list[Message] = []
        self.groups = 0
        self.tags = 100

    # Small choices.

    def chance(self, one_in: float) -> bool:
        """True once in so many times."""
        return self.random.random() * one_in < 1

    def pick(self, weights: Mapping[Choice, int]) -> Choice:
        """One of the keys, by weight."""
        return self.random.choices(list(weights), list(weights.values()))[0]

    def group(self) -> int:
        """A new group of lines."""
        self.groups += 1
        return self.groups

    def tag(self) -> int:
        """A tag that no other message has."""
        self.tags += 1
        return self.tags

    def emit(self, rank: int, group: int, name: str, *numbers: int, is_job: bool = False) -> None:
        """Add a line."""
        self.lines.append(Line(rank, group, name, numbers, is_job))
        if self.chance(40):
            self.lines.append(Line(rank, self.group(), "pause", (self.random.choice((20, 60, 200, 600)),)))

    def length(self) -> int:
        """Bytes of a message: many small ones, many around page and threshold sizes, some large."""
        limit = self.random.choice((8, 200, 5000, 9000, 66000, 66000, 140000, 250000))
        near = self.random.choice((0, 1, 4095, 4096, 4097, 8192, 65535, 65536, 131072))
        return min(near, limit) if self.chance(8) else self.random.randrange(limit + 1)

    # Memory.

    def make_buffer(self, rank: int, length: int, kind: int = 0) -> Buffer:
        """A new buffer of at least this length."""
        state = self.ranks[rank]
        kind = kind or self.pick(KIND_WEIGHTS)
        room = -(-length // PLACE_ALIGNMENT) * PLACE_ALIGNMENT
        if kind in PLACE_BYTES and state.place_bytes[kind] + room > PLACE_BYTES[kind]:
            kind = MAPPED
        if kind in PLACE_BYTES:
            state.place_bytes[kind] += room
        buffer = Buffer(state.made, kind, length)
        state.made += 1
        state.buffers.append(buffer)
        self.lines.append(Line(rank, self.group(), "new", (buffer.index, kind, length, buffer.index * 7 + rank)))
        return buffer

    def find_offset(self, rank: int, buffer: Buffer, span: Block) -> int:
        """An offset at which a span fits: unaligned, at an end, on a page, where others were or are, or beside them."""
        least, most = -span[0], buffer.length - span[1]
        edges = [busy.blocks[-1][1] - span[0] for busy in buffer.busy if busy.blocks]
        edges += [busy.blocks[0][0] - span[1] for busy in buffer.busy if busy.blocks]
        edges += [offset for other, offset, _ in self.ranks[rank].recent if other is buffer]
        last = [whole for other, _, whole in self.ranks[rank].recent[-2:] if other is buffer]
        rows = [place for low, high in last for place in (high - span[0], low - span[1])]
        wanted: int = self.random.choice((least, most, self.random.randint(least, most), *edges[-4:], *rows))
        if self.chance(4):
            wanted = wanted // 4096 * 4096
        return max(least, min(most, wanted))

    def find_place(
        self, rank: int, layout: Layout, count: int, is_written: bool, is_whole: bool = False, alignment: int = 1
    ) -> tuple[Buffer, int, list[Block]]:
        """Where an operation may read or write so many items; is_whole: with the gaps between them."""
        span = layout.span(count)
        blocks = (span,) if is_whole else layout.spread(count)
        state = self.ranks[rank]
        fitting = [buffer for buffer in state.buffers if buffer.length >= span[1] - span[0]]
        if not is_written and state.recent and state.recent[-1][0] in fitting and self.chance(3):
            fitting = [state.recent[-1][0]]  # a row beside the last one
        for _ in range(4 if fitting else 0):
            buffer = self.random.choice(fitting)
            offset = self.find_offset(rank, buffer, span)
            offset -= offset % alignment
            placed = [(low + offset, high + offset) for low, high in blocks]
            if buffer.is_free(placed, is_written):
                state.recent = [*state.recent[-5:], (buffer, offset, (span[0] + offset, span[1] + offset))]
                return buffer, offset, placed
        buffer = self.make_buffer(rank, span[1] - span[0] + self.random.randrange(1, 5000))
        offset = self.random.randint(-span[0], buffer.length - span[1])
        offset -= offset % alignment
        return buffer, offset, [(low + offset, high + offset) for low, high in blocks]

    def find_bytes(self, rank: int, is_written: bool, most: int = BUFFER_BYTES_MOST) -> tuple[Buffer, int, int]:
        """A range for a touch: often where a message was a moment ago."""
        length = min(self.length(), most)
        buffer, offset, _ = self.find_place(rank, BUILTINS[0], length, is_written)
        return buffer, offset, length

    # Types.

    def choose_count(self) -> int:
        """A small number."""
        return self.random.choice((1, 2, 3, 5, 17, 64))

    def make_vector(self, index: int) -> tuple[Layout, str, tuple[int, ...]]:
        old, count, blocklength = self.choose_old(), self.choose_count(), self.random.randrange(1, 40)
        stride = blocklength + self.random.choice((0, 1, 3, 50))
        return layouts.vector(index, old, count, blocklength, stride), "vector", (old.index, count, blocklength, stride)

    def make_contiguous(self, index: int) -> tuple[Layout, str, tuple[int, ...]]:
        old, count = self.choose_old(), self.random.randrange(1, 60)
        return layouts.contiguous(index, old, count), "contiguous", (old.index, count)

    def make_resized(self, index: int) -> tuple[Layout, str, tuple[int, ...]]:
        old = self.choose_old()
        extent = old.high - old.low + self.random.choice((0, 1, 8, 100, 4096))
        return layouts.resized(index, old, extent), "resized", (old.index, 0, extent)

    def make_indexed(self, index: int) -> tuple[Layout, str, tuple[int, ...]]:
        old, parts, at = self.choose_old(), list[Block](), 0
        for _ in range(self.random.randrange(1, 12)):
            length = self.random.randrange(1, 20)
            parts.append((length, at))
            at += length * old.extent + self.random.choice((0, 8, 64, 5000))
        self.random.shuffle(parts)
        numbers = tuple(number for part in parts for number in part)
        return layouts.indexed(index, old, parts), "indexed", (old.index, len(parts), *numbers)

    def make_struct(self, index: int) -> tuple[Layout, str, tuple[int, ...]]:
        """Its blocks never touch: MPICH 5.0 reads more of a sender's than it has written down where they do."""
        parts, at = list[tuple[Layout, int, int]](), self.random.choice((0, 0, 4))
        for _ in range(self.random.randrange(1, 5)):
            old, length = self.random.choice(BUILTINS), self.random.randrange(1, 30)
            parts.append((old, length, at))
            at += length * old.size + self.random.choice((4, 1, 8, 40))
        numbers = tuple(number for old, length, place in parts for number in (old.index, length, place))
        return layouts.structure(index, parts), "struct", (len(parts), *numbers)

    def choose_old(self) -> Layout:
        """What a derived type is made of: mostly a basic type."""
        simple = [layout for layout in self.layouts if layout.high <= 4000 and layout.index not in self.dead_types]
        return self.random.choice(simple if self.chance(3) else BUILTINS)

    def add_type(self, layout: Layout, name: str, numbers: tuple[int, ...]) -> None:
        """Make a type on all ranks."""
        group = self.group()
        for rank in range(len(self.ranks)):
            self.lines.append(Line(rank, group, name, (layout.index, *numbers)))
        self.layouts.append(layout)

    def make_type(self) -> None:
        """A new derived type."""
        if len(self.layouts) >= TYPES_MAX:
            return
        makers = (self.make_vector, self.make_contiguous, self.make_resized, self.make_indexed, self.make_struct)
        layout, name, numbers = self.random.choice(makers)(len(self.layouts))
        self.add_type(layout, name, numbers)
        if name == "struct":  # its extent is MPI's to choose: never used as it is
            self.dead_types.add(layout.index)
            extent = layout.high + self.random.choice((0, 4, 60))
            wrapped = layouts.resized(len(self.layouts), layout, extent)
            self.add_type(wrapped, "resized", (layout.index, 0, extent))

    def free_type(self) -> None:
        """Free a derived type, perhaps while messages use it."""
        alive = [layout.index for layout in self.layouts[len(BUILTINS) :] if layout.index not in self.dead_types]
        if not alive or self.halves or any(rank.persistent for rank in self.ranks):
            return
        index, group = self.random.choice(alive), self.group()
        self.dead_types.add(index)
        for rank, state in enumerate(self.ranks):
            # A status would be asked with it, and a wait asks with its receive's type.
            if state.pending or index in state.statuses.values():
                self.settle(rank)
            self.emit(rank, group, "typefree", index)

    def settle(self, rank: int) -> None:
        """Wait for all of a rank's requests that can end, and ask its statuses."""
        self.wait_for(rank, [pending for pending in self.ranks[rank].pending if pending.is_ready])
        for slot in list(self.ranks[rank].statuses):
            self.ask_status(rank, slot)

    def choose_layout(self, base: int | None = None) -> Layout:
        """A type to communicate; of a base, if given."""
        alive = [one for one in self.layouts if one.index not in self.dead_types and base in (None, one.base)]
        if base is None and self.chance(2):
            return BUILTINS[self.random.choice((0, 0, 3, 4))]
        return self.random.choice(alive)

    # Messages.

    def stream(self, message: Message) -> Stream:
        """The stream of a message."""
        return self.streams.setdefault(message.stream, Stream())

    def choose_comm(self) -> Comm:
        """A communicator for a message."""
        if self.chance(12):
            return self.random.choice(self.alone)
        return self.random.choice(self.comms)

    def choose_send_form(self) -> str:
        """How to send."""
        weights = {"send": 22, "ssend": 2, "isend": 2}
        if self.features.requests:
            weights |= {"isend": 6, "issend": 2, "psend": 2, "ready": 2}
        if self.features.buffered:
            weights |= {"bsend": 4, "ibsend": 2}
        return self.pick(self.without(weights, ("ssend", "issend")))

    def choose_receive_form(self) -> str:
        """How to receive."""
        weights = {"recv": 22, "irecv": 1, "probe": 2, "mprobe": 2}
        if self.features.requests:
            weights |= {"irecv": 6, "improbe": 2, "precv": 2}
        return self.pick(self.without(weights, ("mprobe", "improbe", "precv")))

    def without(self, weights: Mapping[str, int], forms: Sequence[str]) -> Mapping[str, int]:
        """The weights; where messages may be received early, less these forms."""
        return {form: weight for form, weight in weights.items() if not (self.features.early and form in forms)}

    def plan_message(self, comm: Comm, source: int, dest: int) -> Message:
        """A message, nothing of it started."""
        sent = self.choose_layout()
        received = sent if self.chance(3) else self.choose_layout(sent.base)
        count = self.length() // max(1, sent.size)
        if sent.span(count)[1] > BUFFER_BYTES_MOST:
            count = BUFFER_BYTES_MOST // sent.extent
        needed = -(-count * sent.elements // received.elements)
        room = needed + (self.random.randrange(1 + needed // 2) if self.chance(4) else 0)
        if received.span(room)[1] > 2 * BUFFER_BYTES_MOST:
            received, room = sent, count
        is_loose = self.chance(5)
        tag = COMMON_TAG if is_loose and self.chance(2) else self.tag()
        forms = (self.choose_send_form(), self.choose_receive_form())
        return Message(self.group(), comm, source, dest, tag, is_loose, sent, count, received, room, *forms)

    def can_send(self, message: Message) -> bool:
        """Would no other receive take it?"""
        return self.stream(message).reserved in (None, message)

    def can_post(self, message: Message) -> bool:
        """Would the receive take no other message?"""
        stream = self.stream(message)
        if not message.is_loose:
            return True
        first = stream.unposted[0] if stream.unposted else None
        return stream.reserved is None and (first is message if message.is_sent else first is None)

    def note_sent(self, message: Message) -> None:
        """The send was started."""
        message.is_sent = True
        stream = self.stream(message)
        if stream.reserved is message:
            stream.reserved = None
        if not message.is_posted:
            stream.unposted.append(message)
        self.note_started(message)

    def note_posted(self, message: Message) -> None:
        """The receive was posted."""
        message.is_posted = True
        stream = self.stream(message)
        if message in stream.unposted:
            stream.unposted.remove(message)
        elif message.is_loose:
            stream.reserved = message
        self.note_started(message)

    def note_started(self, message: Message) -> None:
        """With both halves started, their waits will end."""
        if message.is_sent and message.is_posted:
            for pending in message.halves:
                pending.is_ready = True

    def send_words(self, message: Message, buffer: Buffer, offset: int) -> tuple[int, ...]:
        """The seven words of a send."""
        number = message.comm.number(message.source, message.dest)
        return (buffer.index, offset, message.sent_count, message.sent.index, number, message.tag, message.comm.index)

    def receive_envelope(self, message: Message, is_blocking: bool) -> tuple[int, int]:
        """Source and tag of a receive or probe, wildcards where they can match nothing else."""
        number = message.comm.number(message.dest, message.source)
        if not message.is_loose:
            return (ANY if self.chance(5) else number), message.tag
        source = ANY if is_blocking and self.is_only_source(message) and self.chance(2) else number
        return source, (message.tag if message.tag == COMMON_TAG and self.chance(2) else ANY)

    def is_only_source(self, message: Message) -> bool:
        """Can nobody else's message arrive before it?"""
        others = set(message.comm.peers(message.dest)) - {message.source}
        if others - {message.dest}:
            return False  # a third rank may run ahead
        own = self.streams.get((message.comm.index, message.dest, message.dest))
        return not others or own is None or not (own.unposted or own.reserved)

    def take_slot(self, rank: int) -> int | None:
        """A request slot, or None when all are in use."""
        slots = self.ranks[rank].slots
        return slots.pop(self.random.randrange(len(slots))) if slots else None

    def take_status(self, rank: int, layout: Layout) -> int:
        """A slot for a status, or none."""
        if self.chance(2):
            return IGNORED
        slot = self.random.randrange(STATUSES)
        self.ask_status(rank, slot)
        self.ranks[rank].statuses[slot] = layout.index
        return slot

    def ask_status(self, rank: int, slot: int) -> None:
        """Look at what a status says."""
        index = self.ranks[rank].statuses.pop(slot, None)
        if index is not None:
            self.lines.append(Line(rank, self.group(), "status", (slot, index)))

    def add_pending(self, rank: int, pending: Pending, message: Message | None) -> None:
        """Remember what must be waited for."""
        self.ranks[rank].pending.append(pending)
        for buffer, busy in pending.buffers:
            buffer.busy.append(busy)
        if pending.comm:
            pending.comm.users += 1
        if message:
            message.halves.append(pending)

    def add_job(self, rank: int, message: Message, buffers: list[tuple[Buffer, Busy]]) -> None:
        """Half of a message for the second thread."""
        job = Pending(-1, message.group, message.comm, buffers)
        self.ranks[rank].job = job
        self.add_pending(rank, job, message)

    def use_attached(self, message: Message) -> bool:
        """Is there room in the attached buffer? Nothing tells when it is given back, short of a detach."""
        state = self.ranks[message.source]
        needed = message.sent_count * message.sent.size + ATTACHED_OVERHEAD
        if state.attached + needed > ATTACHED_BYTES:
            return False
        state.attached += needed
        return True

    def start_send(self, message: Message) -> None:
        """Emit the send half."""
        form, rank = message.send_form, message.source
        is_mixed = message.sent.base >= layouts.STRUCTURE_BASE  # MPICH 4.0's MPI_Bsend sends too much of these
        if form in ("bsend", "ibsend") and (is_mixed or not self.use_attached(message)):
            form = form.replace("b", "", 1)
        buffer, offset, placed = self.find_place(rank, message.sent, message.sent_count, is_written=False)
        words = self.send_words(message, buffer, offset)
        mode = {"ssend": SYNCHRONOUS, "issend": SYNCHRONOUS, "bsend": BUFFERED, "ibsend": BUFFERED}.get(form, STANDARD)
        if form == "ready" and message.is_posted and self.synchronise(message):
            mode = READY
        slot = self.take_slot(rank) if form in ("isend", "issend", "ibsend", "psend") else None
        if form == "job":
            self.emit(rank, message.group, "send", mode, 0, *words, is_job=True)
            self.add_job(rank, message, [(buffer, Busy(placed, False))])
        elif slot is None:
            self.emit(rank, message.group, "send", mode, int(self.chance(6)), *words)
        else:
            persistent = self.emit_isend(message, slot, mode, words, buffer, placed)
            busy = [(buffer, Busy(placed, False))]
            self.add_pending(rank, Pending(slot, message.group, message.comm, busy, persistent=persistent), message)
        self.note_sent(message)

    def emit_isend(
        self, message: Message, slot: int, mode: int, words: tuple[int, ...], buffer: Buffer, placed: Sequence[Block]
    ) -> Persistent | None:
        """A nonblocking or persistent send."""
        if message.send_form != "psend":
            self.emit(message.source, message.group, "isend", mode, slot, *words)
            return None
        mode = self.random.choice((STANDARD, STANDARD, STANDARD if self.features.early else SYNCHRONOUS))
        self.emit(message.source, message.group, "sendinit", mode, slot, *words)
        self.emit(message.source, message.group, "start", int(self.chance(2)), slot)
        return Persistent(slot, message.group, message, buffer, placed, is_send=True, mode=mode)

    def synchronise(self, message: Message) -> bool:
        """Tell the sender that the receive is posted."""
        world = self.comms[0]
        group = self.group()
        ends = (message.dest, message.source)
        note = Message(group, world, *ends, self.tag(), False, BUILTINS[0], 0, BUILTINS[0], 0, "send", "recv")
        if message.source == message.dest:
            return True
        if not self.can_send(note):
            return False
        self.start_both(note)
        return True

    def start_receive(self, message: Message) -> None:
        """Emit the receive half."""
        form, rank = message.receive_form, message.dest
        buffer, offset, placed = self.find_place(rank, message.received, message.received_count, is_written=True)
        where = (buffer.index, offset, message.received_count, message.received.index)
        needs_slot = form in ("irecv", "precv", "improbe")
        slot = self.take_slot(rank) if needs_slot else None
        if form == "job":
            number = message.comm.number(rank, message.source)
            status = self.random.choice((IGNORED, *JOB_STATUSES[:1]))
            words = (*where, number, message.tag, message.comm.index, status)
            self.emit(rank, message.group, "recv", 0, *words, is_job=True)
            self.add_job(rank, message, [(buffer, Busy(placed, True))])
        elif form in ("probe", "mprobe", "improbe"):
            self.emit_probed(message, where, slot)
        elif slot is None:
            envelope = (*self.receive_envelope(message, True), message.comm.index)
            status = self.take_status(rank, message.received)
            self.emit(rank, message.group, "recv", int(self.chance(6)), *where, *envelope, status)
        else:
            envelope = (*self.receive_envelope(message, False), message.comm.index)
            self.emit_irecv(message, slot, (*where, *envelope))
        if slot is not None:
            persistent = None
            if form == "precv":
                persistent = Persistent(slot, message.group, message, buffer, placed, is_send=False)
            busy = [(buffer, Busy(placed, True))]
            self.add_pending(rank, Pending(slot, message.group, message.comm, busy, persistent=persistent), message)
        self.note_posted(message)

    def emit_irecv(self, message: Message, slot: int, words: tuple[int, ...]) -> None:
        """A nonblocking or persistent receive."""
        if message.receive_form == "irecv":
            self.emit(message.dest, message.group, "irecv", slot, *words)
            return
        self.emit(message.dest, message.group, "recvinit", slot, *words)
        self.emit(message.dest, message.group, "start", int(self.chance(2)), slot)

    def emit_probed(self, message: Message, where: tuple[int, ...], slot: int | None) -> None:
        """A probe and its receive; what follows names the message exactly, or takes the matched one."""
        rank, group, comm = message.dest, message.group, message.comm
        envelope = self.receive_envelope(message, True)
        how = int(self.chance(2))
        if message.receive_form == "probe":
            how += 2 * self.features.early
            self.emit(rank, group, "probe", how, *envelope, comm.index, message.received.index)
            words = (*where, *envelope, comm.index)
            self.emit(rank, group, "recv", 0, *words, self.take_status(rank, message.received))
            return
        self.emit(rank, group, "mprobe", how, 0, *envelope, comm.index, message.received.index)
        if slot is None:
            self.emit(rank, group, "mrecv", 0, *where, self.take_status(rank, message.received))
        else:
            self.emit(rank, group, "imrecv", 0, slot, *where)

    def start_both(self, message: Message) -> None:
        """Both halves at once; at most one of them blocks, or they are of different ranks."""
        if message.send_form.startswith(("i", "p", "job")):
            self.start_send(message)
            self.start_receive(message)
        elif message.receive_form in ("irecv", "precv", "job"):
            self.start_receive(message)
            self.start_send(message)
        else:
            self.start_send(message)
            self.start_receive(message)

    def event_message(self) -> None:
        """A message; of a nonblocking half the other one may come later."""
        comm = self.choose_comm()
        source = self.random.choice(comm.members)
        dest = self.random.choice(comm.peers(source))
        message = self.plan_message(comm, source, dest)
        is_send_nonblocking = message.send_form.startswith(("i", "p"))
        is_receive_nonblocking = message.receive_form in ("irecv", "precv")
        if source == dest and not (is_send_nonblocking or is_receive_nonblocking):
            message.send_form, is_send_nonblocking = "isend", True
        if message.send_form == "ready" and not is_receive_nonblocking:
            message.receive_form, is_receive_nonblocking = "irecv", True
        can_both = self.can_send(message) and self.can_post(message)
        if not (is_send_nonblocking or is_receive_nonblocking):
            if can_both:
                self.delay(message)
                self.start_both(message)
        elif is_receive_nonblocking and (not is_send_nonblocking or self.chance(2)):
            self.begin_message(message, self.can_post(message), self.start_receive)
        elif is_send_nonblocking:
            self.begin_message(message, self.can_send(message), self.start_send)

    def delay(self, message: Message) -> None:
        """Let one side be late now and then, so that the other one's op goes on for a while."""
        if self.chance(3):
            rank = self.random.choice((message.source, message.source, message.dest))
            self.lines.append(Line(rank, self.group(), "pause", (self.random.choice((60, 300, 1000)),)))

    def begin_message(self, message: Message, can_begin: bool, begin: Callable[[Message], None]) -> None:
        """Start one half; the other one follows now or later."""
        state = self.ranks[message.source if begin == self.start_send else message.dest]
        if not can_begin or len(state.slots) < 8:
            return
        begin(message)
        self.halves.append(message)
        if self.chance(3):
            self.end_message(message)

    def end_message(self, message: Message) -> bool:
        """Start the other half, if nothing stands in its way."""
        if message.is_sent and not message.is_posted and self.can_post(message):
            self.start_receive(message)
        elif message.is_posted and not message.is_sent and self.can_send(message):
            self.start_send(message)
        else:
            return False
        self.halves.remove(message)
        return True

    def event_half(self) -> None:
        """Finish a message that was begun."""
        if self.halves:
            self.end_message(self.random.choice(self.halves))

    def event_job(self) -> None:
        """Something for the second thread of a rank."""
        rank = self.random.randrange(len(self.ranks))
        state = self.ranks[rank]
        if not self.features.threads or state.job:
            return
        if self.features.multiple and self.chance(2):
            self.begin_job_message(rank)
            return
        name = self.random.choice(("load", "fill", "atomic", "copy", "system"))
        group = self.group()
        first, offset, length = self.find_bytes(rank, is_written=True, most=50000)
        held = [(first, Busy([(offset, offset + length)], True))]
        first.busy.append(held[0][1])
        numbers: tuple[int, ...] = (first.index, offset)
        if name in ("copy", "system"):
            second, other, _ = self.find_place(rank, BUILTINS[0], length, is_written=True)
            held.append((second, Busy([(other, other + length)], True)))
            second.busy.append(held[1][1])
            numbers = (*numbers, second.index, other)
        numbers = (*((1,) if name == "system" else ()), *numbers, length, *((group,) if name == "fill" else ()))
        self.emit(rank, group, name, *numbers, is_job=True)
        state.job = Pending(-1, group, None, [], is_ready=True)
        state.job.buffers = held
        state.pending.append(state.job)

    def begin_job_message(self, rank: int) -> None:
        """A message that the second thread sends or receives."""
        assert self.job_comm
        others = [other for other in self.job_comm.members if other != rank]
        other = self.random.choice(others)
        is_send = self.chance(2)
        message = self.plan_message(self.job_comm, *((rank, other) if is_send else (other, rank)))
        message.is_loose, message.tag = False, self.tag()
        message.send_form = "job" if is_send else self.random.choice(("send", "isend"))
        message.receive_form = self.random.choice(("recv", "irecv")) if is_send else "job"
        self.begin_message(message, True, self.start_send if is_send else self.start_receive)

    # Nonblocking receives whose pages nothing else touches until their wait: it may return before their data are there.

    def find_pages(self, rank: int, length: int) -> tuple[Buffer, int, Busy]:
        """Where so many bytes have pages of their own; these are busy from now on."""
        pages = (length + 2 * PAGE_BYTES - 1) // PAGE_BYTES
        idle = [buffer for buffer in self.ranks[rank].buffers if buffer.kind == MAPPED and not buffer.busy]
        fitting = [buffer for buffer in idle if buffer.length >= pages * PAGE_BYTES]
        if fitting and not self.chance(4):
            buffer = self.random.choice(fitting)
        else:
            buffer = self.make_buffer(rank, pages * PAGE_BYTES + self.random.choice((0, 1, 9000)), MAPPED)
        first = self.random.randrange(buffer.length // PAGE_BYTES - pages + 1) * PAGE_BYTES
        offset = first + self.random.choice((0, 0, 1, 8, pages * PAGE_BYTES - length))
        offset = min(offset, buffer.length - length)
        low, high = offset // PAGE_BYTES * PAGE_BYTES, -(-(offset + length) // PAGE_BYTES) * PAGE_BYTES
        busy = Busy([(low, high)], True)
        buffer.busy.append(busy)
        return buffer, offset, busy

    def plan_apart(self, comm: Comm, source: int, dest: int) -> Message:
        """A message without gaps, from a rank and with a tag that its receive names."""
        message = self.plan_message(comm, source, dest)
        whole = [one for one in self.layouts if one.index not in self.dead_types and one.extent == one.size != 0]
        message.sent = message.received = self.random.choice([one for one in whole if len(one.blocks) == 1])
        length = self.random.choice((self.length(), 65536, self.random.randrange(16, 50) * PAGE_BYTES))
        message.sent_count = -(-length // message.sent.size)
        message.received_count = message.sent_count + self.random.choice((0, 0, 0, 7))
        message.is_loose, message.tag, message.receive_form = False, self.tag(), "irecv"
        if source == dest and message.send_form in ("send", "ssend", "ready"):
            message.send_form = "isend"
        return message

    def post_apart(self, message: Message) -> Pending | None:
        """Emit its receive; None when no request is left."""
        rank, layout = message.dest, message.received
        slot = self.take_slot(rank)
        if slot is None:
            return None
        buffer, offset, busy = self.find_pages(rank, message.received_count * layout.size)
        number = message.comm.number(rank, message.source)
        where = (buffer.index, offset, message.received_count, layout.index)
        self.emit(rank, message.group, "irecv", slot, *where, number, message.tag, message.comm.index)
        buffer.busy.remove(busy)
        pending = Pending(slot, message.group, message.comm, [(buffer, busy)])
        self.add_pending(rank, pending, message)
        self.note_posted(message)
        whole = (offset, offset + message.received_count * layout.size)
        self.ranks[rank].recent = [*self.ranks[rank].recent[-5:], (buffer, offset, whole)]
        return pending

    def event_apart(self) -> None:
        """Some of them, in every kind of wait."""
        comm = self.choose_comm()
        dest = self.random.choice(comm.members)
        posted = list[Pending]()
        for _ in range(self.random.randint(1, 4)):
            message = self.plan_apart(comm, self.random.choice(comm.peers(dest)), dest)
            pending = self.post_apart(message) if len(self.ranks[dest].slots) >= 8 else None
            if pending is None:
                break
            posted.append(pending)
            self.halves.append(message)
        while self.chance(2):
            self.event_touch()
        if self.chance(6):
            self.step()
        for message in [message for message in self.halves if any(half in posted for half in message.halves)]:
            self.delay(message)
            self.end_message(message)
        self.wait_apart(dest, [pending for pending in posted if pending in self.ranks[dest].pending])

    def wait_apart(self, rank: int, posted: Sequence[Pending]) -> None:
        """Wait for those that will end, perhaps together with others, and touch some of them."""
        state = self.ranks[rank]
        others = [pending for pending in state.pending if pending.is_ready and pending.slot >= 0 and self.chance(6)]
        chosen = [pending for pending in state.pending if pending.is_ready and (pending in posted or pending in others)]
        if not chosen:
            return
        self.random.shuffle(chosen)
        self.wait_for(rank, chosen, self.random.choice((WAIT, WAIT, WAITALL, WAITALL, *range(WAYS_TO_WAIT))))
        for pending in chosen:
            buffer, busy = pending.buffers[0]
            if pending in posted and not self.chance(3) and buffer.is_free(busy.blocks, True):
                self.touch_apart(rank, buffer, busy.blocks[0])

    def touch_apart(self, rank: int, buffer: Buffer, pages: Block) -> None:
        """Look at one of the buffers, or write there, or both."""
        most = min(pages[1], buffer.length)
        if pages[0] >= most:
            return
        low = self.random.randrange(pages[0], most)
        high = min(self.random.choice((low + 1, low + PAGE_BYTES)), most)
        if self.chance(2):
            self.emit(rank, self.group(), "fill", buffer.index, low, high - low, self.groups)
        if self.chance(1.5):
            self.emit(rank, self.group(), "load", buffer.index, pages[0], most - pages[0])

    def event_freed(self) -> None:
        """A receive whose request is freed: it is over once what was sent after its synchronous send has come."""
        comm = self.comms[0]
        source, dest = self.random.sample(comm.members, 2)
        message = self.plan_apart(comm, source, dest)
        message.send_form = "ssend"
        note = Message(message.group, comm, source, dest, self.tag(), False, *(BUILTINS[0], 0) * 2, "send", "recv")
        if self.features.early or not (self.can_send(message) and self.can_send(note)):
            return
        pending = self.post_apart(message)
        if pending is None:
            return
        self.emit(dest, message.group, "release", pending.slot)
        self.start_send(message)
        self.start_both(note)
        self.end_pending(self.ranks[dest], pending)

    # Waits.

    def wait_for(self, rank: int, chosen: Sequence[Pending], how: int | None = None) -> None:
        """Wait for requests and jobs. `how`: of the interpreter's ways; any if not given."""
        state = self.ranks[rank]
        requests = [pending for pending in chosen if pending.slot >= 0]
        if requests:
            how = self.random.randrange(WAYS_TO_WAIT) if how is None else how
            self.emit(rank, 0, "wait", how, len(requests), *(pending.slot for pending in requests))
        if state.job in chosen and state.job:
            self.emit(rank, state.job.group, "join")
            state.job = None
        for pending in chosen:
            self.end_pending(state, pending)
            self.define(rank, pending.group, pending.undefined)

    def define(self, rank: int, group: int, undefined: Undefined | None) -> None:
        """Write what an operation has left undefined."""
        if undefined and undefined.length:
            self.emit(rank, group, "fill", undefined.buffer.index, undefined.offset, undefined.length, group)

    def end_pending(self, state: Rank, pending: Pending) -> None:
        """Forget it."""
        state.pending.remove(pending)
        for buffer, busy in pending.buffers:
            buffer.busy.remove(busy)
        if pending.comm:
            pending.comm.users -= 1
        if pending.persistent:
            state.persistent.append(pending.persistent)
            if pending.comm:
                pending.comm.users += 1
        elif pending.slot >= 0:
            state.slots.append(pending.slot)

    def event_wait(self) -> None:
        """Wait for some requests of a rank that will end."""
        rank = self.random.randrange(len(self.ranks))
        ready = [pending for pending in self.ranks[rank].pending if pending.is_ready]
        if ready:
            self.wait_for(rank, self.random.sample(ready, self.random.randint(1, len(ready))))

    def event_persistent(self) -> None:
        """Start a persistent request again, look at it, or free it."""
        rank = self.random.randrange(len(self.ranks))
        state = self.ranks[rank]
        if not state.persistent:
            return
        persistent = self.random.choice(state.persistent)
        choice = self.random.randrange(4)
        if choice == 0:
            self.emit(rank, persistent.group, "idle", self.random.randrange(4), persistent.slot)
        elif choice == 1:
            self.free_persistent(rank, persistent)
        else:
            self.restart(rank, persistent)

    def free_persistent(self, rank: int, persistent: Persistent) -> None:
        """Free it."""
        state = self.ranks[rank]
        self.emit(rank, persistent.group, "release", persistent.slot)
        state.persistent.remove(persistent)
        state.slots.append(persistent.slot)
        persistent.message.comm.users -= 1

    def restart(self, rank: int, persistent: Persistent) -> None:
        """The same message once more."""
        old = persistent.message
        is_alive = persistent.buffer in self.ranks[rank].buffers
        is_free = persistent.buffer.is_free(persistent.blocks, not persistent.is_send)
        if not is_alive or not is_free or old.is_loose or {old.sent.index, old.received.index} & self.dead_types:
            return
        if any(other.stream == old.stream and other.tag == old.tag for other in self.halves):
            return
        message = Message(
            old.group, old.comm, old.source, old.dest, old.tag, False,
            old.sent, old.sent_count, old.received, old.received_count,
            "psend" if persistent.is_send else "isend", "irecv" if persistent.is_send else "precv",
        )  # fmt: skip
        if persistent.is_send and not self.can_send(message):
            return
        if self.stream(message).unposted and any(other.tag == old.tag for other in self.stream(message).unposted):
            return
        busy = [(persistent.buffer, Busy(persistent.blocks, not persistent.is_send))]
        self.emit(rank, old.group, "start", 0, persistent.slot)
        pending = Pending(persistent.slot, old.group, old.comm, busy, persistent=persistent)
        self.ranks[rank].persistent.remove(persistent)
        old.comm.users -= 1
        self.add_pending(rank, pending, message)
        (self.note_sent if persistent.is_send else self.note_posted)(message)
        self.halves.append(message)

    # Exchanges and collectives.

    def event_exchange(self) -> None:
        """MPI_Sendrecv round a ring of all members."""
        comm = self.random.choice(self.comms)
        if comm.is_inter and len(comm.sides[0]) != len(comm.sides[1]):
            return
        pairs = self.ring(comm)
        group, tag = self.group(), self.tag()
        plans = {source: self.plan_message(comm, source, dest) for source, dest in pairs}
        if any(self.stream(plan).reserved for plan in plans.values()):
            return
        is_replace = self.chance(4)
        layout, length = self.choose_layout(), self.length()
        if layout.base >= layouts.STRUCTURE_BASE:
            layout = BUILTINS[0]  # MPICH 4.0's MPI_Sendrecv_replace truncates structs of two types
        for source, dest in pairs:
            sender = next(one for one, other in pairs if other == source)
            if is_replace:
                self.emit_replace(source, dest, sender, comm, tag, layout, length // max(1, layout.size) % 5000)
            else:
                self.emit_sendrecv(group, tag, plans[source], plans[sender])

    def ring(self, comm: Comm) -> list[tuple[int, int]]:
        """Whom each member sends to."""
        if comm.is_inter:
            one, other = comm.sides
            return [*zip(one, other, strict=True), *zip(other, one, strict=True)]
        members = list(comm.members)
        shift = self.random.randrange(len(members))
        return [(rank, members[(i + shift) % len(members)]) for i, rank in enumerate(members)]

    def emit_replace(self, rank: int, dest: int, source: int, comm: Comm, tag: int, layout: Layout, count: int) -> None:
        """MPI_Sendrecv_replace of one rank."""
        buffer, offset, _ = self.find_place(rank, layout, count, is_written=True)
        words = (buffer.index, offset, count, layout.index, comm.number(rank, dest), tag, comm.index)
        envelope = (comm.number(rank, source), tag)
        self.emit(rank, self.groups, "replace", *words, *envelope, self.take_status(rank, layout))

    def emit_sendrecv(self, group: int, tag: int, out: Message, back: Message) -> None:
        """MPI_Sendrecv of one rank."""
        rank, comm = out.source, out.comm
        buffer, offset, placed = self.find_place(rank, out.sent, out.sent_count, is_written=False)
        busy = Busy(placed, False)
        buffer.busy.append(busy)
        target, at, _ = self.find_place(rank, back.received, back.received_count, is_written=True)
        buffer.busy.remove(busy)
        send = (buffer.index, offset, out.sent_count, out.sent.index, comm.number(rank, out.dest), tag, comm.index)
        source = ANY if self.chance(5) else comm.number(rank, back.source)
        receive = (target.index, at, back.received_count, back.received.index, source, tag, comm.index)
        self.emit(rank, group, "sendrecv", *send, *receive, self.take_status(rank, back.received))

    def event_chain(self) -> None:
        """Two messages that a receive from MPI_ANY_SOURCE may take, the second sent because the first came."""
        comm = self.random.choice([comm for comm in self.comms if not comm.is_inter])
        if len(comm.members) < 2 or comm is self.job_comm:
            return
        me, first = self.random.sample(comm.members, 2)
        second = self.random.choice([rank for rank in comm.members if rank != first])
        group, tag = self.group(), self.tag()
        keys = [(comm.index, source, me) for source in comm.members] + [(comm.index, me, second)]
        if any(key in self.streams and self.streams[key].reserved for key in keys):
            return
        for source in (first, second):
            self.emit_chained(group, tag, comm, source, me)
            if source == first and second != me:
                self.emit_plain(second, group, "recv", (0, IGNORED), comm, me, self.tags)
                self.emit_plain(me, group, "send", (STANDARD, 0), comm, second, self.tags)

    def emit_plain(
        self, rank: int, group: int, name: str, extra: tuple[int, int], comm: Comm, peer: int, tag: int
    ) -> None:
        """An empty message's half."""
        buffer, offset, _ = self.find_place(rank, BUILTINS[0], 1, is_written=True)
        words = (buffer.index, offset, 0, 0, comm.number(rank, peer), tag, comm.index)
        self.emit(rank, group, name, *((extra[0], *words, extra[1]) if name == "recv" else (*extra, *words)))

    def emit_chained(self, group: int, tag: int, comm: Comm, source: int, dest: int) -> None:
        """One message received from any source."""
        layout, count = BUILTINS[0], self.length()
        buffer, offset, placed = self.find_place(source, layout, count, is_written=False)
        words = (buffer.index, offset, count, 0, comm.number(source, dest), tag, comm.index)
        slot = self.take_slot(source) if source == dest else None
        if source == dest and slot is None:
            return
        if slot is None:
            self.emit(source, group, "send", STANDARD, 0, *words)
        else:
            self.emit(source, group, "isend", STANDARD, slot, *words)
            busy = [(buffer, Busy(placed, False))]
            self.add_pending(source, Pending(slot, group, comm, busy, is_ready=True), None)
        target, at, _ = self.find_place(dest, layout, count, is_written=True)
        words = (target.index, at, count, 0, ANY, tag, comm.index)
        self.emit(dest, group, "recv", 0, *words, self.take_status(dest, layout))

    def event_collective(self) -> None:
        """A collective on all members of a communicator."""
        rings = [comm for comm in self.comms if comm.is_ring]
        comm = self.random.choice(rings if rings and self.chance(2) else self.comms)
        if not self.features.collectives or comm is self.job_comm:
            return
        is_nonblocking = self.chance(3) and all(len(self.ranks[rank].slots) > 4 for rank in comm.members)
        if comm.is_inter:
            self.repeat_between(comm, *self.random.choice(BETWEEN), is_nonblocking)
            return
        what = self.random.choice((BARRIER, BCAST, BCAST, *range(2, 11)))
        form = self.list_form(what)
        if comm.is_ring and self.chance(2):
            what, form = self.random.choice(NEIGHBORED)
        if form != 0 and not is_nonblocking and (form >= AMONG_NEIGHBORS or self.chance(4)):
            self.repeat_collective(comm, what, form)
        else:
            self.make_collective(comm, what, form, is_nonblocking)

    def repeat_collective(self, comm: Comm, what: int, form: int) -> None:
        """Several calls of one function: where counts may differ by rank, the first four do not return early."""
        for _ in range(self.random.randrange(1, 9)):
            self.make_collective(comm, what, form, is_nonblocking=False)
            self.event_touch()

    def choose_operation(self) -> tuple[int, Layout]:
        """A reduction, and a type that it can be used with."""
        if self.chance(3):
            return self.random.choice((SUM, SUM, MAX, BXOR)), BUILTINS[self.random.choice(OFTEN_REDUCED)]
        operation = self.random.choice(list(REDUCTIONS))
        return operation, BUILTINS[self.random.choice(REDUCTIONS[operation])]

    def make_collective(self, comm: Comm, what: int, form: int, is_nonblocking: bool) -> None:
        """One call by all members."""
        size, root = len(comm.members), self.random.randrange(len(comm.members))
        operation, layout = self.choose_operation()
        if what in MOVING:
            layout = self.choose_layout()
        is_structure = layout.base >= layouts.STRUCTURE_BASE
        if what in (GATHER, SCATTER) and is_structure:
            layout = BUILTINS[0]  # MPICH 4.0's own MPI_Scatter truncates structs of two types
        is_large = what == ALLGATHER and self.chance(3)
        most = GATHERED_BYTES_MOST if is_large else BUFFER_BYTES_MOST
        length = self.random.randrange(most) if is_large else self.length()
        count = length // max(1, layout.size) // (1 if what in (BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN) else size)
        if layout.span(count * size)[1] > most:
            count = most // layout.extent // size
        if form != 0:
            count = max(1, count)  # MPICH refuses one address for two buffers of nothing; Lapwing tells them apart
        is_in_place = what not in (BARRIER, BCAST) and form < AMONG_NEIGHBORS and self.chance(3)
        if what == ALLTOALL and is_structure:
            is_in_place = False  # the same in MPICH 4.0's own exchanges in place
        if what == REDUCE and root != 0:
            is_in_place = False  # MPICH 4.0's own MPI_Reduce crashes
        call = Call(self.group(), comm, what, form, root, operation, layout, count, is_nonblocking, is_in_place)
        for rank in comm.members:
            self.emit_collective(call, rank)

    def repeat_between(self, comm: Comm, what: int, form: int, is_nonblocking: bool) -> None:
        """Several calls of one function between two groups: the first four do not return early where it has a root."""
        for _ in range(1 if is_nonblocking else self.random.randrange(1, 9)):
            self.make_between(comm, what, form, is_nonblocking)
            self.event_touch()

    def make_between(self, comm: Comm, what: int, form: int, is_nonblocking: bool) -> None:
        """One call by all members of both groups."""
        members = comm.members
        operation, layout = self.choose_operation()
        if what in MOVING:
            layout = self.choose_layout() if self.chance(2) else BUILTINS[self.random.choice(OFTEN_REDUCED)]
        if layout.base >= layouts.STRUCTURE_BASE:
            layout = BUILTINS[0]  # as in make_collective()
        many = len(members) ** 2 if what == REDUCE_SCATTER else len(members)
        count = max(1, self.length() // max(1, layout.size) // (1 if what in (BCAST, ALLREDUCE) else many))
        if layout.span(count * many)[1] > BUFFER_BYTES_MOST:
            count = BUFFER_BYTES_MOST // layout.extent // many
        root = self.random.choice(members)
        call = Call(self.group(), comm, what, form, root, operation, layout, count, is_nonblocking)
        for rank in members:
            source, target = self.find_sides(call, rank, count * many, count * many)
            own_count = count * len(comm.peers(rank)) if what == REDUCE_SCATTER else count
            self.emit_call(
                replace(call, root=self.root_between(comm, rank, root), count=own_count), rank, source, target
            )

    def root_between(self, comm: Comm, rank: int, root: int) -> int:
        """How a rank names a root, of its own group or of the other one."""
        if rank == root:
            return AT_ROOT
        return comm.number(rank, root) if root in comm.peers(rank) else NULL

    def list_form(self, what: int) -> int:
        """What makes a collective's number that of its twin with lists; MPI_Alltoall has two. 0 for the plain one."""
        if what not in (GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE_SCATTER) or self.chance(2):
            return 0
        return LISTED + int(what == ALLTOALL and self.chance(2))

    def find_sides(self, call: Call, rank: int, in_count: int, out_count: int) -> tuple[Place, Place]:
        """Where a member's call reads and where it writes."""
        is_tamed = call.is_reduction and call.layout.index in FLOATS
        is_root = not call.comm.is_inter and call.comm.members[call.root] == rank
        # MPICH 4.0 takes a type's size for its extent when it looks whether the buffers of a call with lists are one.
        is_whole = call.form != 0 or call.comm.is_inter
        alignment = call.layout.size if call.is_reduction else 1  # compilers count on that of what they calculate with
        source = Place(*self.find_place(rank, call.layout, in_count, is_tamed, is_whole, alignment))
        busy = Busy(source.blocks, False)
        source.buffer.busy.append(busy)
        is_written = not (is_root and call.what == BCAST)
        target = Place(*self.find_place(rank, call.layout, out_count, is_written, is_whole, alignment))
        source.buffer.busy.remove(busy)
        if is_tamed:
            place, count = (target, out_count) if call.is_in_place else (source, in_count)
            self.emit(rank, call.group, "tame", place.buffer.index, place.offset, count, call.layout.index)
        return source, target

    def emit_collective(self, call: Call, rank: int) -> None:
        """One member's call."""
        what, many = call.what, call.count * len(call.comm.members)
        in_count = many if what in (SCATTER, ALLTOALL, REDUCE_SCATTER) else call.count
        is_out_many = what in (GATHER, ALLGATHER, ALLTOALL) or (what == REDUCE_SCATTER and call.is_in_place)
        is_root = call.comm.members[call.root] == rank
        if what in IN_PLACE_AT_ROOT and not is_root:
            call = replace(call, is_in_place=False)
        source, target = self.find_sides(call, rank, in_count, many if is_out_many else call.count)
        self.emit_call(call, rank, source, target)

    def emit_call(self, call: Call, rank: int, source: Place, target: Place) -> None:
        """Its instruction, and what it makes of the places."""
        slot = self.take_slot(rank) if call.is_nonblocking else None
        words = [-1 if slot is None else slot, call.comm.index, call.root, call.operation, int(self.chance(4))]
        read = (IN_PLACE, 0) if call.is_in_place and call.what != SCATTER else (source.buffer.index, source.offset)
        written = (IN_PLACE, 0) if call.is_in_place and call.what == SCATTER else (target.buffer.index, target.offset)
        words += [*read, call.count, call.layout.index, *written]
        self.emit(rank, call.group, "collective", call.what + call.form, *words)
        undefined = self.find_undefined(call, rank, target)
        if slot is None:
            self.define(rank, call.group, undefined)
            return
        held = [(source.buffer, Busy(source.blocks, False)), (target.buffer, Busy(target.blocks, True))]
        pending = Pending(slot, call.group, call.comm, held, is_ready=True, undefined=undefined)
        self.add_pending(rank, pending, None)

    def find_undefined(self, call: Call, rank: int, target: Place) -> Undefined | None:
        """What MPI may leave in any state: others' blocks that are reduced in place; what comes before a first rank."""
        size = call.layout.size
        if call.what == EXSCAN and rank == call.comm.members[0]:
            return Undefined(target.buffer, target.offset, call.count * size)
        if call.what == REDUCE_SCATTER and call.is_in_place:
            own = block_count(call.count, call.comm.members.index(rank)) if call.form else call.count
            rest = call.count * len(call.comm.members) - own
            return Undefined(target.buffer, target.offset + own * size, rest * size)
        return None

    # Touches.

    def event_touch(self) -> None:
        """Something that reads or writes memory."""
        rank = self.random.randrange(len(self.ranks))
        group = self.group()
        name = self.pick({"load": 6, "fill": 6, "atomic": 2, "copy": 3, "system": 4, "pack": 1, "unpack": 1})
        is_one = name in ("load", "fill", "atomic")
        first, offset, length = self.find_bytes(rank, is_written=name in ("fill", "atomic"))
        if is_one:
            extra = (group,) if name == "fill" else ()
            self.emit(rank, group, name, first.index, offset, length, *extra)
            return
        second, other, _ = self.find_place(rank, BUILTINS[0], length, is_written=True)
        places = (first.index, offset, second.index, other)
        is_clash = first is second and layouts.overlap([(offset, offset + length)], [(other, other + length)])
        if name in ("copy", "system"):
            ways = (0, 2, 3, 4, 5) if self.features.threads else range(6)  # 1: the second thread's
            extra = (self.random.choice(ways),) if name == "system" else ()
            self.emit(rank, group, name, *extra, *places, length)
        elif not is_clash and length and name == "pack":
            self.emit(rank, group, "pack", *places[:2], length, 0, *places[2:], length, 0)
        elif not is_clash and length:
            self.emit(rank, group, "unpack", *places[:2], length, *places[2:], length, 0, 0)

    def event_memory(self) -> None:
        """Something that changes what memory there is."""
        rank = self.random.randrange(len(self.ranks))
        state, group = self.ranks[rank], self.group()
        idle = [buffer for buffer in state.buffers if not buffer.busy]
        if state.made > BUFFERS_MAX or not idle:
            return
        buffer = self.random.choice(idle)
        choice = self.random.randrange(5)
        is_used = any(persistent.buffer is buffer for persistent in state.persistent)
        if choice == 0 and not is_used:
            self.emit(rank, group, "free", buffer.index)
            state.buffers.remove(buffer)
        elif choice == 1 and not is_used and buffer.kind in (HEAP, MAPPED):
            buffer.length = self.random.randrange(1000, BUFFER_BYTES_MOST)
            self.emit(rank, group, "resize", buffer.index, buffer.length, group)
        elif choice == 2 and buffer.kind in (MAPPED, HUGE, ARENA):
            name = self.random.choice(("discard", "protect"))
            self.emit(rank, group, name, buffer.index, 0, self.random.randrange(buffer.length))
        elif choice == 3 and self.features.forks and self.chance(6):
            self.emit(rank, group, "fork", buffer.index, 0, min(buffer.length, 20000))
        else:
            self.make_buffer(rank, self.random.choice((300, 5000, 70000, 200000)) + self.random.randrange(4096))

    # Communicators and odd calls.

    def event_comm(self) -> None:
        """Make a communicator, or free one."""
        comm = self.random.choice(self.comms)
        if self.comms_made >= COMMS_MAX or (comm.index > 0 and comm is not self.job_comm and self.chance(3)):
            self.free_comm(comm)
            return
        if comm.is_inter or comm is self.job_comm:
            return
        choice, group, index = self.random.randrange(6), self.group(), self.comms_made
        if choice == 3 and comm.index == 0:
            self.make_inter(group, index)
            return
        self.comms_made += 1
        if choice >= 4 and len(comm.members) > 1:
            kind = self.random.randrange(3)
            for rank in comm.members:
                self.emit(rank, group, "ring", comm.index, index, kind)
            self.comms.append(Comm(index, (comm.members,), is_ring=True))
            return
        colours = {rank: self.random.randrange(2) if choice == 2 else 0 for rank in comm.members}
        for number, rank in enumerate(comm.members):
            if choice == 0:
                self.emit(rank, group, "dup", comm.index, index)
            else:
                self.emit(rank, group, "split", comm.index, index, colours[rank], -number if choice == 1 else number)
        for colour in set(colours.values()):
            members = [rank for rank in comm.members if colours[rank] == colour]
            self.comms.append(Comm(index, (tuple(reversed(members) if choice == 1 else members),)))

    def make_inter(self, group: int, index: int) -> None:
        """An intercommunicator of rank 0 and the others."""
        if index + 1 >= COMMS_MAX or self.stream_is_reserved():
            return
        self.comms_made += 2
        everyone = tuple(range(len(self.ranks)))
        for rank in everyone:
            self.emit(rank, group, "split", 0, index, min(rank, 1), rank)
        tag = self.tag()
        for rank in everyone:
            self.emit(rank, group, "intercomm", index, index + 1, 1 if rank == 0 else 0, tag)
        self.comms.append(Comm(index + 1, ((0,), everyone[1:])))

    def stream_is_reserved(self) -> bool:
        """Does a receive wait on MPI_COMM_WORLD that could take MPI's own message? (It is given a tag of ours.)"""
        return any(stream.reserved for key, stream in self.streams.items() if key[0] == 0)

    def free_comm(self, comm: Comm) -> None:
        """Free a communicator that nothing uses."""
        if comm.index == 0 or comm.users or comm is self.job_comm:
            return
        if any(message.comm is comm for message in self.halves):
            return
        group = self.group()
        for rank in comm.members:
            self.emit(rank, group, "commfree", comm.index)
        self.comms.remove(comm)

    def event_odd(self) -> None:
        """Calls that communicate nothing, or fail."""
        rank, group = self.random.randrange(len(self.ranks)), self.group()
        choice = self.random.randrange(7)
        buffer, offset, _ = self.find_place(rank, BUILTINS[0], length := self.length(), is_written=True)
        words = (buffer.index, offset, length, 0)
        if choice == 0:
            self.emit(rank, group, "send", self.random.choice((0, 1, 3)), 0, *words, NULL, 3, 0)
        elif choice == 1:
            self.emit(rank, group, "recv", 0, *words, NULL, ANY, 0, self.take_status(rank, BUILTINS[0]))
        elif choice == 2:
            self.emit(rank, group, "cancel", *words, 0, self.tag(), 0)
        elif choice == 3:
            self.emit(rank, group, "absent", ANY, self.tag(), 0)
        elif choice == 4:
            self.emit(rank, group, "invalid", self.random.randrange(4), buffer.index, 0)
        elif choice == 5:
            self.emit(rank, group, "probe", 0, NULL, ANY, 0, 0)
        else:
            self.make_type()

    def event_truncated(self) -> None:
        """A message too long for its receive; then all of the receiver's buffer is written anew."""
        comm = self.comms[0]
        if not self.features.truncation:
            return
        source, dest = self.random.sample(comm.members, 2)
        group, tag, length = self.group(), self.tag(), 2 + self.length()
        probe = Message(group, comm, source, dest, tag, False, *(BUILTINS[0], 0) * 2, "send", "recv")
        if not self.can_send(probe):
            return
        buffer, offset, _ = self.find_place(source, BUILTINS[0], length, is_written=False)
        words = (buffer.index, offset, length, 0, comm.number(source, dest), tag, 0)
        self.emit(source, group, "send", STANDARD, 0, *words)
        room = self.make_buffer(dest, 2 * length + 8192, MAPPED)  # Open MPI 4.1 may write beyond the receive
        kept = self.random.randrange(1, length)  # Intel MPI 2021 does not always tell where nothing is received
        self.emit(dest, group, "truncated", room.index, 0, kept, 0, comm.number(dest, source), tag, 0)
        self.emit(dest, group, "fill", room.index, 0, room.length, group)

    def event_status(self) -> None:
        """Ask a status of long ago."""
        rank = self.random.randrange(len(self.ranks))
        if self.ranks[rank].statuses:
            self.ask_status(rank, self.random.choice(list(self.ranks[rank].statuses)))

    def event_type(self) -> None:
        """Make or free a type."""
        (self.make_type if self.chance(1.5) else self.free_type)()

    # The whole program.

    def begin(self) -> None:
        """Buffers, types, what the features need."""
        for rank in range(len(self.ranks)):
            for length in (150000, 300000, 900000, 66000):
                kind = MAPPED if length > 200000 else 0
                self.make_buffer(rank, length + self.random.randrange(5000), kind)
            if self.features.buffered:
                attached = self.make_buffer(rank, ATTACHED_BYTES, HEAP)
                self.lines.append(Line(rank, 0, "attach", (attached.index, ATTACHED_BYTES)))
                self.ranks[rank].buffers.remove(attached)
        for _ in range(self.random.randrange(2, 7)):
            self.make_type()
        if self.features.multiple:
            self.job_comm = Comm(self.comms_made, self.comms[0].sides)
            self.comms_made += 1
            for rank in range(len(self.ranks)):
                self.emit(rank, 0, "dup", 0, self.job_comm.index)

    def step(self) -> None:
        """One event."""
        events: dict[Callable[[], None], int] = {
            self.event_message: 40,
            self.event_half: 16,
            self.event_wait: 18,
            self.event_apart: 8,
            self.event_freed: 1,
            self.event_touch: 26,
            self.event_exchange: 6,
            self.event_collective: 8,
            self.event_memory: 6,
            self.event_persistent: 4,
            self.event_status: 4,
            self.event_odd: 3,
            self.event_chain: 2,
            self.event_truncated: 1,
            self.event_comm: 1,
            self.event_type: 2,
            self.event_job: 20 if self.features.threads else 0,
        }
        self.pick(events)()

    def finish(self) -> None:
        """Complete everything."""
        while self.halves:
            if not any(self.end_message(message) for message in list(self.halves)):
                raise AssertionError("messages that cannot be completed")
        for rank, state in enumerate(self.ranks):
            self.wait_for(rank, list(state.pending))
            for persistent in list(state.persistent):
                self.free_persistent(rank, persistent)
            for slot in list(state.statuses):
                self.ask_status(rank, slot)
            if self.features.buffered:
                self.emit(rank, 0, "detach", 4)


def generate(seed: int, features: Features, operations: int) -> Program:
    """The program of a seed, of about so many operations."""
    draft = Draft(seed, features)
    draft.begin()
    while len(draft.lines) < operations:
        draft.step()
    draft.finish()
    return Program(seed, features.ranks, tuple(draft.lines))
