# SPDX-License-Identifier: MIT
"""What several tests need."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lapwing.profile.record import Pass, RankRecord, load_names

STAND_IN = Path(__file__).parent / "stand_in_preload.c"


@pytest.fixture
def rank_record() -> RankRecord:
    """A record such as a rank of two writes."""
    counters = {name: 1000 + number for number, name in enumerate(load_names("record"))}
    passes = {name: Pass(number, number * 10) for number, name in enumerate(load_names("reasons"))}
    return RankRecord(1, 2, 77, True, True, "h1", "/lib/libmpi.so", "openmpi", "signal", "event", "", counters, passes)


@pytest.fixture(scope="session")
def stand_in_preload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library to preload that only writes a record file for each rank."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("preload") / "stand_in.so"
    include = Path(__file__).parents[2] / "src"
    subprocess.run([compiler, "-shared", "-fPIC", "-I", include, "-o", library, STAND_IN], check=True)
    return library
