/* SPDX-License-Identifier: MIT */
/* Claim: a function that deletes a datatype's attribute, whose key Open MPI's C++ bindings have made, may use what was
 * just received. (MPI::Datatype::Create_keyval is inline: this is the function of the library that it calls.)
 * passes: nothing
 * quick: openmpi4 userfaultfd */

#include "check.h"
#include "cxx_bindings.h"

typedef int cxx_create(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *delete, void *cxx_copy,
                       void *cxx_delete, void *extra, int *key);

static const char cxx_name[] = "_ZN3MPI8Datatype16do_create_keyvalEPFiP15ompi_datatype_tiPvS3_S3_PiEPFiS2_iS3_S3_E"
                               "PFiRKS0_iS3_PKvS3_RbEPFiRS0_iS3_S3_ES3_Ri";

static unsigned char *buffer;
static int call_count;

static int type_deleted(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    call_count++;
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "the message");
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    cxx_create *create = (cxx_create *)cxx_bindings_find(cxx_name);
    if (create == NULL)
        return check_skip("this MPI has no C++ bindings");
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int key;
    MPI_Datatype type;
    check(create(MPI_TYPE_NULL_COPY_FN, type_deleted, NULL, NULL, NULL, &key) == MPI_SUCCESS, "there is a key");
    MPI_Type_contiguous(4, MPI_INT, &type);
    MPI_Type_set_attr(type, key, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 5);
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    }
    MPI_Type_free(&type);
    check(call_count == 1, "the function was called once");
    MPI_Type_free_keyval(&key);
    return check_end();
}
