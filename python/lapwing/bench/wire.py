# SPDX-License-Identifier: MIT
"""What carrying bytes takes from work on the same core: a blocking TCP stream between the emulated hosts, without MPI.

MPI libraries poll, so that their own processor time is simply the time that they wait; and a process's clock misses
the interrupts that arrive while it sleeps, which a core that computes pays for, too. So each end has a process beside
it that computes with what the stream leaves, and counts. Silence and stream take turns, since machines are uneven, and
the median turn counts. The data fills a buffer of a large message's size, as a program's would: a page of zeros, or a
small buffer, would stay in the cache and make the copies look cheap. Run as a program, this file is one end:
`python -m lapwing.bench.wire listen|connect ADDRESS BYTES`, BYTES of each turn.
"""

import hashlib
import mmap
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from lapwing.errors import LapwingError

PORT = 50007
CHUNK_BYTES = 4 << 20
WORK_BYTES = 4096  # hashed at a time by the work beside the stream: some microseconds, within the first cache
TURNS = 24
WARM_UP_TURNS = 2  # TCP's windows grow
SILENCE_S = 0.04
GATHER_S = 0.002  # an end that is woken for every packet pays more for that than for the data
ATTEMPTS = 200
POLL_S = 0.02
ACCEPT_LIMIT_S = 30.0  # the other end starts at the same time, and gives up after 4 s
REMEDY = "run again when the machine is less busy, or measure with --shared-memory"

Reading = tuple[float, int]  # seconds, and work done until then


def work_on(count: "memoryview[int]", parent: int) -> None:
    """Compute whenever nobody else does, as long as the parent lives; tell how often."""
    data = bytes(WORK_BYTES)
    while os.getppid() == parent:
        hashlib.sha256(data).digest()
        count[0] += 1


@contextmanager
def work_beside() -> Iterator[Callable[[], Reading]]:
    """Let a process compute on this core meanwhile; yield what tells the time, and how far that process is."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    count = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
    parent = os.getpid()
    worker = os.fork()
    if worker == 0:
        try:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            work_on(count, parent)
        finally:
            os._exit(0)
    try:
        yield lambda: (time.monotonic(), count[0])
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)


def calculate_price_s(begin: Reading, middle: Reading, end: Reading) -> float | None:
    """Return the seconds that a stream (middle to end) took from work that was undisturbed before (begin to middle);
    None when others had the core."""
    done_in_silence = middle[1] - begin[1]
    if done_in_silence == 0:
        return None
    return end[0] - middle[0] - (end[1] - middle[1]) * (middle[0] - begin[0]) / done_in_silence


def summarise_prices_s(prices_s: Sequence[float | None]) -> float:
    """Return the median of the turns after those in which TCP's windows grow; most must have told something."""
    told_s = [price_s for price_s in prices_s[WARM_UP_TURNS:] if price_s is not None]
    if 2 * len(told_s) < len(prices_s):
        raise SystemExit("other programs keep the core busy")
    return statistics.median(told_s)


def measure_turns(read: Callable[[], Reading], be_silent: Callable[[], None], stream: Callable[[], None]) -> float:
    """Let silence and stream take turns; return the median price of a turn, in seconds."""
    prices_s = []
    for _ in range(TURNS):
        begin = read()
        be_silent()
        middle = read()
        stream()
        prices_s.append(calculate_price_s(begin, middle, read()))
    return summarise_prices_s(prices_s)


def take(connection: socket.socket, buffer: memoryview, length_bytes: int) -> None:
    """Receive so many bytes, as they have gathered."""
    missing = length_bytes
    while missing > 0:
        got = connection.recv_into(buffer, min(missing, len(buffer)))
        if got == 0:
            raise SystemExit(f"the other end left, {missing} bytes before the end")
        missing -= got
        if missing > 0:
            time.sleep(GATHER_S)


def receive(address: str, length_bytes: int) -> float:
    """Ask for the bytes in each turn, receive them, and say so; return the median price of a turn, in seconds."""
    with socket.create_server((address, PORT)) as server:
        server.settimeout(ACCEPT_LIMIT_S)
        connection, _ = server.accept()
    buffer = memoryview(bytearray(b"\x01" * CHUNK_BYTES))

    def stream() -> None:
        connection.sendall(b"?")
        take(connection, buffer, length_bytes)
        connection.sendall(b".")

    with connection, work_beside() as read:
        return measure_turns(read, lambda: time.sleep(SILENCE_S), stream)


def connect(address: str) -> socket.socket:
    """Connect as soon as the other end listens."""
    for _ in range(ATTEMPTS):
        try:
            return socket.create_connection((address, PORT))
        except OSError:
            time.sleep(POLL_S)
    raise SystemExit("no connection")


def send(address: str, length_bytes: int) -> float:
    """Send the bytes in each turn, when asked, until they are there; return the median price of a turn, in seconds."""
    chunk = memoryview(b"\x01" * CHUNK_BYTES)
    answer = memoryview(bytearray(1))
    with connect(address) as connection, work_beside() as read:

        def stream() -> None:
            for sent in range(0, length_bytes, CHUNK_BYTES):
                connection.sendall(chunk[: length_bytes - sent])
            take(connection, answer, len(answer))

        return measure_turns(read, lambda: take(connection, answer, len(answer)), stream)


def start_end(line: Sequence[str]) -> "subprocess.Popen[str]":
    """Start one end."""
    return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_ends(ends: Sequence["subprocess.Popen[str]"], limit_s: float) -> None:
    """Wait until all have ended, or one has failed."""
    latest_s = time.monotonic() + limit_s
    while None in (codes := [end.poll() for end in ends]) and not any(codes):
        if time.monotonic() > latest_s:
            raise LapwingError(f"the TCP stream over the lab's link took longer than {limit_s:.0f} s", REMEDY, 1)
        time.sleep(POLL_S)


def describe_failure(name: str, end: "subprocess.Popen[str]") -> list[str]:
    """Return an end's last words where it failed."""
    errors = end.communicate()[1] if end.poll() else ""
    return [f"{name} end: {(errors.strip().splitlines() or ['no message'])[-1]}"] if end.returncode else []


def measure_wire(listen: Sequence[str], connect_line: Sequence[str], limit_s: float) -> tuple[float, float]:
    """Run both ends, `limit_s` at most; return the seconds that a turn takes from the core of the receiving end, and
    of the sending one."""
    with start_end(listen) as receiver, start_end(connect_line) as sender:
        try:
            wait_ends((receiver, sender), limit_s)
            failures = [*describe_failure("receiving", receiver), *describe_failure("sending", sender)]
            if failures:
                raise LapwingError(f"the TCP stream over the lab's link failed: {'; '.join(failures)}", REMEDY, 1)
            return float(receiver.communicate()[0]), float(sender.communicate()[0])
        finally:
            receiver.kill()
            sender.kill()


if __name__ == "__main__":
    end = receive if sys.argv[1] == "listen" else send
    print(end(sys.argv[2], int(sys.argv[3])))
