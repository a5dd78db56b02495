#!/bin/sh
# SPDX-License-Identifier: MIT
# Build the release archive with EasyBuild and the recipe in dist/:
#   tests/sites/easybuild.sh FOLDER
# What the recipe depends on would take hours to build. Modules stand in for it, of the same names and versions, that
# lead to this system's compiler and to a Python of the test's own: EasyBuild itself, the recipe, its sources and its
# checks are the real ones. That the recipe's dependencies exist is asked of EasyBuild's own recipes (--dry-run).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
recipe=$(ls "$root"/dist/lapwing-*.eb)
python=$folder/python
modules=$folder/stand-ins
easybuild=5.4.1

make_easybuild() {
    [ -x "$folder/easybuild/bin/eb" ] || python3 -m venv "$folder/easybuild"
    "$folder/easybuild/bin/pip" install -q "easybuild==$easybuild" pycodestyle
}

# By pip, which knows this machine's registry; EasyBuild's own downloads do not. It checks the sum of what it finds.
fetch_sources() {
    "$folder/easybuild/bin/pip" download -q --no-deps --no-binary :all: --dest "$folder/sources" pyelftools==0.32
}

# What the modules of Python, rich, matplotlib, scikit-build-core, CMake and Ninja would bring.
make_python() {
    [ -x "$python/bin/python" ] || python3 -m venv "$python"
    "$python/bin/pip" install -q setuptools wheel 'rich>=13' 'matplotlib>=3.7' 'scikit-build-core>=0.10' 'cmake<4' ninja
}

# stand_in NAME VERSION ROOT: as EasyBuild's own modules, a folder and the variables by which it knows one.
stand_in() {
    mkdir -p "$modules/$1"
    variable=$(printf %s "$1" | sed 's/-/min/g' | tr '[:lower:]' '[:upper:]')
    {
        echo '#%Module'
        echo "setenv EBROOT$variable $3"
        echo "setenv EBVERSION$variable ${2%%-*}"
        [ "$3" = /usr ] || echo "prepend-path PATH $3/bin"
    } >"$modules/$1/$2"
}

# EasyBuild asks it for libraries that must not be linked.
make_flexiblas() {
    mkdir -p "$folder/flexiblas/bin"
    printf '#!/bin/sh\n' >"$folder/flexiblas/bin/flexiblas"
    chmod +x "$folder/flexiblas/bin/flexiblas"
}

make_stand_ins() {
    rm -rf "$modules"
    make_flexiblas
    stand_in GCCcore 13.2.0 /usr
    stand_in GCC 13.2.0 /usr
    stand_in FlexiBLAS 3.3.1-GCC-13.2.0 "$folder/flexiblas"
    stand_in FFTW 3.3.10-GCC-13.2.0 /usr
    stand_in gfbf 2023b /usr
    for dependency in GCC/13.2.0 FlexiBLAS/3.3.1-GCC-13.2.0 FFTW/3.3.10-GCC-13.2.0; do
        echo "module load $dependency" >>"$modules/gfbf/2023b"
    done
    stand_in Python 3.11.5-GCCcore-13.2.0 "$python"
    stand_in rich 13.7.0-GCCcore-13.2.0 "$python"
    stand_in matplotlib 3.8.2-gfbf-2023b "$python"
    stand_in scikit-build-core 0.10.7-GCCcore-13.2.0 "$python"
    stand_in CMake 3.27.6-GCCcore-13.2.0 "$python"
    stand_in Ninja 1.11.1-GCCcore-13.2.0 "$python"
}

run_easybuild() {
    "$folder/easybuild/bin/eb" --allow-use-as-root-and-accept-consequences --prefix="$folder/prefix" \
        --sourcepath="$folder/sources" "$@"
}

# Names of EasyBuild's own recipes for all that the recipe needs, and those need.
check_dependencies() {
    MODULEPATH='' run_easybuild --dry-run --robot "$recipe" >"$folder/dependencies" 2>&1 ||
        { tail -n 5 "$folder/dependencies"; exit 1; }
    grep -q 'module: matplotlib/3.8.2-gfbf-2023b' "$folder/dependencies"
}

LMOD_CMD=/usr/share/lmod/lmod/libexec/lmod
MODULEPATH=$modules
EB_PYTHON=$folder/easybuild/bin/python
export LMOD_CMD MODULEPATH EB_PYTHON
if ! make_easybuild || ! fetch_sources || ! make_python; then
    echo "EasyBuild, or what the recipe needs, cannot be fetched"
    exit 77
fi
make_stand_ins
run_easybuild --check-style "$recipe"
check_dependencies
run_easybuild --rebuild "$recipe"

# As a user of the site would.
set +u
# shellcheck source=/dev/null
. /usr/share/lmod/lmod/init/sh
module use "$folder/prefix/modules/all"
module load lapwing/0.1.0-gfbf-2023b
[ "$(command -v lapwing)" = "$EBROOTLAPWING/bin/lapwing" ]
exec "$root/tests/sites/job.sh" "$folder" lapwing
