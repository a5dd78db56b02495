/* SPDX-License-Identifier: MIT */
/* The one function that programs call by name (include/lapwing.h). */
#include "engine/engine.h"
#include "engine/gate.h"

__attribute__((visibility("default"))) void lapwing_progress_now(void);
void lapwing_progress_now(void)
{
    /* From a function that MPI has called, MPI is busy anyway. */
    if (gate_is_inside())
        return;
    gate_enter();
    engine_progress();
    gate_leave();
}
