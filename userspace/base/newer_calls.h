/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of newer kernels that the installed libseccomp may not know. From 424 on, all
 * architectures have the same numbers.
 */
#ifndef CORDON_BASE_NEWER_CALLS_H
#define CORDON_BASE_NEWER_CALLS_H

/* Returns -1 for other names. */
int newer_call_number(const char *name);

/* Returns NULL for other numbers. */
const char *newer_call_name(int number);

#endif
