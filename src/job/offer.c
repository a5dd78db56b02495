/* SPDX-License-Identifier: MIT */
#include "job/offer.h"

struct offer offer;
