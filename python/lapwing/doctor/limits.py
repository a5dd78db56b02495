# SPDX-License-Identifier: MIT
"""Limits of processes that Lapwing can meet. Sizes in bytes."""

import resource
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lapwing.doctor.finding import Finding, Level

TOPIC = "limits"
UNLIMITED = resource.RLIM_INFINITY
# docs/limits-all.md: the engine takes up to 72 MiB of addresses once, and a message its own length again.
ADDRESSES_LEAST = 1 << 30
MAPPINGS_LEAST = 65530  # the kernel's default; 4 mappings per message under way are kept back
DESCRIPTORS_LEAST = 64  # the preload takes up to eight, MPI one or two for each peer


@dataclass(frozen=True)
class LimitFacts:
    """Soft limits; UNLIMITED where there is none. mapping_count: vm.max_map_count, 0 when it cannot be read."""

    address_space: int
    locked: int
    descriptors: int
    mapping_count: int


def read_limits() -> LimitFacts:
    """Ask for this process's limits, which those that it starts inherit."""
    path = Path("/proc/sys/vm/max_map_count")
    soft: Mapping[str, int] = {
        name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0] for name in ("AS", "MEMLOCK", "NOFILE")
    }
    mappings = int(path.read_text()) if path.exists() else 0
    return LimitFacts(soft["AS"], soft["MEMLOCK"], soft["NOFILE"], mappings)


def judge_limits(facts: LimitFacts, has_rdma: bool) -> list[Finding]:
    """Say which limits are low."""
    findings = []
    if facts.address_space not in (UNLIMITED, -1) and facts.address_space < ADDRESSES_LEAST:
        text = f"address space is limited to {facts.address_space >> 20} MiB: near the limit calls are passed"
        findings.append(Finding(TOPIC, Level.REDUCES, text, "ulimit -v unlimited"))
    if 0 < facts.mapping_count < MAPPINGS_LEAST:
        text = f"vm.max_map_count is {facts.mapping_count}: near the limit calls are passed"
        findings.append(Finding(TOPIC, Level.REDUCES, text, f"as root: sysctl vm.max_map_count={MAPPINGS_LEAST}"))
    if 0 <= facts.descriptors < DESCRIPTORS_LEAST:
        text = f"{facts.descriptors} descriptors are allowed: the engine may find none, and then all calls are passed"
        findings.append(Finding(TOPIC, Level.REDUCES, text, "ulimit -n 1024"))
    if has_rdma and facts.locked not in (UNLIMITED, -1):
        text = f"{facts.locked >> 10} KiB of memory may be locked: MPI's RDMA transports want no limit"
        findings.append(Finding(TOPIC, Level.NOTE, text, "ulimit -l unlimited"))
    return findings or [Finding(TOPIC, Level.WELL, "limits of addresses, mappings and descriptors are wide enough")]
