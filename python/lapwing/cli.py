# SPDX-License-Identifier: MIT
"""The `lapwing` command: finds the subcommand and turns errors into one line and an exit code."""

import argparse
import errno
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import lapwing
from lapwing.commands.subcommands import Command, add_commands
from lapwing.errors import LapwingError
from lapwing.launch.start import say
from lapwing.output import silence_broken, tolerate_names

# A command's module is lapwing.commands.NAME, its class NameCommand: `lapwing run` imports nothing of the others.
COMMANDS = (
    "run",
    "advise",
    "profile",
    "report",
    "predict",
    "compare",
    "lab",
    "demo",
    "probe",
    "bench",
    "doctor",
    "config",
    "options",
)

CLOSED_PIPE = 141  # what a shell shows for a program that SIGPIPE ended
UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are LapwingErrors."""

    def error(self, message: str) -> NoReturn:
        """Name the cause, and where to look."""
        raise LapwingError(message, f"see `{self.prog} --help`")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Return an argument's value. argparse would take `--threshold=--` for an empty list."""
        if action.option_strings and arg_strings == ["--"]:
            raise LapwingError(f"{action.option_strings[0]} cannot be '--'", f"see `{self.prog} --help`")
        return super()._get_values(action, arg_strings)

    def parse_command(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse a command line; of what nobody knows the help of the chosen subcommand is named."""
        arguments, unknown = self.parse_known_args(words)
        if unknown:
            raise LapwingError(f"unrecognized arguments: {' '.join(unknown)}", f"see `{arguments.name_typed} --help`")
        return arguments


def load_command(name: str) -> Command:
    """Import one command."""
    command: Command = getattr(import_module(f"lapwing.commands.{name}"), f"{name.capitalize()}Command")()
    return command


def make_parser(first: str = "") -> Parser:
    """Build the parser of the command that the first argument names; else of all."""
    names = (first,) if first in COMMANDS else COMMANDS
    parser = Parser(prog="lapwing", description=lapwing.__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"lapwing {lapwing.__version__}")
    add_commands(parser, [load_command(name) for name in names], "COMMAND", "command")
    return parser


def is_folder_gone() -> bool:
    """Tell whether the current folder has been removed."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a failure to print its results is told by the exit code."""
    tolerate_names(sys.stdout)
    try:
        return run_command(argv)
    except BrokenPipeError:
        silence_broken()
        return CLOSED_PIPE
    except OSError as error:
        if isinstance(error, FileNotFoundError) and is_folder_gone():
            say("the current folder is gone; start in another one")
            return 2
        if error.errno not in UNWRITTEN:
            raise
        silence_broken()
        say(f"the output was not written ({error.strerror}); choose another place")
        return 1


def run_command(argv: Sequence[str] | None) -> int:
    """Run one command, and write all that it printed: at the interpreter's end it would be too late to tell."""
    try:
        words = list(sys.argv[1:] if argv is None else argv)
        arguments = make_parser(words[0] if words else "").parse_command(words)
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
