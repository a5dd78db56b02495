# SPDX-License-Identifier: MIT
"""Emulated hosts on one machine."""
