# SPDX-License-Identifier: MIT
"""The `lapwing` command: finds the subcommand and turns errors into one line and an exit code."""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

import lapwing
from lapwing.commands import advise, bench, compare, demo, lab, options, predict, probe, profile, report, run
from lapwing.commands.subcommands import Command, add_commands
from lapwing.errors import LapwingError

COMMANDS: tuple[Command, ...] = (
    run.RunCommand(),
    advise.AdviseCommand(),
    profile.ProfileCommand(),
    report.ReportCommand(),
    predict.PredictCommand(),
    compare.CompareCommand(),
    lab.LabCommand(),
    demo.DemoCommand(),
    probe.ProbeCommand(),
    bench.BenchCommand(),
    options.OptionsCommand(),
)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are LapwingErrors."""

    def error(self, message: str) -> NoReturn:
        """Name the cause, and where to look."""
        raise LapwingError(message, f"see `{self.prog} --help`")


def make_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    parser = Parser(prog="lapwing", description=lapwing.__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"lapwing {lapwing.__version__}")
    add_commands(parser, COMMANDS, "COMMAND", "command")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    try:
        arguments = make_parser().parse_args(argv)
        command: Command = arguments.command
        return command.run(arguments)
    except LapwingError as error:
        print(f"lapwing: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
