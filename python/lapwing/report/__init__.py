# SPDX-License-Identifier: MIT
"""Text, tables and plots made from records and measurements."""
