# SPDX-License-Identifier: MIT
"""Tables on a terminal."""

import io

import pytest

from lapwing.screen import Screen


@pytest.mark.parametrize(("columns", "width"), [("0", 80), ("00", 80), ("40", 40), ("", 80)])
def test_width_is_never_nothing(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert Screen(file=io.StringIO()).width == width
