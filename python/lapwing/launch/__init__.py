# SPDX-License-Identifier: MIT
"""Starting MPI programs with Lapwing's library in their ranks."""
