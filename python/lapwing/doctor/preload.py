# SPDX-License-Identifier: MIT
"""The file to preload, and what else is preloaded beside it."""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lapwing.doctor.finding import Finding, Level
from lapwing.errors import LapwingError
from lapwing.files import PRELOADED_BY_ALL, find_preload, is_lapwing, list_preloaded_by_all
from lapwing.launch import start

TOPIC = "preload"
LOAD_LIMIT_S = 30.0
OFF = Finding(TOPIC, Level.FAILS, start.OFF_TEXT, "unset LAPWING")
IN_ALL = Finding(
    TOPIC,
    Level.NOTE,
    f"Lapwing is in every process by {PRELOADED_BY_ALL}: no run is without it, and stock cannot be measured",
)

# Libraries that others preload, by the beginning of their file names: what Lapwing does beside them.
NEIGHBOURS = (
    (r"lib(asan|tsan|lsan|hwasan|clang_rt\.\w*san)", Level.FAILS, "a sanitizer refuses other preloads", "leave it out"),
    (
        r"liblapwing\.so$",
        Level.REDUCES,
        "another copy of Lapwing: two in a process are in each other's way, and most calls are passed",
        "take it out (`lapwing run` leaves out what LD_PRELOAD names)",
    ),
    (
        r"lib(jemalloc|tcmalloc|mimalloc|hoard|scalable|tbbmalloc)",
        Level.REDUCES,
        "an allocator of its own: only buffers that fill their pages are held",
        "leave it out, or align large buffers to pages",
    ),
    (
        r"lib(mpiP|mpisee|ipm|scorep|vampir|VT|mpitrace|tau|TAU|darshan|extrae|geopm)",
        Level.NOTE,
        "a profiling tool: if it calls PMPI functions, all calls are passed",
        "leave it out of runs that are to be fast",
    ),
)


@dataclass(frozen=True)
class PreloadFacts:
    """The file (path and what it needs), what the host has, and the environment. complaint: of the dynamic linker."""

    path: str
    needed_glibc: tuple[int, ...]
    host_glibc: tuple[int, ...]
    complaint: str
    others: tuple[str, ...]
    is_off: bool
    error: str = ""
    is_in_all: bool = False  # the system preloads Lapwing
    misunderstood: str = ""  # a value of LAPWING


def read_needed_glibc(path: Path) -> tuple[int, ...]:
    """Return the newest GLIBC version that a file asks for; refuse one that is no library."""
    # Not above: the manual pages are made from this command's help where pyelftools is not installed.
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.gnuversions import GNUVerNeedSection

    found: list[tuple[int, ...]] = [(0,)]
    try:
        with path.open("rb") as stream:
            for section in ELFFile(stream).iter_sections():
                versions = section.iter_versions() if isinstance(section, GNUVerNeedSection) else ()
                names = [entry.name for _, entries in versions for entry in entries]
                found += [parse_version(name[6:]) for name in names if re.fullmatch(r"GLIBC_[0-9.]+", name)]
    except (ELFError, OSError) as error:
        raise LapwingError(f"{path} is no library, or cannot be read ({error})", "install Lapwing again") from error
    return max(found)


def parse_version(text: str) -> tuple[int, ...]:
    """Read 2.36 as (2, 36)."""
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


def start_python(environment: Mapping[str, str]) -> tuple[list[str], int]:
    """Start a Python that does nothing; return what is complained of, and the exit code."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ""],
        env=environment,
        capture_output=True,
        errors="replace",
        timeout=LOAD_LIMIT_S,
    )
    return [line for line in done.stderr.splitlines() if line.strip()], done.returncode


def try_load(path: Path, environment: Mapping[str, str]) -> str:
    """Return what is wrong with preloading a file into this Python; empty when nothing is.

    What is said and done without the file as well, of an LD_AUDIT say, is not about it.
    """
    without = {name: value for name, value in environment.items() if name not in ("LD_PRELOAD", "LD_DEBUG")}
    said, code = start_python({**without, "LD_PRELOAD": str(path)})
    if not said and code == 0:
        return ""
    said_without, code_without = start_python(without)
    own = [line for line in said if line not in said_without]
    return own[0] if own else ("" if code == code_without else f"a program with it ended with {code}")


def list_others(environment: Mapping[str, str], by_all: Path) -> tuple[str, ...]:
    """Return what else is preloaded: by LD_PRELOAD, LD_AUDIT and /etc/ld.so.preload."""
    words = re.split(r"[: ]+", f"{environment.get('LD_PRELOAD', '')}:{environment.get('LD_AUDIT', '')}")
    words += list_preloaded_by_all(by_all)
    return tuple(word for word in words if word and not is_own(word))


def is_own(path: str) -> bool:
    """Say whether this is the very file that this command preloads."""
    try:
        return is_lapwing(path) and Path(path).samefile(find_preload())
    except (LapwingError, OSError):
        return False


def read_preload(environment: Mapping[str, str] = os.environ, by_all: Path = PRELOADED_BY_ALL) -> PreloadFacts:
    """Look at the file and at this process's environment."""
    host = parse_version(platform.libc_ver()[1])
    others, is_off = list_others(environment, by_all), start.is_off(environment)
    is_in_all, wish = any(map(is_lapwing, list_preloaded_by_all(by_all))), start.find_misunderstood(environment)
    try:
        path = find_preload()
        needed = read_needed_glibc(path)
    except LapwingError as error:
        return PreloadFacts("", (), host, "", others, is_off, str(error), is_in_all, wish)
    return PreloadFacts(str(path), needed, host, try_load(path, environment), others, is_off, "", is_in_all, wish)


def format_version(version: tuple[int, ...]) -> str:
    """Write (2, 36) as 2.36."""
    return ".".join(str(part) for part in version)


def judge_file(facts: PreloadFacts) -> Finding:
    """Say whether the file can be preloaded."""
    if facts.error:
        message, _, remedy = facts.error.partition("; ")
        return Finding(TOPIC, Level.FAILS, message, remedy)
    needed, there = format_version(facts.needed_glibc), format_version(facts.host_glibc)
    if facts.host_glibc and facts.needed_glibc > facts.host_glibc:
        text = f"{facts.path} needs GLIBC {needed}, and this host has {there}"
        return Finding(TOPIC, Level.FAILS, text, "install the wheel for older systems, or build Lapwing on this host")
    if facts.complaint:
        return Finding(TOPIC, Level.FAILS, f"{facts.path} does not load: {facts.complaint}", "install Lapwing again")
    return Finding(TOPIC, Level.WELL, f"{facts.path} loads (needs GLIBC {needed}, here is {there or 'another libc'})")


def judge_neighbour(path: str) -> Finding:
    """Say what another preloaded library means."""
    name = Path(path).name
    for pattern, level, text, remedy in NEIGHBOURS:
        if re.match(pattern, name):
            shown = path if is_lapwing(path) else name
            return Finding(TOPIC, level, f"{shown} is preloaded, too: {text}", remedy)
    return Finding(TOPIC, Level.NOTE, f"{name} is preloaded, too")


def judge_wish(facts: PreloadFacts) -> list[Finding]:
    """Say what LAPWING in the environment does, or does not."""
    if facts.misunderstood:
        text = start.explain_misunderstood(facts.misunderstood)
        return [Finding(TOPIC, Level.FAILS, f"{text}: the commands refuse it", start.MISUNDERSTOOD_REMEDY)]
    return [OFF] if facts.is_off else []


def judge_preload(facts: PreloadFacts) -> list[Finding]:
    """Say whether the preload gets into programs, and beside what."""
    findings = [judge_file(facts), *(judge_neighbour(path) for path in facts.others)]
    return [*findings, *([IN_ALL] if facts.is_in_all else []), *judge_wish(facts)]
