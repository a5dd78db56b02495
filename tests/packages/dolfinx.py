# SPDX-License-Identifier: MIT
"""DOLFINx (Debian package fenicsx-performance-tests): finite elements on a mesh that PT-Scotch divides.

Ranks find out whom they share points with, by collectives of neighbours, and PETSc solves.
"""

import re
import shutil
from pathlib import Path

from packages.jobs import ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

SUITE = "dolfinx"
PROGRAM = "dolfinx-scaling-test"
SOLVER = ["-ksp_type", "cg", "-ksp_rtol", "1.0e-8", "-pc_type", "jacobi"]
COUNT = re.compile(r"Total degrees of freedom: *(\d+)")
# Not its last digits: how the mesh is divided changes from run to run without Lapwing too.
NORM = re.compile(r"Solution norm: *(\S+)")


def summarize(output: Output) -> list[str]:
    """How large the problem is, and the solution's norm."""
    counts = [f"{found} degrees of freedom" for found in COUNT.findall(output.text)]
    return [*counts, *(f"norm {float(found):.5g}" for found in NORM.findall(output.text))]


def make_job(program: str, kind: str, wheels: Path) -> Job:
    """One equation."""
    words = [program, "--problem_type", kind, "--scaling_type", "strong", "--ndofs", "30000", *SOLVER]
    version = debian_version("fenicsx-performance-tests")
    family = find_family("openmpi4", wheels)
    return Job(f"{SUITE}-{kind}", family, words, summarize, environment=ONE_THREAD, suite=SUITE, version=version)


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which(PROGRAM)
    missing = "the package fenicsx-performance-tests is not installed"
    reason = launcher_missing(find_family("openmpi4", wheels)) or ("" if program else missing)
    if program is None or reason:
        return [Skip(SUITE, reason)]
    return [make_job(program, kind, wheels) for kind in ("poisson", "elasticity")]
