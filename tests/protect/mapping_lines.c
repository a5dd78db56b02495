/* SPDX-License-Identifier: MIT */
/* Claim: a line of /proc/self/maps is understood, whatever its name looks like. */
#include "hold_test.h"
#include "protect/memory.h"

static struct memory_mapping parse(const char *line)
{
    struct memory_mapping mapping = {0};
    check(memory_line_parse(line, &mapping), "a line of the kernel is understood");
    return mapping;
}

int main(void)
{
    struct memory_mapping mapping = parse("7f0000000000-7f0000021000 rw-p 00000000 00:00 0 ");
    check(mapping.range.low == 0x7f0000000000 && mapping.range.high == 0x7f0000021000, "the range");
    check(mapping.is_readable && mapping.is_writable && !mapping.is_shared && !mapping.is_file, "the access");
    check(!mapping.is_executable && parse("7f00-7f10 rwxp 00000000 00:00 0 ").is_executable, "code or none");
    check(mapping.name == MAPPING_PLAIN, "no name");
    mapping = parse("55d8c0000000-55d8c0021000 r--s 0001f000 fe:01 1234567                    /a path/with rw-p");
    check(mapping.is_readable && !mapping.is_writable && mapping.is_shared && mapping.is_file, "a shared file");
    check(parse("55d8c0000000-55d8c0021000 rw-p 00000000 00:00 0    [heap]").name == MAPPING_HEAP, "the heap");
    check(parse("7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0    [stack]").name == MAPPING_STACK, "the stack");
    check(parse("7f0000000000-7f0000021000 rw-p 0 00:00 0  [anon:arena]").name == MAPPING_PLAIN, "a name by prctl");
    check(parse("7f0000000000-7f0000021000 r--p 0 00:00 0  [vvar]").name == MAPPING_OTHER, "the kernel's own");
    check(!memory_line_parse("", &mapping) && !memory_line_parse("7f00-7f10", &mapping), "rubbish is refused");
    return 0;
}
