/* SPDX-License-Identifier: MIT */
#include "bind/extension.h"

#include "bind/state.h"
#include "op/session.h"

void *extension_stop(size_t index, int first_argument)
{
    session_extended();
    return bind_next(index);
}
