# SPDX-License-Identifier: MIT
"""`lapwing run` gives a job's output and exit code as the launcher alone does, wherever and however it is started."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[2] / "python"
SOURCE = Path(__file__).parent / "exchange.c"
LAUNCH = {"openmpi": "mpirun.openmpi --oversubscribe --bind-to none", "mpich": "mpirun.mpich"}
LAPWING = f'"{sys.executable}" -m lapwing run --threshold 64KiB --learn off'
CODE = 3
TIMEOUT_S = 60.0

pytestmark = pytest.mark.skipif("LAPWING_PRELOAD" not in os.environ, reason="LAPWING_PRELOAD names no library")


@dataclass(frozen=True)
class Surroundings:
    """What is unusual: shell words before and after the command, variables, and names."""

    before: str = ""
    after: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: str = "folder"
    program: str = "exchange"
    locale: str = ""


CASES = {
    "names": Surroundings(folder="a größe", program="the äpp", variables={"LC_ALL": "C"}),
    "turkish": Surroundings(locale="tr_TR"),
    "german": Surroundings(locale="de_DE"),
    "nowhere": Surroundings(variables={"LC_ALL": "xx_YY.UTF-8", "HOME": "/nonexistent"}),
    "SIGPIPE ignored": Surroundings(before="trap '' PIPE"),
    "stdout closed": Surroundings(after=">&-"),
    "all closed": Surroundings(after="<&- >&- 2>&-"),
    "nobody reads": Surroundings(after="| true"),
    "full": Surroundings(after=">/dev/full"),
    "few descriptors": Surroundings(before="ulimit -n 64 -s 512"),
    "few addresses": Surroundings(before="ulimit -v 500000"),
}


@pytest.fixture(scope="module", params=sorted(LAUNCH))
def mpi(request: pytest.FixtureRequest) -> str:
    """One MPI that is installed."""
    name: str = request.param
    if shutil.which(f"mpicc.{name}") is None or shutil.which(f"mpirun.{name}") is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(scope="module")
def program(mpi: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built."""
    path = tmp_path_factory.mktemp(mpi) / "exchange"
    subprocess.run([f"mpicc.{mpi}", "-O1", "-o", str(path), str(SOURCE)], check=True)
    return path


@pytest.fixture(scope="session")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the locales of CASES, where they can be made."""
    folder = tmp_path_factory.mktemp("locales")
    for name in {case.locale for case in CASES.values()} - {""}:
        if shutil.which("localedef") and Path("/usr/share/i18n/locales", name).exists():
            subprocess.run(["localedef", "-i", name, "-f", "UTF-8", str(folder / f"{name}.UTF-8")], check=True)
    return folder


def set_locale(name: str, locales: Path) -> Mapping[str, str]:
    """Return what sets a locale."""
    full = f"{name}.UTF-8"
    if not (locales / full).exists():
        pytest.skip(f"the locale {name} cannot be made here")
    return {"LOCPATH": str(locales), "LC_ALL": full, "LANG": full}


def run_once(script: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, bytes] | None:
    """Run a script; return its exit code and output, or None if it had to be ended, with all that it started."""
    command = ["bash", "-o", "pipefail", "-c", script]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            output = process.communicate(timeout=TIMEOUT_S)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
        return process.returncode, output


def run_shell(script: str, folder: Path, variables: Mapping[str, str]) -> tuple[int, list[str]]:
    """Run a script; return its exit code, and the program's lines of its output. Where descriptors are closed
    stock mpirun (Open MPI 4.1) now and then misses that its ranks have ended, so one more run is allowed.
    """
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), **variables}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = run_once(script, folder, environment) or run_once(script, folder, environment)
    assert done is not None, f"hung twice: {script}"
    lines = done[1].decode().splitlines()
    return done[0], [line for line in lines if "exited" not in line and line]


def place(program: Path, case: Surroundings, folder: Path) -> Path:
    """Put the program where it is to be started."""
    where = folder / case.folder
    where.mkdir()
    shutil.copy(program, where / case.program)
    return where


@pytest.mark.parametrize("name", sorted(CASES))
def test_job_ends_as_without_lapwing(name: str, mpi: str, program: Path, locales: Path, tmp_path: Path) -> None:
    """What is the command's own affair is tried with either MPI in turn; limits, which MPI meets, too, with both."""
    case = CASES[name]
    if "ulimit" not in case.before and sorted(CASES).index(name) % len(LAUNCH) != sorted(LAUNCH).index(mpi):
        pytest.skip("tried with the other MPI")
    where = place(program, case, tmp_path)
    variables = {**case.variables, **(set_locale(case.locale, locales) if case.locale else {})}
    before = f"{case.before}; " if case.before else ""
    job = f'{LAUNCH[mpi]} -n 2 "./{case.program}" {CODE} {case.after}'
    stock = run_shell(before + job, where, variables)
    assert run_shell(f'{before}{LAPWING} --json "a summary.json" {job}', where, variables) == stock
    summary = (where / "a summary.json").read_text("utf-8")
    assert '"ranks_complete": 2' in summary or stock[0] != CODE


READ_ONLY = 'mount --bind -o ro . . && cd "$PWD" && ! touch x 2>/dev/null || exit 77'


def test_folder_that_cannot_be_written_is_no_obstacle(mpi: str, program: Path, tmp_path: Path) -> None:
    where = place(program, Surroundings(), tmp_path)
    where.chmod(0o555)
    # Root may write all the same, but for a mount that nobody may write to.
    begin, end = (f"unshare -m bash -c '{READ_ONLY}; ", "'") if os.access(where, os.W_OK) else ("", "")
    job = f"{LAUNCH[mpi]} -n 2 ./exchange {CODE}"
    stock = run_shell(f"{begin}{job}{end}", where, {})
    if stock[0] != CODE:
        pytest.skip("no folder can be made read-only here")
    assert run_shell(f"{begin}{LAPWING} {job}{end}", where, {}) == stock
