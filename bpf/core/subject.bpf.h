/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The subject of an access: the label of the current task, its execution and the active policy.
 *
 * Only for programs that run on behalf of `current`; in softirq, `current` is unrelated.
 */
#ifndef CORDON_BPF_SUBJECT_BPF_H
#define CORDON_BPF_SUBJECT_BPF_H

#include "bpf/core/machine.bpf.h"
#include "bpf/core/maps.bpf.h"
#include "bpf/core/read.bpf.h"

enum subject_kind {
	SUBJECT_OUTSIDE = 0,   /* belongs to no execution: cordon checks nothing */
	SUBJECT_EXECUTION = 1, /* belongs to an execution: all fields are set */
	SUBJECT_UNKNOWN = 2,   /* labelled, but the execution is not live: everything is denied */
};

struct subject {
	struct cordon_execution *execution;
	struct walk *walk; /* NULL: no scratch available */
	struct spare_walk *spare;
	const struct cordon_policy_header *policy;
	void *pages; /* inner map of the policy */
	__u64 policy_ref;
	struct label label;
};

static __always_inline struct spare_walk *take_spare_walk(void)
{
	__u32 start = bpf_get_prandom_u32();

	for (__u32 i = 0; i < 8; i++) {
		__u32 key = (start + i) & (SPARE_WALKS - 1);
		struct spare_walk *spare = bpf_map_lookup_elem(&spare_walks, &key);

		if (spare && __sync_val_compare_and_swap(&spare->taken, 0, 1) == 0)
			return spare;
	}
	count(CORDON_COUNTER_SCRATCH_EXHAUSTED);
	return 0;
}

/* Returns the scratch that subject_need_walk() took. Every exit of a hook calls this. */
static __always_inline void subject_put(struct subject *s)
{
	if (s->spare)
		__sync_val_compare_and_swap(&s->spare->taken, 1, 0);
}

/*
 * The label of a task that is known by address. The map is exact: it changes only when a task is
 * created, labelled or freed.
 */
static __always_inline const struct label *label_of_address(__u64 task)
{
	const struct known_task *known = bpf_map_lookup_elem(&labels_by_address, &task);

	return known ? &known->label : 0;
}

static __always_inline bool same_label(const struct label *a, const struct label *b)
{
	return a->slot == b->slot && a->generation == b->generation;
}

/* Returns NULL for an execution that has ended: its objects may still exist. */
static __always_inline struct cordon_execution *execution_of(const struct label *label)
{
	__u32 key = label->slot;
	struct cordon_execution *execution = bpf_map_lookup_elem(&executions, &key);

	return execution && execution->generation == label->generation ? execution : 0;
}

/*
 * Finds the label only. A task without BPF storage has no label: this check is the fastest way out.
 */
static __always_inline bool subject_label(struct task_struct *task, struct subject *s)
{
	struct labelled_task *labelled;
	const struct label *label;
	__u64 both;

	s->walk = 0;
	s->spare = 0;
	if (!read_task(task)->bpf_storage)
		return false;
	labelled = bpf_task_storage_get(&labels, task, 0, 0);
	/* Generation 0: another CPU is labelling the task now, and the exact map has the label. */
	both = labelled ? *(volatile __u64 *)&labelled->label : 0;
	if (both >> 32) {
		s->label.slot = (__u32)both;
		s->label.generation = both >> 32;
		s->walk = &labelled->walk;
		return true;
	}
	/*
	 * The label is missing, or cannot be read now. Only the exact map decides that a task is
	 * unlabelled.
	 */
	label = label_of_address((__u64)task);
	if (!label)
		return false;
	count(CORDON_COUNTER_LABEL_FALLBACK);
	s->label = *label;
	return true;
}

/*
 * Is the task's program still being loaded? The kernel sets the end of the environment last
 * (create_elf_tables(), fs/binfmt_elf.c), and prctl(2) cannot set it to 0.
 */
static __always_inline bool is_being_loaded(void)
{
	const struct mm_struct *mm = read_task(bpf_get_current_task_btf())->mm;

	return mm && !mm->env_end;
}

/* Finds the execution and its policy by the label. */
static __always_inline enum subject_kind subject_resolve_held(struct subject *s, bool held)
{
	__u32 key = s->label.slot, first = 0;

	s->execution = bpf_map_lookup_elem(&executions, &key);
	if (!s->execution || s->execution->generation != s->label.generation ||
	    s->execution->state == CORDON_EXECUTION_FREE ||
	    (!held && s->execution->state == CORDON_EXECUTION_HELD && !is_being_loaded())) {
		count(CORDON_COUNTER_UNKNOWN_EXECUTION);
		return SUBJECT_UNKNOWN;
	}
	/* The daemon sets a slot's state after all its other fields. */
	order();
	/*
	 * Read once, so that the whole verdict comes from one policy. The address depends on the
	 * slot's, which orders the reads.
	 */
	s->policy_ref = *(volatile __u64 *)&s->execution->policy;
	key = CORDON_POLICY_SLOT(s->policy_ref);
	s->pages = bpf_map_lookup_elem(&policies, &key);
	if (!s->pages) {
		count(CORDON_COUNTER_NO_POLICY);
		return SUBJECT_UNKNOWN;
	}
	s->policy = bpf_map_lookup_elem(s->pages, &first);
	if (!s->policy || s->policy->magic != CORDON_POLICY_MAGIC) {
		count(CORDON_COUNTER_NO_POLICY);
		return SUBJECT_UNKNOWN;
	}
	return SUBJECT_EXECUTION;
}

/*
 * All accesses of a held execution are denied, except the accesses of the kernel while it loads the
 * program. These are checked.
 */
static __always_inline enum subject_kind subject_resolve(struct subject *s)
{
	return subject_resolve_held(s, false);
}

static __always_inline enum subject_kind subject_get(struct subject *s)
{
	if (!subject_label(bpf_get_current_task_btf(), s))
		return SUBJECT_OUTSIDE;
	return subject_resolve(s);
}

static __always_inline __u64 subject_number(const struct subject *s)
{
	return (__u64)s->label.generation << 32 | s->label.slot;
}

/*
 * Arguments of a function that is not static, which the verifier checks separately. It checks the
 * function once per program, instead of once for each state at a call. Inside, it knows only the
 * size of the memory behind pointers. The function returns a number, as older kernels require, and
 * never the verdict.
 */
#define APART(s)                                                                                   \
	(s)->walk, (s)->execution, (struct policy_page *)(s)->policy, (s)->policy_ref,             \
		subject_number(s)
#define APART_ARGUMENTS                                                                            \
	struct walk *walk, struct cordon_execution *execution, struct policy_page *page,           \
		__u64 policy, __u64 label

/*
 * A stub: a function of the LSM programs that is replaced when they are loaded (engine.bpf.h).
 * Until then it denies. It is weak, so that clang draws no conclusions from its body.
 */
#define STUB __weak __noinline

/*
 * Rebuilds the subject inside such a function. False: its policy was freed, and no check is
 * possible.
 */
static __always_inline bool subject_again(struct subject *s, APART_ARGUMENTS)
{
	__u32 key = CORDON_POLICY_SLOT(policy), first = 0;

	s->execution = execution;
	s->walk = walk;
	s->spare = 0;
	s->policy = (const struct cordon_policy_header *)page;
	s->policy_ref = policy;
	s->label.slot = (__u32)label;
	s->label.generation = label >> 32;
	s->pages = bpf_map_lookup_elem(&policies, &key);
	if (!s->pages)
		return false;
	/* Both pages must be of the same policy. */
	return s->policy->pages == 1 || bpf_map_lookup_elem(s->pages, &first) == page;
}

/* Ensures that there is a scratch, for checks of names. False: none is available. */
static __always_inline bool subject_need_walk(struct subject *s)
{
	if (s->walk)
		return true;
	s->spare = take_spare_walk();
	if (!s->spare)
		return false;
	s->walk = &s->spare->walk;
	return true;
}

#endif
