# SPDX-License-Identifier: MIT
"""Shortens programs that fail: removes what belongs together while the failure stays."""

from collections.abc import Callable, Sequence

from language import Line, Program, with_lines

Judge = Callable[[Sequence[Program]], bool]
KEPT = frozenset({"new", "attach", "detach", "resize", "join"})  # others rely on them
DEFINED = ("buffer", "type", "comm")


def drop_requests(lines: Sequence[Line], removed: set[int]) -> list[Line]:
    """Waits for requests whose start is removed no longer name them."""
    owner: dict[tuple[int, int], int] = {}  # rank and slot: the group that started it
    kept: list[Line] = []
    for line in lines:
        for slot in line.makes("request"):
            owner[line.rank, slot] = line.group
        if line.name == "wait":
            slots = [slot for slot in line.numbers[2:] if owner.get((line.rank, slot)) not in removed]
            line = Line(line.rank, line.group, "wait", (line.numbers[0], len(slots), *slots))
        if line.name != "wait" or line.numbers[1] > 0:
            kept.append(line)
    return kept


def without_groups(lines: Sequence[Line], removed: set[int]) -> list[Line]:
    """The lines without these groups."""
    return [line for line in drop_requests(lines, removed) if line.group not in removed]


def removable_groups(lines: Sequence[Line]) -> list[int]:
    """Groups that nothing else is built on, in order."""
    bound = {line.group for line in lines if line.name in KEPT and line.name != "join"}
    bound |= {line.group for line in lines if any(line.makes(role) for role in DEFINED)}
    return [group for group in dict.fromkeys(line.group for line in lines) if group not in bound and group != 0]


def unused_groups(lines: Sequence[Line]) -> set[int]:
    """Groups that make buffers, types or communicators which no other line uses."""
    unused: set[int] = set()
    for group in {line.group for line in lines if any(line.makes(role) for role in DEFINED)} - {0}:
        own = [line for line in lines if line.group == group]
        others = [line for line in lines if line.group != group]
        if not any(is_used(line, role, others) for line in own for role in DEFINED):
            unused.add(group)
    return unused


def is_used(line: Line, role: str, others: Sequence[Line]) -> bool:
    """Does a line of the same rank use what this one makes, other than to free it?"""
    made = line.makes(role)
    return any(made & other.uses(role) for other in others if other.rank == line.rank)


def shrink(groups: Sequence[int], is_failing: Callable[[set[int]], bool]) -> set[int]:
    """Which groups can go: halves, quarters, ... (delta debugging)."""
    removed: set[int] = set()
    size = max(1, len(groups) // 2)
    while groups:
        index = 0
        while index < len(groups):
            tried = removed | set(groups[index : index + size])
            if is_failing(tried):
                removed = tried
                groups = [*groups[:index], *groups[index + size :]]
            else:
                index += size
        if size == 1:
            return removed
        size = max(1, size // 2)
    return removed


def drop_unused(program: Program, is_failing: Judge) -> Program:
    """Remove definitions until no more can go."""
    while unused := unused_groups(program.lines):
        shorter = with_lines(program, [line for line in program.lines if line.group not in unused])
        if not is_failing([shorter]):
            return program
        program = shorter
    return program


def minimise_program(program: Program, is_failing: Judge, say: Callable[[str], None]) -> Program:
    """Shorten one program."""

    def fails_without(removed: set[int]) -> bool:
        return is_failing([with_lines(program, without_groups(program.lines, removed))])

    removed = shrink(removable_groups(program.lines), fails_without)
    program = with_lines(program, without_groups(program.lines, removed))
    program = drop_unused(program, is_failing)
    say(f"      shortened to {len(program.lines)} lines")
    return program


def minimise(
    programs: Sequence[Program], seed: int | None, is_failing: Judge, say: Callable[[str], None]
) -> Sequence[Program]:
    """Shorten a job that fails: to one program if possible, and then that one."""
    alone = [program for program in programs if program.seed == seed]
    if alone and is_failing(alone):
        return [minimise_program(alone[0], is_failing, say)]
    if not is_failing(programs):
        say("      it did not fail again: kept as it is")
        return programs
    at = programs.index(alone[0]) if alone else len(programs) - 1
    for first in range(at, -1, -max(1, at // 6)):
        if is_failing(programs[first : at + 1]):
            return programs[first : at + 1]
    return programs
