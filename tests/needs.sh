# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For targets that need more than tools/setup.sh installs. Sourced.

skip() {
    echo "$1"
    exit 77
}

# Is there this tool, or, with an absolute pattern, such a file?
is_there() {
    # shellcheck disable=SC2086 # a pattern
    case $1 in
        /*) ls $1 ;;
        *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

# The packages of Debian of which something is missing, for lines "TOOL PACKAGE" on standard input.
list_missing() {
    while read -r tool package; do
        is_there "$tool" || echo "$package"
    done | sort -u
}

# Ends with 77, and with what to type, where packages are missing.
check_needs() { # "TOOL PACKAGE" lines
    missing=$(echo "$1" | list_missing | tr '\n' ' ')
    [ -z "$missing" ] || skip "type: apt-get install --no-install-recommends $missing"
}

# Installs packages where that is possible; else as check_needs.
install_needs() { # "TOOL PACKAGE" lines
    missing=$(echo "$1" | list_missing)
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq; then
        # shellcheck disable=SC2086 # a list of words
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null || true
    fi
    check_needs "$1"
}
