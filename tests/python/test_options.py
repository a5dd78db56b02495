# SPDX-License-Identifier: MIT
"""Options are checked before anything starts."""

import argparse

import pytest

from lapwing.configuration.settings import collect_variables
from lapwing.errors import LapwingError
from lapwing.options import GROUPS, NUMBER_MOST, add_flags, format_markdown, load_options, parse_bytes


def collect(line: list[str], environment: dict[str, str] | None = None) -> dict[str, str]:
    parser = argparse.ArgumentParser()
    add_flags(parser, tuple(GROUPS))
    nowhere = {"HOME": "/nowhere", "LAPWING_CONFIG": "/dev/null"}
    return collect_variables(parser.parse_args(line), {**nowhere, **(environment or {})})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64KiB", 65536),
        ("64k", 65536),
        ("1.5MiB", 1572864),
        ("1MB", 1000000),
        ("7", 7),
        ("9007199254740993", (1 << 53) + 1),
    ],
)
def test_sizes(text: str, value: int) -> None:
    assert parse_bytes(text) == value


@pytest.mark.parametrize(
    "line",
    [
        ["--threshold", "lots"],
        ["--threshold", "0"],
        ["--hold", "magic"],
        ["--learn", "2"],
        ["--profile-cost", "9999"],
        ["--threshold", "9" * 400],
        ["--threshold", "9" * 5000],
        ["--threshold", f"{'9' * 4300}GiB"],
        ["--threshold", f"{'9' * 5000}.5"],
    ],
)
def test_wrong_value_is_refused_with_a_remedy(line: list[str]) -> None:
    with pytest.raises(LapwingError) as caught:
        collect(line)
    assert line[0] in caught.value.message
    assert caught.value.remedy
    assert caught.value.exit_code == 2


def test_values_reach_the_ranks_in_plain_form() -> None:
    line = ["--threshold", "1MiB", "--learn", "no", "--hold", "signal"]
    assert collect(line) == {
        "LAPWING_THRESHOLD": "1048576",
        "LAPWING_LEARN": "off",
        "LAPWING_HOLD": "signal",
    }


def test_largest_number_is_no_larger_than_itself() -> None:
    assert collect(["--threshold", str(NUMBER_MOST)]) == {"LAPWING_THRESHOLD": str(NUMBER_MOST)}


def test_flag_wins_over_variable() -> None:
    environment = {"LAPWING_HOLD": "signal", "LAPWING_LEARN": "off"}
    assert collect(["--hold", "auto"], environment) == {"LAPWING_HOLD": "auto", "LAPWING_LEARN": "off"}


def test_markdown_names_every_option() -> None:
    text = format_markdown()
    assert all(option.flag in text and option.help in text for option in load_options())
