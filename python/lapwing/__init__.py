# SPDX-License-Identifier: MIT
"""Lapwing: MPI programs that overlap communication with computation, unchanged."""

__version__ = "0.1.0"
