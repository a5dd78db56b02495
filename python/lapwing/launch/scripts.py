# SPDX-License-Identifier: MIT
"""Scripts that name no interpreter in their first line."""

import errno
import shutil
from collections.abc import Sequence
from pathlib import Path

LINE_MOST_BYTES = 4096


def give_to_shell(command: Sequence[str], error: OSError) -> list[str]:
    """Return what starts a script that names no interpreter, as execvp and shells do; raise the error for all else."""
    if error.errno != errno.ENOEXEC:
        raise error
    path = shutil.which(command[0]) or command[0]
    with Path(path).open("rb") as stream:
        if b"\0" in stream.readline(LINE_MOST_BYTES):  # a program of another machine: shells look for this, too
            raise error
    return ["/bin/sh", path, *command[1:]]
