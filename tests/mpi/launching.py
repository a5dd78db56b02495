# SPDX-License-Identifier: MIT
"""Starts a launcher and makes sure that it ends, and its ranks with it."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

END_LIMIT_S = 5.0
ALONE = "(no rank is left: the launcher alone does not end)"


def end_group(process: subprocess.Popen[str]) -> None:
    """End a launcher and its ranks: a session of their own, so no other process is hit."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(END_LIMIT_S)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            continue


def is_running(program: str) -> bool:
    """Is there a process of this program, other than one that has ended?"""
    for link in Path("/proc").glob("[0-9]*/exe"):
        try:
            if str(link.readlink()) == program:
                return True
        except OSError:
            continue
    return False


def run_group(command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> tuple[int | None, str, str]:
    """Run to the end, or to the time limit.

    Returns the exit code (None: it took too long), what was written on stdout, and what on stderr; after that ALONE,
    where the launcher took too long and none of its command's programs was left.
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
        words = [str(Path(word).resolve()) for word in command[1:] if word.startswith("/")]
        is_alone = not any(is_running(word) for word in words)
        end_group(process)
        output, errors = process.communicate()
        return None, output, errors + ALONE * is_alone
