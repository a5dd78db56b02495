/* SPDX-License-Identifier: MIT */
#include "profile/caller.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/range.h"
#include "base/libraries.h"
#include "base/text.h"
#include "profile/profile_thread.h"
#include "base/machine.h"
#include "record/profile_file.h"

enum { MODULES_MAX = 1024, WORDS_MAX = 512, WORDS_OF_UNKNOWN_STACK = 32, PATH_BYTES = 4096 };

/* Whose code it is: the program's own (its libraries' included), or what it calls to get a
 * message or to touch many bytes at once. */
enum module_owner { OWNER_PROGRAM, OWNER_SYSTEM };

struct module {
    struct range code;
    struct range data;
    uintptr_t base;
    enum module_owner owner;
};

/* Entries below the count never change. Written under the lock. */
static struct {
    struct base_lock lock;
    _Atomic uint32_t count;
    struct module table[MODULES_MAX];
} modules;

/* Beginnings of file names. */
static const char *const system_names[] = {
    "libc.so",    "libc-",        "ld-linux", "ld-2",    "libm.so",     "libm-",       "libmvec",
    "libpthread", "linux-vdso",   "libdl",    "librt",   "libgfortran", "libquadmath", "libflang",
    "libifcore",  "libgomp",      "libiomp",  "libomp",  "libstdc++",   "libgcc_s",    "libc++",
    "liblapwing", "libucp",       "libuct",   "libucs",  "libucm",      "libucc",      "libfabric",
    "libpsm",     "libhwloc",     "libevent", "libpmix", "libopenblas", "libblas",     "liblapack",
    "libmkl",     "libscalapack", "libfftw",  "libasan", "libtcmalloc", "libjemalloc", "libgsl"};

static enum module_owner owner_of(const char *path)
{
    const char *name = base_text_file_name(path);
    bool is_system = base_text_begins_any(name, system_names, sizeof(system_names) / sizeof(system_names[0]));
    return is_system || base_library_is_mpi(name) ? OWNER_SYSTEM : OWNER_PROGRAM;
}

static const struct module *module_at(uintptr_t address)
{
    /* acquire: the entries below the count are filled. */
    uint32_t count = atomic_load_explicit(&modules.count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (base_range_has(modules.table[i].code, address))
            return &modules.table[i];
    return NULL;
}

bool caller_is_known(uintptr_t address)
{
    return module_at(address) != NULL;
}

static struct range segment_range(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
    uintptr_t low = info->dlpi_addr + segment->p_vaddr;
    return (struct range){low, low + segment->p_memsz};
}

static void segments_read(const struct dl_phdr_info *info, struct module *module)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_flags & PF_X)
            module->code = segment_range(info, segment);
        if (segment->p_flags & PF_W)
            module->data = segment_range(info, segment);
    }
}

static const char *module_path(const struct dl_phdr_info *info, char *storage)
{
    if (info->dlpi_name != NULL && info->dlpi_name[0] != '\0')
        return info->dlpi_name;
    ssize_t length = readlink("/proc/self/exe", storage, PATH_BYTES - 1);
    storage[length > 0 ? length : 0] = '\0';
    return storage;
}

static int module_read(struct dl_phdr_info *info, size_t size_bytes, void *storage)
{
    struct module module = {.base = info->dlpi_addr};
    uint32_t count = atomic_load_explicit(&modules.count, memory_order_relaxed);
    segments_read(info, &module);
    if (base_range_is_empty(module.code) || module_at(module.code.low) != NULL || count == MODULES_MAX)
        return 0;
    const char *path = module_path(info, storage);
    module.owner = owner_of(path);
    modules.table[count] = module;
    atomic_store_explicit(&modules.count, count + 1, memory_order_release);
    profile_file_module_add(path, module.base, module.code.low, module.code.high);
    return 0;
}

void caller_modules_read(void)
{
    char storage[PATH_BYTES];
    base_lock_take(&modules.lock);
    dl_iterate_phdr(module_read, storage);
    base_lock_release(&modules.lock);
}

void caller_thread_begin(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t length_bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    pthread_attr_getstack(&attributes, &low, &length_bytes);
    pthread_attr_destroy(&attributes);
    profile_thread.stack_high = (uintptr_t)low + length_bytes;
}

/* Is this a return address of the program's, and did its call lead into a system library? The
 * linkage table tells: old words on the stack that look like return addresses are not taken for one. */
static bool is_way_out(uintptr_t return_address)
{
    const struct module *module = module_at(return_address - 1);
    if (module == NULL || module->owner != OWNER_PROGRAM || return_address - 8 < module->code.low)
        return false;
    uintptr_t slot = machine_call_slot(return_address);
    uintptr_t target = machine_call_target(return_address);
    if (slot == 0 && target >= module->code.low && target + 16 < module->code.high)
        slot = machine_jump_slot(target);
    if (slot < module->data.low || slot + sizeof(slot) > module->data.high)
        return false;
    const struct module *callee = module_at(*(const uintptr_t *)slot);
    return callee != NULL && callee->owner == OWNER_SYSTEM;
}

__attribute__((no_sanitize("address"))) static uintptr_t stack_search(uintptr_t stack)
{
    uintptr_t word = (stack + sizeof(uintptr_t) - 1) & ~(sizeof(uintptr_t) - 1);
    bool is_mine = stack < profile_thread.stack_high && profile_thread.stack_high - stack < ((uintptr_t)1 << 36);
    uintptr_t room = is_mine ? (profile_thread.stack_high - word) / sizeof(uintptr_t) : WORDS_OF_UNKNOWN_STACK;
    uintptr_t end = word + (room < WORDS_MAX ? room : WORDS_MAX) * sizeof(uintptr_t);
    for (; word < end; word += sizeof(uintptr_t)) {
        uintptr_t value = *(const uintptr_t *)word;
        if (is_way_out(value))
            return value;
    }
    return 0;
}

uintptr_t caller_of_access(uintptr_t instruction, uintptr_t stack, bool *is_call)
{
    const struct module *module = module_at(instruction);
    *is_call = module != NULL && module->owner != OWNER_PROGRAM;
    if (!*is_call)
        return instruction;
    uintptr_t found = stack_search(stack);
    *is_call = found != 0;
    return found != 0 ? found : instruction;
}
