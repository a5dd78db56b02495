# SPDX-License-Identifier: MIT
"""What the options of a profiled run keep from returning early: no prediction promises anything of that."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lapwing.errors import RecordError
from lapwing.model.classes import comes_in, goes_out, is_collective, is_deferrable
from lapwing.model.profile import RankProfile, SiteStatistics

OPTIONS = "options"  # of the line about the run: the variables of its ranks
REASON = "switched_off"  # src/base/reasons.toml


def read_options(about: Mapping[str, Any], source: str) -> Mapping[str, str]:
    """Return the variables that the ranks of a record had; none in older records."""
    options = about.get(OPTIONS, {})
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        raise RecordError(f"{source} is damaged", "profile again")
    return options


def is_off(name: str, options: Mapping[str, str]) -> bool:
    """Say whether an option is switched off."""
    return options.get(f"LAPWING_{name.upper()}") == "off"


def is_switched_off(function: str, options: Mapping[str, str]) -> bool:
    """Say whether a function's calls cannot return early: an exchange waits for the half that is switched off."""
    if not is_deferrable(function):
        return False
    if is_off("progress", options):
        return True
    if is_collective(function):
        return is_off("collectives", options)
    return (goes_out(function) and is_off("sends", options)) or (comes_in(function) and is_off("receives", options))


def may_carry_nonblocking(options: Mapping[str, str]) -> bool:
    """Say whether the program's own nonblocking operations may go on."""
    return not is_off("nonblocking", options) and not is_off("progress", options)


def switch_site_off(site: SiteStatistics) -> SiteStatistics:
    """Let no call of a site return early. Of its memory, which was asked for all the same, nothing is said."""
    judged_count = (site.held_count or 0) + sum(site.unheld.values())
    if not judged_count:
        return replace(site, deferrable_count=0)
    return replace(site, deferrable_count=0, held_count=0, unheld={REASON: judged_count})


def switch_off(rank: RankProfile, options: Mapping[str, str]) -> RankProfile:
    """Take out of a rank's profile what the options keep from returning early."""
    sites = tuple(switch_site_off(s) if is_switched_off(s.function, options) else s for s in rank.sites)
    return replace(rank, sites=sites)
