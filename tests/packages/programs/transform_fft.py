# SPDX-License-Identifier: MIT
"""mpi4py-fft: forward and backward transforms, redistributed by Alltoallw over derived datatypes.

transform_fft.py [POINTS [STEPS]]
"""

import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

world = MPI.COMM_WORLD
points = int(sys.argv[1]) if len(sys.argv) > 1 else 64
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 4
transform = PFFT(world, [points] * 3, axes=(0, 1, 2), dtype=float)
field = newDistArray(transform, False)
field[:] = np.random.default_rng(5 + world.Get_rank()).random(field.shape)
for step in range(steps):
    before = field.copy()
    spectrum = transform.forward(field, newDistArray(transform, True))
    field = transform.backward(spectrum, newDistArray(transform, False))
    assert np.allclose(before, field), f"step {step}"
    # Ranks also pass their planes around, so that buffers change hands between transforms.
    received = np.empty_like(np.asarray(field))
    other = (world.Get_rank() + 1) % world.Get_size()
    world.Sendrecv(np.ascontiguousarray(field), other, 1, received, other, 1)
    field[:] = np.sqrt(0.5 * (np.asarray(field) ** 2 + received**2))
print(f"result rank {world.Get_rank()} {float(np.asarray(field).sum())!r}", flush=True)
