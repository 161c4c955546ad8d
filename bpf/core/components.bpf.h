/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The components of a resolved name, in two arrays: as structs, a sixth of the task's storage would
 * be padding. An index beyond the last component wraps.
 */
#ifndef CORDON_BPF_COMPONENTS_BPF_H
#define CORDON_BPF_COMPONENTS_BPF_H

#include "bpf/core/maps.bpf.h"

/* In a component's length: the name of a process of the execution, to be read as "self". */
#define COMPONENT_SELF 0x8000u
/* The directory compares names without case. */
#define COMPONENT_FOLDED 0x4000u
/* It also gives its files other names, as DOS did. */
#define COMPONENT_DOS 0x2000u
/* Stored for any longer component. Too long to be matched (CORDON_NAME_MAX). */
#define COMPONENT_LONGEST 0x1fffu

static __always_inline void component_set(struct walk *walk, __u32 index, __u64 name, __u32 length)
{
	index &= CORDON_MAX_COMPONENTS - 1;
	walk->components.name[index] = name;
	walk->components.length[index] = length > COMPONENT_LONGEST ? COMPONENT_LONGEST : length;
}

static __always_inline void component_mark(struct walk *walk, __u32 index, __u32 marks)
{
	walk->components.length[index & (CORDON_MAX_COMPONENTS - 1)] |= marks;
}

/* COMPONENT_* */
static __always_inline __u32 component_marks(const struct walk *walk, __u32 index)
{
	return walk->components.length[index & (CORDON_MAX_COMPONENTS - 1)] & ~COMPONENT_LONGEST;
}

/* The address of the bytes. */
static __always_inline __u64 component_name(const struct walk *walk, __u32 index)
{
	return walk->components.name[index & (CORDON_MAX_COMPONENTS - 1)];
}

static __always_inline __u32 component_length(const struct walk *walk, __u32 index)
{
	return walk->components.length[index & (CORDON_MAX_COMPONENTS - 1)] & COMPONENT_LONGEST;
}

#endif
