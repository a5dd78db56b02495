# SPDX-License-Identifier: MIT
"""The errors that users see: one line that names the cause and the remedy."""


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


class RecordError(LapwingError):
    """A record file that cannot be read."""


class LabError(LapwingError):
    """Emulated hosts that cannot be built."""


class LabRefusedError(LabError):
    """Emulated hosts that this machine does not permit."""
