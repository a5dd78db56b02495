# SPDX-License-Identifier: MIT
"""The demo runs where it can."""

import argparse

import pytest

from lapwing.commands import demo
from lapwing.errors import LabRefusedError


def refuse() -> None:
    """Be a container without rights."""
    raise LabRefusedError("network namespaces are not permitted here", "run as root")


def test_without_namespaces_it_takes_shared_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "choose_prefix", refuse)
    arguments = argparse.Namespace(shared_memory=False)
    demo.go_without_lab(arguments)
    assert arguments.shared_memory
    assert "namespaces are not permitted" in capsys.readouterr().err


def test_with_namespaces_it_has_emulated_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "choose_prefix", lambda: ())
    arguments = argparse.Namespace(shared_memory=False)
    demo.go_without_lab(arguments)
    assert not arguments.shared_memory
