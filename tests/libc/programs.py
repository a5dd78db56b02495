#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claim: programs that have nothing to do with MPI behave the same with the preload.

Each runs without and with it; exit code, output and errors must agree.
Programs that this machine lacks are left out and named.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON_PROGRAM = """
import ctypes, ctypes.util, hashlib, json, mmap, multiprocessing, os, select, signal, socket, ssl, subprocess, tempfile
import threading
faults = __import__("faulthandler"); faults.enable()
print(subprocess.run(["echo", "word"], capture_output=True, text=True).stdout)
print(subprocess.run("exit 4", shell=True).returncode)
with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(abs, range(-3, 3)))
a, b = socket.socketpair(); a.sendall(b"x" * 1000); print(len(b.recv(4096, socket.MSG_WAITALL if False else 0)))
with tempfile.TemporaryFile() as file:
    file.write(os.urandom(0) + b"y" * 100000); file.seek(0); print(hashlib.sha256(file.read()).hexdigest())
    m = mmap.mmap(file.fileno(), 0); print(m[99999]); m.resize(4096); m.close()
threads = [threading.Thread(target=lambda: sorted(range(10000))) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
signal.signal(signal.SIGALRM, lambda *_: print("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
print(ctypes.CDLL(None).getpid() == os.getpid(), ssl.create_default_context().check_hostname)
pid = os.fork()
if pid == 0: os._exit(9)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
os.execlp("sh", "sh", "-c", "echo last; exit 6")
"""

SHELL_PROGRAM = """
set -e
f() { echo "in $1" | tr a-z A-Z; }
f one; (f two; exit 0)
for i in 1 2 3; do echo $i & done | sort; wait
x=$(printf '%s\\n' b a c | sort | head -1); echo $x
trap 'echo ended' EXIT
exec 3<<<"text"; cat <&3
{ bash -c 'kill -SEGV $$' || echo "status $?"; } 2>/dev/null
exit 7
"""

C_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    char line[1000]; FILE *f = fopen(argv[argc - 1], "r"); size_t n = fread(line, 1, 999, f); line[n] = 0;
    char *p = realloc(strdup(line), 5000); printf("%zu %s", n, p); free(p); return fclose(f);
}
"""

CMAKE_PROJECT = "cmake_minimum_required(VERSION 3.20)\nproject(toy C)\nadd_executable(toy toy.c)\n"


def commands(folder: Path) -> list[list[str]]:
    """The programs to compare; the first word is looked for on this machine."""
    source = folder / "toy.c"
    source.write_text(C_PROGRAM)
    (folder / "CMakeLists.txt").write_text(CMAKE_PROJECT)
    build = str(folder / "build")
    numpy = "import numpy; print(numpy.linalg.norm(numpy.ones((300, 300)) @ numpy.ones(300)))"
    return [
        ["bash", "-c", SHELL_PROGRAM],
        ["sh", "-c", "ls / | wc -l; exit 3"],
        ["python3", "-c", PYTHON_PROGRAM],
        ["python3", "-c", f"try:\n    {numpy}\nexcept ImportError: print('none')"],
        ["python3", "-c", "import os; os.abort()"],
        ["git", "-c", "init.defaultBranch=main", "init", "-q", str(folder / "repository")],
        ["git", "-C", str(folder / "repository"), "status"],
        ["gcc", "-O2", "-D_FORTIFY_SOURCE=2", str(source), "-o", str(folder / "toy")],
        [str(folder / "toy"), str(source)],
        ["gdb", "-q", "-nx", "-batch", "-ex", "break main", "-ex", "run", "-ex", "print 6*7", str(folder / "toy")],
        ["cmake", "-S", str(folder), "-B", build, "--fresh", "--log-level=ERROR"],
        ["cmake", "--build", build, "--clean-first", "--", "-s"],
        ["perl", "-e", "print `echo word`; fork or exit 3; wait; print $? >> 8, qq{\\n}"],
        ["tar", "-C", "/etc", "-cf", "/dev/null", "hostname"],
        ["awk", 'BEGIN { print 6*7; system("echo x"); close("ls") }'],
    ]


def outcome(command: list[str], preload: str | None) -> tuple[int, str, str]:
    """Exit code, output and errors of one run."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    if preload:
        environment["LD_PRELOAD"] = preload
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    return run.returncode, run.stdout, run.stderr


def comparable(text: str, command: list[str]) -> str:
    """What must agree: gdb tells process numbers and addresses of its own, so only its answers count."""
    if command[0] == "cmake":
        return re.sub(r"\(\d+\.\ds\)", "", text)  # newer versions tell how long they took
    if command[0] != "gdb":
        return text
    return "\n".join(line for line in text.splitlines() if line.startswith("$"))


def differs(command: list[str], preload: str) -> bool:
    """Run one program both ways and say what is different."""
    stock, with_preload = outcome(command, None), outcome(command, preload)
    same = stock[0] == with_preload[0] and all(
        comparable(a, command) == comparable(b, command) for a, b in zip(stock[1:], with_preload[1:], strict=True)
    )
    print(f"{'ok    ' if same else 'FAILED'} {' '.join(command)[:60]!r}")
    if not same:
        print(f"  without: {stock}\n  with:    {with_preload}")
    return not same


def main() -> int:
    """Compare all programs that are here."""
    failures = tried = 0
    with tempfile.TemporaryDirectory() as name:
        for command in commands(Path(name)):
            if shutil.which(command[0]) is None:
                print(f"absent {command[0]}")
                continue
            tried += 1
            failures += differs(command, sys.argv[1])
    if tried == 0:
        print("none of the programs is installed")
        return 77
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
