# SPDX-License-Identifier: MIT
"""Expressions on arrays of 1 MiB, each with temporaries: numpy_temporaries.py [STEPS]."""

import sys

import numpy

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
a = numpy.ones(1 << 17)
b = numpy.ones(1 << 17)
for _ in range(steps):
    c = a * 2.0 + b
print(c[0])
