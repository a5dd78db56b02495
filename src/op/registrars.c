/* SPDX-License-Identifier: MIT */
#include "op/registrars.h"

#include <string.h>

#include "base/libraries.h"
#include "base/text.h"
#include "base/object.h"

/* Beginnings: versions stand behind them (cuMemHostRegister_v2, ibv_reg_mr_iova2). Each is a function that a program
 * which uses the runtime's memory cannot do without, or that answers with its address. The CUDA runtime, linked
 * statically or not, asks the driver's library for its functions by cuGetProcAddress, before CUDA 11.3 by their names.
 * GCC's offloading to AMD's GPUs asks for hsa_memory_copy, SYCL's runtime for zexDriverImportExternalPointer by
 * zeDriverGetExtensionFunctionAddress, and a Level Zero loader that is linked statically for the table of zeMem.
 *
 * Not OpenCL: libraries that are built for it call it on machines without any device, too (PETSc of Debian). Its
 * devices are open files once it uses them (op/devices.h). */
static const char *const beginnings[] = {
    "cuMem",
    "cuGetProcAddress",
    "cudaMalloc",
    "cudaMemcpy",
    "cudaHost",
    "cudaGetDriverEntryPoint",
    "hipMalloc",
    "hipMem",
    "hipHost",
    "hipExtMalloc",
    "hipGetProcAddress",
    "hipGetDriverEntryPoint",
    "hsa_memory_",
    "hsa_amd_memory_",
    "hsa_amd_svm_",
    "hsaKmt",
    "zeMem",
    "zeDriverGetExtensionFunctionAddress",
    "zeGetMemProcAddrTable",
    "zexDriverImport",
    "ibv_reg_mr",
    "mlx5dv_devx_umem_reg",
    "io_uring_queue_init",
    "io_uring_setup",
    "io_uring_register",
};

bool registrars_include(const char *name)
{
    bool is_candidate = name[0] == 'c' || name[0] == 'h' || name[0] == 'i' || name[0] == 'm' || name[0] == 'z';
    return is_candidate && base_text_begins_any(name, beginnings, sizeof(beginnings) / sizeof(beginnings[0]));
}

static bool is_registrar(const char *name, void *context)
{
    (void)context;
    return registrars_include(name);
}

/* MPI's libraries and what lies below them register memory for MPI: mlx5, a provider of verbs, calls ibv_reg_mr(). */
static bool is_of_program(const struct object *object)
{
    const char *file = object_file_name(object);
    return !base_library_is_transport(file) && !base_library_is_provider(file);
}

static int object_visit(struct dl_phdr_info *info, size_t size_bytes, void *is_called)
{
    struct object object;
    (void)size_bytes;
    if (!object_read(info, &object) || !is_of_program(&object))
        return 0;
    *(bool *)is_called = object_find_undefined(&object, is_registrar, NULL);
    return *(bool *)is_called;
}

bool registrars_are_called(_Atomic unsigned long long *loads_seen)
{
    unsigned long long loads = object_counts().loads;
    bool is_called = false;
    /* relaxed: nothing is published through the number. */
    if (loads != atomic_exchange_explicit(loads_seen, loads, memory_order_relaxed))
        dl_iterate_phdr(object_visit, &is_called);
    return is_called;
}
