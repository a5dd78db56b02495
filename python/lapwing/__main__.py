# SPDX-License-Identifier: MIT
"""`python -m lapwing` is the `lapwing` command."""

import sys

from lapwing.cli import main

if __name__ == "__main__":
    sys.exit(main())
