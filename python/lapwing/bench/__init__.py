# SPDX-License-Identifier: MIT
"""Experiments that compare stock MPI with Lapwing."""
