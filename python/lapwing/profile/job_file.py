# SPDX-License-Identifier: MIT
"""The record of a profiled job: one file with every rank's profile, and the source lines of its addresses.

    LAPWING-PROFILE 1
    {"command": [...], "files": 2, ...}     one line of JSON about the run
    the ranks' profiles                     rank_file.py; each says how long it is
    LAPPLACE, 8 bytes of length, JSON       the lines, found while the binaries were at hand
    LAPCHECK, 4 bytes                       the CRC-32 of all before it; earlier records end without it

Thousands of ranks are written and read one after the other: memory never holds more than one of them.
"""

import json
import shutil
import struct
import tempfile
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from lapwing.errors import RecordError, tell_cause
from lapwing.outfiles import write_whole
from lapwing.profile.host_file import Stored, list_stored
from lapwing.profile.rank_file import (
    HEADER,
    KIND_TOUCH,
    MAGIC,
    REMEDY,
    Module,
    RankFile,
    RankHeader,
    decode_header,
    decode_rank_file,
)
from lapwing.profile.resolve import Place, resolve_places

PROFILE_LINE = b"LAPWING-PROFILE 1\n"
PLACES_MAGIC = b"LAPPLACE"
PLACES_HEAD = struct.Struct("<8sQ")
CHECK = struct.Struct("<8sI")
CHECK_MAGIC = b"LAPCHECK"
CHUNK_BYTES = 1 << 18
ABOUT_BYTES_MAX = 1 << 20
PLACES_BYTES_MAX = 1 << 30
SEVERAL_JOBS = "the command, or the program by MPI_Comm_spawn, started MPI more than once"
PICTURE = "is_picture"  # of a run: its sites are those of ops (report/picture.py)
ONE_JOB_REMEDY = "profile one launcher at a time"


@dataclass(frozen=True)
class Code:
    """An address in a file: where the run had it does not matter any more."""

    module: str = ""
    offset: int = 0
    place: Place = field(default_factory=Place)


class Atlas:
    """Turns the addresses of one process into files, lines and offsets."""

    def __init__(self, modules: Sequence[Module], places: Mapping[tuple[str, int], Place]) -> None:
        self._modules = sorted(modules, key=lambda module: module.low)
        self._lows = [module.low for module in self._modules]
        self._places = places

    def locate(self, address: int) -> tuple[str, int] | None:
        """Return the file, and the address in it; None outside all files."""
        number = bisect_right(self._lows, address - 1) - 1
        if number < 0 or address - 1 >= self._modules[number].high:
            return None
        module = self._modules[number]
        return module.path, address - module.base

    def find(self, address: int) -> Code:
        """Return everything that is known of an address."""
        found = self.locate(address)
        return Code(*found, self._places.get(found, Place())) if found else Code()


def list_addresses(rank: RankFile) -> Iterator[tuple[str, int]]:
    """Yield the code addresses of a rank, as files have them."""
    atlas = Atlas(rank.modules, {})
    for site in rank.sites:
        for address in (site.address, *(cell.key for cell in site.cells.get(KIND_TOUCH, ()))):
            found = atlas.locate(address)
            if found:
                yield found


def read_header(stored: Stored) -> RankHeader:
    """Read the header of a process's profile, and see that it is whole."""
    data = stored.read(HEADER.size)
    if data == bytes(HEADER.size):
        raise RecordError(f"{stored.name}, ended before it wrote its profile", "profile again")
    header = decode_header(data, stored.name)
    if stored.size < header.length_bytes:
        raise RecordError(f"{stored.name} is cut short", "profile again")
    return header


def list_profiles(folder: Path) -> tuple[list[tuple[RankHeader, Stored]], list[str]]:
    """Return the profiles in a folder by rank, and what is wrong with the rest."""
    stored, damaged = list_stored(folder)
    profiles: list[tuple[RankHeader, Stored]] = []
    for one in stored:
        try:
            profiles.append((read_header(one), one))
        except (RecordError, OSError) as error:
            damaged.append(tell_cause(error))
    return sorted(profiles, key=lambda profile: profile[0].rank), damaged


# Why no rank may have left a profile.
CAUSES_OF_NONE = (
    "was an MPI program started, does its host see this folder, is there room on the disk, and below `ulimit -v`?"
)


def describe_damaged(damaged: Sequence[str]) -> str:
    """Return, in brackets, the first of what is wrong with profiles; nothing where nothing is."""
    more = f", and {len(damaged) - 1} more" if len(damaged) > 1 else ""
    return f" ({damaged[0]}{more})" if damaged else ""


def count_jobs(ranks: Iterable[int]) -> int:
    """Return how many jobs left profiles: as many as have the most frequent rank."""
    return max(Counter(ranks).values(), default=0)


def check_one_job(folder: Path) -> None:
    """Refuse what a script with several launchers left."""
    count = count_jobs(header.rank for header, _ in list_profiles(folder)[0])
    if count > 1:
        raise RecordError(f"{count} jobs left profiles: {SEVERAL_JOBS}", ONE_JOB_REMEDY)


def copy_rank(header: RankHeader, stored: Stored, output: BinaryIO) -> set[tuple[str, int]]:
    """Append a rank's profile; return its addresses."""
    data = stored.read(header.length_bytes)
    rank = decode_rank_file(data, stored.name)
    output.write(data)
    return set(list_addresses(rank))


@dataclass
class CheckedOutput:
    """Sums up what is written."""

    output: BinaryIO
    check: int = 0

    def write(self, data: bytes) -> None:
        """Write."""
        self.check = zlib.crc32(data, self.check)
        self.output.write(data)

    def end(self) -> None:
        """Append the sum."""
        self.output.write(CHECK.pack(CHECK_MAGIC, self.check))


def write_places(output: CheckedOutput, places: Mapping[tuple[str, int], Place]) -> None:
    """Append the lines of addresses."""
    rows = [[path, offset, p.file, p.line, p.function] for (path, offset), p in sorted(places.items())]
    text = json.dumps(rows, separators=(",", ":")).encode()
    output.write(PLACES_HEAD.pack(PLACES_MAGIC, len(text)) + text)


def write_profile_job(path: Path, about: Mapping[str, Any], folder: Path) -> list[str]:
    """Gather the ranks' profiles of a folder in one file; return what is wrong with some of them."""
    profiles, damaged = list_profiles(folder)
    addresses: set[tuple[str, int]] = set()
    count = 0
    # How many profiles are whole stands before them. The folder that holds them holds them twice for a while.
    with write_whole(path) as stream, tempfile.TemporaryFile(dir=folder) as ranks:
        for header, stored in profiles:
            try:
                addresses |= copy_rank(header, stored, ranks)
                count += 1
            except RecordError as error:
                damaged.append(error.message)
        line = json.dumps({**about, "files": count, "damaged": damaged}, sort_keys=True).encode() + b"\n"
        output = CheckedOutput(stream)
        output.write(PROFILE_LINE + line)
        ranks.seek(0)
        shutil.copyfileobj(ranks, output, 1 << 20)
        write_places(output, resolve_places(addresses))
        output.end()
    return damaged


@dataclass(frozen=True)
class ProfileJob:
    """A record of a profiled job, or the profile of a single process; ranks are read when asked for.

    is_checked: it ends with a check, which is right: what it holds is what was measured. Where threads still called MPI
    as their rank ended, that may contradict itself a little.
    """

    path: Path
    about: Mapping[str, Any]
    starts: Sequence[int]
    places: Mapping[tuple[str, int], Place]
    is_checked: bool = False

    def iterate_ranks(self) -> Iterator[tuple[RankFile, Atlas]]:
        """Yield one rank after the other."""
        with self.path.open("rb") as stream:
            for start in self.starts:
                stream.seek(start)
                head = stream.read(HEADER.size)
                header = decode_header(head, str(self.path))
                rank = decode_rank_file(head + stream.read(header.length_bytes - HEADER.size), str(self.path))
                yield rank, Atlas(rank.modules, self.places)


def decode_about(line: bytes, source: str) -> Mapping[str, Any]:
    """Read the line about the run."""
    try:
        about = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{source} is damaged", "profile again") from error
    files = about.get("files") if isinstance(about, dict) else None
    if not isinstance(files, int) or isinstance(files, bool) or files < 0:
        raise RecordError(f"{source} is damaged", "profile again")
    return dict(about)


def find_starts(stream: BinaryIO, count: int, length_bytes: int, source: str) -> list[int]:
    """Find where each rank's profile begins, and leave the stream behind the last."""
    starts: list[int] = []
    for _ in range(count):
        start = stream.tell()
        header = decode_header(stream.read(HEADER.size), source)
        if start + header.length_bytes > length_bytes:
            raise RecordError(f"{source} is cut short", "profile again")
        starts.append(start)
        stream.seek(start + header.length_bytes)
    return starts


def decode_places(text: bytes, source: str) -> dict[tuple[str, int], Place]:
    """Read the lines of addresses."""
    try:
        rows = json.loads(text)
        places = {(path, offset): Place(file, line, function) for path, offset, file, line, function in rows}
    except (ValueError, TypeError, RecursionError) as error:
        raise RecordError(f"{source} is damaged", "profile again") from error
    for (path, offset), place in places.items():
        texts, numbers = (path, place.file, place.function), (offset, place.line)
        if not all(isinstance(text, str) for text in texts) or not all(type(n) is int and n >= 0 for n in numbers):
            raise RecordError(f"{source} is damaged", "profile again")
    return places


def read_places(stream: BinaryIO, source: str) -> dict[tuple[str, int], Place]:
    """Read the end of a job's record."""
    head = stream.read(PLACES_HEAD.size)
    if len(head) < PLACES_HEAD.size:
        raise RecordError(f"{source} is cut short", "profile again")
    magic, length_bytes = PLACES_HEAD.unpack(head)
    if magic != PLACES_MAGIC or length_bytes > PLACES_BYTES_MAX:
        raise RecordError(f"{source} is damaged", "profile again")
    text = stream.read(length_bytes)
    if len(text) < length_bytes:
        raise RecordError(f"{source} is cut short", "profile again")
    return decode_places(text, source)


def sum_up(stream: BinaryIO, length_bytes: int) -> int:
    """Return the CRC-32 of a file's first bytes."""
    check = 0
    stream.seek(0)
    for start in range(0, length_bytes, CHUNK_BYTES):
        check = zlib.crc32(stream.read(min(CHUNK_BYTES, length_bytes - start)), check)
    return check


def check_end(stream: BinaryIO, source: str) -> bool:
    """Refuse a record in which a bit has changed, or that something follows. The stream is behind the lines.

    Return whether the record has a check.
    """
    length_bytes = stream.tell()
    end = stream.read(CHECK.size + 1)
    if not end:
        return False
    has_magic = end.startswith(CHECK_MAGIC[: len(end)])
    if len(end) < CHECK.size and has_magic:
        raise RecordError(f"{source} is cut short", "profile again")
    if len(end) != CHECK.size:
        raise RecordError(f"{source} is damaged: more follows a whole record", "give one record at a time")
    # As long as a check, it is one: a bit of its magic may have changed, too.
    if not has_magic or sum_up(stream, length_bytes) != CHECK.unpack(end)[1]:
        raise RecordError(f"{source} is damaged", "profile again")
    return True


def open_stream(stream: BinaryIO, path: Path) -> ProfileJob:
    """Read everything but the ranks."""
    source, length_bytes = str(path), path.stat().st_size
    if stream.read(len(PROFILE_LINE)) != PROFILE_LINE:
        stream.seek(0)
        starts = find_starts(stream, 1, length_bytes, source)
        rank = decode_rank_file(path.read_bytes(), source)
        return ProfileJob(path, {}, starts, resolve_places(list_addresses(rank)))
    about = decode_about(stream.readline(ABOUT_BYTES_MAX), source)
    starts = find_starts(stream, about["files"], length_bytes, source)
    places = read_places(stream, source)
    return ProfileJob(path, about, starts, places, check_end(stream, source))


def open_profile_job(path: Path) -> ProfileJob:
    """Open a record of `lapwing profile`; every flaw ends in one RecordError."""
    try:
        with path.open("rb") as stream:
            return open_stream(stream, path)
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror})", "correct the path") from error


def is_profile(path: Path) -> bool:
    """Tell whether a file begins like a record of `lapwing profile`; newer versions of it, too."""
    try:
        with path.open("rb") as stream:
            head = stream.read(len(PROFILE_LINE))
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror})", "correct the path") from error
    beginning = PROFILE_LINE.split()[0]
    if head.startswith(beginning) and head != PROFILE_LINE:
        version = head[len(beginning) :].split(b"\n")[0].strip().decode("ascii", "replace")
        if version.isdigit():
            raise RecordError(f"{path} was written by a newer Lapwing (record format {version})", "update Lapwing")
        raise RecordError(f"{path} is damaged", REMEDY)
    return head == PROFILE_LINE or head.startswith(MAGIC)
