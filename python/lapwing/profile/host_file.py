# SPDX-License-Identifier: MIT
"""Finds the profiles of processes in a folder: those of one host lie in one file, in pieces (profile_format.h).

Lapwing 0.1 wrote a file for each process; a host may still have it.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lapwing.errors import RecordError

MAGIC = b"LAPHOST\0"
VERSION = 1
HEAD = struct.Struct("<8sIIII8x")
DIRECTORY_BYTES, PIECE_BYTES = 262144, 65536
PIECES_MAX = (DIRECTORY_BYTES - HEAD.size) // 4


@dataclass(frozen=True)
class Stored:
    """Where the profile of a process lies; starts: of its pieces in the file. None: the whole file."""

    path: Path
    starts: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """For people."""
        return self.path.name

    @property
    def size(self) -> int:
        """Return how many bytes there are."""
        if self.starts is None:
            return self.path.stat().st_size
        return len(self.starts) * PIECE_BYTES

    def read(self, length_bytes: int) -> bytes:
        """Return the first bytes."""
        with self.path.open("rb") as stream:
            if self.starts is None:
                return stream.read(length_bytes)
            data = bytearray()
            for start in self.starts[: -(-length_bytes // PIECE_BYTES)]:
                stream.seek(start)
                data += stream.read(PIECE_BYTES)
        return bytes(data[:length_bytes])


def read_owners(path: Path) -> tuple[int, ...]:
    """Return the numbers of the processes that the pieces of a host's file belong to."""
    with path.open("rb") as stream:
        directory = stream.read(DIRECTORY_BYTES)
    if len(directory) < DIRECTORY_BYTES or not directory.startswith(MAGIC):
        raise RecordError(f"{path.name} is damaged", "profile again")
    _, version, piece_bytes, piece_count, _ = HEAD.unpack_from(directory)
    if version > VERSION:
        raise RecordError(f"{path.name} was written by a newer Lapwing (profile format {version})", "update Lapwing")
    if piece_bytes != PIECE_BYTES:
        raise RecordError(f"{path.name} is damaged", "profile again")
    return struct.unpack_from(f"<{min(piece_count, PIECES_MAX)}I", directory, HEAD.size)


def iterate_host_file(path: Path) -> Iterator[Stored]:
    """Yield the profiles in a host's file."""
    starts: dict[int, list[int]] = {}
    for number, owner in enumerate(read_owners(path)):
        if owner != 0:
            starts.setdefault(owner, []).append(DIRECTORY_BYTES + number * PIECE_BYTES)
    for places in starts.values():
        yield Stored(path, tuple(places))


def list_stored(folder: Path) -> tuple[list[Stored], list[str]]:
    """Return the profiles in a folder, and what is wrong with files in it."""
    found = [Stored(path) for path in sorted(folder.glob("*.profile"))]
    damaged: list[str] = []
    for path in sorted(folder.glob("*.profiles")):
        try:
            found += iterate_host_file(path)
        except (RecordError, OSError) as error:
            damaged.append(error.message if isinstance(error, RecordError) else str(error))
    return found, damaged
