# SPDX-License-Identifier: MIT
"""The `lapwing` command: finds the subcommand and turns errors into one line and an exit code."""

import argparse
import errno
import sys
from collections.abc import Sequence
from typing import NoReturn

import lapwing
from lapwing.commands import advise, bench, compare, demo, lab, options, predict, probe, profile, report, run
from lapwing.commands.subcommands import Command, add_commands
from lapwing.errors import LapwingError
from lapwing.launch.start import say
from lapwing.output import silence_broken, tolerate_names

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

CLOSED_PIPE = 141  # what a shell shows for a program that SIGPIPE ended
UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


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
    """Run one command; a failure to print its results is told by the exit code."""
    tolerate_names(sys.stdout)
    try:
        return run_command(argv)
    except BrokenPipeError:
        silence_broken()
        return CLOSED_PIPE
    except OSError as error:
        if error.errno not in UNWRITTEN:
            raise
        silence_broken()
        say(f"the output was not written ({error.strerror}); choose another place")
        return 1


def run_command(argv: Sequence[str] | None) -> int:
    """Run one command, and write all that it printed: at the interpreter's end it would be too late to tell."""
    try:
        arguments = make_parser().parse_args(argv)
        command: Command = arguments.command
        return command.run(arguments)
    except LapwingError as error:
        say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    finally:
        if sys.stdout:
            sys.stdout.flush()
