/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that kernels have and the libseccomp that cordon may be linked with does not know.
 * From 424 on, their numbers are those of every architecture.
 */
#ifndef CORDON_BASE_NEWER_CALLS_H
#define CORDON_BASE_NEWER_CALLS_H

/* -1: not one of them. */
int newer_call_number(const char *name);

/* NULL: not one of them. */
const char *newer_call_name(int number);

#endif
