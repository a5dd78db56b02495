# SPDX-License-Identifier: MIT
"""Devito: waves in a cube, compiled just in time, halos exchanged in the way that DEVITO_MPI names."""

import zlib

import numpy as np
from devito import Eq, Grid, Operator, TimeFunction, norm, solve
from mpi4py import MPI

grid = Grid(shape=(96, 96, 96), extent=(1.0, 1.0, 1.0))
wave = TimeFunction(name="wave", grid=grid, time_order=2, space_order=8)
wave.data[:, 40:56, 40:56, 40:56] = np.float32(1.0)
update = Eq(wave.forward, solve(Eq(wave.dt2, wave.laplace), wave.forward))
Operator([update]).apply(time_M=30, dt=np.float32(0.002))
value = float(norm(wave))
rank = MPI.COMM_WORLD.Get_rank()
print(f"result rank {rank} norm {value!r}, bytes {zlib.crc32(np.ascontiguousarray(wave.data).tobytes())}", flush=True)
