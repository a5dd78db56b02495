# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What scripts ask of Debian's tools. Sourced.

# The first archive of Debian that apt knows here.
find_mirror() {
    # shellcheck disable=SC2016 # apt's own variables
    apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' 'Created-By: Packages' | awk '$2 == "Debian" { print $1; exit }'
}
