# SPDX-License-Identifier: MIT
"""Python packages on MPI: Devito, mpi4jax (as fetch.sh installs them), and Debian's mpi4py-fft, h5py and slepc4py."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from families import Family
from packages.jobs import HERE, ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

# How Devito exchanges halos: blocking ones first; the others overlap by hand.
DEVITO_MODES = ("basic", "diag2", "overlap", "full")
DEBIAN_PROGRAMS = {
    "mpi4py-fft": ("python3-mpi4py-fft", "transform_fft.py"),
    "h5py": ("python3-h5py-mpi", "file_h5py.py"),
    "slepc4py": ("python3-slepc4py", "eigenvalues_slepc.py"),
}


def summarize(output: Output) -> list[str]:
    """The programs print what they found with all digits; the launcher may join the lines of two ranks."""
    return sorted(words.strip() for words in re.findall(r"result (?:(?!result).)*", output.text))


def installed_version(python: Path, module: str) -> str:
    """The version of a package in that environment; empty where it cannot be imported."""
    code = f"import importlib.metadata as m, {module}; print(m.version('{module}'))"
    run = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return run.stdout.strip().splitlines()[-1] if run.returncode == 0 and run.stdout.strip() else ""


def list_devito(family: Family, python: Path) -> Sequence[Job | Skip]:
    """One program, which exchanges halos in each of its ways."""
    version = installed_version(python, "devito")
    if not version:
        return [Skip("devito", f"{python} has no Devito", mpi=family.name)]
    words = [str(python), str(HERE / "programs/diffusion_devito.py")]
    base = {"DEVITO_LOGGING": "ERROR", "DEVITO_LANGUAGE": "C"}
    return [
        Job(
            f"devito-{mode}",
            family,
            words,
            summarize,
            environment={**base, "DEVITO_MPI": mode},
            timeout_s=240.0,
            version=version,
            suite="devito",
        )
        for mode in DEVITO_MODES
    ]


def list_mpi4jax(family: Family, python: Path) -> Sequence[Job | Skip]:
    """A program that is compiled just in time, messages included."""
    version = installed_version(python, "mpi4jax")
    if not version:
        return [Skip("mpi4jax", f"{python} has no mpi4jax", mpi=family.name)]
    words = [str(python), str(HERE / "programs/ring_mpi4jax.py")]
    return [Job("mpi4jax", family, words, summarize, timeout_s=240.0, version=version)]


def list_debian(family: Family) -> Sequence[Job | Skip]:
    """Programs on Debian's packages."""
    jobs: list[Job | Skip] = []
    for name, (package, program) in DEBIAN_PROGRAMS.items():
        version = debian_version(package)
        words = ["/usr/bin/python3", str(HERE / "programs" / program)]
        jobs.append(
            Job(name, family, words, summarize, environment=ONE_THREAD, timeout_s=120.0, version=version)
            if version
            else Skip(name, f"the package {package} is not installed", mpi=family.name)
        )
    return jobs


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """All on Debian's Open MPI."""
    family = find_family("openmpi4", wheels)
    if launcher_missing(family):
        return [Skip("python-packages", launcher_missing(family), mpi=family.name)]
    python = build / "python/bin/python"
    if not python.exists():
        missing: list[Job | Skip] = [
            Skip(name, "not installed: tests/packages/fetch.sh does", mpi=family.name) for name in ("devito", "mpi4jax")
        ]
        return [*missing, *list_debian(family)]
    return [*list_devito(family, python), *list_mpi4jax(family, python), *list_debian(family)]
