# SPDX-License-Identifier: MIT
"""`lapwing demo`."""

import argparse


class DemoCommand:
    """Not there yet."""

    name = "demo"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do nothing."""
        return 2
