/* SPDX-License-Identifier: MIT */
#include "mpi/early.h"

struct early early;
_Atomic uint32_t early_claims;
