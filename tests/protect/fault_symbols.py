# SPDX-License-Identifier: MIT
"""Checks that the code which runs in signal context uses only allowed symbols."""

import subprocess
import sys
from collections.abc import Iterable

SKIPPED = 77

# base_futex_wait is one system call that keeps errno; base_signal_set_deferrable reads constants; getpagesize returns a
# number that is known before the first hold; the rest is the kernel's entry.
ALLOWED = {
    "_GLOBAL_OFFSET_TABLE_",
    "__errno_location",
    "base_futex_wait",
    "base_signal_set_deferrable",
    "getpagesize",
    "syscall",
}

# What the compiler adds: for atomics on aarch64 (from libgcc, linked in: they choose their instruction and do
# nothing else), and for the sanitizers, in builds made for testing only.
ADDED_PREFIXES = (
    "__aarch64_",
    "__asan_",
    "__ubsan_",
    "__tsan_",
    "__sanitizer_",
    "__stack_chk_",
    "__gcov_",
    "__odr_asan",
)


def undefined_symbols(listing: str) -> set[str]:
    """The names in the output of `nm --undefined-only`."""
    return {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip()}


def forbidden_symbols(names: Iterable[str]) -> list[str]:
    """Those that signal context must not use."""
    return sorted(name for name in names if name not in ALLOWED and not name.startswith(ADDED_PREFIXES))


def fault_object(arguments: list[str]) -> str | None:
    """The object file of fault.c among the objects of the layer."""
    paths = [path for argument in arguments for path in argument.split(";")]
    return next((path for path in paths if path.endswith(("/fault.c.o", "/fault.o"))), None)


def main() -> int:
    """Prints the symbols that are not allowed; 0 when there are none."""
    path = fault_object(sys.argv[1:])
    if path is None:
        print("no object of fault.c was given")
        return 1
    try:
        listing = subprocess.run(["nm", "--undefined-only", path], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        print("skipped: nm is not installed")
        return SKIPPED
    names = undefined_symbols(listing)
    forbidden = forbidden_symbols(names)
    if "syscall" not in names:
        print(f"{path} uses no system call: is it the right file?")
        return 1
    for name in forbidden:
        print(f"{path} uses {name}, which is not allowed in signal context")
    return 1 if forbidden else 0


if __name__ == "__main__":
    sys.exit(main())
