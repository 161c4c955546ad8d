/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the kernel's objects have a layout that the programs know.
 *
 * libbpf finds the offset of a field in this kernel by its name, and accepts any type of the same
 * kind. A struct may be any struct, a number any size, a pointer may point to anything. A program
 * that reads the field by address would then misinterpret it. This check requires the type that the
 * programs were built with: the same width, the same pointer target, the same struct.
 *
 * Types with several known layouts are flavours in the programs (bpf/core/kernel.bpf.h), `struct
 * TYPE___SUBJECT_VARIANT`. Of each subject, all fields of at least one variant must exist.
 */
#ifndef CORDON_KERNEL_LAYOUT_H
#define CORDON_KERNEL_LAYOUT_H

#include <stddef.h>

#include "base/failure.h"

struct btf;

/*
 * Checks every field that the BPF object in `image` reads against the kernel's types. Returns the
 * number of fields. -EOPNOTSUPP: `failure` names a field that is missing or differs. -EBADMSG:
 * `image` is no such object. -ENOMEM.
 */
int layout_check(const void *image, size_t size, const struct btf *kernel, struct failure *failure);

#endif
