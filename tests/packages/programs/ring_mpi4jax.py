# SPDX-License-Identifier: MIT
"""mpi4jax: messages inside a compiled function; the arrays are XLA's, who calls MPI is a compiled program.

ring_mpi4jax.py [STEPS]
"""

import sys

import jax
import jax.numpy as jnp
import mpi4jax
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, other = world.Get_rank(), 1 - world.Get_rank()


@jax.jit
def step(field):
    """Exchange halves, and one array each way by Send and Recv."""
    halves = mpi4jax.sendrecv(field, field, source=other, dest=other, comm=world)
    mixed = 0.5 * field + 0.25 * jnp.sin(halves)
    if rank == 0:
        mpi4jax.send(mixed, dest=other, tag=7, comm=world)
        late = mpi4jax.recv(mixed, source=other, tag=8, comm=world)
    else:
        late = mpi4jax.recv(mixed, source=other, tag=7, comm=world)
        mpi4jax.send(mixed, dest=other, tag=8, comm=world)
    return mixed + 0.125 * late + mpi4jax.allreduce(mixed.sum(), op=MPI.SUM, comm=world) * 1e-6


field = jnp.linspace(0.0, 1.0 + rank, 200000, dtype=jnp.float32)
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
for _ in range(steps):
    field = step(field)
print(f"result rank {rank} {field.sum():.9g} {field[0]:.9g} {field[-1]:.9g} {field[77777]:.9g}", flush=True)
