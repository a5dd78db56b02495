# SPDX-License-Identifier: MIT
from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class Lapwing(PythonPackage):
    """Large blocking sends, receives and collectives of an MPI program return at once, and their transfer goes on while
    the program computes. Programs stay as they are: Lapwing is preloaded."""

    # The archive lies beside spack_repo, as tools/release.sh leaves them.
    url = f"file://{Path(__file__).resolve().parents[4]}/lapwing-0.1.0.tar.gz"

    license("MIT")

    version("0.1.0")  # tools/release.sh adds the archive's checksum

    depends_on("c", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-matplotlib@3.7:", type="run")
    depends_on("py-pyelftools@0.29:", type="run")

    # Lapwing finds a program's MPI when the program runs: it is built with none, and serves all.
    conflicts("platform=darwin")
    conflicts("platform=windows")
