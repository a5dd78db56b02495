# SPDX-License-Identifier: MIT
"""The MPI libraries of a host, and what the preload says when a process begins MPI with one."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lapwing.configuration.settings import SELECTING
from lapwing.doctor.finding import Finding, Level
from lapwing.doctor.network import judge_opened
from lapwing.doctor.preload import OFF, judge_neighbour
from lapwing.files import read_abis
from lapwing.launch.start import is_off
from lapwing.profile.record import RankRecord

TOPIC = "mpi"
TRANSPORT_LIBRARIES = {"libucp.": "UCX", "libfabric.": "libfabric", "libpsm2.": "PSM2", "libpsm3": "PSM3"}
BYPASSING = "UCX_MEM_MMAP_HOOK_MODE"
PASSING = {"LAPWING_PROGRESS": "off", "LAPWING_PROFILE": "on"}  # with these the preload passes every call


@dataclass(frozen=True)
class Answer:
    """What one process told that began MPI under the preload (doctor/ask.py).

    error: why it could not; settings: the variables of Lapwing that it had.
    """

    host: str
    pid: int
    library: str
    error: str
    preload: str
    opened: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    report: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


def find_launchers(name: str) -> tuple[str, ...]:
    """Return the launchers whose ranks use a library of this name; none where it is no MPI library."""
    rows = read_abis().values()
    found = (row["launchers"] for row in rows if any(fnmatchcase(name, pattern) for pattern in row["files"]))
    return tuple(next(found, ()))


def list_cached_libraries() -> list[Path]:
    """Return what the dynamic linker's cache knows."""
    try:
        done = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, errors="replace", check=False)
    except OSError:
        return []
    return [Path(line.split("=> ")[1]) for line in done.stdout.splitlines() if "=> " in line]


def iterate_prefix(prefix: Path) -> Iterator[Path]:
    """Yield what lies in the library folders of an installation."""
    for pattern in ("lib/*.so.*", "lib64/*.so.*", "lib/*/*.so.*", "lib/release/*.so.*"):
        yield from sorted(prefix.glob(pattern))


def find_libraries(launchers: Iterable[str], environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Return the MPI libraries of these launchers, of LD_LIBRARY_PATH and of the linker's cache, each once."""
    candidates: list[Path] = []
    for launcher in launchers:
        candidates += iterate_prefix(Path(launcher).resolve().parent.parent)
    for folder in filter(None, environment.get("LD_LIBRARY_PATH", "").split(":")):
        candidates += sorted(Path(folder).glob("*.so.*"))
    candidates += iterate_prefix(Path(sys.executable).parent.parent)
    found: dict[Path, Path] = {}
    for path in (*candidates, *list_cached_libraries()):
        if find_launchers(path.name):
            found.setdefault(path.resolve(), path)
    return list(found.values())


def choose_libraries(libraries: Sequence[Path], launcher: str) -> list[Path]:
    """Return those whose ABI a launcher's own library has; all where its name says nothing."""
    chosen = [path for path in libraries if launcher in find_launchers(path.name)]
    is_known = any(launcher in row["launchers"] for row in read_abis().values())
    return chosen if is_known else list(libraries)


def name_transports(loaded: Iterable[str]) -> str:
    """Say which libraries move an MPI's data."""
    names = [word for begin, word in TRANSPORT_LIBRARIES.items() if any(name.startswith(begin) for name in loaded)]
    return f"; it has loaded {' and '.join(names)}" if names else ""


def judge_hold(answer: Answer, record: RankRecord, expected: str, who: str) -> list[Finding]:
    """Say which hold the preload took, and why it is another than the kernel would allow."""
    if expected in ("", record.hold):
        return []
    devices = judge_opened(answer.opened, who, record.hold)
    if devices:
        return devices
    text = f"{who}: this kernel allows the hold {expected}, the preload took {record.hold}"
    return [Finding(TOPIC, Level.REDUCES, text, "see `lapwing config` for `hold`")]


def judge_passing(answer: Answer, record: RankRecord, who: str) -> Finding:
    """Say why the preload does nothing in a process."""
    chosen = next((f"{name}={word}" for name, word in PASSING.items() if answer.settings.get(name) == word), "")
    cause = f"{chosen} is set" if chosen else record.notice
    cause = cause or "some setting of this MPI forbids it; the summary of `lapwing run` names the reason"
    remedy = "`lapwing config` says where it is set" if chosen else "see docs/limits.md"
    return Finding(TOPIC, Level.FAILS, f"{who}: the preload passes every call: {cause}", remedy)


def judge_record(answer: Answer, record: RankRecord, expected: str) -> list[Finding]:
    """Say what the preload decided in one process."""
    who = f"{answer.library} (ABI {record.abi})"
    if not record.is_active:
        return [judge_passing(answer, record, who)]
    text = f"{who}: the preload is at work, hold {record.hold}{name_transports(answer.loaded)}"
    findings = [Finding(TOPIC, Level.WELL, text), *judge_hold(answer, record, expected, who)]
    if record.notice:
        findings.append(Finding(TOPIC, Level.REDUCES, f"{who}: {record.notice}", "correct that variable, or unset it"))
    return findings


def judge_silence(answer: Answer) -> Finding:
    """Say why the preload left no record in a process that began MPI."""
    if not answer.preload:
        text = f"LD_PRELOAD did not come through to {answer.host}"
        return Finding(TOPIC, Level.FAILS, text, "let the launcher hand on variables (its -x, -env, --export)")
    if is_off(answer.settings):
        return OFF
    chosen = [f"{name}={answer.settings[name]}" for name in SELECTING if answer.settings.get(name)]
    if chosen:
        text = f"{' and '.join(chosen)} may keep Lapwing out of this rank, which left no record: it is not judged"
        return Finding(TOPIC, Level.NOTE, text)
    text = f"{answer.library}: the preload was not met by MPI_Init, and left no record"
    return Finding(TOPIC, Level.FAILS, text, "is it an MPI of an ABI that Lapwing knows (docs/programs.md)?")


def judge_answer(answer: Answer, record: RankRecord | None, expected: str, is_alone: bool) -> list[Finding]:
    """Judge one process's answer.

    expected: the hold that the kernel allows, empty where that is not known; is_alone: it had no launcher.
    """
    others = [word for word in re.split(r"[: ]+", answer.preload) if word and Path(word).name != "liblapwing.so"]
    findings = [judge_neighbour(path) for path in others]
    if answer.error:
        text = f"{answer.library or 'MPI'} did not begin: {answer.error}"
        remedy = "name a launcher: lapwing doctor mpirun -n 2" if is_alone else "check this MPI without Lapwing first"
        return [*findings, Finding(TOPIC, Level.NOTE if is_alone else Level.FAILS, text, remedy)]
    return findings + ([judge_silence(answer)] if record is None else judge_record(answer, record, expected))


def judge_variables(environment: Mapping[str, str] = os.environ) -> list[Finding]:
    """Say which variables of MPI libraries take Lapwing's ground away."""
    findings = []
    if environment.get(BYPASSING) == "reloc":
        text = f"{BYPASSING}=reloc: munmap and its kin do not wait for messages under way"
        findings.append(Finding(TOPIC, Level.REDUCES, text, f"unset {BYPASSING}"))
    if environment.get("MPIR_CVAR_ENABLE_FT") == "1":
        text = "MPIR_CVAR_ENABLE_FT=1: under MPICH every call is passed"
        findings.append(Finding(TOPIC, Level.REDUCES, text, "unset MPIR_CVAR_ENABLE_FT where ranks need not survive"))
    return findings


def make_answer(document: Mapping[str, Any]) -> Answer:
    """Read what ask.py wrote."""
    host, library, error, preload, report = (
        str(document[name]) for name in ("host", "library", "error", "preload", "report")
    )
    opened, loaded = tuple(document["opened"]), tuple(document["loaded"])
    settings = {str(name): str(value) for name, value in document["settings"].items()}
    return Answer(host, int(document["pid"]), library, error, preload, opened, loaded, report, settings)


def judge_libraries(libraries: Sequence[Path]) -> list[Finding]:
    """Say that there is nothing to ask."""
    if libraries:
        return []
    text = "no MPI library that Lapwing knows was found"
    return [Finding(TOPIC, Level.FAILS, text, "load its module, set LD_LIBRARY_PATH, or name its launcher")]
