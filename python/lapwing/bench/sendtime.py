# SPDX-License-Identifier: MIT
"""The multithreading paper's tables: time in Send, Isend, Wait and Recv, before and after arrival."""

from collections.abc import Sequence
from typing import Any

from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.turns import Turns

KEYS = (
    "send_us",
    "send_touch_us",
    "send_late_us",
    "send_late_touch_us",
    "isend_us",
    "isend_wait_us",
    "isend_late_us",
    "isend_late_touch_us",
    "recv_us",
    "recv_touch_us",
    "recv_arrived_us",
    "recv_arrived_touch_us",
    "irecv_us",
    "irecv_wait_us",
)


def describe_sendtime(sizes: Sequence[int], contenders: Sequence[Contender], turns: Turns) -> list[dict[str, Any]]:
    """Summarise all sizes and contenders."""
    names = [contender.name for contender in contenders if contender.name not in turns.failures]
    return [
        {
            "size_bytes": size_bytes,
            "contenders": {
                turns.label(name): {
                    key: spread.as_json() for key, spread in turns.summarise(name, number, KEYS).items()
                }
                for name in sorted(names, key=lambda name: name != STOCK)
            },
        }
        for number, size_bytes in enumerate(sizes)
    ]
