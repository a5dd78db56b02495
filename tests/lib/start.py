# SPDX-License-Identifier: MIT
"""What a process that never calls MPI pays for the preload, with and without LAPWING=off.

start.py PRELOAD PROGRAM: at most so many instructions more than stock (Valgrind counts them, whatever else the machine
does), and the same system calls: no thread, no handler, no userfaultfd.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

# The dynamic linker's work for the preload, and the look-up of libc's functions: 197,000 with glibc 2.36.
INSTRUCTIONS_MAX = 240_000
# Loading a file, asking who one is, and waiting for a thread or not; the rest must be stock's.
FREE_CALLS = {
    "access", "brk", "close", "execve", "fstat", "futex", "getpid", "getrandom", "madvise", "mmap", "mprotect",
    "munmap", "newfstatat", "openat", "pread64", "read", "readlink", "gettid",
}  # fmt: skip


def environment(preload: str, is_off: bool) -> dict[str, str]:
    """The variables of the traced program."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LAPWING", "LD_PRELOAD"))}
    return {**plain, **({"LD_PRELOAD": preload} if preload else {}), **({"LAPWING": "off"} if is_off else {})}


def count_instructions(variables: dict[str, str], program: str) -> int:
    """Run the program in Valgrind."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out.%p", program]
        result = subprocess.run(words, env=variables, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if found is None:
        raise SystemExit(f"FAIL valgrind did not count: {result.stderr}")
    return int(found[1])


def list_calls(variables: dict[str, str], program: str) -> Counter[str]:
    """Trace the program, with its threads and children."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        given = [f"-E{name}={variables[name]}" for name in ("LD_PRELOAD", "LAPWING") if name in variables]
        subprocess.run(["strace", "-f", "-o", str(trace), *given, program], env=environment("", False), check=True)
        lines = trace.read_text("utf-8", "replace").splitlines()
    names = (re.match(r"\d+ +(\w+)\(", line) for line in lines)
    return Counter(name[1] for name in names if name and name[1] not in FREE_CALLS)


def check_instructions(preload: str, program: str) -> list[str]:
    """Return what costs too much."""
    stock = count_instructions(environment("", False), program)
    problems = []
    for is_off in (False, True):
        more = count_instructions(environment(preload, is_off), program) - stock
        print(f"LAPWING={'off' if is_off else 'unset'}: {more} instructions more than {stock}")
        if more > INSTRUCTIONS_MAX:
            problems.append(f"{more} instructions more than stock, {INSTRUCTIONS_MAX} are allowed")
    return problems


def check_calls(preload: str, program: str) -> list[str]:
    """Return what the kernel is asked that stock does not ask."""
    stock = list_calls(environment("", False), program)
    problems = []
    for is_off in (False, True):
        calls = list_calls(environment(preload, is_off), program)
        calls.subtract(stock)
        changed = {name: number for name, number in calls.items() if number}
        print(f"LAPWING={'off' if is_off else 'unset'}: system calls other than stock's: {changed}")
        problems += [f"{name}: {number:+}" for name, number in changed.items()]
    return problems


def main() -> int:
    """Check what the machine has the tools for."""
    preload, program = sys.argv[1:]
    tools = {"valgrind": check_instructions, "strace": check_calls}
    missing = [tool for tool in tools if shutil.which(tool) is None]
    problems = [text for tool, check in tools.items() if tool not in missing for text in check(preload, program)]
    for text in problems:
        print(f"FAIL {text}")
    if missing:
        print(f"not installed: {' '.join(missing)}")
    return 1 if problems else 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
