# SPDX-License-Identifier: MIT
"""Check liblapwing.so as the foreign programs that load it will find it.

It needs libc only, exports exactly the interposed names, needs no function that
the oldest GLIBC of a release lacks, has neither an executable stack nor text relocations, looks up
none of its own entries, and takes little of every thread's stack.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

# Before GLIBC 2.34 these were files beside libc; the dynamic linker is always there.
NEEDED_ALLOWED = re.compile(r"libc\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux[-_a-z0-9]*\.so\.\d")
OLDEST_GLIBC = (2, 17)
# glibc takes it from the stack of every thread of every program: PTHREAD_STACK_MIN is 16 KiB.
THREAD_LOCAL_BYTES_MAX = 1024
# As in src/lib/preemptible.txt.
PREEMPTIBLE = {"malloc", "calloc", "realloc", "free", "pthread_create"}


def read_elf(path: Path, *flags: str) -> str:
    """What readelf says."""
    return subprocess.run(["readelf", "-W", *flags, str(path)], check=True, capture_output=True, text=True).stdout


def find_needed(dynamic: str) -> list[str]:
    """Libraries that the file needs."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)


def find_exports(symbols: str) -> set[str]:
    """Names that the file defines for others."""
    names = set()
    for line in symbols.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK") and fields[6] != "UND" and fields[6] != "ABS":
            names.add(fields[7].split("@")[0])
    return names


def find_libraries(path: Path) -> list[Path]:
    """The files of GLIBC that it would be loaded with."""
    output = subprocess.run(["ldd", str(path)], check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in re.findall(r"(/\S+) \(0x", output)]


def read_ages(symbols: str) -> dict[str, tuple[int, int]]:
    """The GLIBC version in which each name came: a name that moved or changed keeps its older versions."""
    ages: dict[str, tuple[int, int]] = {}
    for name, major, minor in re.findall(r" (\w+)@+GLIBC_(\d+)\.(\d+)", symbols):
        version = int(major), int(minor)
        ages[name] = min(version, ages.get(name, version))
    return ages


def find_strong(symbols: str) -> set[str]:
    """Names that it needs to be loaded, but for those that the headers of newer versions put in the place of strtol
    and its kin: a preload that is built with them is for such systems anyway."""
    return set(re.findall(r" GLOBAL +DEFAULT +UND (?!__isoc23_)(\w+)@GLIBC", symbols))


def check_needed(path: Path) -> list[str]:
    """Libraries other than libc."""
    needed = find_needed(read_elf(path, "-d"))
    return [f"needs {name}" for name in needed if not NEEDED_ALLOWED.fullmatch(name)]


def check_exports(path: Path, expected: set[str]) -> list[str]:
    """Exports beyond the interposed names, and interposed names that are missing."""
    exports = find_exports(read_elf(path, "--dyn-syms"))
    too_many = [f"exports {name}" for name in sorted(exports - expected)]
    return too_many + [f"does not export {name}" for name in sorted(expected - exports)]


def check_calls(path: Path, expected: set[str]) -> list[str]:
    """Lapwing's own calls of interposed names that the dynamic linker looks up in every process."""
    found = re.findall(r"R_\S+ +[0-9a-f]+ (\w+) \+ 0", read_elf(path, "-r"))
    return [f"looks up {name} at start" for name in found if name in expected - PREEMPTIBLE]


def check_glibc(path: Path) -> list[str]:
    """Names that are newer than the GLIBC for which releases are linked."""
    ages = read_ages("".join(read_elf(library, "--dyn-syms") for library in find_libraries(path)))
    strong = find_strong(read_elf(path, "--dyn-syms"))
    newest = max(ages[name] for name in strong)
    print(f"preload: {len(strong)} names of GLIBC, __isoc23_* aside, the newest of {'.'.join(map(str, newest))}")
    return [f"needs {name}, of GLIBC {ages[name]}" for name in sorted(strong) if ages[name] > OLDEST_GLIBC]


def check_memory(path: Path) -> list[str]:
    """Executable stack, text relocations."""
    wrong = []
    stack = re.search(r"GNU_STACK.*", read_elf(path, "-l"))
    if not stack or "RWE" in stack[0]:
        wrong.append("has an executable stack")
    if "TEXTREL" in read_elf(path, "-d"):
        wrong.append("has text relocations")
    return wrong


def check_thread_local(path: Path) -> list[str]:
    """More thread-local memory than a thread with the smallest stack can spare, or such that is allocated at its first
    use, which a signal handler must not do."""
    wrong = []
    segment = re.search(r"^ +TLS +(?:0x[0-9a-f]+ +){4}0x([0-9a-f]+)", read_elf(path, "-l"), re.MULTILINE)
    bytes_ = int(segment[1], 16) if segment else 0
    if bytes_ > THREAD_LOCAL_BYTES_MAX:
        wrong.append(f"takes {bytes_} bytes of every thread's stack, more than {THREAD_LOCAL_BYTES_MAX}")
    if "__tls_get_addr" in read_elf(path, "--dyn-syms"):
        wrong.append("has thread-local variables that are allocated at their first use")
    return wrong


def main() -> int:
    """Print what is wrong; 1 when something is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preload", type=Path)
    parser.add_argument("exports", type=Path, help="list of the interposed names")
    arguments = parser.parse_args()
    expected = set(arguments.exports.read_text().split())
    wrong = check_needed(arguments.preload) + check_exports(arguments.preload, expected)
    wrong += check_calls(arguments.preload, expected) + check_glibc(arguments.preload)
    wrong += check_memory(arguments.preload) + check_thread_local(arguments.preload)
    print("\n".join(f"preload: {line}" for line in wrong) or f"preload: ok, {len(expected)} names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
