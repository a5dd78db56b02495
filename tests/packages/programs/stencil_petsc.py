# SPDX-License-Identifier: MIT
"""The matrix of the seven-point stencil, in PETSc; ranks share the last axis. Needs Debian's python3-petsc4py."""

import sys
from pathlib import Path

# Where no petsc-dev has made it known:
sys.path += map(str, Path("/usr/lib/petscdir").glob("*/*-real/lib/python3/dist-packages"))

import numpy as np
from petsc4py import PETSc

NEIGHBOURS = ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


def make_matrix(sizes, middle):
    """Make the matrix for this many points, spread over all ranks; `middle` stands on its diagonal."""
    world = PETSc.COMM_WORLD.size
    star = PETSc.DMDA.StencilType.STAR
    grid = PETSc.DMDA().create(sizes, dof=1, stencil_width=1, proc_sizes=[1, 1, world], stencil_type=star)
    matrix = grid.createMatrix()
    ghosts = grid.getGhostRanges()
    widths = [end - begin for begin, end in ghosts]
    own = np.meshgrid(*(np.arange(begin, end) for begin, end in grid.getRanges()), indexing="ij")
    points = np.array([axis.ravel(order="F") for axis in own])

    def number(places):
        x, y, z = (place - begin for place, (begin, _) in zip(places, ghosts, strict=True))
        return (x + widths[0] * (y + widths[1] * z)).astype(np.int32)

    for step in NEIGHBOURS:
        others = points + np.array(step)[:, None]
        is_inside = np.all((others >= 0) & (others < np.array(sizes)[:, None]), axis=0)
        rows, columns = number(points[:, is_inside]), number(others[:, is_inside])
        values = np.full(len(rows), -1.0 if any(step) else middle)
        matrix.setValuesLocalIJV(np.arange(len(rows) + 1, dtype=np.int32), columns, values, rowmap=rows)
    matrix.assemble()
    return matrix
