# SPDX-License-Identifier: MIT
"""`lapwing lab`."""

import argparse
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from lapwing.commands.advise import AdviseCommand
from lapwing.commands.profile import ProfileCommand
from lapwing.commands.run import RunCommand
from lapwing.errors import LapwingError
from lapwing.lab.launch import add_placement
from lapwing.lab.network import Network, enter_user_namespace
from lapwing.launch.job import run_job
from lapwing.launch.launchers import find_command
from lapwing.launch.start import strip_separator

SELF = [sys.executable, "-m", "lapwing"]
LAUNCHING = {command.name: command for command in (RunCommand(), ProfileCommand(), AdviseCommand())}


def split_run(line: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split `lapwing run [options] LAUNCHER ...` and its kin before the launcher; other lines have nothing there."""
    if len(line) < 3 or Path(line[0]).name != "lapwing" or line[1] not in LAUNCHING:
        return [], list(line)
    parser = argparse.ArgumentParser(allow_abbrev=False)
    LAUNCHING[line[1]].prepare_parser(parser)
    rest = strip_separator(parser.parse_args(line[2:]).launcher)
    return [*SELF, *line[1 : len(line) - len(rest)]], rest


def prepare_line(line: Sequence[str], network: Network) -> list[str]:
    """Return the command line as it runs on host 0."""
    before, launcher_line = split_run(line)
    if not launcher_line:
        raise LapwingError("there is nothing to run", "write for example: lapwing lab -- mpirun -n 2 ./app")
    placed = add_placement(launcher_line, [host.name for host in network.hosts], network.agent)
    return network.command_on_first([*before, *placed])


def end_on_signal(number: int, frame: FrameType | None) -> None:
    """Leave through every `with`, so that the lab is taken down."""
    raise SystemExit(128 + number)


def catch_signals() -> None:
    """Let termination clean up."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_on_signal)


class LabCommand:
    """Run a command on emulated hosts with shaped links, all on this machine.

    The command runs on host h0. When it is an MPI launcher, or `lapwing run`, `profile` or `advise` with one, its
    ranks are placed one on each host, connected by TCP over the emulated links, for example

        lapwing lab --rate 1gbit -- lapwing run mpirun -n 2 ./app

    Commands find the hosts' names in LAPWING_LAB_HOSTS, a stand-in for ssh in LAPWING_LAB_AGENT, and the launcher's
    line as you wrote it in LAPWING_LAB_LINE.
    """

    name = "lab"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.usage = "lapwing lab [options] -- COMMAND ..."
        parser.add_argument("--hosts", type=int, default=2, metavar="N", help="number of hosts (default: 2)")
        parser.add_argument("--rate", default="1gbit", help="link rate as tc writes it, or none (default: 1gbit)")
        parser.add_argument("--cores-per-host", type=int, default=1, metavar="N", help="cores of a host (default: 1)")
        parser.add_argument("--keep", action="store_true", help="afterwards keep the hosts until Enter is pressed")
        parser.add_argument("line", nargs=argparse.REMAINDER, metavar="COMMAND ...", help="what to run")

    def run(self, arguments: argparse.Namespace) -> int:
        """Build, run, take down."""
        line = strip_separator(arguments.line)
        if not line:
            raise LapwingError("there is nothing to run", "write for example: lapwing lab -- mpirun -n 2 ./app")
        if arguments.hosts < 2 or arguments.hosts > 200 or arguments.cores_per_host < 1:
            raise LapwingError("a lab needs 2 to 200 hosts and at least 1 core per host", "correct the numbers")
        catch_signals()
        enter_user_namespace([*SELF, *sys.argv[1:]])
        with Network(arguments.hosts, arguments.rate, arguments.cores_per_host) as network:
            command = prepare_line(line, network)
            command[0] = find_command(command[0])
            written = {"LAPWING_LAB_LINE": shlex.join(split_run(line)[1])}
            result = run_job(command, {**os.environ, **network.environment(), **written})
            if arguments.keep:
                self._keep(network)
        return result.exit_code

    def _keep(self, network: Network) -> None:
        """Say how to look around, and wait."""
        print(f"lapwing: {network.agent} h0 COMMAND enters a host; press Enter to take the lab down", file=sys.stderr)
        sys.stdin.readline()
