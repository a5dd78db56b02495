# SPDX-License-Identifier: MIT
"""Record files: good ones are read exactly, bad ones give one clear error."""

import struct
from pathlib import Path

import pytest

from lapwing.errors import RecordError
from lapwing.profile.record import (
    HEADER,
    ORIGIN,
    RECORD_BYTES_MAX,
    RankRecord,
    decode_record,
    encode_frame,
    encode_record,
    read_folder,
    read_job,
    write_job,
)


def test_record_round_trip(rank_record: RankRecord) -> None:
    data = encode_record(rank_record)
    assert decode_record(data, "file") == (rank_record, len(data))


def test_headers_have_the_sizes_that_c_says() -> None:
    assert (HEADER.size, HEADER.size + ORIGIN.size) == (328, 464)


@pytest.mark.parametrize("length_bytes", [0, 5, 100, 327, 330, -1])
def test_truncated_record_is_refused(rank_record: RankRecord, length_bytes: int) -> None:
    with pytest.raises(RecordError):
        decode_record(encode_record(rank_record)[:length_bytes], "file")


def test_foreign_file_is_refused() -> None:
    with pytest.raises(RecordError, match="no record file"):
        decode_record(b"\x7fELF" + bytes(400), "file")


def test_newer_format_is_refused_by_name(rank_record: RankRecord) -> None:
    data = bytearray(encode_record(rank_record))
    struct.pack_into("<I", data, 8, 99)
    with pytest.raises(RecordError, match="newer"):
        decode_record(bytes(data), "file")


@pytest.mark.parametrize("offset", [8, 12, 32, 36])
def test_corrupt_counts_are_refused(rank_record: RankRecord, offset: int) -> None:
    data = bytearray(encode_record(rank_record))
    struct.pack_into("<I", data, offset, 0 if offset < 32 else 0x7FFFFFFF)
    with pytest.raises(RecordError):
        decode_record(bytes(data), "file")


def test_counters_of_a_newer_writer_get_numbers(rank_record: RankRecord) -> None:
    data = encode_record(rank_record)
    count, begin = len(rank_record.counters), HEADER.size + ORIGIN.size
    longer = bytearray(data[: begin + 8 * count] + struct.pack("<Q", 5) + data[begin + 8 * count :])
    struct.pack_into("<I", longer, 32, count + 1)
    record, _ = decode_record(bytes(longer), "file")
    assert record.counters[f"record_{count}"] == 5
    assert record.passes == rank_record.passes


def test_job_file_round_trip(rank_record: RankRecord, tmp_path: Path) -> None:
    write_job(tmp_path / "job", {"exit_code": 3}, [rank_record, rank_record])
    job = read_job(tmp_path / "job")
    assert job.about == {"exit_code": 3}
    assert list(job.ranks) == [rank_record, rank_record]


def test_damaged_file_in_a_folder_does_not_hide_the_others(rank_record: RankRecord, tmp_path: Path) -> None:
    (tmp_path / "1.ranks").write_bytes(encode_frame(encode_record(rank_record)))
    (tmp_path / "2.ranks").write_bytes(encode_frame(encode_record(rank_record)[:50]))
    (tmp_path / "3.ranks").mkdir()
    job = read_folder(tmp_path, {})
    assert len(job.ranks) == 1
    short, unreadable = job.damaged
    assert short == "2.ranks is cut short"
    assert "Is a directory" in unreadable
    assert "3.ranks" in unreadable


def test_records_of_a_host_are_read_from_one_file(rank_record: RankRecord, tmp_path: Path) -> None:
    (tmp_path / "host.ranks").write_bytes(encode_frame(encode_record(rank_record)) * 3)
    job = read_folder(tmp_path, {})
    assert list(job.ranks) == [rank_record] * 3
    assert not job.damaged


@pytest.mark.parametrize("length_bytes", [1, 10, 16, 40, -1])
def test_record_cut_short_does_not_hide_those_that_follow(
    rank_record: RankRecord, length_bytes: int, tmp_path: Path
) -> None:
    frame = encode_frame(encode_record(rank_record))
    (tmp_path / "host.ranks").write_bytes(frame + frame[:length_bytes] + frame + frame[:length_bytes])
    job = read_folder(tmp_path, {})
    assert list(job.ranks) == [rank_record] * 2
    assert job.damaged == ["host.ranks: 2 records are cut short: is the disk full?"]


def test_length_that_no_record_has_is_refused(rank_record: RankRecord, tmp_path: Path) -> None:
    frame = encode_frame(encode_record(rank_record))
    (tmp_path / "host.ranks").write_bytes(encode_frame(bytes(RECORD_BYTES_MAX + 1)) + frame)
    job = read_folder(tmp_path, {})
    assert list(job.ranks) == [rank_record]
    assert job.damaged == ["host.ranks: a record is cut short: is the disk full?"]


def test_empty_file_is_cut_short(tmp_path: Path) -> None:
    (tmp_path / "job").touch()
    with pytest.raises(RecordError, match="cut short"):
        read_job(tmp_path / "job")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"LAPWING-JOB 1\n" + b"[" * 100_000, "damaged"),
        (b"LAPWING-JOB 2\n{}\n", "newer Lapwing"),
        (b"LAPWING-JOB x\n{}\n", "damaged"),
    ],
)
def test_first_lines_of_job_files_are_checked(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "job").write_bytes(data)
    with pytest.raises(RecordError, match=message):
        read_job(tmp_path / "job")


def test_missing_job_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read_job(tmp_path / "absent")
