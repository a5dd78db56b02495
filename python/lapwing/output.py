# SPDX-License-Identifier: MIT
"""Streams that cannot be written: who reads them may have left (`| head`), a disk may be full."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


def tolerate_names(stream: TextIO) -> None:
    """Let a stream write names that are no text, such as an argument of the one byte 0xff, with a backslash."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


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
