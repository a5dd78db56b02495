/* SPDX-License-Identifier: MIT */
/* Claim: a library of the program's that calls a registering function of a GPU's runtime is noticed, whenever it is
 * loaded; the runtime alone, a transport of MPI's that calls it, and a provider of verbs are not. */
#include "op/registrars.h"

#include <dlfcn.h>
#include <stddef.h>

#include "../base/claim.h"

static _Atomic unsigned long long loads_seen;

/* By their headers: what makes memory of the host known to a device, or gives the address of what does. */
static const char *const functions[] = {
    /* CUDA's runtime and driver */
    "cudaHostRegister", "cudaMallocHost", "cudaHostAlloc", "cudaMallocManaged", "cudaMemcpyAsync",
    "cudaGetDriverEntryPoint", "cudaGetDriverEntryPointByVersion", "cuMemHostRegister_v2", "cuMemAllocHost_v2",
    "cuGetProcAddress", "cuGetProcAddress_v2",
    /* HIP */
    "hipHostRegister", "hipHostMalloc", "hipHostAlloc", "hipMallocManaged", "hipMallocHost", "hipMemAllocHost",
    "hipMemcpyAsync", "hipExtMallocWithFlags", "hipGetProcAddress", "hipGetDriverEntryPoint",
    /* HSA: GCC's offloading to AMD's GPUs asks for the first ones by dlsym(); and what lies below it */
    "hsa_memory_allocate", "hsa_memory_copy", "hsa_memory_register", "hsa_amd_memory_lock",
    "hsa_amd_memory_pool_allocate", "hsa_amd_svm_attributes_set", "hsaKmtRegisterMemory", "hsaKmtMapMemoryToGPU",
    /* Level Zero; SYCL's runtime imports memory by what the extension's function gives it, and a loader that is linked
     * statically asks for tables */
    "zeMemAllocHost", "zeMemAllocShared", "zeDriverGetExtensionFunctionAddress", "zeGetMemProcAddrTable",
    "zexDriverImportExternalPointer",
    /* verbs, and mlx5's own */
    "ibv_reg_mr", "ibv_reg_mr_iova", "ibv_reg_mr_iova2", "mlx5dv_devx_umem_reg", "mlx5dv_devx_umem_reg_ex",
    /* liburing */
    "io_uring_queue_init", "io_uring_queue_init_params", "io_uring_register_buffers", "io_uring_setup"};

/* As libraries call them that are loaded on machines without devices, too: hwloc's plugins, verbs' connections. */
static const char *const others[] = {"cos",
                                     "",
                                     "hypot",
                                     "cudaGetDeviceCount",
                                     "cuInit",
                                     "cuDeviceGet",
                                     "hipGetDeviceCount",
                                     "hsa_init",
                                     "zeInit",
                                     "zeDriverGet",
                                     "zeDeviceGet",
                                     "zesDeviceEnumMemoryModules",
                                     "ibv_open_device",
                                     "ibv_get_device_list",
                                     "mlx5dv_init_obj",
                                     "clCreateBuffer"};

static void names_check(void)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        claim(registrars_include(functions[i]), functions[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        claim(!registrars_include(others[i]), others[i]);
}

int main(int argc, char **argv)
{
    claim(argc == 5, "driver, transport, provider of verbs, plugin");
    claim(!registrars_are_called(&loads_seen), "not in this program");
    claim(dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) != NULL && !registrars_are_called(&loads_seen), "the driver alone");
    claim(dlopen(argv[2], RTLD_NOW) != NULL && !registrars_are_called(&loads_seen), "MPI's transport");
    claim(dlopen(argv[3], RTLD_NOW) != NULL && !registrars_are_called(&loads_seen), "a provider of verbs");
    claim(dlopen(argv[4], RTLD_NOW) != NULL && registrars_are_called(&loads_seen), "a library of the program's");
    claim(!registrars_are_called(&loads_seen), "told once");
    names_check();
    return 0;
}
