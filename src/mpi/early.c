/* SPDX-License-Identifier: MIT */
#include "mpi/early.h"

struct early early;
