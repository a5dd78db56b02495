# SPDX-License-Identifier: MIT
"""`lapwing lab`."""

import argparse
import os
import sys
from collections.abc import Sequence

from lapwing.errors import LapwingError
from lapwing.files import SELF
from lapwing.lab.flags import add_link_flags, read_links
from lapwing.lab.network import Network, enter_user_namespace
from lapwing.launch.job import catch_signals, run_job
from lapwing.launch.launchers import find_command
from lapwing.launch.start import say, strip_separator


def find_line(line: Sequence[str]) -> list[str]:
    """Return a command line with its program's path; `lapwing` is this one."""
    return [*SELF, *line[1:]] if line[0] == "lapwing" else [find_command(line[0]), *line[1:]]


class LabCommand:
    """Run a command on emulated hosts with shaped links, all on this machine.

    The command runs on host h0. MPI launchers that it is, or that it starts, place their ranks one on each host in
    turn, connected by TCP over the emulated links, for example

        lapwing lab --rate 1gbit -- lapwing run mpirun -n 2 ./app

    Variables tell them (of Open MPI, PRRTE, Hydra, Intel MPI, UCX and libfabric), so that hosts and transports that
    you name as arguments come first. Commands find the hosts' names in LAPWING_LAB_HOSTS, and a stand-in for ssh in
    LAPWING_LAB_AGENT.
    """

    name = "lab"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.usage = "lapwing lab [options] -- COMMAND ..."
        parser.add_argument("--hosts", type=int, default=2, metavar="N", help="number of hosts (default: 2)")
        add_link_flags(parser)
        parser.add_argument("--keep", action="store_true", help="afterwards keep the hosts until Enter is pressed")
        parser.add_argument("line", nargs=argparse.REMAINDER, metavar="COMMAND ...", help="what to run")

    def run(self, arguments: argparse.Namespace) -> int:
        """Build, run, take down."""
        line = strip_separator(arguments.line)
        if not line:
            raise LapwingError("there is nothing to run", "write for example: lapwing lab -- mpirun -n 2 ./app")
        if arguments.hosts < 2 or arguments.hosts > 200:
            raise LapwingError("a lab needs 2 to 200 hosts", "correct --hosts")
        links = read_links(arguments)
        catch_signals()
        enter_user_namespace([*SELF, *sys.argv[1:]])
        with Network(arguments.hosts, links) as network:
            command = network.command_on_first(find_line(line))
            result = run_job([find_command(command[0]), *command[1:]], {**os.environ, **network.environment()})
            if arguments.keep:
                self._keep(network)
        return result.exit_code

    def _keep(self, network: Network) -> None:
        """Say how to look around, and wait."""
        say(f"{network.agent} h0 COMMAND enters a host; press Enter to take the lab down")
        sys.stdin.readline()
