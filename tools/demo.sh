#!/bin/sh
# SPDX-License-Identifier: MIT
# Install, build, and show what Lapwing does to a small solver.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh
mkdir -p build
exec .venv/bin/lapwing demo --plot build/demo.png "$@"
