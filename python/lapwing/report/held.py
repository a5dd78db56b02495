# SPDX-License-Identifier: MIT
"""Says of call sites whose memory can be neither held nor copied that `lapwing run` waits there, and why."""

from collections.abc import Mapping

from lapwing.profile.record import load_reason_help

# Reports of runs say these of a page, or of memory.
CAUSES = {
    "memory_neighbours": "its buffer shares pages with other data",
    "memory_stack": "its buffer lies on a stack",
    "memory_shared": "its buffer lies in shared or file-backed memory",
    "memory_mappings": "its buffer spans several mappings",
}


def name_cause(unheld: Mapping[str, int]) -> str:
    """Return the most frequent reason in words."""
    name = max(unheld, key=lambda entry: unheld[entry])
    return CAUSES.get(name, load_reason_help().get(name, name))


def is_waiting(held_count: int, unheld: Mapping[str, int]) -> bool:
    """Say whether Lapwing would wait inside most of the sampled calls."""
    return sum(unheld.values()) > held_count


def describe_waiting(held_count: int, unheld: Mapping[str, int]) -> str:
    """Say so, with the cause."""
    count = sum(unheld.values())
    return f"{name_cause(unheld)} ({count:,} of {count + held_count:,} samples), so Lapwing waits inside the call"
