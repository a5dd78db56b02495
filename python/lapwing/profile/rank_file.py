# SPDX-License-Identifier: MIT
"""Decodes the profile of one process (src/record/profile_format.h): sites, cells and modules as numbers.

Nothing in the file is believed unchecked: a process may have died while it wrote, and a file may be any file.
"""

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lapwing.errors import RecordError
from lapwing.profile.record import decode_text

MAGIC = b"LAPPROF\0"
VERSION = 3
HEADER = struct.Struct("<8sIIIIiiIIIIQQQQQQQQ64s256s16sII56x")
BLOCK_BYTES = 64
BLOCKS_MAX = 1 << 24
NAME = struct.Struct("<II56s")
MODULE = struct.Struct("<IIQQQI")
SITE = struct.Struct("<IIQ4Q4Q4QII7Q16x")
CELL = struct.Struct("<IIqQQQQ16x")
EVENTS = struct.Struct("<IIIIQ")
EVENT = struct.Struct("<QQIIQ")
SITE_BLOCKS = 3
KIND_NAME, KIND_MODULE, KIND_SITE = 1, 2, 3
KIND_SIZE, KIND_SLACK, KIND_TOUCH, KIND_PEER, KIND_PASS, KIND_EVENTS = 4, 5, 6, 7, 8, 9
KIND_OP, KIND_TOUCHED = 10, 11  # of the picture of a run
KIND_REDUCED = 12
KIND_HELD = 13  # since version 2
KIND_WAY, KIND_ROW = 14, 15  # since version 3
CELL_KINDS = (*range(KIND_SIZE, KIND_PASS + 1), KIND_OP, KIND_TOUCHED, KIND_REDUCED, KIND_HELD, KIND_WAY, KIND_ROW)
MATCHING = {1: False, 2: True}  # else not known
UNSET = (1 << 64) - 1  # a minimum of nothing
STATES = ("running", "finalized", "exited")
REMEDY = "give a file that `lapwing profile` wrote"


@dataclass(frozen=True)
class RankHeader:
    """What a process says about itself."""

    rank: int
    size: int
    pid: int
    state: str
    has_threads: bool
    used_blocks: int
    core_count: int
    started_unix_ns: int
    started_ns: int
    ended_ns: int
    covered_ns: int
    lost_calls: int
    lost_requests: int
    watch_count: int
    watch_cost_ns: int
    host: str
    mpi_library: str
    abi: str
    online_count: int
    matches_first: bool | None

    @property
    def length_bytes(self) -> int:
        """Return the length of the whole profile."""
        return HEADER.size + self.used_blocks * BLOCK_BYTES


@dataclass(frozen=True)
class Sample:
    """Times in ns, or sizes in bytes. An empty one is all zeros."""

    count: int
    total: int
    minimum: int
    maximum: int


@dataclass(frozen=True)
class Cell:
    """One number of a list; what key, first and second are depends on the kind."""

    key: int
    count: int
    first: int
    second: int
    minimum: int  # of second


@dataclass(frozen=True)
class RawSite:
    """A call site as the process saw it."""

    number: int
    function: str
    address: int
    time: Sample
    bytes: Sample
    before: Sample
    wall_total_ns: int
    sampled_count: int
    censored_count: int
    watch_tried_count: int
    watch_refused_count: int
    large_count: int
    cells: Mapping[int, tuple[Cell, ...]]


@dataclass(frozen=True)
class Module:
    """A loaded file: an address less `base` is one of the file's own."""

    path: str
    base: int
    low: int
    high: int


@dataclass(frozen=True)
class Event:
    """One piece of the timeline."""

    start_ns: int
    length_ns: int
    site: int
    kind: int
    bytes: int


@dataclass(frozen=True)
class RankFile:
    """Everything that one process remembered."""

    header: RankHeader
    modules: tuple[Module, ...]
    sites: tuple[RawSite, ...]
    events: tuple[Event, ...] = ()


def unpack_header(data: bytes, source: str) -> tuple[Any, ...]:
    """Return the header's fields, or say what is wrong with it."""
    if not data or not data.startswith(MAGIC[: len(data)]):
        raise RecordError(f"{source} is no profile of Lapwing", REMEDY)
    if len(data) < HEADER.size:
        raise RecordError(f"{source} is cut short", "profile again")
    fields = HEADER.unpack_from(data)
    if fields[1] > VERSION:
        raise RecordError(f"{source} was written by a newer Lapwing (profile format {fields[1]})", "update Lapwing")
    is_sound = fields[1] > 0 and fields[2:4] == (HEADER.size, BLOCK_BYTES) and fields[4] < len(STATES)
    if not is_sound or fields[9] > BLOCKS_MAX or fields[13] < fields[12]:
        raise RecordError(f"{source} is damaged", "profile again")
    return fields


def decode_header(data: bytes, source: str) -> RankHeader:
    """Return what the header says."""
    fields = unpack_header(data, source)
    return RankHeader(
        rank=fields[5],
        size=fields[6],
        pid=fields[7],
        state=STATES[fields[4]],
        has_threads=fields[8] != 0,
        used_blocks=fields[9],
        core_count=fields[10],
        started_unix_ns=fields[11],
        started_ns=fields[12],
        ended_ns=fields[13],
        covered_ns=fields[14],
        lost_calls=fields[15],
        lost_requests=fields[16],
        watch_count=fields[17],
        watch_cost_ns=fields[18],
        host=decode_text(fields[19]),
        mpi_library=decode_text(fields[20]),
        abi=decode_text(fields[21]),
        online_count=fields[22],
        matches_first=MATCHING.get(fields[23]),
    )


def make_sample(count: int, total: int, minimum: int, maximum: int) -> Sample:
    """Make a sample; the minimum of nothing is 0."""
    return Sample(count, total, 0 if minimum == UNSET or not count else minimum, maximum)


class Blocks:
    """The blocks of one file."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.source = source
        self.count = (len(data) - HEADER.size) // BLOCK_BYTES

    def fail(self) -> RecordError:
        """Make the error of a file whose parts do not fit."""
        return RecordError(f"{self.source} is damaged", "profile again")

    def offset(self, number: int, block_count: int = 1) -> int:
        """Return where a block stands."""
        if number + block_count > self.count:
            raise self.fail()
        return HEADER.size + number * BLOCK_BYTES

    def kind(self, number: int) -> int:
        """Return the kind of a block."""
        return int.from_bytes(self.data[self.offset(number) : self.offset(number) + 4], "little")

    def span(self, number: int) -> int:
        """Return how many blocks belong together."""
        kind = self.kind(number)
        if kind == KIND_SITE:
            return SITE_BLOCKS
        if kind not in (KIND_MODULE, KIND_EVENTS):
            return 1
        start = self.offset(number) + 4
        return max(1, int.from_bytes(self.data[start : start + 4], "little"))

    def iterate(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind; a block that was never filled (the process died) is passed over."""
        number = 1
        while number < self.count:
            kind = self.kind(number)
            yield number, kind
            number += self.span(number)

    def read_name(self, number: int) -> tuple[int, str]:
        """Read a function's name."""
        _, function, name = NAME.unpack_from(self.data, self.offset(number))
        return function, decode_text(name)

    def read_module(self, number: int) -> Module:
        """Read a module."""
        start = self.offset(number, self.span(number))
        _, count, base, low, high, length = MODULE.unpack_from(self.data, start)
        end = start + MODULE.size + length
        if end > start + count * BLOCK_BYTES:
            raise self.fail()
        return Module(self.data[start + MODULE.size : end].decode("utf-8", "surrogateescape"), base, low, high)

    def read_cells(self, first: int) -> dict[int, tuple[Cell, ...]]:
        """Follow a site's list; it cannot be longer than the file, so a loop is noticed."""
        cells: dict[int, list[Cell]] = defaultdict(list)
        number = first
        for _ in range(self.count + 1):
            if number == 0:
                return {kind: tuple(row) for kind, row in cells.items()}
            kind, number, key, count, total, other, minimum = CELL.unpack_from(self.data, self.offset(number))
            if kind not in CELL_KINDS:
                break
            cells[kind].append(Cell(key, count, total, other, 0 if minimum == UNSET else minimum))
        raise self.fail()

    def read_site(self, number: int, names: Mapping[int, str]) -> RawSite:
        """Read a call site."""
        fields = SITE.unpack_from(self.data, self.offset(number, SITE_BLOCKS))
        function = names.get(fields[1])
        if function is None:
            raise self.fail()
        return RawSite(
            number=number,
            function=function,
            address=fields[2],
            time=make_sample(*fields[3:7]),
            bytes=make_sample(*fields[7:11]),
            before=make_sample(*fields[11:15]),
            cells=self.read_cells(fields[15]),
            sampled_count=fields[17],
            wall_total_ns=fields[18],
            censored_count=fields[19],
            watch_tried_count=fields[20],
            watch_refused_count=fields[21],
            large_count=fields[23],
        )

    def read_events(self, number: int) -> Iterator[Event]:
        """Yield the events of the timeline, the oldest first."""
        start = self.offset(number, self.span(number))
        _, block_count, capacity, _, count = EVENTS.unpack_from(self.data, start)
        if capacity * EVENT.size > (block_count - 1) * BLOCK_BYTES:
            raise self.fail()
        for event in range(max(0, count - capacity), count):
            start_ns, length_ns, site, kind, size = EVENT.unpack_from(
                self.data, start + BLOCK_BYTES + event % capacity * EVENT.size
            )
            yield Event(start_ns, length_ns, site, kind, size)


def decode_rank_file(data: bytes, source: str) -> RankFile:
    """Decode a whole profile."""
    header = decode_header(data, source)
    if len(data) < header.length_bytes:
        raise RecordError(f"{source} is cut short", "profile again")
    blocks = Blocks(data[: header.length_bytes], source)
    found = list(blocks.iterate())
    names = dict(blocks.read_name(number) for number, kind in found if kind == KIND_NAME)
    return RankFile(
        header=header,
        modules=tuple(blocks.read_module(number) for number, kind in found if kind == KIND_MODULE),
        sites=tuple(blocks.read_site(number, names) for number, kind in found if kind == KIND_SITE),
        events=tuple(e for number, kind in found if kind == KIND_EVENTS for e in blocks.read_events(number)),
    )
