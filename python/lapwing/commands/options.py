# SPDX-License-Identifier: MIT
"""`lapwing options`."""

import argparse

from rich.table import Table

from lapwing.options import format_markdown, load_options
from lapwing.screen import Screen


class OptionsCommand:
    """Print every option: flag, variable, default, meaning."""

    name = "options"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--markdown", action="store_true", help="print docs/options.md")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the table."""
        if arguments.markdown:
            print(format_markdown(), end="")
            return 0
        table = Table("flag", "variable", "values", "default", "meaning")
        for option in load_options():
            table.add_row(option.flag, option.variable, option.values.replace("|", " "), option.default, option.help)
        Screen().print(table)
        return 0
