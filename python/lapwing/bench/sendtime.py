# SPDX-License-Identifier: MIT
"""The multithreading paper's tables: time in Send, Isend, Wait and Recv, before and after arrival."""

from collections.abc import Mapping, Sequence
from typing import Any

from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.turns import Turns
from lapwing.model.system import EQUATIONS, Route

KEYS = (
    "send_us",
    "send_touch_us",
    "send_late_us",
    "send_late_touch_us",
    "isend_us",
    "isend_wait_us",
    "isend_late_us",
    "isend_late_touch_us",
    "start_late_us",
    "start_late_touch_us",
    "recv_us",
    "recv_touch_us",
    "recv_arrived_us",
    "recv_arrived_touch_us",
    "irecv_us",
    "irecv_wait_us",
    "irecv_late_us",
    "irecv_late_touch_us",
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


def calculate_equations(route: Route, results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Set the paper's equations beside the times of `lapwing bench sendtime`."""
    rows = []
    for result in results:
        contenders = result["contenders"]
        threaded = next((name for name in contenders if name.startswith("early")), None)
        for number, key, is_threaded, calculate in EQUATIONS:
            name = threaded if is_threaded else STOCK
            if name not in contenders:
                continue
            rows.append(
                {
                    "size_bytes": result["size_bytes"],
                    "equation": number,
                    "call": key,
                    "contender": name,
                    "measured_us": contenders[name][key]["median"],
                    "calculated_us": calculate(route, result["size_bytes"]),
                }
            )
    return rows
