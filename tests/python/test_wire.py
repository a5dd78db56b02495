# SPDX-License-Identifier: MIT
"""The stream that measures what carrying bytes costs: its ends end, whatever happens to one of them."""

import os
import sys
import time
from pathlib import Path

import pytest

from lapwing.bench.wire import CHUNK_BYTES, measure_wire
from lapwing.errors import LapwingError

PYTHON = Path(__file__).parents[2] / "python"
ADDRESS = f"127.1.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"  # of this run: the port is the same in all
STAYS = [sys.executable, "-c", "import time; time.sleep(60)"]
GIVES_UP = [sys.executable, "-c", "raise SystemExit('gives up')"]
LIMIT_S = 20.0  # of a test that passes: starting Python takes a second on a busy machine


@pytest.fixture(autouse=True)
def ends_find_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(PYTHON))


def make_end(name: str, length_bytes: int = CHUNK_BYTES) -> list[str]:
    return [sys.executable, "-m", "lapwing.bench.wire", name, ADDRESS, str(length_bytes)]


def test_both_ends_tell_their_processor_time() -> None:
    received_s, sent_s = measure_wire(make_end("listen"), make_end("connect"), LIMIT_S)
    assert 0 <= received_s < LIMIT_S
    assert 0 <= sent_s < LIMIT_S


def test_a_receiver_does_not_outlive_a_sender_that_gives_up() -> None:
    begin_s = time.monotonic()
    with pytest.raises(LapwingError, match="sending end: gives up; run again"):
        measure_wire(make_end("listen"), GIVES_UP, LIMIT_S)
    assert time.monotonic() - begin_s < LIMIT_S


def test_a_receiver_that_fails_is_named() -> None:
    with pytest.raises(LapwingError, match="receiving end: gives up; run again"):
        measure_wire(GIVES_UP, STAYS, LIMIT_S)


def test_a_receiver_that_gets_less_than_was_announced_says_so() -> None:
    with pytest.raises(LapwingError, match=f"receiving end: the other end left, {CHUNK_BYTES} bytes before the end"):
        measure_wire(make_end("listen", 2 * CHUNK_BYTES), make_end("connect"), LIMIT_S)


def test_a_stream_that_does_not_go_on_is_ended() -> None:
    with pytest.raises(LapwingError, match="took longer than 1 s; run again"):
        measure_wire(STAYS, STAYS, 1.0)
