# SPDX-License-Identifier: MIT
"""PETSc's product of a matrix and a vector: the seven-point stencil on 512 x 512 x 8 points per pair of ranks.

    mpirun -n 2 /usr/bin/python3 matmult_petsc.py PRODUCTS

Ranks share the last axis, so that each sends planes of 2 MiB to its neighbours.
"""

import sys
import time

from stencil_petsc import PETSc, make_matrix

matrix = make_matrix((512, 512, 8), 10.0)
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
