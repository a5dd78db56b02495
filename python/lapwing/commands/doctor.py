# SPDX-License-Identifier: MIT
"""`lapwing doctor`."""

import argparse
from pathlib import Path

from rich.table import Column, Table

from lapwing.doctor.document import encode_diagnosis
from lapwing.doctor.finding import HostReport, Level
from lapwing.doctor.hosts import diagnose_here, diagnose_line
from lapwing.launch.start import strip_separator
from lapwing.outfiles import STANDARD_OUTPUT, check_output, write_text
from lapwing.screen import Screen

STYLES = {Level.WELL: "green", Level.NOTE: "", Level.REDUCES: "yellow", Level.FAILS: "red"}
CONCLUSIONS = (
    "All is well.",
    "Lapwing works here; what is marked `reduces` keeps it from gaining what it could.",
    "Lapwing will not work here as it is: see what is marked `fails`.",
)


class DoctorCommand:
    """Tell what will work on this host, what will not, and what to do about it.

    It asks the kernel, and lets the preload decide in a process of each MPI library that it finds. With a launcher's
    line without a program it does so on all hosts of that job:

        lapwing doctor mpirun -n 4 --host node1,node2

    The exit code is 0 when all is well, 1 when something reduces what is gained, 2 when Lapwing will not work.
    """

    name = "doctor"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.usage = "lapwing doctor [options] [LAUNCHER ...]"
        text = "write what was found to FILE as JSON (-: print it)"
        parser.add_argument("--json", type=Path, metavar="FILE", help=text)
        parser.add_argument("--here", action="store_true", help="ask the kernel only, and begin no MPI")
        parser.add_argument("launcher", nargs=argparse.REMAINDER, metavar="LAUNCHER ...", help="without a program")

    def run(self, arguments: argparse.Namespace) -> int:
        """Ask and tell."""
        if arguments.json and arguments.json != STANDARD_OUTPUT:
            check_output(arguments.json)
        line = strip_separator(arguments.launcher)
        diagnosis = diagnose_line(line) if line else diagnose_here(asks_mpi=not arguments.here)
        if arguments.json == STANDARD_OUTPUT:
            print(encode_diagnosis(diagnosis), end="")
            return diagnosis.exit_code
        if arguments.json:
            write_text(arguments.json, encode_diagnosis(diagnosis))
        screen = Screen()
        for report in diagnosis.hosts:
            screen.print(make_table(report))
        screen.print(CONCLUSIONS[diagnosis.exit_code])
        return diagnosis.exit_code


def make_table(report: HostReport) -> Table:
    """Show one host: what is worst stands last, where the reader's eye is."""
    table = Table("", "about", Column("finding, and remedy", overflow="fold"), title=report.host, title_justify="left")
    order = list(Level)
    for finding in sorted(report.findings, key=lambda finding: order.index(finding.level)):
        text = finding.text + (f"\n-> {finding.remedy}" if finding.remedy else "")
        table.add_row(finding.level.value, finding.topic, text, style=STYLES[finding.level])
    return table
