# SPDX-License-Identifier: MIT
"""PETSc's examples (Debian packages libpetsc-real3.18-dev and libpetsc3.18-dev-examples; tests/packages/fetch.sh).

Values that ranks fetch from others and add to theirs, and systems solved on grids cut in three.
"""

from pathlib import Path

from families import Family
from packages.jobs import ONE_THREAD, Job, Output, Skip, build_missing, find_family
from packages.results import debian_version

SUITE = "petsc"
# Their names in fetch.sh, and what makes them say more.
ARGUMENTS = {
    "vec-is-sf-ex1": "-test_all",
    "ksp-ksp-ex2": "-m 120 -n 120 -ksp_monitor_short -pc_type asm",
    "ksp-ksp-ex34": "-da_grid_x 24 -da_grid_y 24 -da_grid_z 24 -pc_type gamg -ksp_monitor_short",
    "ksp-ksp-ex45": "-da_grid_x 33 -da_grid_y 33 -da_grid_z 33 -pc_type mg -pc_mg_levels 3 -ksp_monitor_short",
    "ksp-ksp-ex5": "-ksp_monitor_short",
    "snes-ex5": "-da_refine 4 -snes_monitor_short",
    "snes-ex19": "-da_refine 3 -snes_monitor_short -pc_type mg -ksp_type fgmres",
    "snes-ex48": "-M 10 -P 8 -thi_hom x -snes_monitor_short",
}


def summarize(output: Output) -> list[str]:
    """All that it says: these examples print no times. Ranks' lines have no order."""
    return sorted(" ".join(line.split()) for line in output.text.splitlines() if line.strip())


def make_job(name: str, folder: Path, family: Family, version: str) -> Job | Skip:
    """One example."""
    part = f"{SUITE}-{name}"
    if not (folder / name).exists():
        return Skip(part, "does not build here", SUITE, family.name)
    words = [str(folder / name), *ARGUMENTS[name].split()]
    return Job(part, family, words, summarize, environment=ONE_THREAD, ranks=3, suite=SUITE, version=version)


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """Debian builds the library for Open MPI."""
    family = find_family("openmpi4", wheels)
    folder = build / "petsc"
    is_built = any(folder.glob("*-ex*"))
    reason = build_missing(family, is_built)
    if reason:
        return [Skip(SUITE, reason)]
    return [make_job(name, folder, family, debian_version("libpetsc-real3.18-dev")) for name in ARGUMENTS]
