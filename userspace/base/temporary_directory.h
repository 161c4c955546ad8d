/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared directories for temporary files, the same as in the BPF programs
 * (bpf/core/temporary.bpf.h).
 */
#ifndef CORDON_BASE_TEMPORARY_DIRECTORY_H
#define CORDON_BASE_TEMPORARY_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the shared temporary directory that contains a resolved name, or 0. */
size_t temporary_directory(const char *name, size_t size);

/* True if the name is directly in such a directory. */
bool is_directly_temporary(const char *name, size_t size);

#endif
