# SPDX-License-Identifier: MIT
"""The errors that users see: one line that names the cause and the remedy."""

from itertools import takewhile


class LapwingError(Exception):
    """Something that the user can put right."""

    def __init__(self, message: str, remedy: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}"


def tell_cause(error: LapwingError | OSError) -> str:
    """Return what went wrong, without the remedy."""
    return error.message if isinstance(error, LapwingError) else str(error)


def has_words(line: str) -> bool:
    """Tell a line that says something from an empty one and from the rulers that launchers draw."""
    return any(map(str.isalnum, line))


def find_cause(said: str) -> str:
    """Return what a failed program, or its launcher, said first; of a Python traceback its end.

    Below a ruler of Open MPI it is a paragraph: its sentences go over several lines.
    """
    lines = said.splitlines()
    begin = next((number for number, line in enumerate(lines) if has_words(line)), len(lines))
    paragraph = list(takewhile(has_words, lines[begin:]))
    if not paragraph:
        return "no message"
    if paragraph[0].startswith("Traceback "):
        paragraph = [line for line in paragraph[1:] if not line.startswith(" ")] or paragraph
    is_ruled = begin > 0 and bool(lines[begin - 1].strip())
    return " ".join(line.strip() for line in paragraph[: None if is_ruled else 1]).rstrip(":")


class RecordError(LapwingError):
    """A record file that cannot be read."""


class LabError(LapwingError):
    """Emulated hosts that cannot be built."""


class LabRefusedError(LabError):
    """Emulated hosts that this machine does not permit."""
