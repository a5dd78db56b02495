# SPDX-License-Identifier: MIT
"""PETSc's conjugate gradients on the seven-point stencil, with a preconditioner of PETSc's or hypre's.

    mpirun -n 2 /usr/bin/python3 solve_petsc.py jacobi|hypre ITERATIONS

Ranks share the last axis: halos of 2 MiB with jacobi (512 x 512 x 8 points), of 72 KiB and less with hypre's
multigrid (96 x 96 x 24). It does so many iterations, whatever the residual.
"""

import sys

from stencil_petsc import PETSc, make_matrix

SIZES = {"jacobi": (512, 512, 8), "hypre": (96, 96, 24)}
name, count = sys.argv[1], int(sys.argv[2])
matrix = make_matrix(SIZES[name], 6.001)
solution, right = matrix.createVecs()
right.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType(PETSc.KSP.Type.CG)
solver.setNormType(PETSc.KSP.NormType.NONE)
solver.setTolerances(max_it=count)
solver.getPC().setType(name)
solver.solve(right, solution)
norm = solution.norm()
if PETSc.COMM_WORLD.rank == 0:
    print(f"iterations {solver.getIterationNumber()} norm {norm:.9g}")
