# SPDX-License-Identifier: MIT
"""What the ranks remembered: record files and their sums."""
