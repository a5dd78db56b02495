# SPDX-License-Identifier: MIT
"""Starts a launcher and makes sure that it ends, and its ranks with it."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

END_LIMIT_S = 5.0


def end_group(process: subprocess.Popen[str]) -> None:
    """End a launcher and its ranks: a session of their own, so no other process is hit."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(END_LIMIT_S)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            continue


def run_group(command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> tuple[int | None, str, str]:
    """Run to the end, or to the time limit.

    Returns the exit code (None: it took too long), what was written on stdout, and what on stderr.
    """
    process = subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=timeout_s)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        end_group(process)
        output, errors = process.communicate()
        return None, output, errors
