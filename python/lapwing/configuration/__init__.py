# SPDX-License-Identifier: MIT
"""What a site and a user have decided beforehand, in files, and what of it holds in a run."""
