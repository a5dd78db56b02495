# SPDX-License-Identifier: MIT
"""What `lapwing doctor` finds: one statement each, how much it matters, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How much a finding matters."""

    WELL = "well"
    NOTE = "note"  # worth knowing; nothing is lost by it alone
    REDUCES = "reduces"
    FAILS = "fails"


@dataclass(frozen=True)
class Finding:
    """One statement about a host. remedy: what to do, empty where nothing is to be done."""

    topic: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class HostReport:
    """What was found on one host. hold: how its kernel allows the preload to hold memory, or "none"."""

    host: str
    hold: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Diagnosis:
    """What was found on all hosts. exit_code: 0 all well, 1 something reduces what is gained, 2 it will not work."""

    exit_code: int
    hosts: tuple[HostReport, ...]


def choose_exit_code(findings: Iterable[Finding]) -> int:
    """Return 2 if anything fails, 1 if anything reduces what is gained, else 0."""
    levels = {finding.level for finding in findings}
    return 2 if Level.FAILS in levels else int(Level.REDUCES in levels)


def diagnose(hosts: Iterable[HostReport]) -> Diagnosis:
    """Put the hosts' reports together."""
    reports = tuple(hosts)
    return Diagnosis(choose_exit_code(finding for report in reports for finding in report.findings), reports)
