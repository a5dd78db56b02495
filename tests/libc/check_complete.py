#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claim: every function of this machine's libc that hands memory to the kernel has an entry or a reason.

Those are found in libc's code: exported ones that contain a system call which names memory. One that
makes it through an inner function of libc is not found; functions.toml has those by hand.
"""

from __future__ import annotations

import bisect
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

SKIP = 77
LIBRARY = Path("/lib/x86_64-linux-gnu/libc.so.6")
NUMBERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def output_of(*command: str) -> str:
    """What a tool writes."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def functions_in(symbols: str) -> dict[tuple[int, int], set[str]]:
    """Address and size of each exported function, and its names."""
    found: dict[tuple[int, int], set[str]] = defaultdict(set)
    for line in symbols.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[3] in ("FUNC", "IFUNC") and fields[6] != "UND" and int(fields[2], 0) > 0:
            found[int(fields[1], 16), int(fields[2], 0)].add(fields[7].split("@")[0])
    return found


def calls_in(code: Iterable[str], names: dict[int, str]) -> set[str]:
    """The system calls that a function's instructions make; "?" for a number that they do not say."""
    number: int | None = None
    calls = set()
    for instruction in code:
        if constant := re.match(r"mov\s+\$0x([0-9a-f]+),%[er]ax", instruction):
            number = int(constant[1], 16)
        elif re.match(r"xor\s+%eax,%eax", instruction):
            number = 0
        elif instruction.startswith("syscall"):
            calls.add(names.get(number if number is not None else -1, "?"))
    return calls


def calls_of_functions(listing: str, symbols: str, numbers: str) -> dict[frozenset[str], set[str]]:
    """Per function (all its names) the system calls in its code."""
    names = {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)", numbers)}
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(.*)$", listing, re.MULTILINE)
    addresses = [int(address, 16) for address, _ in lines]
    result = {}
    for (address, size), aliases in functions_in(symbols).items():
        low, high = bisect.bisect_left(addresses, address), bisect.bisect_left(addresses, address + size)
        calls = calls_in((text for _, text in lines[low:high]), names)
        if calls:
            result[frozenset(aliases)] = calls
    return result


def names_in_table(path: Path) -> set[str]:
    """The functions that have an entry."""
    groups = tomllib.loads(path.read_text())["group"]
    return {re.sub(r".*?[ *](\w+)\(.*", r"\1", row[0]) for group in groups for row in group["functions"]}


def missing(found: dict[frozenset[str], set[str]], known: set[str], harmless: set[str]) -> list[str]:
    """Functions with neither an entry nor a reason, and what they call."""
    return sorted(
        f"{' '.join(sorted(aliases))}: {' '.join(sorted(calls - harmless))}"
        for aliases, calls in found.items()
        if calls - harmless and not aliases & known
    )


def main() -> int:
    """Name what is missing, and reasons for what is not there."""
    if platform.machine() != "x86_64" or not LIBRARY.exists() or not NUMBERS.exists() or not shutil.which("objdump"):
        print("needs Debian's places of libc on x86-64, its headers, and objdump")
        return SKIP
    source, exempt_path = Path(sys.argv[1]), Path(__file__).with_name("exempt.toml")
    listing = output_of("objdump", "-d", "--no-show-raw-insn", str(LIBRARY))
    symbols = output_of("readelf", "-W", "--dyn-syms", str(LIBRARY))
    found = calls_of_functions(listing, symbols, NUMBERS.read_text())
    entries = names_in_table(source / "functions.toml")
    table = tomllib.loads(exempt_path.read_text())
    exempt = {name for group in table["group"] for name in group["functions"]}
    wrong = missing(found, entries | exempt, set(table["harmless_calls"]))
    wrong += [f"{name}: has an entry and a reason for none" for name in sorted(entries & exempt)]
    print(f"{len(found)} functions make system calls", *wrong, sep="\n")
    return 1 if wrong or len(found) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
