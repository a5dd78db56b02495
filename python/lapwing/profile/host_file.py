# SPDX-License-Identifier: MIT
"""Finds the profiles of processes in a folder: those of one host lie in one file, in pieces (profile_format.h)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lapwing.errors import RecordError, tell_cause

MAGIC = b"LAPHOST\0"
VERSION = 1
HEAD = struct.Struct("<8sIIII8x")
DIRECTORY_BYTES, PIECE_BYTES = 262144, 65536
PIECES_MAX = (DIRECTORY_BYTES - HEAD.size) // 4


@dataclass(frozen=True)
class Stored:
    """Where the profile of a process lies. process: its number in the file; starts: of its pieces there."""

    path: Path
    process: int
    starts: tuple[int, ...]

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.path.name}, process {self.process}"

    @property
    def size(self) -> int:
        """Return how many bytes there are."""
        return len(self.starts) * PIECE_BYTES

    def read(self, length_bytes: int) -> bytes:
        """Return the first bytes."""
        data = bytearray()
        with self.path.open("rb") as stream:
            for start in self.starts[: -(-length_bytes // PIECE_BYTES)]:
                stream.seek(start)
                data += stream.read(min(PIECE_BYTES, length_bytes - len(data)))
        return bytes(data)


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
    for process, places in starts.items():
        yield Stored(path, process, tuple(places))


def list_stored(folder: Path) -> tuple[list[Stored], list[str]]:
    """Return the profiles in a folder, and what is wrong with files in it."""
    found: list[Stored] = []
    damaged: list[str] = []
    for path in sorted(folder.glob("*.profiles")):
        try:
            found += iterate_host_file(path)
        except (RecordError, OSError) as error:
            damaged.append(tell_cause(error))
    return found, damaged
