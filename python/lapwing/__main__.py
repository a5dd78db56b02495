# SPDX-License-Identifier: MIT
"""`python -m lapwing` is the `lapwing` command, and begins here under either name."""

import signal
import sys

INTERRUPTED = 130  # what a shell shows for a program that SIGINT ended


def main() -> int:
    """Run the command. SIGINT ends it silently while it is loaded; there is nothing to put in order yet."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if is_usual:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        from lapwing import cli

        if is_usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return cli.main()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
