/* SPDX-License-Identifier: Apache-2.0 */
/* Where this distribution takes the kernel's command line from. */
#ifndef CORDON_KERNEL_DISTRIBUTION_H
#define CORDON_KERNEL_DISTRIBUTION_H

#include <stddef.h>

/*
 * How `argument` ("lsm=yama,bpf") gets onto the command line that the next start uses, as told by
 * os-release and by which files there are below `root`, a descriptor of "/". Where nothing is known
 * of it, that is said in general.
 */
void distribution_remedy(int root, const char *argument, char *ret_text, size_t size);

#endif
