/* SPDX-License-Identifier: MIT */
#include "intercept/extension.h"

#include "intercept/bind/state.h"
#include "intercept/session.h"

void *intercept_stop(size_t index, int first_argument)
{
    session_extended();
    return bind_next(index);
}
