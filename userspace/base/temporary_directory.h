/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories for everybody's temporary files, as the kernel's programs know them
 * (bpf/core/temporary.bpf.h).
 */
#ifndef CORDON_BASE_TEMPORARY_DIRECTORY_H
#define CORDON_BASE_TEMPORARY_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* The size of the part of a resolved name that is such a directory which it lies below; 0: none. */
size_t temporary_directory(const char *name, size_t size);

/* Does it lie directly in one? */
bool is_directly_temporary(const char *name, size_t size);

#endif
