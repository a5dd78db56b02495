# SPDX-License-Identifier: MIT
"""One file per command; the docstring of its class is the help text."""
