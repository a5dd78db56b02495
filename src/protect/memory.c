/* SPDX-License-Identifier: MIT */
/* Which memory can be held. */
#include "protect/memory.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/pages.h"
#include "protect/armed.h"

#include "protect/holds.h"
#include "protect/kernel.h"
#include "protect/memory_kept.h"

enum { NAME_BYTES_MAX = 128, LINE_BYTES_MAX = 256, READ_BYTES = 4096 };

/* PROCMAP_QUERY of linux/fs.h, Linux 6.11; newer than Debian 12's headers. */
struct procmap_query {
    uint64_t size;
    uint64_t query_flags;
    uint64_t query_addr;
    uint64_t vma_start;
    uint64_t vma_end;
    uint64_t vma_flags;
    uint64_t vma_page_size;
    uint64_t vma_offset;
    uint64_t inode;
    uint32_t dev_major;
    uint32_t dev_minor;
    uint32_t vma_name_size;
    uint32_t build_id_size;
    uint64_t vma_name_addr;
    uint64_t build_id_addr;
};
_Static_assert(sizeof(struct procmap_query) == 104, "the size is part of the ioctl's number");

static const unsigned long PROCMAP_QUERY_REQUEST = 0xC0686611; /* _IOWR('f', 17, struct procmap_query) */
enum { PROCMAP_READABLE = 1, PROCMAP_WRITABLE = 2, PROCMAP_EXECUTABLE = 4, PROCMAP_SHARED = 8 };

/* Written by start and stop; nobody else runs then. */
static int maps_descriptor = -1;

static enum memory_mapping_name name_of(const char *name)
{
    if (name[0] == 0 || strncmp(name, "[anon:", 6) == 0)
        return MAPPING_PLAIN;
    if (strcmp(name, "[heap]") == 0)
        return MAPPING_HEAP;
    return strncmp(name, "[stack", 6) == 0 ? MAPPING_STACK : MAPPING_OTHER;
}

static void mapping_from_query(const struct procmap_query *query, const char *name, struct memory_mapping *mapping)
{
    mapping->range = (struct range){query->vma_start, query->vma_end};
    mapping->is_readable = query->vma_flags & PROCMAP_READABLE;
    mapping->is_writable = query->vma_flags & PROCMAP_WRITABLE;
    mapping->is_executable = query->vma_flags & PROCMAP_EXECUTABLE;
    mapping->is_shared = query->vma_flags & PROCMAP_SHARED;
    mapping->is_file = query->inode != 0;
    mapping->has_huge_pages = query->vma_page_size != base_page_bytes();
    mapping->name = name_of(name);
}

/* 0 or an errno value. A name that is too long is a file's: ask again without. */
static int query_mapping(uintptr_t address, uint32_t name_bytes, struct memory_mapping *mapping)
{
    char name[NAME_BYTES_MAX] = "";
    struct procmap_query query = {.size = sizeof(query), .query_addr = address, .vma_name_size = name_bytes};
    query.vma_name_addr = name_bytes == 0 ? 0 : (uintptr_t)name;
    if (kernel_ioctl(maps_descriptor, PROCMAP_QUERY_REQUEST, &query) != 0)
        return errno;
    mapping_from_query(&query, name, mapping);
    return 0;
}

static int query_find(uintptr_t address, struct memory_mapping *mapping)
{
    int error = query_mapping(address, NAME_BYTES_MAX, mapping);
    return error == ENAMETOOLONG ? query_mapping(address, 0, mapping) : error;
}

/* "low-high rwxp offset device inode    name" */
bool memory_line_parse(const char *line, struct memory_mapping *mapping)
{
    char *rest;
    mapping->range.low = strtoul(line, &rest, 16);
    if (*rest != '-')
        return false;
    mapping->range.high = strtoul(rest + 1, &rest, 16);
    if (strlen(rest) < 6)
        return false;
    mapping->is_readable = rest[1] == 'r';
    mapping->is_writable = rest[2] == 'w';
    mapping->is_executable = rest[3] == 'x';
    mapping->is_shared = rest[4] == 's';
    strtoul(rest + 5, &rest, 16); /* offset */
    rest += strspn(rest, " ");
    rest += strcspn(rest, " "); /* device */
    mapping->is_file = strtoul(rest, &rest, 10) != 0;
    mapping->has_huge_pages = false; /* only files have them */
    mapping->name = name_of(rest + strspn(rest, " "));
    return true;
}

/* Lines out of read(2): long ones are cut, their ends dropped. */
struct line_reader {
    int descriptor;
    ssize_t read_bytes;
    ssize_t next;
    char buffer[READ_BYTES];
};

static int reader_byte(struct line_reader *reader)
{
    if (reader->next == reader->read_bytes) {
        reader->read_bytes = kernel_read(reader->descriptor, reader->buffer, sizeof(reader->buffer));
        reader->next = 0;
    }
    return reader->read_bytes > 0 ? (unsigned char)reader->buffer[reader->next++] : -1;
}

static bool reader_line(struct line_reader *reader, char *line)
{
    size_t length = 0;
    int byte = reader_byte(reader);
    if (byte < 0)
        return false;
    for (; byte >= 0 && byte != '\n'; byte = reader_byte(reader))
        if (length < LINE_BYTES_MAX - 1)
            line[length++] = (char)byte;
    line[length] = 0;
    return true;
}

static bool text_search(int descriptor, uintptr_t address, struct memory_mapping *mapping)
{
    struct line_reader reader = {.descriptor = descriptor};
    char line[LINE_BYTES_MAX];
    while (reader_line(&reader, line))
        if (memory_line_parse(line, mapping) && base_range_has(mapping->range, address))
            return true;
    return false;
}

static bool text_find(uintptr_t address, struct memory_mapping *mapping)
{
    int descriptor = kernel_open("/proc/self/maps", O_RDONLY);
    if (descriptor < 0)
        return false;
    bool is_found = text_search(descriptor, address, mapping);
    kernel_close(descriptor);
    return is_found;
}

/* A descriptor that the program closed over our heads answers like an old kernel. */
bool memory_mapping_find(uintptr_t address, struct memory_mapping *mapping)
{
    int saved_errno = errno;
    int error = maps_descriptor < 0 ? ENOTTY : query_find(address, mapping);
    bool is_found = error == 0 || (error != ENOENT && text_find(address, mapping));
    errno = saved_errno;
    return is_found;
}

void memory_start(void)
{
    struct memory_mapping mapping;
    maps_descriptor = base_descriptor_own(kernel_open("/proc/self/maps", O_RDONLY));
    if (maps_descriptor >= 0 && query_find((uintptr_t)&mapping, &mapping) != 0)
        memory_stop();
    if (maps_descriptor < 0)
        memory_kept_start();
}

void memory_stop(void)
{
    memory_kept_stop();
    base_descriptor_close(maps_descriptor);
    maps_descriptor = -1;
}

/* Stacks of threads have no name: our own is where this function's frame is. */
static bool is_stack(const struct memory_mapping *mapping)
{
    return mapping->name == MAPPING_STACK || base_range_has(mapping->range, (uintptr_t)__builtin_frame_address(0));
}

/* A send that is held already makes its pages read-only (signal backend). */
static bool is_held(uintptr_t address)
{
    return protect_armed_find((struct range){address, address + 1}, false) != 0;
}

static enum reason mapping_check(const struct memory_mapping *mapping, uintptr_t address, bool sets_rights)
{
    if (is_stack(mapping))
        return REASON_MEMORY_STACK;
    if (mapping->has_huge_pages)
        return REASON_MEMORY_SPECIAL;
    if (mapping->is_shared || mapping->is_file)
        return REASON_MEMORY_SHARED;
    /* What mprotect(2) closes is opened as data: the right to run it would be lost. */
    if (mapping->is_executable && sets_rights)
        return REASON_MEMORY_SPECIAL;
    bool is_usable = (mapping->is_readable && mapping->is_writable) || is_held(address);
    return is_usable && mapping->name != MAPPING_OTHER ? REASON_NONE : REASON_MEMORY_SPECIAL;
}

/* A hold splits the mapping that it lies in until it is released. */
static bool is_seam_of_hold(uintptr_t address)
{
    struct range around = {address - 1, address + 1};
    struct hold_view view;
    for (struct hold *hold = hold_next(NULL, around, &view); hold != NULL; hold = hold_next(hold, around, &view))
        if (view.pages.low == address || view.pages.high == address)
            return true;
    return false;
}

/* A message that is still under way has been checked itself. */
static bool is_in_hold(struct range pages)
{
    struct hold_view view;
    for (struct hold *hold = hold_next(NULL, pages, &view); hold != NULL; hold = hold_next(hold, pages, &view))
        if (base_range_covers(view.pages, pages))
            return true;
    return false;
}

static enum reason pages_check(struct range pages, bool sets_rights)
{
    struct memory_mapping mapping;
    uintptr_t address = pages.low;
    enum reason reason = address < pages.high ? REASON_NONE : REASON_MEMORY_SPECIAL;
    while (reason == REASON_NONE && address < pages.high) {
        if (!memory_mapping_find(address, &mapping))
            return REASON_MEMORY_SPECIAL;
        if (address != pages.low && !is_seam_of_hold(address))
            return REASON_MEMORY_MAPPINGS;
        reason = mapping_check(&mapping, address, sets_rights);
        address = mapping.range.high;
    }
    return reason;
}

/* The others may be of the moment (holds beside these pages come and go), or of the caller. */
static bool reason_lasts(enum reason reason)
{
    return reason == REASON_NONE || reason == REASON_MEMORY_SHARED;
}

/* The mapping of the stack that the thread began on, and keeps: the first thread's, or one with glibc's description of
 * the thread on its top. Empty as long as the thread was not seen there. */
static _Thread_local struct range own_stack;

static void own_stack_find(uintptr_t frame)
{
    struct memory_mapping mapping;
    if (base_range_has(own_stack, frame) || !memory_mapping_find(frame, &mapping))
        return;
    if (mapping.name == MAPPING_STACK || base_range_has(mapping.range, (uintptr_t)pthread_self()))
        own_stack = mapping.range;
}

/* On a stack that the program made itself (a coroutine's) nobody knows how far it reaches: the list must be read. */
static bool is_on_own_stack(void)
{
    return base_range_has(own_stack, (uintptr_t)__builtin_frame_address(0));
}

static bool reason_find(struct range pages, enum reason *reason)
{
    *reason = REASON_MEMORY_STACK;
    return is_on_own_stack() &&
           (base_ranges_overlap(own_stack, pages) || memory_kept_find(pages, is_in_hold(pages), reason));
}

static enum reason pages_check_and_keep(struct range pages, bool sets_rights)
{
    own_stack_find((uintptr_t)__builtin_frame_address(0));
    struct memory_kept_moment moment = memory_kept_now();
    enum reason reason = pages_check(pages, sets_rights);
    if (reason_lasts(reason))
        memory_kept_add(pages, reason, moment);
    return reason;
}

enum reason memory_check(struct range bytes, bool sets_rights)
{
    struct range pages = base_pages_of(bytes);
    if (maps_descriptor >= 0 || base_range_is_empty(pages))
        return pages_check(pages, sets_rights);
    int saved_errno = errno;
    enum reason reason;
    if (!reason_find(pages, &reason))
        reason = pages_check_and_keep(pages, sets_rights);
    errno = saved_errno;
    return reason;
}

enum { ARENA_BYTES = 64 << 20 };

/* How an arena begins, or one of its further pieces: glibc, malloc/arena.c, struct _heap_info. */
struct arena_head {
    uintptr_t arena;
    uintptr_t before;
    size_t length_bytes;
    size_t opened_bytes;
};

/* Any memory of the program may stand there, but if it looks so it may be one. No tool's shadow knows of it. */
__attribute__((no_sanitize("address", "thread"))) static bool head_reaches(const struct arena_head *head, size_t bytes)
{
    return head->arena != 0 && head->length_bytes <= head->opened_bytes && head->opened_bytes <= ARENA_BYTES &&
           bytes < head->length_bytes;
}

static bool head_is_held(uintptr_t begin)
{
    return protect_armed_find((struct range){begin, begin + sizeof(struct arena_head)}, true) != 0;
}

/* A thread's arena of glibc's malloc starts on a multiple of its greatest size
 * (malloc/arena.c, HEAP_MAX_SIZE) and has no name of its own. Holds and advice split it, but its first page, which
 * describes it, is nobody's message. */
static bool may_be_arena(const struct memory_mapping *mapping, uintptr_t address)
{
    uintptr_t begin = address & ~((uintptr_t)ARENA_BYTES - 1);
    struct memory_mapping first = *mapping;
    if (mapping->range.low > begin && !memory_mapping_find(begin, &first))
        return false;
    bool is_plain = first.name == MAPPING_PLAIN && first.is_readable && first.is_writable;
    if (!is_plain || first.is_shared || first.is_file)
        return false;
    return head_is_held(begin) || head_reaches((const struct arena_head *)begin, address - begin);
}

/* The same without the list of mappings; true, too, where the kernel does not say. */
static bool may_be_arena_unlisted(uintptr_t address)
{
    uintptr_t begin = address & ~((uintptr_t)ARENA_BYTES - 1);
    struct arena_head head;
    int saved_errno = errno;
    bool may_be = head_is_held(begin) ||
                  (kernel_copy(&head, begin, sizeof(head)) ? head_reaches(&head, address - begin) : errno != EFAULT);
    errno = saved_errno;
    return may_be;
}

static int object_contains(struct dl_phdr_info *object, size_t size, void *address)
{
    (void)size;
    bool is_inside = false;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t low = object->dlpi_addr + part->p_vaddr;
        is_inside |=
            part->p_type == PT_LOAD && base_range_has((struct range){low, low + part->p_memsz}, *(uintptr_t *)address);
    }
    return is_inside;
}

/* Variables of a program or library, in arrays as large as an arena (Fortran's COMMON). */
static bool is_variable(uintptr_t address)
{
    return dl_iterate_phdr(object_contains, &address) != 0;
}

bool memory_is_variable(struct range bytes)
{
    return is_variable(bytes.low);
}

/* Nothing but the heap and variables is below the program break, or only what the program put there by hand. */
static bool is_heap_unlisted(uintptr_t address)
{
    bool may_be = address < (uintptr_t)syscall(SYS_brk, 0L) || may_be_arena_unlisted(address);
    return may_be && !is_variable(address);
}

bool memory_is_heap(struct range bytes)
{
    if (maps_descriptor < 0)
        return is_heap_unlisted(bytes.low);
    struct memory_mapping mapping;
    return memory_mapping_find(bytes.low, &mapping) &&
           (mapping.name == MAPPING_HEAP || (may_be_arena(&mapping, bytes.low) && !is_variable(bytes.low)));
}
