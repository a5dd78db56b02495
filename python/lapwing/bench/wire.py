# SPDX-License-Identifier: MIT
"""What carrying bytes costs a core: a blocking TCP stream between the emulated hosts, without MPI.

MPI libraries poll, so that their own processor time is simply the time that they wait. A stream whose ends sleep
shows what the transfer itself takes: the processor time of its ends. (Interrupts that arrive while an end sleeps are
not in it, so that the limit made from it is rather too strict than too generous.) The data fills a buffer of a large
message's size, as a program's would: a page of zeros, or a small buffer, would stay in the cache and make the copies
look cheap. Run as a program, this file is one end: `python -m lapwing.bench.wire listen|connect ADDRESS BYTES`.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Sequence

from lapwing.errors import LapwingError

PORT = 50007
CHUNK_BYTES = 4 << 20
ATTEMPTS = 200
POLL_S = 0.02
ACCEPT_LIMIT_S = 30.0  # the other end starts at the same time, and gives up after 4 s
REMEDY = "run again when the machine is less busy, or measure with --shared-memory"


def receive(address: str, length_bytes: int) -> float:
    """Receive the bytes; return the processor seconds."""
    with socket.create_server((address, PORT)) as server:
        server.settimeout(ACCEPT_LIMIT_S)
        connection, _ = server.accept()
    buffer = memoryview(bytearray(b"\x01" * CHUNK_BYTES))
    begin_s, missing = time.process_time(), length_bytes
    with connection:
        while missing > 0:
            got = connection.recv_into(buffer, CHUNK_BYTES, socket.MSG_WAITALL)
            if got == 0:
                raise SystemExit(f"the other end left, {missing} bytes before the end")
            missing -= got
    return time.process_time() - begin_s


def connect(address: str) -> socket.socket:
    """Connect as soon as the other end listens."""
    for _ in range(ATTEMPTS):
        try:
            return socket.create_connection((address, PORT))
        except OSError:
            time.sleep(POLL_S)
    raise SystemExit("no connection")


def send(address: str, length_bytes: int) -> float:
    """Send the bytes; return the processor seconds."""
    chunk = b"\x01" * CHUNK_BYTES
    with connect(address) as connection:
        begin_s = time.process_time()
        for _ in range(length_bytes // CHUNK_BYTES):
            connection.sendall(chunk)
    return time.process_time() - begin_s


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
    """Run both ends, `limit_s` at most; return the processor seconds of the receiving and of the sending one."""
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
