# SPDX-License-Identifier: MIT
"""What of this machine tests need: those that run experiments skip without it."""

import shutil

import pytest

from lapwing.bench.mpi import find_mpi
from lapwing.errors import LapwingError


def has_mpi() -> bool:
    """Tell whether experiments find an MPI."""
    try:
        find_mpi(None)
    except LapwingError:
        return False
    return True


needs_mpi = pytest.mark.skipif(not has_mpi() or shutil.which("cc") is None, reason="no MPI or no C compiler")
