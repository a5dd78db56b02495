/* SPDX-License-Identifier: MIT */
#include "op/type_layout.h"

_Thread_local struct type_layout type_layout_cache[1 << TYPE_LAYOUT_CACHE_BITS];
