/* SPDX-License-Identifier: MIT */
#include "job/pmi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/text.h"
#include "job/fingerprint.h"

enum {
    LINE_BYTES = 1024,     /* of a command of ours or its answer, whose values are short */
    LOCAL_RANKS_MAX = 512, /* the launcher's cache of a host is not full with so many, see pmi_offer() */
};

static bool line_write(int descriptor, const char *line)
{
    size_t left = strlen(line);
    while (left > 0) {
        ssize_t done = write(descriptor, line, left);
        if (done < 0 && errno != EINTR)
            return false;
        left -= done < 0 ? 0 : (size_t)done;
        line += done < 0 ? 0 : done;
    }
    return true;
}

/* To the end of the line. The launcher sends nothing but answers, so that no byte of another is taken. */
static bool line_read(int descriptor, char line[LINE_BYTES])
{
    size_t length = 0;
    while (length < LINE_BYTES - 1) {
        ssize_t done = read(descriptor, line + length, LINE_BYTES - 1 - length);
        if (done == 0 || (done < 0 && errno != EINTR))
            return false;
        length += done < 0 ? 0 : (size_t)done;
        if (length > 0 && line[length - 1] == '\n') {
            line[length - 1] = '\0';
            return true;
        }
    }
    return false;
}

/* Of "cmd=get_result rc=0 value=x" the field rc is "0". False: there is none, or it is too long. */
static bool field_read(const char *line, const char *name, char *value, size_t value_bytes)
{
    char sought[32];
    snprintf(sought, sizeof sought, " %s=", name);
    const char *found = strstr(line, sought);
    if (found == NULL)
        return false;
    found += strlen(sought);
    size_t length = strcspn(found, " ");
    if (length >= value_bytes)
        return false;
    memcpy(value, found, length);
    value[length] = '\0';
    return true;
}

/* Gives a command, and reads the answer to it. */
static bool command_give(int descriptor, const char *command, const char *answer, char line[LINE_BYTES])
{
    return line_write(descriptor, command) && line_read(descriptor, line) && base_text_begins(line, answer);
}

static bool is_right(const char *line)
{
    char code[16];
    return field_read(line, "rc", code, sizeof code) && strcmp(code, "0") == 0;
}

/* MPI does the same when it starts; the launcher only answers, how often it is asked. */
static bool protocol_begin(struct pmi *pmi)
{
    char line[LINE_BYTES];
    int to = pmi->descriptor;
    return command_give(to, "cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init", line) &&
           is_right(line) && command_give(to, "cmd=get_my_kvsname\n", "cmd=my_kvsname", line) &&
           field_read(line, "kvsname", pmi->store, sizeof pmi->store);
}

static bool text_put(const struct pmi *pmi, const char *text)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=lapwing-%d value=%s\n", pmi->store, pmi->rank, text);
    return command_give(pmi->descriptor, line, "cmd=put_result", line) && is_right(line);
}

/* Empty: the rank has offered nothing. */
static bool text_get(const struct pmi *pmi, int rank, char text[FINGERPRINT_BYTES])
{
    char line[LINE_BYTES];
    text[0] = '\0';
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=lapwing-%d\n", pmi->store, rank);
    if (!command_give(pmi->descriptor, line, "cmd=get_result", line))
        return false;
    return !is_right(line) || field_read(line, "value", text, FINGERPRINT_BYTES);
}

/* Of several ranks, by Hydra, which alone gives the number of local ones. Slurm's PMI_FD may speak PMI-2, and so may
 * an MPICH that is told to: then it is not for us to begin. */
static bool is_hydra(void)
{
    long local_ranks = base_launch_number("MPI_LOCALNRANKS");
    bool is_other = getenv("PMI_PORT") != NULL || getenv("PMI_TOTALVIEW") != NULL ||
                    getenv("MPIR_CVAR_PMI_VERSION") != NULL || getenv("I_MPI_PMI_LIBRARY") != NULL;
    return !is_other && local_ranks > 0 && local_ranks <= LOCAL_RANKS_MAX && base_launch_number("PMI_SIZE") > 1;
}

static bool descriptor_is_open(int descriptor)
{
    return descriptor > STDERR_FILENO && fcntl(descriptor, F_GETFD) != -1;
}

/* MPICH 4.3 starts without a barrier of the launcher's where all ranks are on one host: then nobody knows when all have
 * offered. It shows: Hydra hands a host's texts on at the barrier (or when it has collected some thousand), so that
 * before it even our own is not there. A launcher that answers with it at once would show nothing. */
void pmi_offer(struct pmi *pmi, const char *text)
{
    char own[FINGERPRINT_BYTES];
    pmi->descriptor = (int)base_launch_number("PMI_FD");
    pmi->rank = (int)base_launch_number("PMI_RANK");
    bool is_put = is_hydra() && pmi->rank >= 0 && descriptor_is_open(pmi->descriptor) && protocol_begin(pmi) &&
                  text_put(pmi, text) && text_get(pmi, pmi->rank, own);
    pmi->text = is_put && own[0] == '\0' ? text : NULL;
}

bool pmi_is_settled(const struct pmi *pmi)
{
    return pmi->text != NULL && pmi_is_same(pmi, pmi->rank);
}

bool pmi_is_same(const struct pmi *pmi, int rank)
{
    char text[FINGERPRINT_BYTES];
    return text_get(pmi, rank, text) && strcmp(text, pmi->text) == 0;
}
