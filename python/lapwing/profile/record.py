# SPDX-License-Identifier: MIT
"""Reads the records of ranks (src/record/format.h) and the job file that gathers them.

The ranks of a host append their records to one file, each in a frame. A job file is one line "LAPWING-JOB 1", one line
of JSON about the run, then the ranks' records one after another, without frames; a record says itself how long it is.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from lapwing.errors import RecordError, tell_cause
from lapwing.files import read_table
from lapwing.outfiles import USUAL_MODE, write_whole

MAGIC = b"LAPWING\0"
VERSION = 1
HEADER = struct.Struct("<8sIIiiIIIIQ64s96s16s24s16s64s")
ORIGIN = struct.Struct("<Q64s64s")  # behind it, in all but early records: start, program, launch
FRAME_MAGIC = b"LAPRANK\0"
FRAME = struct.Struct("<8sII")  # magic, length of the record, its CRC-32
JOB_LINE = b"LAPWING-JOB 1\n"
VERSION_LENGTH_MAX = 20
HEADER_BYTES_MAX = 65536
ENTRIES_MAX = 65536  # more counters or reasons than any version will have: the file is damaged
RECORD_BYTES_MAX = HEADER_BYTES_MAX + (8 + 16) * ENTRIES_MAX


@dataclass(frozen=True)
class Pass:
    """How often calls were passed for one reason, and their bytes."""

    calls: int
    bytes: int


@dataclass(frozen=True)
class RankRecord:
    """What one process remembered."""

    rank: int
    size: int
    pid: int
    is_complete: bool
    is_active: bool
    host: str
    mpi_library: str
    abi: str
    hold: str
    progress: str
    notice: str
    counters: Mapping[str, int]
    passes: Mapping[str, Pass]
    started_unix_ns: int = 0  # the return of MPI_Init
    program: str = ""
    launch: str = ""  # what the launcher calls the processes that it started together


@dataclass(frozen=True)
class JobRecord:
    """All records of a run."""

    about: Mapping[str, Any]
    ranks: Sequence[RankRecord]
    damaged: Sequence[str] = ()


@cache
def load_names(table: str) -> tuple[str, ...]:
    """Return the names of a table's rows, in file order."""
    return tuple(row["name"] for row in read_table(table))


@cache
def load_reason_help() -> Mapping[str, str]:
    """Return the text that reports print for each reason."""
    return {row["name"]: row["help"] for row in read_table("reasons")}


def decode_text(field: bytes) -> str:
    """Read a zero-terminated string."""
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


def name_entries(table: str, count: int) -> list[str]:
    """Name the first `count` entries of a table; those that a newer writer added get a number."""
    known = load_names(table)[:count]
    return [*known, *(f"{table}_{number}" for number in range(len(known), count))]


def check_header(data: bytes, source: str) -> tuple[Any, ...]:
    """Return the header's fields, or say what is wrong with them."""
    if not data.startswith(MAGIC[: len(data)]) or not data:
        remedy = "give a file that `lapwing run --keep-record` wrote"
        raise RecordError(f"{source} is no record file of Lapwing", remedy)
    if len(data) < HEADER.size:
        raise RecordError(f"{source} is cut short", "the process probably died while it wrote; run again")
    fields = HEADER.unpack_from(data)
    if fields[1] > VERSION:
        raise RecordError(f"{source} was written by a newer Lapwing (format {fields[1]})", "update Lapwing")
    if fields[1] < VERSION or fields[2] < HEADER.size or fields[2] > HEADER_BYTES_MAX or max(fields[7:9]) > ENTRIES_MAX:
        raise RecordError(f"{source} is damaged", "run again")
    return fields


def decode_origin(data: bytes, header_bytes: int) -> tuple[int, str, str]:
    """Return when the process started, its program's name, and its launcher's name for the job."""
    if header_bytes < HEADER.size + ORIGIN.size:
        return 0, "", ""
    started_unix_ns, program, launch = ORIGIN.unpack_from(data, HEADER.size)
    return started_unix_ns, decode_text(program), decode_text(launch)


def decode_record(data: bytes, source: str) -> tuple[RankRecord, int]:
    """Decode the record at the start of the bytes; return it and its length."""
    fields = check_header(data, source)
    header_bytes, counter_count, reason_count = fields[2], fields[7], fields[8]
    length_bytes = header_bytes + 8 * counter_count + 16 * reason_count
    if len(data) < length_bytes:
        raise RecordError(f"{source} is cut short", "the process probably died while it wrote; run again")
    counters = struct.unpack_from(f"<{counter_count}Q", data, header_bytes)
    numbers = struct.unpack_from(f"<{2 * reason_count}Q", data, header_bytes + 8 * counter_count)
    passes = [Pass(numbers[2 * index], numbers[2 * index + 1]) for index in range(reason_count)]
    host, library, abi, hold, progress, notice = (decode_text(field) for field in fields[10:16])
    started_unix_ns, program, launch = decode_origin(data, header_bytes)
    record = RankRecord(
        rank=fields[3],
        size=fields[4],
        pid=fields[5],
        is_complete=fields[6] == 1,
        is_active=fields[9] == 1,
        host=host,
        mpi_library=library,
        abi=abi,
        hold=hold,
        progress=progress,
        notice=notice,
        counters=dict(zip(name_entries("record", counter_count), counters, strict=True)),
        passes=dict(zip(name_entries("reasons", reason_count), passes, strict=True)),
        started_unix_ns=started_unix_ns,
        program=program,
        launch=launch,
    )
    return record, length_bytes


def encode_record(record: RankRecord) -> bytes:
    """Make a record file's bytes: for job files and tests."""
    texts = (record.host, record.mpi_library, record.abi, record.hold, record.progress, record.notice)
    header = HEADER.pack(
        MAGIC,
        VERSION,
        HEADER.size + ORIGIN.size,
        record.rank,
        record.size,
        record.pid,
        int(record.is_complete),
        len(record.counters),
        len(record.passes),
        int(record.is_active),
        *(text.encode() for text in texts),
    )
    origin = ORIGIN.pack(record.started_unix_ns, record.program.encode(), record.launch.encode())
    counters = struct.pack(f"<{len(record.counters)}Q", *record.counters.values())
    passes = b"".join(struct.pack("<QQ", row.calls, row.bytes) for row in record.passes.values())
    return header + origin + counters + passes


def encode_frame(data: bytes) -> bytes:
    """Make what a rank appends to its host's file: for tests."""
    return FRAME.pack(FRAME_MAGIC, len(data), zlib.crc32(data)) + data


def find_frame(data: bytes, place: int) -> bytes:
    """Return the record whose frame begins at this place; nothing where none does, or it was cut short."""
    if not data.startswith(FRAME_MAGIC, place) or len(data) < place + FRAME.size:
        return b""
    _, length_bytes, check = FRAME.unpack_from(data, place)
    if length_bytes > RECORD_BYTES_MAX:
        return b""
    record = data[place + FRAME.size : place + FRAME.size + length_bytes]
    return record if len(record) == length_bytes and zlib.crc32(record) == check else b""


def split_frames(data: bytes) -> tuple[list[bytes], int]:
    """Return the whole records in a host's file, and how many others were cut short."""
    records: list[bytes] = []
    place = cut_count = 0
    while place < len(data):
        record = find_frame(data, place)
        if record:
            records.append(record)
            place += FRAME.size + len(record)
            continue
        cut_count += 1
        found = data.find(FRAME_MAGIC, place + 1)
        place = found if found >= 0 else len(data)
    return records, cut_count


def list_records(folder: Path) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the records in a folder, each with its file's name, in a steady order; and what cannot be read."""
    records: list[tuple[str, bytes]] = []
    damaged: list[str] = []
    for path in sorted(folder.glob("*.ranks")):
        try:
            whole, cut_count = split_frames(path.read_bytes())
        except OSError as error:
            damaged.append(tell_cause(error))
            continue
        records += [(path.name, record) for record in whole]
        if cut_count > 0:
            count = "a record is" if cut_count == 1 else f"{cut_count} records are"
            damaged.append(f"{path.name}: {count} cut short: is the disk full?")
    return records, damaged


def read_folder(folder: Path, about: Mapping[str, Any]) -> JobRecord:
    """Read what the ranks left; a damaged record is named and left out."""
    ranks: list[RankRecord] = []
    records, cut = list_records(folder)
    damaged: list[str] = []
    for name, data in records:
        try:
            ranks.append(decode_record(data, name)[0])
        except RecordError as error:
            damaged.append(error.message)
    return JobRecord(about, ranks, damaged + cut)


def write_job(path: Path, about: Mapping[str, Any], records: Iterable[RankRecord], mode: int = USUAL_MODE) -> None:
    """Write one file for the whole job."""
    line = json.dumps(dict(about), sort_keys=True).encode() + b"\n"
    with write_whole(path, mode) as output:
        output.write(JOB_LINE + line + b"".join(encode_record(record) for record in records))


def read_job(path: Path) -> JobRecord:
    """Read a job file, or a single rank's record."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror})", "correct the path") from error
    if not data:
        raise RecordError(f"{path} is cut short: it is empty", "is the disk full? run again")
    about: Mapping[str, Any] = {}
    if data.startswith(JOB_LINE):
        line, _, data = data[len(JOB_LINE) :].partition(b"\n")
        about = decode_about(line, path)
    elif data.startswith(JOB_LINE.split()[0]):
        refuse_version(data, path)
    return JobRecord(about, list(iterate_records(data, str(path))))


def refuse_version(data: bytes, path: Path) -> NoReturn:
    """Say what is wrong with the first line of a job file."""
    version = data.split(b"\n", 1)[0].removeprefix(JOB_LINE.split()[0]).strip()
    if version.isdigit():
        text = version.decode("ascii")[:VERSION_LENGTH_MAX]
        raise RecordError(f"{path} was written by a newer Lapwing (job format {text})", "update Lapwing")
    raise RecordError(f"{path} is damaged", "run again")


def decode_about(line: bytes, path: Path) -> Mapping[str, Any]:
    """Read a job file's line of JSON."""
    try:
        about = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path} is damaged", "run again") from error
    return about if isinstance(about, dict) else {}


def iterate_records(data: bytes, source: str) -> Iterator[RankRecord]:
    """Yield the records that lie one after another."""
    while data:
        record, length_bytes = decode_record(data, source)
        data = data[length_bytes:]
        yield record
