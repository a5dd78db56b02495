# SPDX-License-Identifier: MIT
"""OpenFOAM (Debian packages openfoam and openfoam-examples): the flow in a box under a lid that moves.

icoFoam, on the example that tests/packages/fetch.sh has cut in two.
"""

import hashlib
import re
import shutil
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

RESULT = re.compile(r"^(?:Time =|Courant|.*residual|.*continuity errors|End).*", re.MULTILINE)


def summarize(output: Output) -> list[str]:
    """Residuals of each step, and all digits of velocities and pressures at some."""
    fields = sorted(path for name in "Up" for path in output.folder.glob(f"processor*/*/{name}"))
    names = (f"{path.relative_to(output.folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in fields)
    return [*(match.group().strip() for match in RESULT.finditer(output.text)), *names]


def read_case(folder: Path) -> dict[str, str]:
    """The files of an example, by their names in it."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    family = find_family("openmpi4", wheels)
    program = shutil.which("icoFoam")
    case = build / "openfoam"
    reason = launcher_missing(family) or ("" if program else "the package openfoam is not installed")
    reason = reason or ("" if (case / "processor1").exists() else "not made: tests/packages/fetch.sh makes its input")
    if program is None or reason:
        return [Skip("openfoam", reason)]
    # It attaches a buffer of this size.
    variables = {"WM_PROJECT_DIR": "/usr/share/openfoam", "MPI_BUFFER_SIZE": "20000000"}
    version = debian_version("openfoam")
    return [Job("openfoam", family, [program, "-parallel"], summarize, read_case(case), variables, version=version)]
