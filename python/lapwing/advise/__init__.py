# SPDX-License-Identifier: MIT
"""What `lapwing advise` decides: which ways to try, how often, what the times prove, and how to say it."""
