# SPDX-License-Identifier: MIT
"""The parsers of record files, job files and options, fed with damage: one clear error each, never another.

LAPWING_FUZZ_ROUNDS says how often (default: some seconds' worth).
"""

import os
import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from lapwing.errors import LapwingError, RecordError
from lapwing.options import load_options, parse_value
from lapwing.profile.record import HEADER, JOB_LINE, RankRecord, decode_record, encode_record, read_job, write_job

ROUNDS = int(os.environ.get("LAPWING_FUZZ_ROUNDS", "1500"))
NUMBERS = (0, 1, 2, 255, 327, 328, 65535, 65536, 65537, 2**31 - 1, 2**31, 2**32 - 1)
Damage = Callable[[random.Random, bytearray], None]


def damage_bits(chance: random.Random, data: bytearray) -> None:
    """Flip some bits, most of them near the beginning."""
    for _ in range(chance.randrange(1, 6)):
        limit = min(len(data), chance.choice((8, 48, 328, 10000)))
        if limit:
            data[chance.randrange(limit)] ^= 1 << chance.randrange(8)


def damage_number(chance: random.Random, data: bytearray) -> None:
    """Put a telling number into the header."""
    offset = 4 * chance.randrange(HEADER.size // 4)
    if len(data) >= offset + 4:
        struct.pack_into("<I", data, offset, chance.choice(NUMBERS))


def damage_length(chance: random.Random, data: bytearray) -> None:
    """Cut it, or cut something out."""
    at = chance.randrange(len(data) + 1)
    del data[at : at + chance.choice((1, 7, 300, 10**6))]


def damage_foreign(chance: random.Random, data: bytearray) -> None:
    """Bytes of something else."""
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.randbytes(chance.randrange(40))


DAMAGES: tuple[Damage, ...] = (damage_bits, damage_number, damage_length, damage_foreign)


def damaged(chance: random.Random, whole: bytes) -> bytes:
    """The bytes after some damage."""
    data = bytearray(whole)
    for _ in range(chance.randrange(1, 4)):
        chance.choice(DAMAGES)(chance, data)
    return bytes(data)


def is_clear(error: LapwingError) -> bool:
    """One line that says what is wrong, and one that says what to do."""
    return bool(error.message) and "\n" not in error.message and bool(error.remedy)


def test_damaged_records_give_one_clear_error(rank_record: RankRecord) -> None:
    whole = encode_record(rank_record)
    refused = 0
    for seed in range(ROUNDS):
        data = damaged(random.Random(seed), whole)
        try:
            record, length_bytes = decode_record(data, "file")
        except RecordError as error:
            refused += 1
            assert is_clear(error), seed
        else:
            assert 0 < length_bytes <= len(data), seed
            assert len(record.counters) == struct.unpack_from("<I", data, 32)[0], seed
    assert refused > ROUNDS // 10


def test_damaged_job_files_give_one_clear_error(rank_record: RankRecord, tmp_path: Path) -> None:
    path = tmp_path / "job"
    write_job(path, {"command": ["mpirun", "./a\udcff"], "exit_code": 3}, [rank_record, rank_record])
    whole = path.read_bytes()
    for seed in range(ROUNDS):
        data = damaged(random.Random(seed), whole)
        path.write_bytes(JOB_LINE + data[len(JOB_LINE) :] if seed % 2 else data)
        try:
            job = read_job(path)
        except RecordError as error:
            assert is_clear(error), seed
        else:
            assert len(job.ranks) >= 0


@pytest.mark.parametrize("option", load_options(), ids=lambda option: option.name)
def test_any_option_value_is_read_or_refused(option) -> None:  # type: ignore[no-untyped-def]
    pieces = ("1", "0", "9" * 30, "KiB", "gib", "on", "auto", "-", ".", " ", "1e9", "0x10", "\u0661", "ms", "\n", "\0")
    for seed in range(ROUNDS // 10):
        chance = random.Random(seed)
        text = "".join(chance.choice(pieces) for _ in range(chance.randrange(5)))
        try:
            value = parse_value(option, text)
        except LapwingError as error:
            assert error.message and error.remedy, text
        else:
            assert value.isascii() and value.strip() == value and value, text
            assert not value.isdigit() or int(value) < 2**64, text  # the injected part reads 64 bits
