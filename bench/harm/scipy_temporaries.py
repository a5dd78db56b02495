# SPDX-License-Identifier: MIT
"""Fourier transforms and filters of 1 MiB, as SciPy makes them: scipy_temporaries.py [STEPS]."""

import sys

import numpy
from scipy import fft, ndimage

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
field = numpy.linspace(0.0, 1.0, 1 << 17).reshape(256, 512)
for _ in range(steps):
    field = fft.irfft2(fft.rfft2(field) * 0.99, s=field.shape)
    field = ndimage.gaussian_filter(field, 1.0) + 0.01
print(field[0, 0])
