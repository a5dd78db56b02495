/* SPDX-License-Identifier: MIT */
/* Claim: a library of the program's that calls a registering function of a GPU's runtime is noticed, whenever it is
 * loaded; the runtime alone, and a transport of MPI's that calls it, are not. */
#include "op/registrars.h"

#include <dlfcn.h>
#include <stddef.h>

#include "../base/claim.h"

static _Atomic unsigned long long loads_seen;

int main(int argc, char **argv)
{
    claim(argc == 4, "driver, transport, plugin");
    claim(!registrars_are_called(&loads_seen), "not in this program");
    claim(dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) != NULL && !registrars_are_called(&loads_seen), "the driver alone");
    claim(dlopen(argv[2], RTLD_NOW) != NULL && !registrars_are_called(&loads_seen), "MPI's transport");
    claim(dlopen(argv[3], RTLD_NOW) != NULL && registrars_are_called(&loads_seen), "a library of the program's");
    claim(!registrars_are_called(&loads_seen), "told once");
    claim(registrars_include("cuGetProcAddress_v2") && registrars_include("ibv_reg_mr_iova2"), "versions of a name");
    claim(!registrars_include("clCreateBuffer"), "OpenCL, whose devices are open files");
    claim(!registrars_include("cos") && !registrars_include("") && !registrars_include("hypot"), "other names");
    return 0;
}
