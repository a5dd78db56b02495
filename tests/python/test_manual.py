# SPDX-License-Identifier: MIT
"""The manual pages: one for each command, with each of its flags, as man reads them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import make_man  # noqa: E402 # found by the line above

from lapwing.cli import COMMANDS, make_parser  # noqa: E402 # after it
from lapwing.options import load_options  # noqa: E402

PAGES = {page.slug: page for page in make_man.list_pages(make_parser())}


def read_page(slug: str) -> str:
    """A page as it is installed, without roff's escapes."""
    return make_man.make_roff(PAGES[slug], PAGES).replace("\\-", "-").replace("\\&", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_page(command: str) -> None:
    """With its own name in the heading."""
    assert f"lapwing-{command} - " in read_page(f"lapwing-{command}")


def test_run_lists_every_option_and_its_variable() -> None:
    """Those of profiles stand on the page of `lapwing profile`."""
    pages = {"profile": read_page("lapwing-profile")}
    for option in load_options():
        page = pages.get(option.group) or read_page("lapwing-run")
        assert f".B {option.flag} " in page
        assert option.variable in page


def test_usage_of_the_help_agrees() -> None:
    """No flag of a subcommand's own is lost."""
    for slug in ("lapwing-report", "lapwing-lab", "lapwing-bench-progress"):
        words = [entry.name.split()[0].rstrip(",") for entry in PAGES[slug].sections["Options"]]
        help_text = subprocess.run(
            [sys.executable, "-m", "lapwing", *PAGES[slug].name.split()[1:], "--help"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert all(word in help_text for word in words)
        assert len(words) > 3


@pytest.mark.parametrize("slug", PAGES)
def test_roff_is_sound(slug: str) -> None:
    """Groff has nothing to warn of."""
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-Tutf8", "-ww", "-z"]
    done = subprocess.run(command, input=make_man.make_roff(PAGES[slug], PAGES), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_document_of_the_site_has_all() -> None:
    """One heading per command."""
    text = make_man.make_markdown()
    assert all(f"\n## {page.name}\n" in text for page in PAGES.values())
