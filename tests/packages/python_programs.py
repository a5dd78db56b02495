# SPDX-License-Identifier: MIT
"""mpi4py: a program of ours, and mpi4py's own tests (from its source package): the quick core, and the others."""

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from families import Family
from packages.jobs import HERE, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

DEBIAN_PYTHON = Path("/usr/bin/python3")
# Messages, in a process of their own: once a test has given MPI functions to call, Lapwing passes everything.
MESSAGES = """
    p2p_buf p2p_obj p2p_buf_matched p2p_obj_matched p2p_buf_part msgspec msgzero pickle cco_buf cco_obj pack
"""
# What stands around them. Not: RMA (hangs on Open MPI 5 without Lapwing), spawn, files.
MODULES = "status request grequest comm util_pkl5 attributes threads"
# Not run: new processes (they wait for slots on some machines), a hang without Lapwing, and the package's own files.
LEFT_OUT = {"dynproc", "spawn", "util_sync", "toplevel", "package"}
VERDICT = re.compile(r"Ran \d+ tests?|\bOK\b|FAILED|\([\w =,]*=\d+\)|^(?:FAIL|ERROR): .*", re.MULTILINE)


def summarize_program(output: Output) -> list[str]:
    """The program's sums."""
    return [line for line in output.text.splitlines() if line.startswith(("checksum", "objects"))]


def summarize_tests(output: Output) -> list[str]:
    """Totals, and names of tests that fail; the ranks' lines have no order between them."""
    # Nor between the words of a line: each word is written by itself.
    return sorted(match.group() for match in VERDICT.finditer(output.text))


def fetch_tests(build: Path) -> Path | str:
    """The folder with mpi4py's tests for the installed version, or why there is none."""
    version = importlib.metadata.version("mpi4py")
    folder = build / f"mpi4py-{version}"
    if (folder / "test/main.py").exists():
        return folder / "test"
    words = ["download", "--quiet", "--no-deps", "--no-binary", "mpi4py", f"mpi4py=={version}", "--dest", str(build)]
    try:
        subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True, timeout=180)
        # tarfile has no filter before Python 3.11.4.
        archive = next(build.glob(f"mpi4py-{version}.tar.*"))
        subprocess.run(["tar", "xf", str(archive), "-C", str(build)], check=True, capture_output=True)
    except (subprocess.SubprocessError, StopIteration, OSError) as error:
        return f"mpi4py's source package was not fetched ({type(error).__name__})"
    return folder / "test"


def list_others(tests: Path) -> list[str]:
    """The modules beside the core."""
    names = {path.stem.removeprefix("test_") for path in tests.glob("test_*.py")}
    return sorted(names - set(MESSAGES.split()) - set(MODULES.split()) - LEFT_OUT)


def mpich_alias(build: Path) -> str:
    """Debian names MPICH's library otherwise than the wheel of mpi4py asks for."""
    folder = build / "mpich4-alias"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "libmpi.so.12"
    target = next(iter(Path("/usr/lib").glob("*/libmpich.so.12")), None)
    if target and not link.is_symlink():
        link.symlink_to(target)
    return str(folder)


def make_variables(family: Family, wheels: Path, build: Path) -> Mapping[str, str]:
    """What makes one mpi4py use this MPI: it looks at the first library found, and for "libmpi.so" foremost."""
    if family.name == "openmpi4":
        return {}
    if family.name == "mpich4":
        return {"LD_LIBRARY_PATH": mpich_alias(build), "MPI4PY_MPIABI": "mpich"}
    return {"LD_LIBRARY_PATH": str(wheels / family.name / "lib")}


def list_wheel_jobs(family: Family, wheels: Path, build: Path, tests: Path | str) -> list[Job | Skip]:
    """The program and the tests on one MPI, with the mpi4py of this environment."""
    name = f"/{family.name}"
    if launcher_missing(family):
        return [Skip(f"mpi4py{name}", launcher_missing(family))]
    variables = {**make_variables(family, wheels, build), "PYTHONDONTWRITEBYTECODE": "1"}
    version = importlib.metadata.version("mpi4py")
    words = [sys.executable, str(HERE / "programs/halo.py")]
    jobs: list[Job | Skip] = [
        Job(
            "mpi4py-halo", family, words, summarize_program, environment=variables, is_overlapping=True, version=version
        )
    ]
    if isinstance(tests, str):
        return [*jobs, Skip(f"mpi4py-tests{name}", tests)]
    suites = {
        "mpi4py-message-tests": MESSAGES.split(),
        "mpi4py-core-tests": MODULES.split(),
        "mpi4py-other-tests": list_others(tests),
    }
    for suite, modules in suites.items():
        words = [sys.executable, str(tests / "main.py"), "-q", *(f"test_{name}" for name in modules)]
        jobs.append(Job(suite, family, words, summarize_tests, environment=variables, timeout_s=900.0, version=version))
    return [*jobs, Skip("mpi4py-left-out-tests", f"not run: {' '.join(sorted(LEFT_OUT))}", mpi=family.name)]


def list_debian_jobs(wheels: Path) -> list[Job | Skip]:
    """The program with Debian's Python and its mpi4py."""
    family = find_family("openmpi4", wheels)
    command = [str(DEBIAN_PYTHON), "-c", "import mpi4py, numpy"]
    is_there = DEBIAN_PYTHON.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0
    reason = launcher_missing(family) or ("" if is_there else "the package python3-mpi4py is not installed")
    if reason:
        return [Skip("mpi4py-debian", reason)]
    version = debian_version("python3-mpi4py")
    words = [str(DEBIAN_PYTHON), str(HERE / "programs/halo.py")]
    return [Job("mpi4py-debian", family, words, summarize_program, is_overlapping=True, version=version)]


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """All MPIs that mpi4py can use here."""
    jobs = list_debian_jobs(wheels)
    if importlib.util.find_spec("mpi4py") is None or importlib.util.find_spec("numpy") is None:
        return [*jobs, Skip("mpi4py", f"{sys.executable} has no mpi4py and numpy")]
    build.mkdir(parents=True, exist_ok=True)
    tests = fetch_tests(build)
    for name in ("openmpi4", "mpich4", "openmpi5", "mpich5"):
        jobs += list_wheel_jobs(find_family(name, wheels), wheels, build, tests)
    return jobs
