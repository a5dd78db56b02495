# SPDX-License-Identifier: MIT
"""Makes the files that processes leave under `lapwing profile`, field by field as src/record/profile_format.h says."""

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

HEADER_BYTES, BLOCK_BYTES = 512, 64
UNSET = (1 << 64) - 1
NAME, MODULE, SITE, SIZE, SLACK, TOUCH, PEER, PASS, EVENTS = range(1, 10)
HELD, WAY, ROW = 13, 14, 15


def pad(data: bytes) -> bytes:
    """Fill the last block."""
    return data + bytes(-len(data) % BLOCK_BYTES)


@dataclass
class SiteSpec:
    """A call site: (kind, key, count, first, second, minimum) for each of its cells."""

    function: int
    address: int
    time: tuple[int, int, int, int]
    bytes: tuple[int, int, int, int] = (0, 0, UNSET, 0)
    before: tuple[int, int, int, int] = (0, 0, UNSET, 0)
    cells: Sequence[tuple[int, int, int, int, int, int]] = ()
    slack: tuple[int, int, int] = (0, 0, 0)  # samples, wall time, censored
    watches: tuple[int, int, int] = (0, 0, 0)  # tried, refused, large


@dataclass
class FileSpec:
    """A process."""

    rank: int = 0
    size: int = 1
    state: int = 1
    names: Sequence[str] = ("MPI_Recv",)
    modules: Sequence[tuple[str, int, int, int]] = (("/bin/solver", 0x1000, 0x2000, 0x9000),)
    sites: Sequence[SiteSpec] = ()
    events: Sequence[tuple[int, int, int, int, int]] = ()
    event_capacity: int = 0
    elapsed_ns: int = 1_000_000
    version: int = 3
    lost_requests: int = 0
    matching: int = 0
    blocks: list[bytes] = field(default_factory=list)


def make_cells(site: SiteSpec, first: int) -> bytes:
    """Chain a site's cells, which begin at block `first`."""
    data = b""
    for number, (kind, *values) in enumerate(site.cells):
        following = first + number + 1 if number + 1 < len(site.cells) else 0
        data += struct.pack("<IIqQQQQ16x", kind, following, *values)
    return data


def make_site(site: SiteSpec, number: int) -> bytes:
    """Make a site at block `number`, and its cells behind it."""
    first = number + 3 if site.cells else 0
    sampled, wall_ns, censored = site.slack
    tried, refused, large = site.watches
    moments = (*site.time, *site.bytes, *site.before)
    data = struct.pack("<IIQ12Q", SITE, site.function, site.address, *moments)
    data += struct.pack("<II7Q16x", first, 0, sampled, wall_ns, censored, tried, refused, 0, large)
    return data + make_cells(site, number + 3)


def make_blocks(spec: FileSpec) -> bytes:
    """Make everything behind the header."""
    data = bytes(BLOCK_BYTES)
    for number, name in enumerate(spec.names):
        data += struct.pack("<II56s", NAME, number, name.encode())
    for path, base, low, high in spec.modules:
        text = os.fsencode(path)
        count = -(-(36 + len(text)) // BLOCK_BYTES)
        data += pad(struct.pack("<IIQQQI", MODULE, count, base, low, high, len(text)) + text)
    if spec.event_capacity:
        count = 1 + -(-spec.event_capacity // 2)
        places = [bytes(32)] * spec.event_capacity
        for number, event in enumerate(spec.events):
            places[number % spec.event_capacity] = struct.pack("<QQIIQ", *event)
        head = struct.pack("<IIIIQ40x", EVENTS, count, spec.event_capacity, 0, len(spec.events))
        data += pad(head + b"".join(places))
    for site in spec.sites:
        data += make_site(site, len(data) // BLOCK_BYTES)
    return data


def make_file(spec: FileSpec) -> bytes:
    """Make the whole file."""
    blocks = make_blocks(spec)
    started_ns = 5_000
    header = struct.pack(
        "<8sIIIIiiIIIIQQQQQQQQ64s256s16sII56x",
        b"LAPPROF\0",
        spec.version,
        HEADER_BYTES,
        BLOCK_BYTES,
        spec.state,
        spec.rank,
        spec.size,
        4711,
        0,
        len(blocks) // BLOCK_BYTES,
        2,
        1_000_000_000 + started_ns,
        started_ns,
        started_ns + spec.elapsed_ns,
        77,
        0,
        spec.lost_requests,
        1,
        500,
        b"node7",
        b"/usr/lib/libmpi.so.40",
        b"openmpi",
        0,
        spec.matching,
    )
    return header + blocks


def make_receive(rank: int = 0, size: int = 1) -> FileSpec:
    """Make a process with a receive that was sampled, and an Allreduce."""
    receive = SiteSpec(
        function=0,
        address=0x3000,
        time=(10, 100_000, 5_000, 20_000),
        bytes=(10, 81_920, 8_192, 8_192),
        before=(9, 90_000, 1_000, 30_000),
        cells=[
            (SIZE, 14, 10, 81_920, 100_000, 5_000),
            (SLACK, 12, 4, 12_000, 0, 0),
            (TOUCH, 0x3101, 3, 12_000, 0, 0),
            (TOUCH, 0x3201, 1, 1_000, 0, 0),
            (PEER, 1, 10, 81_920, 0, 0),
            (PASS, 7, 1, 0, 0, 0),
        ],
        slack=(4, 13_000, 0),
        watches=(5, 1, 10),
    )
    reduce = SiteSpec(1, 0x3050, (2, 8_000, 3_000, 5_000), (2, 16, 8, 8), cells=[(SIZE, 4, 2, 16, 8_000, 3_000)])
    return FileSpec(rank, size, names=("MPI_Recv", "MPI_Allreduce"), sites=[receive, reduce])


def write_host_file(folder: Path, specs: Sequence[FileSpec]) -> None:
    """Write what the processes of one host leave."""
    folder.mkdir(exist_ok=True)
    (folder / "host.profiles").write_bytes(make_host_file([make_file(spec) for spec in specs]))


def make_host_file(profiles: Sequence[bytes], piece_bytes: int = 65536) -> bytes:
    """Make the file of a host: the processes' pieces in turn, after one that nobody has."""
    left = dict(enumerate(profiles, 1))
    owners, pieces = [0], [bytes(piece_bytes)]
    while left:
        for process in list(left):
            owners.append(process)
            pieces.append(left[process][:piece_bytes].ljust(piece_bytes, b"\0"))
            left[process] = left[process][piece_bytes:]
            if not left[process]:
                del left[process]
    head = struct.pack("<8sIIII8x", b"LAPHOST\0", 1, piece_bytes, len(owners), len(profiles))
    directory = head + struct.pack(f"<{len(owners)}I", *owners)
    return directory.ljust(262144, b"\0") + b"".join(pieces)
