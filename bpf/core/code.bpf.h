/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Checks whether the file that an execution opens as its code is still the file that was hashed.
 * The logged digest was taken before the execution ran, of the file that a name referred to then.
 * The interpreter opens the name again.
 *
 * The name is the string that the caller passed to open(2) or execve(2), in the kernel's copy
 * (struct nameidata). The path of the opened file cannot be used, because links on the way may have
 * changed. Nothing is granted for the string: it only selects the files to compare.
 */
#ifndef CORDON_BPF_CODE_BPF_H
#define CORDON_BPF_CODE_BPF_H

#include "bpf/core/kernel.bpf.h"
#include "bpf/core/subject.bpf.h"
#include "bpf/pure/name_hash.h"

enum code_found {
	CODE_OTHER = 0, /* not the code */
	CODE_SAME = 1,
	CODE_CHANGED = 2,
};

static __always_inline void read_file_state(__u64 inode, struct cordon_file_state *state)
{
	__u64 super_block = read_u64(FIELD(struct inode, inode, i_sb));

	state->inode = read_u64(FIELD(struct inode, inode, i_ino));
	state->size = read_u64(FIELD(struct inode, inode, i_size));
	state->changed = last_change_of(inode);
	state->device = read_u32(FIELD(struct super_block, super_block, s_dev));
	state->generation = read_u32(FIELD(struct inode, inode, i_generation));
}

static __always_inline bool is_same_file(const struct cordon_file_state *a,
					 const struct cordon_file_state *b)
{
	return a->inode == b->inode && a->device == b->device && a->generation == b->generation;
}

/*
 * Hash of the name that the current task passed to the system call; 0: none, or too long.
 * Overwrites walk->components.
 */
static __always_inline __u64 hash_asked_name(struct walk *walk)
{
	__u64 at = (__u64)read_task(bpf_get_current_task_btf())->nameidata, name;
	__u64 hash = NAME_HASH_START, *words = (__u64 *)&walk->components;
	__u32 rest;
	long size;

	_Static_assert(sizeof(walk->components) >= NAME_HASH_MAX, "the name must fit");
	if (!at)
		return 0;
	name = read_u64(FIELD(struct nameidata, at, name));
	name = name ? read_u64(FIELD(struct filename, name, name)) : 0;
	if (!name)
		return 0;
	size = bpf_probe_read_kernel_str(words, NAME_HASH_MAX, (const void *)name);
	/* size includes the NUL. A string that fills the buffer may be truncated. */
	if (size <= 1 || size >= NAME_HASH_MAX)
		return 0;
	rest = size - 1;
	for (__u32 i = 0; i < NAME_HASH_WORDS && rest > 0; i++) {
		__u64 word = words[i];

		if (rest < 8)
			word &= (1ull << 8 * rest) - 1;
		hash = name_hash_word(hash, word);
		rest -= rest < 8 ? rest : 8;
	}
	return name_hash_end(hash);
}

static __always_inline bool is_code_name(const struct cordon_code *code, __u64 name)
{
	return name && (name == code->names[0] || name == code->names[1] || name == code->names[2]);
}

/* Compares the inode at walk->at with the execution's watched code. Returns enum code_found. */
STUB int compare_code(struct walk *walk, struct cordon_execution *execution)
{
	return CODE_CHANGED;
}

__noinline int compare_code_body(struct walk *walk, struct cordon_execution *execution)
{
	struct cordon_file_state found;
	const struct cordon_code *code;

	if (!walk || !execution)
		return CODE_OTHER;
	code = &execution->code;
	if (S_ISDIR(read_u32(FIELD(struct inode, walk->at, i_mode)) & 0xffff))
		return CODE_OTHER;
	read_file_state(walk->at, &found);
	if (is_same_file(&found, &code->hashed))
		return found.size == code->hashed.size && found.changed == code->hashed.changed
			       ? CODE_SAME
			       : CODE_CHANGED;
	return is_code_name(code, hash_asked_name(walk)) ? CODE_CHANGED : CODE_OTHER;
}

/*
 * Records an open with `rights`. Only the first file that differs from the hashed one is recorded.
 */
STUB int note_code_opened(struct walk *walk, struct cordon_execution *execution, __u32 rights)
{
	return 0;
}

__noinline int note_code_opened_body(struct walk *walk, struct cordon_execution *execution,
				     __u32 rights)
{
	struct cordon_code *code;

	if (!walk || !execution)
		return 0;
	code = &execution->code;
	if (walk->code == CODE_SAME && (rights & CORDON_RIGHT(CORDON_READ)))
		__sync_fetch_and_add(&code->opens, 1);
	if (walk->code == CODE_SAME && (rights & CORDON_RIGHT(CORDON_WRITE)) && code->opens)
		__sync_val_compare_and_swap(&code->watch, CORDON_CODE_WATCHED, CORDON_CODE_OWN);
	if (walk->code == CODE_CHANGED &&
	    __sync_val_compare_and_swap(&code->watch, CORDON_CODE_WATCHED, CORDON_CODE_CHANGED) ==
		    CORDON_CODE_WATCHED)
		read_file_state(walk->at, &code->opened);
	return 0;
}

static __always_inline bool is_pinned(const struct subject *s)
{
	return s->policy->flags & CORDON_POLICY_PINNED;
}

/* Stores enum code_found in walk->code. Returns false if there is no scratch for the comparison. */
static __always_inline bool look_at_code(struct subject *s, __u64 inode)
{
	if (s->execution->code.watch != CORDON_CODE_WATCHED)
		return true;
	if (!subject_need_walk(s))
		return false;
	/*
	 * The daemon writes `hashed` and `names` before it sets `watch`, possibly while the code
	 * runs.
	 */
	order();
	/* Stored through memory, so that the verifier treats it as an unknown number. */
	*(volatile __u64 *)&s->walk->at = inode;
	*(volatile __u8 *)&s->walk->code = compare_code(s->walk, s->execution);
	return true;
}

/* Call after look_at_code(). Returns enum code_found. */
static __always_inline __u32 found_code(const struct subject *s)
{
	if (!s->walk || s->execution->code.watch != CORDON_CODE_WATCHED)
		return CODE_OTHER;
	return *(volatile __u8 *)&s->walk->code;
}

static __always_inline bool is_refused_code(const struct subject *s)
{
	return is_pinned(s) && found_code(s) == CODE_CHANGED;
}

/* Pinned code stays watched even after the execution opens it for writing. */
static __always_inline void note_code(const struct subject *s, __u64 inode, __u32 rights)
{
	if (found_code(s) == CODE_OTHER)
		return;
	*(volatile __u64 *)&s->walk->at = inode;
	note_code_opened(s->walk, s->execution,
			 is_pinned(s) ? rights & ~CORDON_RIGHT(CORDON_WRITE) : rights);
}

#endif
