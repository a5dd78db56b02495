#!/bin/sh
# SPDX-License-Identifier: MIT
# A rank's program, with an RDMA device of its own: rank.sh PROGRAM ...
number=$((${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} % 2))
export UCX_NET_DEVICES="rxe$number:1" FI_VERBS_DEVICE_NAME="rxe$number"
exec "$@"
