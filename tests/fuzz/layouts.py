# SPDX-License-Identifier: MIT
"""Where the bytes of datatypes lie: what the generator must know so that programs are correct."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Block = tuple[int, int]  # first byte, first byte after

# As in interpreter/types.c.
BYTE, CHAR, SHORT, INT, DOUBLE, UINT64_T, UNSIGNED, SIGNED_CHAR = range(8)
UNSIGNED_CHAR, UNSIGNED_SHORT, LONG, UNSIGNED_LONG, LONG_LONG, UNSIGNED_LONG_LONG, FLOAT, TWO_INTS = range(8, 16)
BUILTIN_SIZES = (1, 1, 2, 4, 8, 8, 4, 1, 1, 2, 8, 8, 8, 8, 4, 8)
STRUCTURE_BASE = 1000  # bases from here on are structs
BLOCKS_MAX = 64  # more blocks are taken for one that covers them


@dataclass(frozen=True)
class Layout:
    """One item of a datatype. Types of the same base match; `elements`: how many of it are in one item."""

    index: int
    base: int
    elements: int
    size: int
    extent: int
    blocks: tuple[Block, ...]

    @property
    def low(self) -> int:
        """The first byte's displacement."""
        return self.blocks[0][0]

    @property
    def high(self) -> int:
        """The displacement after the last byte."""
        return max(block[1] for block in self.blocks)

    def span(self, count: int) -> Block:
        """From the first to the last byte of so many items."""
        if count == 0 or self.size == 0:
            return (0, 0)
        return (self.low, self.high + (count - 1) * self.extent)

    def spread(self, count: int) -> tuple[Block, ...]:
        """All blocks of so many items."""
        if count == 0 or self.size == 0:
            return ()
        if (self.extent == self.size and len(self.blocks) == 1) or count * len(self.blocks) > BLOCKS_MAX:
            return (self.span(count),)
        return place_blocks(self.blocks, (item * self.extent for item in range(count)))


BUILTINS = tuple(Layout(index, index, 1, size, size, ((0, size),)) for index, size in enumerate(BUILTIN_SIZES))


def merge_blocks(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Join blocks that touch, in order."""
    merged: list[Block] = []
    for low, high in sorted(blocks):
        if merged and merged[-1][1] >= low:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        elif high > low:
            merged.append((low, high))
    return tuple(merged)


def place_blocks(blocks: Sequence[Block], displacements: Iterable[int]) -> tuple[Block, ...]:
    """Repeat blocks at displacements."""
    return merge_blocks((low + at, high + at) for at in displacements for low, high in blocks)


def repeat(index: int, old: Layout, displacements: Sequence[int]) -> Layout:
    """The type of old items at displacements in bytes, which do not overlap."""
    blocks = place_blocks(old.blocks, displacements)
    low, high = min(displacements), max(displacements) + old.extent
    count = len(displacements)
    return Layout(index, old.base, old.elements * count, old.size * count, high - low, blocks)


def contiguous(index: int, old: Layout, count: int) -> Layout:
    """MPI_Type_contiguous."""
    return repeat(index, old, [item * old.extent for item in range(count)])


def vector(index: int, old: Layout, count: int, blocklength: int, stride: int) -> Layout:
    """MPI_Type_vector."""
    return repeat(index, old, [(i * stride + j) * old.extent for i in range(count) for j in range(blocklength)])


def indexed(index: int, old: Layout, parts: Sequence[Block]) -> Layout:
    """MPI_Type_create_hindexed of (length, displacement in bytes)."""
    return repeat(index, old, [at + item * old.extent for length, at in parts for item in range(length)])


def resized(index: int, old: Layout, extent: int) -> Layout:
    """MPI_Type_create_resized."""
    return Layout(index, old.base, old.elements, old.size, extent, old.blocks)


def structure(index: int, parts: Sequence[tuple[Layout, int, int]]) -> Layout:
    """MPI_Type_create_struct of (old, length, displacement); it matches only itself. Its extent is unknown here
    (MPI may pad it): give it one with MPI_Type_create_resized."""
    blocks = merge_blocks(
        (at + low, at + low + length * old.extent) for old, length, at in parts for low, _ in old.blocks[:1]
    )
    size = sum(old.size * length for old, length, _ in parts)
    return Layout(index, STRUCTURE_BASE + index, 1, size, max(high for _, high in blocks), blocks)


def overlap(one: Sequence[Block], other: Sequence[Block], shift: int = 0) -> bool:
    """Do blocks, the first ones moved by `shift`, share a byte?"""
    return any(a + shift < d and c < b + shift for a, b in one for c, d in other)
