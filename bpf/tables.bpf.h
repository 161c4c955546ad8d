/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The compiled policy in kernel memory: finding objects by offset, and running the automaton. */
#ifndef CORDON_BPF_TABLES_BPF_H
#define CORDON_BPF_TABLES_BPF_H

#include "bpf/subject.bpf.h"

struct tables {
	void *pages;	   /* inner map */
	const void *first; /* its page 0: the header and, in most policies, the hot tables */
};

/* Objects never straddle a page, so a check of the first byte's offset is one of the last. */
static __always_inline const void *table_at(void *tables, __u32 offset, __u32 size)
{
	struct tables *t = tables;
	const struct policy_page *page;
	__u32 number = offset >> CORDON_PAGE_SHIFT;

	offset &= CORDON_PAGE_SIZE - 1;
	if (offset > CORDON_PAGE_SIZE - size)
		return 0;
	if (number == 0)
		return (const __u8 *)t->first + offset;
	page = bpf_map_lookup_elem(t->pages, &number);
	if (!page)
		return 0;
	return page->bytes + offset;
}

/* What state `state` says of a name that ends there. false: damaged tables. */
static __always_inline bool tables_outcome(const struct subject *s, __u32 state,
					   const struct cordon_verdict **ret_outcome,
					   const struct cordon_final **ret_final)
{
	struct tables t = {.pages = s->pages, .first = s->policy};
	const struct cordon_final *final;
	const struct cordon_verdict *outcome;
	__u32 number = state & CORDON_STATE_MASK;

	if (number >= s->policy->finals_count)
		return false;
	final = table_at(&t, s->policy->finals_offset + number * (__u32)sizeof(*final),
			 sizeof(*final));
	if (!final || final->verdict >= s->policy->verdicts_count)
		return false;
	outcome = table_at(&t,
			   s->policy->verdicts_offset + final->verdict * (__u32)sizeof(*outcome),
			   sizeof(*outcome));
	if (!outcome)
		return false;
	*ret_outcome = outcome;
	*ret_final = final;
	return true;
}

/* The rule that decided against the lowest of the missing rights, if one did. */
static __always_inline __u16 deciding_rule(const struct cordon_verdict *outcome, __u32 rights)
{
	__u32 denied = outcome->deny & rights;

	for (__u32 right = 0; right < CORDON_RIGHT_COUNT; right++)
		if (denied & (1u << right))
			return outcome->rule[right];
	return CORDON_NO_RULE;
}

/*
 * One run of the automaton, over components or over the bytes in walk->name. It is cut into chunks of
 * a few bytes, so that the verifier has few of them to follow while long names cost no more calls
 * than they must.
 */
#define CHUNK		4u
#define CHUNKS_PER_NAME ((CORDON_NAME_MAX + CHUNK) / CHUNK)

static __always_inline void run_prepare(const struct subject *s, __u32 start)
{
	struct walk *walk = s->walk;

	walk->matcher.states_offset = s->policy->states_offset;
	walk->matcher.states_count = s->policy->states_count;
	walk->matcher.edges_offset = s->policy->edges_offset;
	walk->matcher.edges_count = s->policy->edges_count;
	walk->state = s->policy->start[start & (CORDON_START_SLOTS - 1)];
	walk->next = 0;
	walk->offset = 0;
	walk->length = 0;
	walk->slash = 0;
}

/* Brings the next component's bytes to walk->name. false: they cannot be had. */
static __always_inline bool run_next_name(struct walk *walk)
{
	const struct name_component *component;
	__u32 length;

	walk->next--;
	component = &walk->components[walk->next & (CORDON_MAX_COMPONENTS - 1)];
	length = component->length;
	if (component->self) {
		__builtin_memcpy(walk->name, "self", 4);
		length = 4;
	} else if (length > CORDON_NAME_MAX ||
		   bpf_probe_read_kernel(walk->name, length & CORDON_NAME_MAX,
					 (const void *)component->name)) {
		return false;
	}
	walk->offset = 0;
	walk->length = length;
	return true;
}

static long run_chunk(__u32 index, void *context)
{
	const struct subject *s = context;
	struct tables tables = {.pages = s->pages, .first = s->policy};
	struct walk *walk = s->walk;
	struct matcher matcher = walk->matcher;
	__u32 state = walk->state, at = walk->offset;

	if (state & CORDON_ABSORBING)
		return 1;
	if (at >= walk->length) {
		if (walk->next == 0) {
			if (!walk->slash)
				return 1;
			walk->slash = 0;
		} else if (!run_next_name(walk)) {
			walk->state = CORDON_STATE_BROKEN;
			return 1;
		}
		at = walk->offset;
		state = matcher_step(&tables, &matcher, state, '/');
	}
	for (__u32 i = 0; i < CHUNK; i++) {
		if (at >= walk->length || (state & CORDON_ABSORBING))
			break;
		state = matcher_step(&tables, &matcher, state, walk->name[at & CORDON_NAME_MAX]);
		at++;
	}
	walk->offset = at;
	walk->state = state;
	return 0;
}

/*
 * A question that is not a path (network, socket, abstract name, special object): its bytes stand
 * in walk->name. Returns the state reached.
 */
static __noinline __u32 run_short(const struct subject *s, __u32 start, __u32 length)
{
	run_prepare(s, start);
	s->walk->length = length;
	bpf_loop(CHUNKS_PER_NAME, run_chunk, (void *)s, 0);
	return s->walk->state;
}

#endif
