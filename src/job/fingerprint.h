/* SPDX-License-Identifier: MIT */
/* What two processes have in common that run the same Lapwing with the same options. */
#ifndef JOB_FINGERPRINT_H
#define JOB_FINGERPRINT_H

#include <stdbool.h>

/* Its text has no spaces, and ends with 0. */
enum { FINGERPRINT_BYTES = 64 };

/* False: this build has no number of its own. */
bool fingerprint_write(char text[FINGERPRINT_BYTES]);

#endif
