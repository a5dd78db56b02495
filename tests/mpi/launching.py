# SPDX-License-Identifier: MIT
"""Starts a launcher and makes sure that it ends, and its ranks with it."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence


def end_group(process: subprocess.Popen[str]) -> None:
    """End a launcher and its ranks: its own session, so no other process is hit."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


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
