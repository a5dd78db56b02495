# SPDX-License-Identifier: MIT
"""The multithreading paper's tables: time in Send, Isend, Wait and Recv, before and after arrival."""

from collections.abc import Sequence
from typing import Any

from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.turns import Turns

# What the program times, with what stands at the head of its column.
TIMES = {
    "send_us": "Send",
    "send_touch_us": "then write",
    "send_late_us": "Send, late receiver",
    "send_late_touch_us": "then write",
    "isend_us": "Isend",
    "isend_wait_us": "work, Wait",
    "recv_us": "Recv before arrival",
    "recv_touch_us": "then read",
    "recv_arrived_us": "Recv after arrival",
    "recv_arrived_touch_us": "then read",
    "irecv_us": "Irecv",
    "irecv_wait_us": "work, Wait",
}


def describe_sendtime(sizes: Sequence[int], contenders: Sequence[Contender], turns: Turns) -> list[dict[str, Any]]:
    """Summarise all sizes and contenders."""
    names = [contender.name for contender in contenders if contender.name not in turns.failures]
    return [
        {
            "size_bytes": size_bytes,
            "contenders": {
                turns.label(name): {
                    key: spread.as_json() for key, spread in turns.summarise(name, number, tuple(TIMES)).items()
                }
                for name in sorted(names, key=lambda name: name != STOCK)
            },
        }
        for number, size_bytes in enumerate(sizes)
    ]
