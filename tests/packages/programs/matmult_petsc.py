# SPDX-License-Identifier: MIT
"""PETSc's product of a matrix and a vector: the seven-point stencil on 512 x 512 x 8 points per pair of ranks.

    mpirun -n 2 /usr/bin/python3 matmult_petsc.py PRODUCTS

Ranks share the last axis, so that each sends planes of 2 MiB to its neighbours. Needs Debian's python3-petsc4py.
"""

import sys
import time
from pathlib import Path

# Where no petsc-dev has made it known:
sys.path += map(str, Path("/usr/lib/petscdir").glob("*/*-real/lib/python3/dist-packages"))

import numpy as np
from petsc4py import PETSc

SIZES = (512, 512, 8)
NEIGHBOURS = ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


def make_matrix() -> PETSc.Mat:
    """Make the matrix, spread over all ranks."""
    world = PETSc.COMM_WORLD.size
    star = PETSc.DMDA.StencilType.STAR
    grid = PETSc.DMDA().create(SIZES, dof=1, stencil_width=1, proc_sizes=[1, 1, world], stencil_type=star)
    matrix = grid.createMatrix()
    ghosts = grid.getGhostRanges()
    widths = [end - begin for begin, end in ghosts]
    own = np.meshgrid(*(np.arange(begin, end) for begin, end in grid.getRanges()), indexing="ij")
    points = np.array([axis.ravel(order="F") for axis in own])

    def number(places: np.ndarray) -> np.ndarray:
        x, y, z = (place - begin for place, (begin, _) in zip(places, ghosts, strict=True))
        return (x + widths[0] * (y + widths[1] * z)).astype(np.int32)

    for step in NEIGHBOURS:
        others = points + np.array(step)[:, None]
        is_inside = np.all((others >= 0) & (others < np.array(SIZES)[:, None]), axis=0)
        rows, columns = number(points[:, is_inside]), number(others[:, is_inside])
        values = np.full(len(rows), -1.0 if any(step) else 10.0)
        matrix.setValuesLocalIJV(np.arange(len(rows) + 1, dtype=np.int32), columns, values, rowmap=rows)
    matrix.assemble()
    return matrix


matrix = make_matrix()
source, product = matrix.createVecs()
source.set(1.0)
count = int(sys.argv[1])
PETSc.COMM_WORLD.barrier()
begin_s = time.perf_counter()
for _ in range(count):
    matrix.mult(source, product)
PETSc.COMM_WORLD.barrier()
elapsed_s = time.perf_counter() - begin_s
if PETSc.COMM_WORLD.rank == 0:
    print(f"{elapsed_s / count * 1e3:.1f} ms a product")
total = product.sum()
if PETSc.COMM_WORLD.rank == 0:
    print(f"sum {total:.0f}")
