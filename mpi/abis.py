# SPDX-License-Identifier: MIT
"""Reads abis.toml. As a command it prints the names of the ABIs, as a list of CMake's."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "abis.toml"


@dataclass(frozen=True)
class Abi:
    """One row."""

    name: str
    fortran_calls_pmpi: str
    tested_with: tuple[str, ...]
    files: tuple[str, ...]
    launchers: tuple[str, ...]
    soname: str = "*"
    symbol: str = ""

    def __post_init__(self) -> None:
        """A row that says nothing would fit every library."""
        if self.soname.count("*") > 1 or (self.soname, self.symbol) == ("*", ""):
            raise ValueError(f"{self.name}: no library is told by soname {self.soname!r} and symbol {self.symbol!r}")
        if self.fortran_calls_pmpi not in ("all", "mpi_f08"):
            raise ValueError(f"{self.name}: fortran_calls_pmpi is {self.fortran_calls_pmpi!r}")

    @property
    def soname_parts(self) -> tuple[str, str]:
        """What the name begins and ends with."""
        begins, _, ends = self.soname.partition("*")
        return begins, ends


def read_abis() -> list[Abi]:
    """All rows, in order."""
    with TABLE.open("rb") as file:
        table = tomllib.load(file)
    lists = ("tested_with", "files", "launchers")
    return [Abi(name, **{**row, **{column: tuple(row[column]) for column in lists}}) for name, row in table.items()]


if __name__ == "__main__":
    print(";".join(abi.name for abi in read_abis()), end="")
