/* SPDX-License-Identifier: MIT */
#include "job/fingerprint.h"

#include <inttypes.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/object.h"
#include "base/options.h"

/* What the linker has made of all of the file (--build-id). */
struct build {
    const uint8_t *bytes;
    size_t count;
};

enum { NOTE_ALIGNMENT = 4 };
static const char note_owner[] = "GNU";

static size_t note_padded(size_t bytes)
{
    return (bytes + NOTE_ALIGNMENT - 1) / NOTE_ALIGNMENT * NOTE_ALIGNMENT;
}

static void notes_look(const char *at, const char *end, struct build *build)
{
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        const char *owner = at + sizeof *note;
        const char *content = owner + note_padded(note->n_namesz);
        bool is_gnu = note->n_namesz == sizeof note_owner && memcmp(owner, note_owner, sizeof note_owner) == 0;
        if (is_gnu && note->n_type == NT_GNU_BUILD_ID)
            *build = (struct build){(const uint8_t *)content, note->n_descsz};
        at = content + note_padded(note->n_descsz);
    }
}

static int build_find(struct dl_phdr_info *info, size_t size_bytes, void *build)
{
    if (!object_holds_own((const void *)info->dlpi_addr))
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const char *begin = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_NOTE && info->dlpi_phdr[i].p_align <= NOTE_ALIGNMENT)
            notes_look(begin, begin + info->dlpi_phdr[i].p_memsz, build);
    }
    return 1;
}

bool fingerprint_write(char text[FINGERPRINT_BYTES])
{
    struct build build = {NULL, 0};
    dl_iterate_phdr(build_find, &build);
    int length = snprintf(text, FINGERPRINT_BYTES, "%016" PRIx64 "-", options_fingerprint());
    for (size_t i = 0; i < build.count && length + 2 < FINGERPRINT_BYTES; i++)
        length += snprintf(text + length, FINGERPRINT_BYTES - (size_t)length, "%02x", build.bytes[i]);
    return build.count != 0;
}
