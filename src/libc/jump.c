/* SPDX-License-Identifier: MIT */
#include "libc/jump.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "base/libraries.h"
#include "base/text.h"
#include "base/object.h"
#include "libc/mpi_names.h"
#include "libc/real.h"
#include "libc/runtime.h"
#include "libc/threads.h"
#include "libc/use.h"
#include "op/registrars.h"
#include "op/session.h"

/* UCX (src/ucm/bistro), libfabric (its memory hooks) and Open MPI (opal/mca/patcher) ask for these by
 * dlsym(RTLD_DEFAULT) and overwrite the first instructions of what they get.
 * That must be libc's function: in ours it would end our waits, and UCX, which
 * then no longer sees what free() unmaps inside libc, would replace malloc.
 * Who else asks calls what it gets, and that must wait. */
static bool is_patched_by_name(const char *name)
{
    static const char *const names[] = {"mmap",  "mmap64", "munmap", "mremap", "madvise",
                                        "shmat", "shmdt",  "brk",    "sbrk"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* dlsym as it answers from this library's place. The barrier keeps the call a
 * call: a jump would show the caller's place instead. */
static void *dlsym_behind_us(void *handle, const char *name)
{
    void *found = LIBC_REAL(dlsym)(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(found));
    return found;
}

/* dlsym as it answers for RTLD_DEFAULT, whatever the caller's handle is. */
static void *dlsym_default(void *handle, const char *name)
{
    (void)handle;
    return LIBC_REAL(dlsym)(RTLD_DEFAULT, name);
}

/* UCX (src/ucm/util/reloc.c) writes its own of these into every linkage table, and goes on from there to what it has
 * asked for: in 1.18 by libc's own handle, past our entries. */
static bool is_replaced_in_tables(const char *name)
{
    return strcmp(name, "dlopen") == 0 || strcmp(name, "dlclose") == 0;
}

/* True where our MPI entry is the answer and there is no MPI function behind it.
 * mpi4py (_mpiabi.py) asks the global scope for MPI_Abi_get_version before it has
 * loaded an MPI, and calls what it gets; without Lapwing it gets nothing. A caller
 * that asks RTLD_DEFAULT may see an MPI in a scope of its own, which a look from
 * here misses: then the binding knows. */
static bool is_entry_alone(void *handle, const char *name)
{
    if (!object_holds_own(LIBC_REAL(dlsym)(handle, name)) || dlsym_behind_us(handle, name) != NULL)
        return false;
    return handle != RTLD_DEFAULT || !mpi_names.are_offered(name);
}

/* True where an entry of ours is the answer and libc has no such function: who asks has another
 * way without. (Who asks for the next one gets what comes after it.) */
static bool is_absent_entry(void *handle, const char *name)
{
    return handle != RTLD_NEXT && libc_real_lacks(name) && object_holds_own(LIBC_REAL(dlsym)(handle, name));
}

/* dlsym as it answers with our entry for a function that the table of MPI's lacks. */
static void *dlsym_unknown(void *handle, const char *name)
{
    (void)handle;
    return (void *)mpi_names.unknown_entry(name);
}

/* MPI's own libraries, and our binding, ask for what they like. */
static bool is_of_program(void *caller)
{
    Dl_info found;
    if (object_holds_own(caller) || dladdr(caller, &found) == 0)
        return false;
    return !base_library_is_mpi(base_text_file_name(found.dli_fname));
}

/* So do the libraries below MPI. */
static bool may_register(void *caller)
{
    return !object_holds_own(caller) && !libc_runtime_is_transport((uintptr_t)caller);
}

/* Names of other libraries, most of all, are told at their first letters. */
static bool is_unseen(const char *name)
{
    bool may_be = base_text_begins(name, "MPI") || base_text_begins(name, "PMPI");
    return may_be && mpi_names.are_unseen(name);
}

static bool has_unknown_entry(const char *name)
{
    return base_text_begins(name, "MPI") && mpi_names.unknown_entry(name) != NULL;
}

/* dlsym as it answers for RTLD_DEFAULT, but for who stands before us: a tool that asks for what it leads to. */
static void *dlsym_entry(void *handle, const char *name)
{
    (void)handle;
    void *first = LIBC_REAL(dlsym)(RTLD_DEFAULT, name);
    return object_holds_own(first) ? first : (void *)mpi_names.entry(name);
}

/* Found by the MPI library's own handle, or by RTLD_NEXT from behind us, the function would not be our entry, to which
 * the name leads everywhere else. */
static bool is_past_entry(void *handle, const char *name, void *caller)
{
    return base_text_begins(name, "MPI") && mpi_names.is_past_entry(name, LIBC_REAL(dlsym)(handle, name)) &&
           is_of_program(caller);
}

/* A tool behind us asks for what comes after its own function, to which our entry leads. */
static bool is_for_tool(void *handle, const char *name)
{
    bool is_followed = mpi_names.are_followed(name);
    if (is_followed && handle != RTLD_NEXT)
        session_refuse_bypass(); /* it may not be the tool that asks */
    return is_followed;
}

/* The function that is to answer. */
static void *dlsym_for(void *handle, const char *name, void *caller)
{
    if (is_past_entry(handle, name, caller) && !is_for_tool(handle, name))
        return (void *)dlsym_entry;
    if (has_unknown_entry(name) && is_of_program(caller)) {
        if (mpi_names.is_unknown(name, LIBC_REAL(dlsym)(handle, name)))
            return (void *)dlsym_unknown;
        session_refuse_bypass(); /* what it gets may be MPI's all the same: see is_entry_alone() */
    }
    if (is_unseen(name) && is_of_program(caller))
        session_refuse_bypass();
    if (registrars_include(name) && may_register(caller))
        session_meet_registration();
    if (handle == RTLD_DEFAULT && is_patched_by_name(name) && libc_runtime_is_transport((uintptr_t)caller))
        return (void *)dlsym_behind_us;
    if (is_replaced_in_tables(name) && libc_runtime_is_transport((uintptr_t)caller))
        return (void *)dlsym_default;
    if (handle != RTLD_NEXT && base_text_begins(name, "MPI") && is_entry_alone(handle, name))
        return (void *)dlsym_behind_us;
    return is_absent_entry(handle, name) ? (void *)dlsym_behind_us : (void *)LIBC_REAL(dlsym);
}

static bool are_of_one_object(__typeof__(dladdr) *describe, void *function, void *other)
{
    Dl_info first;
    Dl_info second;
    return describe(function, &first) != 0 && describe(other, &second) != 0 && first.dli_fbase == second.dli_fbase;
}

/* In functions that the program has the dynamic linker call before all constructors (.preinit_array), libc's among
 * them, which sets `environ` anew. A library that is opened then, as the binding opens MPI's once more, would have them
 * called without an environment. */
static bool is_before_constructors(void)
{
    return environ == NULL;
}

/* A sanitizer's runtime asks for what stands behind its own functions, before any constructor. To us these are libc's,
 * and until it has its answers they do not work: strcmp() is one, and MemorySanitizer's dladdr() another. */
static bool is_runtime_that_starts(void *caller)
{
    if (libc_threads_are_started())
        return false;
    if (is_before_constructors())
        return true;
    __typeof__(dladdr) *describe = (__typeof__(dladdr) *)libc_real_named("dladdr");
    return describe != NULL && are_of_one_object(describe, caller, (void *)strcmp);
}

/* A library that has just been loaded is first used through dlsym (Python asks
 * for PyInit_<module>): time to make the MPI names that this MPI lacks look
 * absent in it. dlopen's entry cannot, since dlopen looks where its caller lives
 * (RUNPATH, $ORIGIN), so that nothing of ours may come after it. */
void *libc_jump_before_dlsym(void *handle, const char *name, void *unused, void *caller)
{
    (void)unused;
    if (is_runtime_that_starts(caller))
        return (void *)LIBC_REAL(dlsym);
    int saved_errno = errno;
    mpi_names.objects_adjust();
    void *answering = dlsym_for(handle, name, caller);
    errno = saved_errno;
    return answering;
}

static void known_wait(void)
{
    if (protect_armed_is_any())
        libc_use_known();
}

/* A peer may have written the library before it sent. */
void *libc_jump_before_dlopen(const char *path, int flags, void *unused, void *caller)
{
    (void)unused;
    known_wait();
    if (flags & RTLD_DEEPBIND && is_of_program(caller))
        mpi_names.opens_deep(path);
    return (void *)LIBC_REAL(dlopen);
}

/* The child runs on its parent's stack until it executes another program, so no
 * frame of ours may lie there: only the work before is ours. */
void *libc_jump_before_vfork(void)
{
    known_wait();
    return (void *)LIBC_REAL(vfork);
}

/* A child that shares this memory can be a thread that nobody else knows of. */
void *libc_jump_before_clone(void *start, void *stack, int flags)
{
    (void)start;
    (void)stack;
    if (flags & CLONE_VM)
        libc_threads_note();
    else if (protect_armed_is_any())
        libc_use_all();
    return (void *)LIBC_REAL(clone);
}
