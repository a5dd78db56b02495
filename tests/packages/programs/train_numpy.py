# SPDX-License-Identifier: MIT
"""Training with the data shared out: each rank's gradients are added up by MPI_Allreduce, layer by layer.

    mpirun -n 2 python3 train_numpy.py STEPS

The sum of a layer's gradients begins when they are known, and is needed when all layers are done.
"""

import sys

import numpy as np
from mpi4py import MPI

WIDTH, LAYERS, SAMPLES, RATE = 768, 4, 512, 1e-3
world = MPI.COMM_WORLD
shared, own = np.random.default_rng(1), np.random.default_rng(2 + world.rank)
weights = [shared.standard_normal((WIDTH, WIDTH), dtype=np.float32) / WIDTH**0.5 for _ in range(LAYERS)]
gradients = [np.empty_like(weight) for weight in weights]
sums = [np.empty_like(weight) for weight in weights]
inputs = own.standard_normal((SAMPLES, WIDTH), dtype=np.float32)
wanted = own.standard_normal((SAMPLES, WIDTH), dtype=np.float32)


def train():
    """One step: forward, backward with a sum for each layer, then all weights."""
    values = [inputs]
    for weight in weights:
        values.append(np.tanh(values[-1] @ weight))
    error = values[-1] - wanted
    loss = float((error * error).mean())
    for layer in reversed(range(LAYERS)):
        slope = error * (1.0 - values[layer + 1] ** 2)
        np.matmul(values[layer].T, slope, out=gradients[layer])
        world.Allreduce(gradients[layer], sums[layer])
        error = slope @ weights[layer].T
    for weight, total in zip(weights, sums, strict=True):
        weight -= RATE / world.size * total
    return loss


for _ in range(int(sys.argv[1])):
    loss = train()
total = world.allreduce(loss)
if world.rank == 0:
    print(f"loss {total / world.size:.6f} weights {sum(float(weight.sum()) for weight in weights):.6g}")
