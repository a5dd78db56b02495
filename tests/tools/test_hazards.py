# SPDX-License-Identifier: MIT
"""Every hazard in docs/hazards.md names a test that exists, or the list of limits."""

import re
import unittest
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def hazard_rows(text: str) -> Iterator[tuple[str, str]]:
    """Hazard and last cell of each row of the tables, headings left out."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[0] != "hazard" and not set(cells[0]) <= {"-"}:
            yield cells[0], cells[2]


def is_there(name: str) -> bool:
    """Is there a test of this name? `folder/name`, or the name of an MPI program."""
    folder, _, stem = name.rpartition("/")
    place = ROOT / "tests" / (folder or "mpi/programs")
    return any((place / f"{stem}{ending}").exists() for ending in (".c", ".py"))


def faults_in(text: str) -> list[str]:
    """Rows without a test or limit, and tests that are not there."""
    faults = []
    for hazard, cell in hazard_rows(text):
        names = re.findall(r"`([^`]+)`", cell)
        if not names and "limits" not in cell:
            faults.append(f"{hazard}: neither a test nor a limit")
        faults += [f"{hazard}: no test {name}" for name in names if not is_there(name)]
    return faults


class Hazards(unittest.TestCase):
    """docs/hazards.md."""

    def test_document(self) -> None:
        """What it names is there, and it has not shrunk to nothing."""
        text = (ROOT / "docs/hazards.md").read_text()
        self.assertEqual(faults_in(text), [])
        self.assertGreater(len(list(hazard_rows(text))), 60)

    def test_faults_are_seen(self) -> None:
        """A missing test, and a row without any."""
        self.assertEqual(len(faults_in("| a | b | `protect/none_such`, `memory` |\n")), 1)
        self.assertEqual(len(faults_in("| a | b | |\n")), 1)
        self.assertEqual(faults_in("| a | b | limits |\n"), [])


if __name__ == "__main__":
    unittest.main()
