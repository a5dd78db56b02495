# SPDX-License-Identifier: MIT
"""What will work on a host, and why not: facts are read from the kernel and the preload, and judged apart."""
