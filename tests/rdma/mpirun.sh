#!/bin/sh
# SPDX-License-Identifier: MIT
# Stands in for the launcher that $0.real leads to, with the settings of $0.settings: puts rank.sh before the program,
# the word after "-n NUMBER".
# shellcheck source=/dev/null
. "$0.settings"
before=""
left=$#
while [ "$left" -gt 0 ]; do
    word=$1
    shift
    left=$((left - 1))
    set -- "$@" "$word"
    [ "$before" != -n ] || set -- "$@" "$RANK_SCRIPT"
    before=$word
done
exec "$(readlink "$0.real")" "$@"
