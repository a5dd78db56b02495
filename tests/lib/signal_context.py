# SPDX-License-Identifier: MIT
"""Checks that nothing which Lapwing's signal handler can reach calls what signal context must not.

Reads the disassembly of the preload and follows direct calls and jumps from function to function. Calls through
pointers cannot be followed: the handler's own lead to the program's handler and to REPORTS, which are followed from
their beginnings and may have none, but for CLOCK, whose pointer leads to libc's clock_gettime (base/clock.c).
"""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SKIPPED = 77
HANDLER = ("fault_handle",)
REPORTS = ("transfer_touched", "touched")  # what protect_start() and watch_report_to() are given
CLOCK = "base_clock_"
# Of libc: what signal-safety(7) lists, the page size as it was at the start, and what a compiler adds.
ALLOWED = {
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "getpagesize",
    "__errno_location",
    "__stack_chk_fail",
}
LOCKS = {"base_lock_take"}

INSTRUCTION = r"\s+[0-9a-f]+:\s+(?:(?:bnd|notrack)\s+)?"
IMPORT = re.compile(INSTRUCTION + r"(?:call|jmp|bl?)\S*\s.*<([^>@]+)@[^>]*>$")
BRANCH = re.compile(INSTRUCTION + r"(?:call|j|b|cb|tb)\S*\s(?:.*\s)?([0-9a-f]+) <[^>]+>$")
INDIRECT = re.compile(INSTRUCTION + r"(?:(?:call|jmp)q?\s+\*|br\s|blr\s)")


@dataclass
class Function:
    """What one function of the preload calls."""

    name: str
    targets: set[int] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    has_indirect: bool = False


def read_functions(listing: str) -> dict[int, Function]:
    """The functions in the output of `objdump -d`, by address."""
    functions: dict[int, Function] = {}
    current = Function("")
    for line in listing.splitlines():
        if head := re.fullmatch(r"([0-9a-f]+) <(.+)>:", line):
            current = functions.setdefault(int(head[1], 16), Function(head[2]))
        elif named := IMPORT.match(line):
            current.imports.add(named[1])
        elif INDIRECT.match(line):
            current.has_indirect = True
        elif branch := BRANCH.match(line):
            current.targets.add(int(branch[1], 16))
    return functions


def reach(functions: Mapping[int, Function], roots: Iterable[str]) -> list[Function]:
    """All functions that those of these names lead to, themselves included."""
    addresses = defaultdict(list)
    for address, function in functions.items():
        addresses[function.name].append(address)
    waiting = [address for root in roots for address in addresses[root]]
    reached: dict[int, Function] = {}
    while waiting:
        address = waiting.pop()
        if address in functions and address not in reached:  # not: a jump within a function
            reached[address] = functions[address]
            waiting += functions[address].targets
    return list(reached.values())


def is_clock(function: Function) -> bool:
    """Does it only read the clock?"""
    return function.name.startswith(CLOCK)


def complaints(functions: Mapping[int, Function]) -> list[str]:
    """What signal context must not do, and does."""
    names = {function.name for function in functions.values()}
    wrong = [f"there is no {root}: is it the preload, with its symbols?" for root in {*HANDLER, *REPORTS} - names]
    reports = reach(functions, REPORTS)
    if not any(is_clock(function) and function.has_indirect for function in reports):
        wrong += ["nothing reads the clock: is the disassembly read rightly?"]
    for function in [*reach(functions, HANDLER), *reports]:
        wrong += [f"{function.name} calls {name}" for name in sorted(function.imports - ALLOWED)]
        wrong += [f"{function.name} is reached"] if function.name in LOCKS else []
    indirect = [function.name for function in reports if function.has_indirect and not is_clock(function)]
    return wrong + [f"{name} calls through a pointer" for name in indirect]


def main() -> int:
    """Print what is wrong; 0 when nothing is."""
    if shutil.which("objdump") is None:
        print("skipped: objdump is not installed")
        return SKIPPED
    command = ["objdump", "-d", "--no-show-raw-insn", sys.argv[1]]
    functions = read_functions(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    wrong = complaints(functions)
    names = sorted({function.name for function in reach(functions, (*HANDLER, *REPORTS))})
    print(f"in signal context: {' '.join(names)}", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
