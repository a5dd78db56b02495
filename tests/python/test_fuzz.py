# SPDX-License-Identifier: MIT
"""The fuzzer's pure parts: the generator, the language, the minimiser."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "fuzz"))

import layouts
from generate import ALLREDUCE, EXSCAN, FLOATS, LISTED, MAX, MIN, REDUCE, REDUCE_SCATTER, SCAN, Features, generate
from language import Line, Program, format_programs, parse_programs
from minimise import minimise, without_groups
from progress import Progress, Totals, format_table

REDUCING = (REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER, REDUCE_SCATTER + LISTED)
FEATURES = [
    Features(),
    Features(requests=False),
    Features(threads=True, multiple=True, buffered=True),
    Features(ranks=3),
]


@pytest.mark.parametrize("features", FEATURES)
def test_a_seed_makes_one_program(features: Features) -> None:
    assert generate(7, features, 300) == generate(7, features, 300)
    assert generate(7, features, 300) != generate(8, features, 300)


@pytest.mark.parametrize("features", FEATURES)
def test_programs_are_as_they_are_written(features: Features) -> None:
    programs = [generate(seed, features, 200) for seed in range(20)]
    assert list(parse_programs(format_programs(programs))) == programs
    for program in programs:
        for line in program.lines:
            assert len(list(line.roles)) == len(line.numbers), line


def test_every_blocking_receive_has_its_send() -> None:
    for seed in range(30):
        program = generate(seed, Features(requests=False), 300)
        for line in program.lines:
            if line.name == "recv" and dict(line.roles)["peer"] != -2:
                senders = [other for other in program.lines if other.group == line.group and "send" in other.name]
                assert senders or any(other.name == "start" for other in program.lines), line


def test_what_an_exscan_leaves_undefined_is_written_before_it_is_compared() -> None:
    for seed in range(20):
        program = generate(seed, Features(requests=False), 300)
        calls = [line for line in program.lines if line.name == "collective" and line.numbers[0] == EXSCAN]
        for group in {line.group for line in calls}:
            count, base = next(line.numbers[8:10] for line in calls if line.group == group)
            written = sum(line.name == "fill" for line in program.lines if line.group == group)
            assert written == (count * layouts.BUILTINS[base].size > 0)


def test_floating_point_numbers_are_tamed_before_they_are_compared() -> None:
    for seed in range(20):
        program = generate(seed, Features(), 300)
        calls = [line for line in program.lines if line.name == "collective" and line.numbers[9] in FLOATS]
        for line in calls:
            if line.numbers[0] not in REDUCING:
                continue
            assert line.numbers[4] in (MIN, MAX), line
            tamed = [one for one in program.lines if one.group == line.group and one.name == "tame"]
            assert any(one.rank == line.rank for one in tamed), line


def test_blocks_of_structs_do_not_touch() -> None:
    for seed in range(30):
        for line in generate(seed, Features(), 300).lines:
            if line.name == "struct":
                olds, lengths, places = (line.numbers[first::3] for first in (2, 3, 4))
                ends = [
                    at + layouts.BUILTINS[old].size * length
                    for old, length, at in zip(olds, lengths, places, strict=True)
                ]
                assert all(end < at for end, at in zip(ends, places[1:], strict=False)), line


def test_spread_of_a_vector() -> None:
    vector = layouts.vector(9, layouts.BUILTINS[3], 3, 2, 5)
    assert vector.spread(1) == ((0, 8), (20, 28), (40, 48))
    assert vector.extent == 48
    assert layouts.resized(10, vector, 60).span(2) == (0, 108)


def test_overlap_is_of_bytes() -> None:
    assert layouts.overlap([(0, 4)], [(3, 5)])
    assert not layouts.overlap([(0, 4)], [(4, 5)])


def test_waits_forget_requests_that_are_gone() -> None:
    lines = [
        Line(0, 1, "isend", (0, 5, 0, 0, 1, 0, 1, 9, 0)),
        Line(0, 2, "isend", (0, 6, 0, 0, 1, 0, 1, 9, 0)),
        Line(0, 0, "wait", (2, 2, 5, 6)),
    ]
    assert without_groups(lines, {1}) == [lines[1], Line(0, 0, "wait", (2, 1, 6))]
    assert without_groups(lines, {1, 2}) == []


def test_a_long_run_goes_on_where_it_stopped_unless_anything_is_new(tmp_path: Path) -> None:
    preload = tmp_path / "liblapwing.so"
    preload.write_bytes(b"one")
    kept = tmp_path / "kept/long.json"
    done = {"signal-1": Totals(programs=20, operations=7000, mismatches=1, failures=["a file"])}
    Progress(kept, preload).note("mpich4", 100, 120, done)
    again = Progress(kept, preload)
    assert again.find("mpich4", ["signal-1"], 100) == (120, done)
    assert again.find("mpich4", ["signal-1"], 200) == (200, {"signal-1": Totals()})
    assert again.find("mpich4", ["default"], 100) == (100, {"default": Totals()})
    assert again.find("openmpi4", ["signal-1"], 100) == (100, {"signal-1": Totals()})
    preload.write_bytes(b"two")
    assert Progress(kept, preload).find("mpich4", ["signal-1"], 100) == (100, {"signal-1": Totals()})
    assert "mpich4     signal-1" in format_table([("mpich4", "signal-1", done["signal-1"])])


def test_the_minimiser_keeps_what_fails() -> None:
    program = generate(3, Features(), 400)
    wanted = next(line.group for line in program.lines if line.name == "sendrecv")

    def is_failing(programs: list[Program]) -> bool:
        return any(line.group == wanted for line in programs[0].lines)

    short = minimise([generate(2, Features(), 400), program], 3, is_failing, lambda _: None)  # type: ignore[arg-type]
    assert {line.group for line in short[0].lines if line.name == "sendrecv"} == {wanted}
    assert len(short[0].lines) < 40
