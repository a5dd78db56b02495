# SPDX-License-Identifier: MIT
"""Cores of a rank, and whether the engine's priority may be raised."""

import os
import re
import resource
from dataclasses import dataclass
from pathlib import Path

from lapwing.doctor.finding import Finding, Level

TOPIC = "cores"
CAP_SYS_NICE = 23
NICE_LIMIT_FULL = 40  # setrlimit(2): 20 - 40 is the nice value of the engine (engine/schedule.c)


@dataclass(frozen=True)
class CoreFacts:
    """own: processors that this process may run on. rank_count: ranks on this host, 0 when nobody says."""

    own: int
    online: int
    rank_count: int
    nice_limit: int
    may_set_nice: bool


def has_capability(status: str, number: int) -> bool:
    """Read an effective capability from /proc/self/status."""
    found = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> number & 1)


def read_cores(rank_count: int) -> CoreFacts:
    """Ask for this process's cores and rights."""
    status = Path("/proc/self/status").read_text()
    limit = resource.getrlimit(resource.RLIMIT_NICE)[0]
    return CoreFacts(
        len(os.sched_getaffinity(0)), os.cpu_count() or 1, rank_count, limit, has_capability(status, CAP_SYS_NICE)
    )


def shares_cores(facts: CoreFacts) -> bool:
    """Tell whether each rank has one core at most: cores_are_few() of src/engine/engine.c."""
    is_bound = facts.own < facts.online
    return facts.own <= (1 if is_bound or facts.rank_count < 1 else facts.rank_count)


def judge_binding(facts: CoreFacts) -> Finding:
    """Say which cores there are."""
    ranks = f", for {facts.rank_count} ranks on this host" if facts.rank_count else ""
    text = f"{facts.own} of {facts.online} processors{ranks}"
    if not shares_cores(facts):
        return Finding(TOPIC, Level.WELL, f"{text}: the engine has one beside the program's")
    remedy = "where a core per rank can be spared, ask for two per rank; `lapwing advise` measures whether it pays"
    return Finding(TOPIC, Level.NOTE, f"{text}: the engine shares the program's core", remedy)


def judge_priority(facts: CoreFacts) -> Finding:
    """Say whether the engine gets a shared core when data arrive."""
    is_unlimited = facts.nice_limit in (resource.RLIM_INFINITY, -1)
    if facts.may_set_nice or is_unlimited or facts.nice_limit >= NICE_LIMIT_FULL:
        return Finding(TOPIC, Level.WELL, "the engine may raise its priority")
    limit = f"RLIMIT_NICE is {facts.nice_limit}"
    text = f"the engine may not raise its priority ({limit}): on a shared core it overlaps less"
    remedy = "in /etc/security/limits.conf: * - nice -20, or let the batch system give its jobs that limit"
    return Finding(TOPIC, Level.REDUCES if shares_cores(facts) else Level.NOTE, text, remedy)


def judge_cores(facts: CoreFacts) -> list[Finding]:
    """Say what the engine has to run on."""
    return [judge_binding(facts), judge_priority(facts)]
