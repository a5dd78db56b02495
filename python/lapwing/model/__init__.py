# SPDX-License-Identifier: MIT
"""What a program would gain from overlap: the dedicated-core paper's model, and a refined one (docs/model.md)."""
