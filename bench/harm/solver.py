# SPDX-License-Identifier: MIT
"""A solver of the heat equation as people write it: halo exchange, NumPy temporaries.

solver.py ROW_BYTES [STEPS [nonblocking]]
"""

import json
import resource
import sys
import time

import numpy
from mpi4py import MPI


def add_laplace(v: numpy.ndarray) -> numpy.ndarray:
    """Let heat flow in all but the outermost rows and columns."""
    laplace = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4.0 * v[1:-1, 1:-1]
    v[1:-1, 1:-1] += 0.1 * laplace
    return laplace


def step_blocking() -> numpy.ndarray:
    """The halo first, then all rows."""
    comm.Sendrecv(u[1], up, 0, u[-1], down, 0)
    comm.Sendrecv(u[-2], down, 1, u[0], up, 1)
    return add_laplace(u)


def step_nonblocking() -> numpy.ndarray:
    """The inner rows while the halo is under way."""
    requests = [comm.Irecv(u[-1], down, 0), comm.Irecv(u[0], up, 1)]
    requests += [comm.Isend(u[1], up, 0), comm.Isend(u[-2], down, 1)]
    laplace = add_laplace(u[1:-1])
    MPI.Request.Waitall(requests)
    add_laplace(u[:3])
    add_laplace(u[-3:])
    return laplace


comm = MPI.COMM_WORLD
columns = int(sys.argv[1]) // 8
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
is_blocking = "nonblocking" not in sys.argv
rows = max(4, (1 << 17) // columns)  # 1 MiB
up = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
down = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
u = numpy.zeros((rows + 2, columns))
u[1:-1] = comm.rank + 1.0
comm.Barrier()
begin = time.perf_counter()
for step in range(steps):
    laplace = step_blocking() if is_blocking else step_nonblocking()
    if step % 50 == 0:
        norm = comm.allreduce(float(numpy.abs(laplace).max()), MPI.MAX)
comm.Barrier()
time_us = (time.perf_counter() - begin) * 1e6
used = resource.getrusage(resource.RUSAGE_SELF)
if comm.rank == 0:
    print(json.dumps({"time_us": time_us, "faults": used.ru_minflt, "memory_kib": used.ru_maxrss}), flush=True)
