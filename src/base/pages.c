/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <sys/auxv.h>

size_t base_page_bytes(void)
{
    static size_t page_bytes; /* same value whoever writes it first */
    if (page_bytes == 0)
        page_bytes = getauxval(AT_PAGESZ);
    return page_bytes;
}
