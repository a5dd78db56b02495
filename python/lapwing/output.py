# SPDX-License-Identifier: MIT
"""Streams that cannot be written: who reads them may have left (`| head`), a disk may be full."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from rich.console import Console


class Screen(Console):
    """A console that leaves it to the command what a closed pipe means; rich's own ends the process with 1."""

    def on_broken_pipe(self) -> None:
        """Pass on what the write raised."""
        self.quiet = True
        raise BrokenPipeError


def silence(stream: TextIO) -> None:
    """Let what is still to be written go nowhere, else the interpreter complains at its end and changes the exit code.

    Streams without a descriptor, as tests have them, stay.
    """
    with suppress(OSError, ValueError):
        number = os.open(os.devnull, os.O_WRONLY)
        os.dup2(number, stream.fileno())
        os.close(number)


def silence_broken() -> None:
    """Silence those streams of this process that cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except (OSError, ValueError):
            silence(stream)


@contextmanager
def forgive_output() -> Iterator[None]:
    """Go on when nothing can be printed: the words are lost, nothing else."""
    try:
        yield
        if sys.stderr:
            sys.stderr.flush()
    except OSError:
        silence_broken()
