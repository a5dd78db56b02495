# SPDX-License-Identifier: MIT
"""Tables and text on a terminal. Apart from `output`, since rich takes longer to load than `lapwing run` may cost."""

import os
from typing import TextIO

from rich.console import Console

WIDTH = 80  # where COLUMNS is 0, as of a terminal that does not know its size


class Screen(Console):
    """A console that leaves it to the command what a closed pipe means; rich's own ends the process with 1.

    What programs and functions are called is no markup to it: `in[out].dat`, `run[abi:cxx11]`, `:x:`, `[/x]`.
    """

    def __init__(self, stderr: bool = False, file: TextIO | None = None) -> None:
        """Print on a standard stream, or on a file."""
        columns = os.environ.get("COLUMNS", "")
        width = WIDTH if columns.isdigit() and int(columns) == 0 else None
        super().__init__(stderr=stderr, file=file, width=width, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Pass on what the write raised."""
        self.quiet = True
        raise BrokenPipeError
