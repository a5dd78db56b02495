# SPDX-License-Identifier: MIT
"""SLEPc: the smallest eigenvalues of a plate by three methods, and the largest singular values of its matrix.

eigenvalues_slepc.py [POINTS]
"""

import sys

import slepc4py

points = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 60
slepc4py.init(sys.argv)

from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402


def make_plate(points: int) -> PETSc.Mat:
    """The five-point stencil on a square."""
    matrix = PETSc.Mat().createAIJ([points * points] * 2, nnz=5)
    for row in range(*matrix.getOwnershipRange()):
        neighbours = [
            (row % points > 0, row - 1),
            (row % points < points - 1, row + 1),
            (row >= points, row - points),
            (row < points * (points - 1), row + points),
        ]
        matrix[row, row] = 4.0
        for is_inside, column in neighbours:
            if is_inside:
                matrix[row, column] = -1.0
    matrix.assemble()
    return matrix


matrix = make_plate(points)
for method in ("krylovschur", "lobpcg", "gd"):
    solver = SLEPc.EPS().create()
    solver.setOperators(matrix)
    solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
    solver.setType(method)
    solver.setDimensions(4)
    solver.setTolerances(1e-7, 3000)
    if method != "krylovschur":
        solver.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    solver.solve()
    values = [f"{solver.getEigenvalue(number).real:.15g}" for number in range(min(4, solver.getConverged()))]
    PETSc.Sys.Print(f"result {method} {solver.getIterationNumber()} steps {' '.join(values)}")

singular = SLEPc.SVD().create()
singular.setOperator(matrix)
singular.setDimensions(3)
singular.solve()
PETSc.Sys.Print(f"result svd {' '.join(f'{singular.getValue(number):.15g}' for number in range(3))}")
product = matrix.matMult(matrix.copy().transpose())
ones = product.createVecRight()
ones.set(1.0)
scatter, everywhere = PETSc.Scatter.toAll(product * ones)
scatter.scatter(product * ones, everywhere)
print(f"result rank {PETSc.COMM_WORLD.rank} {everywhere.norm():.15g}", flush=True)
