# SPDX-License-Identifier: MIT
"""Programs whose work is known to be uneven, or even, are called so; tests/packages/uneven.py recorded them.

Two emulated hosts at 1 Gb/s, Open MPI 4.1: LAMMPS with most of its atoms on one rank, and two programs of ours.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from lapwing.advise.words import explain_nothing
from lapwing.model.reader import read_profile
from lapwing.model.study import Study, study_profile
from lapwing.model.waits import sum_all_causes, sum_causes
from lapwing.report.findings import find_in_profile

PROFILES = Path(__file__).parent / "profiles"
UNEVEN = ("lammps_uneven", "heat3d_uneven", "characters_uneven")
EVEN = ("heat3d_even",)


def study(name: str) -> Study:
    return study_profile(replace(read_profile(PROFILES / f"{name}.json"), cores_per_rank=1))


@pytest.mark.parametrize("name", UNEVEN)
def test_uneven_work_is_named(name: str) -> None:
    found = study(name)
    causes = sum_all_causes(found.waits)
    assert causes.is_uneven and causes.late_ns > causes.missed_ns
    assert "imbalance" in {finding.kind for finding in find_in_profile(found)}
    assert "The work is uneven, and overlap does not mend that" in explain_nothing(found)


@pytest.mark.parametrize("name", UNEVEN)
def test_rank_with_less_work_is_the_one_that_waits(name: str) -> None:
    found = study(name)
    late_ns = {number: sum_causes(sites.values()).late_ns for number, sites in found.waits.items()}
    work_ns = {rank.rank: rank.computation_ns for rank in found.profile.ranks}
    assert max(late_ns, key=late_ns.__getitem__) == min(work_ns, key=work_ns.__getitem__)


@pytest.mark.parametrize("name", [*UNEVEN, *EVEN])
def test_nothing_is_said_of_even_work_where_ranks_are_missing(name: str) -> None:
    profile = replace(read_profile(PROFILES / f"{name}.json"), cores_per_rank=1, missing_count=1)
    found = study_profile(profile)
    texts = [*(finding.text for finding in find_in_profile(found)), explain_nothing(found)]
    words = ("work is uneven, and", "explains", "as much to do")
    assert not [text for text in texts if any(word in text for word in words)]
    assert "imbalance" not in {finding.kind for finding in find_in_profile(found)}
    assert next(a.holds for a in found.assumptions if a.claim.startswith("one rank per host")) is None


@pytest.mark.parametrize("name", EVEN)
def test_even_work_is_not_called_uneven(name: str) -> None:
    found = study(name)
    assert "imbalance" not in {finding.kind for finding in find_in_profile(found)}
    assert "uneven" not in explain_nothing(found)
