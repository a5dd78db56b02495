# SPDX-License-Identifier: MIT
"""Print results of `lapwing bench harm --output FILE` as the tables of docs/measurements.md: harm_table.py FILE..."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from lapwing.report.harm import COUNT_COLUMNS, TIME_COLUMNS, make_count_lines, make_time_lines


def print_table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print one table."""
    if not lines:
        return
    print(f"| program | {' | '.join(columns)} |")
    print("|---" * (1 + len(columns)) + "|")
    for line in lines:
        print(f"| {' | '.join(line)} |")
    print()


def main() -> int:
    """Print what all files have."""
    rows = [row for path in sys.argv[1:] for row in json.loads(Path(path).read_text("utf-8"))["results"]]
    print_table(TIME_COLUMNS, make_time_lines(rows))
    print_table(COUNT_COLUMNS, make_count_lines(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
