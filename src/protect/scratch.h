/* SPDX-License-Identifier: MIT */
/* A send that moves takes only the pages that are all its own. What of it lies on the first and last page of the
 * buffer, beside other data, is copied to scratch pages at both ends of the transit range: there MPI finds the message
 * in one piece, and the page itself stays as it is, for everybody. Under the table's lock. */
#ifndef PROTECT_SCRATCH_H
#define PROTECT_SCRATCH_H

#include <stdbool.h>

#include "protect/holds.h"

/* Before the pages within the hold's bytes move. False where there is no room in transit; then nothing has changed. */
bool scratch_lay(const struct hold *hold);

/* MPI reads no more. */
void scratch_remove(const struct hold *hold);

#endif
