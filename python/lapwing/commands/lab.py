# SPDX-License-Identifier: MIT
"""`lapwing lab`."""

import argparse


class LabCommand:
    """Not there yet."""

    name = "lab"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do nothing."""
        return 2
