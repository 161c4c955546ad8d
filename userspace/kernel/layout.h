/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the kernel's objects laid out in a way that the programs know?
 *
 * libbpf finds where a field is in this kernel by its name and takes any type of the same kind for
 * it: any struct for a struct, a number of any size for a number, a pointer to anything for a
 * pointer. What programs then read with it, by address, would be something else than they take it
 * for. Here a field has to be what it was when the programs were built: as wide, a pointer to the
 * same, the same struct.
 *
 * Types of which kernels know several layouts are flavours in the programs (bpf/core/kernel.bpf.h),
 * `struct TYPE___SUBJECT_VARIANT`: of each subject, all fields of one variant at least have to be
 * there.
 */
#ifndef CORDON_KERNEL_LAYOUT_H
#define CORDON_KERNEL_LAYOUT_H

#include <stddef.h>

#include "base/failure.h"

struct btf;

/*
 * Of the BPF object whose file is `image`: looks for every field that it reads in the kernel's
 * types. The number of fields, or -EOPNOTSUPP: `failure` names one that is missing or another;
 * -EBADMSG: this is no such object; -ENOMEM.
 */
int layout_check(const void *image, size_t size, const struct btf *kernel, struct failure *failure);

#endif
