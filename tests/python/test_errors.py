# SPDX-License-Identifier: MIT
"""What is quoted of a program or launcher that failed."""

import pytest

from lapwing.bench.place import check_exit
from lapwing.errors import LapwingError, find_cause

RULER = 74 * "-"
SLOTS = f"""{RULER}
There are not enough slots available in the system to satisfy the 50
slots that were requested by the application:

  true

Alternatively, you can use the --oversubscribe option to
launch.
{RULER}
"""
TRACEBACK = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
    main()
ValueError: no number

"""


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("", "no message"),
        (f"\n{RULER}\n", "no message"),
        ("\n  cannot open a.txt\ncannot go on\n", "cannot open a.txt"),
        (
            SLOTS,
            "There are not enough slots available in the system to satisfy the 50 slots that were requested by the "
            "application",
        ),
        (f"sizes differ\n{SLOTS}", "sizes differ"),
        (f"{TRACEBACK}{SLOTS}", "ValueError: no number"),
        ("Traceback (most recent call last):\n", "Traceback (most recent call last)"),
    ],
)
def test_the_cause_is_what_was_said_first(said: str, cause: str) -> None:
    assert find_cause(said) == cause


def test_a_bench_names_what_its_launcher_said() -> None:
    with pytest.raises(LapwingError, match="ended with 1: There are not enough slots available"):
        check_exit(["mpirun"], 1, SLOTS)
