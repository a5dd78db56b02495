#!/bin/sh
# SPDX-License-Identifier: MIT
# Build the documents as a site: build/site/index.html.
#   tools/docs.sh            exit code 77: the packages cannot be installed here
set -eu
cd "$(dirname "$0")/.."

[ -x .venv/bin/python ] || tools/setup.sh

list_packages() {
    .venv/bin/python -c 'import tomllib
with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["optional-dependencies"]["docs"])'
}

packages=$(list_packages)
# shellcheck disable=SC2086 # a list of words
.venv/bin/python -m pip install -q $packages || { echo "not installed: $packages"; exit 77; }
# Not for this build: what the theme says about MkDocs 2.
export NO_MKDOCS_2_WARNING=1
exec .venv/bin/python -m mkdocs -q build --strict --clean
