/* SPDX-License-Identifier: MIT */
/* Claim: the fastest network is the one with the highest speed in /sys/class/net. */
#include "base/network.h"

#include <glob.h>
#include <stdio.h>

#include "claim.h"

/* What stdio reads. A network without a speed cannot be read. */
static long speed_of(const char *path)
{
    long speed_mbit = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%ld", &speed_mbit) != 1)
        speed_mbit = 0;
    if (file != NULL)
        fclose(file);
    return speed_mbit;
}

int main(void)
{
    long fastest_mbit = 0;
    glob_t networks = {0};
    if (glob("/sys/class/net/*/speed", 0, NULL, &networks) == 0)
        for (size_t i = 0; i < networks.gl_pathc; i++)
            if (speed_of(networks.gl_pathv[i]) > fastest_mbit)
                fastest_mbit = speed_of(networks.gl_pathv[i]);
    globfree(&networks);
    printf("%ld Mb/s\n", fastest_mbit);
    claim(base_network_fastest_mbit() == fastest_mbit, "the speed of the fastest network");
    return 0;
}
