/* SPDX-License-Identifier: MIT */
#include "op/thread.h"

_Thread_local struct op_thread op_thread;
