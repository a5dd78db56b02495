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
    "overlapping_buffers": "its buffer shares a page with another one that is used at the same time, or next",
}


def find_cause(unheld: Mapping[str, int]) -> str:
    """Return the most frequent reason."""
    return max(unheld, key=lambda entry: unheld[entry])


def name_place(reason: str) -> str:
    """Say where the program waits: what a call cannot return early for, or what the next one needs."""
    return "in that call or the next" if reason == "overlapping_buffers" else "inside the call"


def is_waiting(held_count: int, unheld: Mapping[str, int]) -> bool:
    """Say whether Lapwing would wait inside most of the sampled calls."""
    return sum(unheld.values()) > held_count


def describe_waiting(held_count: int, unheld: Mapping[str, int]) -> str:
    """Say so, with the cause."""
    count, reason = sum(unheld.values()), find_cause(unheld)
    cause = CAUSES.get(reason, load_reason_help().get(reason, reason))
    return f"{cause} ({count:,} of {count + held_count:,} samples), so Lapwing waits {name_place(reason)}"
