# SPDX-License-Identifier: MIT
"""What carrying bytes costs a core: a blocking TCP stream between the emulated hosts, without MPI.

MPI libraries poll, so that their own processor time is simply the time that they wait. A stream whose ends sleep
shows what the transfer itself takes: the processor time of its ends. (Interrupts that arrive while an end sleeps are
not in it, so that the limit made from it is rather too strict than too generous.) The data fills a buffer of a large
message's size, as a program's would: a page of zeros, or a small buffer, would stay in the cache and make the copies
look cheap. Run as a program, this file is one end: `wire.py listen|connect ADDRESS BYTES`.
"""

import json
import socket
import subprocess
import sys
import time

PORT = 50007
CHUNK_BYTES = 4 << 20
ATTEMPTS = 200


def receive(address: str, length_bytes: int) -> float:
    """Receive the bytes; return the processor seconds."""
    with socket.create_server((address, PORT)) as server:
        connection, _ = server.accept()
    buffer = memoryview(bytearray(b"\x01" * CHUNK_BYTES))
    begin_s, missing = time.process_time(), length_bytes
    with connection:
        while missing > 0:
            got = connection.recv_into(buffer, CHUNK_BYTES, socket.MSG_WAITALL)
            if got == 0:
                break
            missing -= got
    return time.process_time() - begin_s


def connect(address: str) -> socket.socket:
    """Connect as soon as the other end listens."""
    for _ in range(ATTEMPTS):
        try:
            return socket.create_connection((address, PORT))
        except OSError:
            time.sleep(0.02)
    raise SystemExit("no connection")


def send(address: str, length_bytes: int) -> float:
    """Send the bytes; return the processor seconds."""
    chunk = b"\x01" * CHUNK_BYTES
    with connect(address) as connection:
        begin_s = time.process_time()
        for _ in range(length_bytes // CHUNK_BYTES):
            connection.sendall(chunk)
    return time.process_time() - begin_s


def measure_wire(listen: list[str], connect_line: list[str]) -> tuple[float, float]:
    """Run both ends; return the processor seconds of the receiving and of the sending end."""
    with subprocess.Popen(listen, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as receiver:
        sender = subprocess.run(connect_line, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        received = receiver.communicate()[0]
    return float(json.loads(received)), float(json.loads(sender.stdout))


if __name__ == "__main__":
    end = receive if sys.argv[1] == "listen" else send
    print(end(sys.argv[2], int(sys.argv[3])))
