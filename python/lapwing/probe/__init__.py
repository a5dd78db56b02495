# SPDX-License-Identifier: MIT
"""What an MPI does with a nonblocking transfer while the program is elsewhere."""
