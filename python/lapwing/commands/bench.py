# SPDX-License-Identifier: MIT
"""`lapwing bench`."""

import argparse


class BenchCommand:
    """Not there yet."""

    name = "bench"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do nothing."""
        return 2
