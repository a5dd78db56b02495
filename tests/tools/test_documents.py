# SPDX-License-Identifier: MIT
"""Links between documents lead somewhere in the repository, and the short list of limits stays short."""

import re
import unittest
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORDS_OF_LIMITS = 1500


def list_documents() -> list[Path]:
    """The documents of the root folder and of docs/."""
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


def list_links(text: str) -> Iterator[str]:
    """Files that a document links or shows, without the heading within them."""
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", re.sub(r"`[^`]*`", "", text)):
        if "://" not in target:
            yield target


def list_headings(text: str) -> set[str]:
    """The names of a document's headings in links."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


class Documents(unittest.TestCase):
    """README.md, docs/ and their like."""

    def test_links(self) -> None:
        """Every link names a file that is there."""
        for path in list_documents():
            for target in list_links(path.read_text("utf-8")):
                self.assertTrue((path.parent / target).exists(), f"{path.name}: no {target}")

    def test_headings(self) -> None:
        """A link into a document names a heading of it."""
        for path in list_documents():
            for target, heading in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", path.read_text("utf-8")):
                other = path.parent / target if target else path
                self.assertIn(heading, list_headings(other.read_text("utf-8")), f"{path.name}: {target}#{heading}")

    def test_limits_are_short(self) -> None:
        """What few readers meet stands in limits-all.md."""
        words = len((ROOT / "docs/limits.md").read_text("utf-8").split())
        self.assertLessEqual(words, WORDS_OF_LIMITS)


if __name__ == "__main__":
    unittest.main()
