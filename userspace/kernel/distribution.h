/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out how this distribution sets the kernel command line. */
#ifndef CORDON_KERNEL_DISTRIBUTION_H
#define CORDON_KERNEL_DISTRIBUTION_H

#include <stddef.h>

/*
 * Writes how to add `argument` ("lsm=yama,bpf") to the command line of the next boot. Looks at
 * os-release, and at files below `root`, a descriptor of "/". For an unknown distribution the text
 * is generic.
 */
void distribution_remedy(int root, const char *argument, char *ret_text, size_t size);

#endif
