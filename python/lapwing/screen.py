# SPDX-License-Identifier: MIT
"""Tables and text on a terminal. Apart from `output`, since rich takes longer to load than `lapwing run` may cost."""

from typing import TextIO

from rich.console import Console


class Screen(Console):
    """A console that leaves it to the command what a closed pipe means; rich's own ends the process with 1.

    What programs and functions are called is no markup to it: `in[out].dat`, `run[abi:cxx11]`, `:x:`, `[/x]`.
    """

    def __init__(self, stderr: bool = False, file: TextIO | None = None) -> None:
        """Print on a standard stream, or on a file."""
        super().__init__(stderr=stderr, file=file, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Pass on what the write raised."""
        self.quiet = True
        raise BrokenPipeError
