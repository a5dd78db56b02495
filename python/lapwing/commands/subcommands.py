# SPDX-License-Identifier: MIT
"""Subcommands: of `lapwing`, and of `lapwing bench`."""

import argparse
import inspect
from collections.abc import Sequence
from typing import Protocol


class Command(Protocol):
    """What a subcommand offers. Its docstring is its help, the first line the summary in the list."""

    name: str

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; return the exit code."""


def add_commands(parser: argparse.ArgumentParser, commands: Sequence[Command], metavar: str, key: str) -> None:
    """Declare subcommands. The parsed arguments have the chosen one under `key`, and its whole name as `name_typed`."""
    subparsers = parser.add_subparsers(dest=f"{key}_name", metavar=metavar, required=True)
    for command in commands:
        text = inspect.getdoc(command) or ""
        subparser = subparsers.add_parser(
            command.name,
            help=text.splitlines()[0],
            description=text,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.prepare_parser(subparser)
        subparser.set_defaults(**{key: command, "name_typed": subparser.prog})
