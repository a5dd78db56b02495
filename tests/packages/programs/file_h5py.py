# SPDX-License-Identifier: MIT
"""h5py on parallel HDF5: ranks write one file together, read each other's part, and pass it around.

file_h5py.py [ROWS [STEPS]]
"""

import sys

import h5py
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
rows = int(sys.argv[1]) if len(sys.argv) > 1 else 4
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 3
shape = (rows, 50000)
other = (rank + 1) % size


def make_rows(number: int, step: int) -> np.ndarray:
    """What a rank writes."""
    return np.arange(shape[0] * shape[1], dtype="f8").reshape(shape) * (number + 1) + step


total = 0.0
for step in range(steps):
    with h5py.File(f"step{step}.h5", "w", driver="mpio", comm=world) as file:
        # By rows in pieces, and by columns, which no rank has side by side in the file.
        by_rows = file.create_dataset("rows", (size * shape[0], shape[1]), dtype="f8", chunks=(2, 10000))
        by_columns = file.create_dataset("columns", (shape[1], size * shape[0]), dtype="f8")
        values = make_rows(rank, step)
        with by_rows.collective:
            by_rows[rank * shape[0] : (rank + 1) * shape[0]] = values
        with by_columns.collective:
            by_columns[:, rank * shape[0] : (rank + 1) * shape[0]] = values.T
        values[:] = -1
    with h5py.File(f"step{step}.h5", "r", driver="mpio", comm=world) as file:
        with file["rows"].collective:
            of_rows = file["rows"][other * shape[0] : (other + 1) * shape[0]]
        with file["columns"].collective:
            of_columns = file["columns"][:, other * shape[0] : (other + 1) * shape[0]]
    assert np.array_equal(of_rows, make_rows(other, step)), f"rows of step {step}"
    assert np.array_equal(of_columns.T, make_rows(other, step)), f"columns of step {step}"
    received = np.empty_like(of_rows)
    world.Sendrecv(of_rows, other, 1, received, (rank - 1) % size, 1)
    total += float(received.sum() + of_columns.sum())
print(f"result rank {rank} {total!r}", flush=True)
