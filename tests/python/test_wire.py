# SPDX-License-Identifier: MIT
"""The stream that measures what carrying bytes costs: its ends end, whatever happens to one of them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lapwing.bench.wire import CHUNK_BYTES, calculate_price_s, measure_turns, measure_wire, summarise_prices_s
from lapwing.errors import LapwingError

PYTHON = Path(__file__).parents[2] / "python"
ADDRESS = f"127.1.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"  # of this run: the port is the same in all
STAYS = [sys.executable, "-c", "import time; time.sleep(60)"]
GIVES_UP = [sys.executable, "-c", "raise SystemExit('gives up')"]
LEAVES = """
import socket, sys
from lapwing.bench.wire import connect
with connect(sys.argv[1]) as connection:
    connection.recv(1)
    connection.sendall(b"abc")
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
"""
WORKS = """
import time
from lapwing.bench.wire import work_beside
with work_beside():
    print("works", flush=True)
    time.sleep(60)
"""
LIMIT_S = 20.0  # of a test that passes: starting Python takes a second on a busy machine


@pytest.fixture(autouse=True)
def ends_find_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(PYTHON))


def is_running(number: int) -> bool:
    """One that has ended stays a zombie where nobody waits for orphans."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def make_end(name: str, length_bytes: int = CHUNK_BYTES) -> list[str]:
    return [sys.executable, "-m", "lapwing.bench.wire", name, ADDRESS, str(length_bytes)]


def test_both_ends_tell_what_a_turn_takes() -> None:
    try:
        received_s, sent_s = measure_wire(make_end("listen"), make_end("connect"), LIMIT_S)
    except LapwingError as error:
        if "keep the core busy" in str(error):
            pytest.skip(str(error))
        raise
    assert -LIMIT_S < received_s < LIMIT_S  # it may be next to nothing, and machines are uneven
    assert -LIMIT_S < sent_s < LIMIT_S


def test_what_a_stream_takes_is_the_work_that_was_not_done() -> None:
    assert calculate_price_s((0.0, 0), (2.0, 200), (5.0, 500)) == pytest.approx(0)
    assert calculate_price_s((0.0, 0), (2.0, 200), (5.0, 400)) == pytest.approx(1)
    assert calculate_price_s((0.0, 7), (2.0, 7), (5.0, 400)) is None


def test_the_median_of_the_turns_after_the_first_ones_counts() -> None:
    """Silence and stream take a second each; work is done by the hundred in silence, by the sixty in the stream."""
    clock = [0.0, 0]

    def pass_time(work_done: int) -> None:
        clock[0] += 1.0
        clock[1] += work_done

    price_s = measure_turns(lambda: (clock[0], int(clock[1])), lambda: pass_time(100), lambda: pass_time(60))
    assert price_s == pytest.approx(0.4)


def test_turns_in_which_others_had_the_core_do_not_count() -> None:
    assert summarise_prices_s([9.0, 9.0, None, 1.0, 2.0, 3.0]) == 2.0
    with pytest.raises(SystemExit, match="other programs keep the core busy"):
        summarise_prices_s([1.0, 1.0, None, None, 1.0])


def test_the_work_does_not_outlive_an_end_that_is_killed() -> None:
    end = subprocess.Popen([sys.executable, "-c", WORKS], stdout=subprocess.PIPE, text=True)
    assert end.stdout is not None
    end.stdout.readline()
    worker = Path(f"/proc/{end.pid}/task/{end.pid}/children").read_text().split()[0]
    end.kill()
    end.wait()
    latest_s = time.monotonic() + LIMIT_S
    while is_running(int(worker)) and time.monotonic() < latest_s:
        time.sleep(0.01)
    assert not is_running(int(worker))


def test_a_receiver_does_not_outlive_a_sender_that_gives_up() -> None:
    begin_s = time.monotonic()
    with pytest.raises(LapwingError, match="sending end: gives up; run again"):
        measure_wire(make_end("listen"), GIVES_UP, LIMIT_S)
    assert time.monotonic() - begin_s < LIMIT_S


def test_a_receiver_that_fails_is_named() -> None:
    with pytest.raises(LapwingError, match="receiving end: gives up; run again"):
        measure_wire(GIVES_UP, STAYS, LIMIT_S)


def test_a_receiver_that_gets_less_than_was_announced_says_so() -> None:
    with pytest.raises(
        LapwingError, match=f"receiving end: the other end left, {CHUNK_BYTES - 3} bytes before the end"
    ):
        measure_wire(make_end("listen"), [sys.executable, "-c", LEAVES, ADDRESS], LIMIT_S)


def test_a_stream_that_does_not_go_on_is_ended() -> None:
    with pytest.raises(LapwingError, match="took longer than 1 s; run again"):
        measure_wire(STAYS, STAYS, 1.0)
