# SPDX-License-Identifier: MIT
"""The recipes of packaging/ are for this version, and what they install is there."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SPEC = ROOT / "packaging/rpm/lapwing.spec"


def test_the_rpm_is_for_this_version() -> None:
    assert re.search(rf"^Version: +{PROJECT['version']}$", SPEC.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", ["packaging/rpm/lapwing.spec", "tools/release.sh"])
def test_packages_need_what_the_command_needs(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    for dependency in PROJECT["dependencies"]:
        assert re.split(r"[<>=]", dependency)[0] in text


@pytest.mark.parametrize("name", ["release.sh", "check_release.sh"])
def test_scripts_are_sound(name: str) -> None:
    subprocess.run(["sh", "-n", str(ROOT / "tools" / name)], check=True)
