# SPDX-License-Identifier: MIT
"""The time of MPI_Init, and of the barrier after it, in a process that has loaded SciPy's libraries."""

import json
import resource
import time

import numpy  # noqa: F401
import scipy.integrate  # noqa: F401
import scipy.interpolate  # noqa: F401
import scipy.sparse.linalg  # noqa: F401

begin = time.perf_counter()
from mpi4py import MPI  # noqa: E402

MPI.COMM_WORLD.Barrier()
time_us = (time.perf_counter() - begin) * 1e6
used = resource.getrusage(resource.RUSAGE_SELF)
if MPI.COMM_WORLD.rank == 0:
    print(json.dumps({"time_us": time_us, "faults": used.ru_minflt, "memory_kib": used.ru_maxrss}), flush=True)
