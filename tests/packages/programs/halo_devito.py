# SPDX-License-Identifier: MIT
"""Devito: waves in a cube whose halos are large messages; prints the norm, and the time of the slowest rank.

halo_devito.py [POINTS [STEPS]]
"""

import sys

import numpy as np
from devito import Eq, Grid, Operator, TimeFunction, norm, solve
from mpi4py import MPI

points = int(sys.argv[1]) if len(sys.argv) > 1 else 160
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
grid = Grid(shape=(points, points, points), extent=(1.0, 1.0, 1.0))
wave = TimeFunction(name="wave", grid=grid, time_order=2, space_order=8)
middle = slice(points // 2 - 8, points // 2 + 8)
wave.data[:, middle, middle, middle] = np.float32(1.0)
operator = Operator([Eq(wave.forward, solve(Eq(wave.dt2, wave.laplace), wave.forward))])
step = np.float32(0.1 / points)
operator.apply(time_M=2, dt=step)  # compiles, and lets whoever watches the messages get used to them
MPI.COMM_WORLD.Barrier()
begin_s = MPI.Wtime()
operator.apply(time_M=steps, dt=step)
elapsed_s = MPI.COMM_WORLD.allreduce(MPI.Wtime() - begin_s, op=MPI.MAX)
value = float(norm(wave))
if MPI.COMM_WORLD.Get_rank() == 0:
    print(f"result norm {value!r} time {elapsed_s!r}", flush=True)
