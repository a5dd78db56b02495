# SPDX-License-Identifier: MIT
"""Started as a rank, or alone, with the preload: begins MPI as a program does, so that the preload decides, and tells.

python ask.py LIBRARY...: MPI libraries, of which the first that loads is used. With LAPWING_DOCTOR_HOST in the
environment it also judges its host. What it finds is a file in LAPWING_RECORD_DIR, beside the preload's own record;
one line on standard output says that it was here. Only Python's own modules: every rank imports this.
"""

import ctypes
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MARK = "lapwing-doctor-rank"
ENDING = ".answer"
HOST_LIMIT_S = 120.0
# As in src/base/launch.c.
LOCAL_SIZES = (
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "PMIX_LOCAL_SIZE",
    "PALS_LOCAL_SIZE",
    "PMI_LOCAL_SIZE",
    "SLURM_STEP_TASKS_PER_NODE",
)
LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID")


def find_number(names: tuple[str, ...], environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the number with which the first of these variables begins."""
    texts = (environment[name] for name in names if name in environment)
    found = re.match(r"\d+", next(texts, ""))
    return int(found[0]) if found else None


def load_first(libraries: list[str]) -> tuple[str, str]:
    """Load the first library that can be; return its name, and else what the dynamic linker said."""
    message = "no MPI library was named"
    for library in libraries:
        try:
            ctypes.CDLL(library, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
        except OSError as error:
            message = str(error)
        else:
            return library, ""
    return "", message


def list_opened() -> list[str]:
    """Return the devices that this process has open."""
    opened = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            opened.add(str(entry.readlink()))
        except OSError:
            continue  # the list's own
    return sorted(path for path in opened if path.startswith("/dev/"))


def list_loaded() -> list[str]:
    """Return the file names of the libraries of this process."""
    lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    paths = (line.split(maxsplit=5)[5] for line in lines if ".so" in line)
    return sorted({Path(path).name for path in paths})


def list_settings() -> dict[str, str]:
    """Return the variables of Lapwing that have come here, from whatever set them."""
    return {name: value for name, value in os.environ.items() if name.split("_")[0] == "LAPWING"}


def judge_host() -> Any:
    """Return what `lapwing doctor --here` says of this host: without the preload, which would see its system calls."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    package = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, environment.get("PYTHONPATH"))))
    command = [sys.executable, "-P", "-m", "lapwing", "doctor", "--here", "--json", "-"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, errors="replace", timeout=HOST_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stdout or done.stderr or f"`lapwing doctor --here` ended with {done.returncode}"


def write_answer(answer: Mapping[str, Any]) -> None:
    """Leave the answer where the preload leaves its record: a file of this process's own, renamed when it is whole."""
    folder = Path(os.environ["LAPWING_RECORD_DIR"])
    path = folder / f"{answer['host']}-{answer['pid']}{ENDING}"
    part = path.with_suffix(".unfinished")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:  # noqa: PTH123 # its mode
        json.dump(answer, stream)
    part.rename(path)


def begin_mpi(library: str) -> int:
    """Call MPI_Init as a program that is linked with the library does: by the first definition of the name."""
    return int(ctypes.CDLL(None).MPI_Init(None, None)) if library else 0


def describe_process(error: str) -> dict[str, Any]:
    """Return what can be seen of this process."""
    return {"error": error, "opened": list_opened(), "loaded": list_loaded(), "settings": list_settings()}


def main() -> None:
    """Ask, tell, end. Of a rank that ends within MPI_Init, all that it knew before is there."""
    host, pid = socket.gethostname(), os.getpid()
    sys.stdout.write(f"{MARK} {host} {pid}\n")
    sys.stdout.flush()
    is_for_host, is_first = "LAPWING_DOCTOR_HOST" in os.environ, find_number(LOCAL_RANKS) in (0, None)
    answer: dict[str, Any] = {"host": host, "pid": pid, "preload": os.environ.get("LD_PRELOAD", "")}
    answer["report"] = judge_host() if is_for_host and is_first else ""
    answer["library"], error = load_first(sys.argv[1:])
    if is_for_host:
        write_answer({**answer, **describe_process(error or "it ended within MPI_Init")})
    code = begin_mpi(answer["library"])
    write_answer({**answer, **describe_process(error or (f"MPI_Init returned {code}" if code else ""))})
    if answer["library"] and not code:
        ctypes.CDLL(None).MPI_Finalize()


if __name__ == "__main__":
    main()
