# SPDX-License-Identifier: MIT
"""What carrying bytes costs a core: a blocking TCP stream between the emulated hosts, without MPI.

MPI libraries poll, so that their own processor time is simply the time that they wait. A stream whose ends sleep
shows what the transfer itself takes, system calls and interrupts included (from /proc/stat of the host's core).
Run as a program, this file is one end: `wire.py listen|connect ADDRESS BYTES CORE`.
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

PORT = 50007
CHUNK_BYTES = 1 << 20
ATTEMPTS = 200


def read_busy_s(core: int) -> float:
    """Return the seconds that a core was busy since boot."""
    row = next(line for line in Path("/proc/stat").read_text("ascii").splitlines() if line.startswith(f"cpu{core} "))
    user, nice, system, _, _, interrupt, soft_interrupt = (int(word) for word in row.split()[1:8])
    return (user + nice + system + interrupt + soft_interrupt) / os.sysconf("SC_CLK_TCK")


def receive(address: str, length_bytes: int, core: int) -> float:
    """Receive the bytes; return the busy seconds."""
    with socket.create_server((address, PORT)) as server:
        connection, _ = server.accept()
    buffer = memoryview(bytearray(CHUNK_BYTES))
    begin_s, missing = read_busy_s(core), length_bytes
    with connection:
        while missing > 0:
            got = connection.recv_into(buffer, CHUNK_BYTES, socket.MSG_WAITALL)
            if got == 0:
                break
            missing -= got
    return read_busy_s(core) - begin_s


def connect(address: str) -> socket.socket:
    """Connect as soon as the other end listens."""
    for _ in range(ATTEMPTS):
        try:
            return socket.create_connection((address, PORT))
        except OSError:
            time.sleep(0.02)
    raise SystemExit("no connection")


def send(address: str, length_bytes: int, core: int) -> float:
    """Send the bytes; return the busy seconds."""
    chunk = bytes(CHUNK_BYTES)
    with connect(address) as connection:
        begin_s = read_busy_s(core)
        for _ in range(length_bytes // CHUNK_BYTES):
            connection.sendall(chunk)
    return read_busy_s(core) - begin_s


def measure_wire(listen: list[str], connect_line: list[str]) -> tuple[float, float]:
    """Run both ends; return the busy seconds of the receiving and of the sending core."""
    with subprocess.Popen(listen, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as receiver:
        sender = subprocess.run(connect_line, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        received = receiver.communicate()[0]
    return float(json.loads(received)), float(json.loads(sender.stdout))


if __name__ == "__main__":
    end = receive if sys.argv[1] == "listen" else send
    print(end(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
