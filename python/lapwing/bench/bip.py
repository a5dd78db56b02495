# SPDX-License-Identifier: MIT
"""The MPI-BIP report's experiments: blocking, nonblocking, and an MPI call in the outer or the inner loop."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lapwing.bench import measures
from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.place import Place
from lapwing.bench.turns import Spreads, Turns

POKES = ("iprobe", "test")
WAYS = ("blocking", "nonblocking", "outer", "inner")
KEYS = ("comm_us", "comp_us", *(f"{way}_us" for way in WAYS))


def calibrate_products(place: Place, program: Path, matrix_bytes: int, compute_us: float) -> int:
    """Return the matrix-vector products that take so long, on the slowest host."""
    lines = place.run_alone([str(program), "--calibrate", str(matrix_bytes)])
    products_per_ms = min(float(json.loads(line)["products_per_ms"]) for line in lines) / place.ranks_per_core
    return max(1, round(products_per_ms * compute_us / 1000))


def describe_ways(spreads: Spreads, comm: float, comp: float) -> dict[str, Any]:
    """Describe one contender at one size, by stock's times."""
    return {
        way: {
            "time_us": spreads[f"{way}_us"].as_json(),
            "overlap": measures.calculate_overlap(comm, comp, spreads[f"{way}_us"].median),
        }
        for way in WAYS
    }


def describe_bip(sizes: Sequence[int], contenders: Sequence[Contender], turns: Turns) -> list[dict[str, Any]]:
    """Describe all sizes and contenders."""
    if STOCK in turns.failures:
        return []
    names = [contender.name for contender in contenders if contender.name not in turns.failures]
    results = []
    for number, size_bytes in enumerate(sizes):
        stock = turns.summarise(STOCK, number, KEYS)
        comm, comp = stock["comm_us"], stock["comp_us"]
        results.append(
            {
                "size_bytes": size_bytes,
                "comm_us": comm.as_json(),
                "comp_us": comp.as_json(),
                "optimum_us": measures.calculate_optimum(comm.median, comp.median),
                "contenders": {
                    turns.label(name): describe_ways(turns.summarise(name, number, KEYS), comm.median, comp.median)
                    for name in names
                },
            }
        )
    return results
