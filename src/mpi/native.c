/* SPDX-License-Identifier: MIT */
#include "mpi/native.h"

struct native native_slots[TRANSFERS_MAX];
