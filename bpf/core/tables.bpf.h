/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The compiled policy in kernel memory: access to its tables, and runs of the automaton. */
#ifndef CORDON_BPF_TABLES_BPF_H
#define CORDON_BPF_TABLES_BPF_H

#include "bpf/core/components.bpf.h"
#include "bpf/core/read.bpf.h"
#include "bpf/core/subject.bpf.h"

struct tables {
	void *pages;	   /* inner map */
	const void *first; /* page 0: the header and, in most policies, all tables */
};

/* Objects never straddle a page, so checking the offset of the first byte is sufficient. */
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

/* Is the whole policy in its first page? Then masks replace checks, see matcher_step_in_page(). */
static __always_inline bool is_one_page(const struct subject *s)
{
	return s->policy->pages == 1;
}

static __always_inline const void *in_page(const struct subject *s, __u32 offset, __u32 index,
					   __u32 size)
{
	return (const __u8 *)s->policy + ((offset + index * size) & (CORDON_PAGE_SIZE - size));
}

/* The outcome of state `state` for a name that ends there. False: damaged tables. */
static __always_inline bool tables_outcome(const struct subject *s, __u32 state,
					   const struct cordon_verdict **ret_outcome,
					   const struct cordon_final **ret_final)
{
	struct tables t = {.pages = s->pages, .first = s->policy};
	const struct cordon_policy_header *policy = s->policy;
	const struct cordon_final *final;
	const struct cordon_verdict *outcome;
	__u32 number = state & CORDON_STATE_MASK;

	if (is_one_page(s)) {
		final = in_page(s, policy->finals_offset, number, sizeof(*final));
		*ret_outcome =
			in_page(s, policy->verdicts_offset, final->verdict, sizeof(*outcome));
		*ret_final = final;
		return true;
	}
	if (number >= policy->finals_count)
		return false;
	final = table_at(&t, policy->finals_offset + number * (__u32)sizeof(*final),
			 sizeof(*final));
	if (!final || final->verdict >= policy->verdicts_count)
		return false;
	outcome = table_at(&t, policy->verdicts_offset + final->verdict * (__u32)sizeof(*outcome),
			   sizeof(*outcome));
	if (!outcome)
		return false;
	*ret_outcome = outcome;
	*ret_final = final;
	return true;
}

/*
 * The number of the lowest bit set, of 16 bits. Without a branch per bit, which the verifier would
 * follow, by a de Bruijn sequence (Leiserson, Prokop, Randall 1998).
 */
static __always_inline __u32 lowest_bit(__u32 bits)
{
	__u32 product = (bits & -bits) * 0x9afu;

	return (__u32)(0xcd7ea84fb6935210ull >> ((product >> 12 & 15) * 4)) & 15;
}

/*
 * The rule that denied the lowest of the missing rights, or CORDON_NO_RULE. A deny rule that an
 * exception can take back comes last.
 */
static __always_inline __u16 deciding_rule(const struct cordon_verdict *outcome, __u32 rights)
{
	__u32 denied = outcome->deny & rights & (CORDON_RIGHT(CORDON_RIGHT_COUNT) - 1);
	__u32 final = denied & outcome->deny >> CORDON_EXCEPT_SHIFT;

	denied = final ? final : denied;
	return denied ? outcome->rule[lowest_bit(denied)] : CORDON_NO_RULE;
}

/*
 * Runs of the automaton, over components or over the bytes in walk->name. One call of run_chunk()
 * advances one run by a few bytes. Loop variables are in map memory, so that the verifier has few
 * states to follow.
 */
#define CHUNK_MIN	2u
#define CHUNKS_PER_NAME ((CORDON_NAME_MAX + CHUNK_MIN) / CHUNK_MIN)

static __always_inline void runs_prepare(const struct subject *s)
{
	struct walk *walk = s->walk;

	walk->matcher.states_offset = s->policy->states_offset;
	walk->matcher.states_count = s->policy->states_count;
	walk->matcher.edges_offset = s->policy->edges_offset;
	walk->matcher.edges_count = s->policy->edges_count;
	walk->slash = '/';
	walk->runs[0].state = CORDON_STATE_DEAD;
	walk->runs[1].state = CORDON_STATE_DEAD;
	walk->runs[2].state = CORDON_STATE_DEAD;
	walk->runs[3].state = CORDON_STATE_DEAD;
	walk->run_count = 0;
	walk->run = 0;
	walk->run_end = 0;
	walk->forked = 0;
	walk->going = 0;
	walk->offset = 0;
	walk->length = 0;
}

static __always_inline void run_add(struct walk *walk, __u32 number, __u32 state, __u32 depth)
{
	struct name_run *run = &walk->runs[walk->run_count & (RUN_SLOTS - 1)];

	/* A dead state allows and denies nothing, whatever follows. */
	if (state == CORDON_STATE_DEAD)
		return;
	run->state = state;
	run->depth = depth;
	run->number = number;
	walk->run_count++;
	if (!(state & CORDON_ABSORBING))
		walk->going++;
}

static __always_inline __u32 start_state(const struct subject *s, __u32 start)
{
	return s->policy->start[start & (CORDON_START_SLOTS - 1)];
}

/* Reads the next component into walk->name. False: it cannot be read. */
static __always_inline bool read_component(struct walk *walk)
{
	__u32 length;

	walk->next--;
	length = component_length(walk, walk->next);
	walk->fold.marks = component_marks(walk, walk->next);
	if (walk->fold.marks & COMPONENT_SELF) {
		__builtin_memcpy(walk->name, "self", 4);
		length = 4;
	} else if (!read_name(walk->name, component_name(walk, walk->next), length)) {
		return false;
	}
	walk->length = length + 1; /* with the slash before it */
	return true;
}

static __always_inline __u32 step_any(const struct subject *s, const struct matcher *m, __u32 state,
				      __u8 byte)
{
	struct tables tables = {.pages = s->pages, .first = s->policy};

	return matcher_step(&tables, m, state, byte);
}

/*
 * Up to 8 bytes from walk->offset on. Unrolled by hand, because the compiler does not unroll loops
 * with two exits, and the verifier would follow each iteration of a real loop.
 */
#define STEP_ONE(step)                                                                             \
	do {                                                                                       \
		__u8 byte;                                                                         \
		if (at >= length)                                                                  \
			goto done;                                                                 \
		byte = bytes[at & (2 * CORDON_NAME_MAX + 1)];                                      \
		state = (step);                                                                    \
		at++;                                                                              \
	} while (0)
#define STEP_FOUR(step)                                                                            \
	STEP_ONE(step);                                                                            \
	STEP_ONE(step);                                                                            \
	STEP_ONE(step);                                                                            \
	STEP_ONE(step)

static __always_inline __u32 step_bytes(const struct subject *s, const __u8 *bytes, __u32 state)
{
	const __u8 *page = (const __u8 *)s->policy;
	struct walk *walk = s->walk;
	const struct matcher m = walk->matcher;
	const __u32 length = walk->length;
	__u32 at = walk->offset;

	if (is_one_page(s)) {
		STEP_FOUR(matcher_step_in_page(page, &m, state, byte));
		STEP_FOUR(matcher_step_in_page(page, &m, state, byte));
	} else {
		STEP_ONE(step_any(s, &m, state, byte));
		STEP_ONE(step_any(s, &m, state, byte));
	}
done:
	walk->offset = at;
	return state;
}

static __always_inline void next_run(struct walk *walk)
{
	walk->run++;
	walk->offset = 0;
}

/* True if the runs of the attempt pass the parent directory; false if they start at it. */
static __always_inline bool finds_directory(const struct walk *walk)
{
	return walk->partial == RECALL_NONE || walk->partial == RECALL_ABOVE;
}

static __always_inline void states_note(const struct walk *walk, struct directory *ret)
{
	ret->state[0] = walk->runs[0].state;
	ret->state[1] = walk->runs[1].state;
	ret->state[2] = walk->runs[2].state;
	ret->state[3] = walk->runs[3].state;
}

/*
 * Keeps the states before the last component, and before the last two, until the check is settled.
 */
static __always_inline void directories_note(struct walk *walk)
{
	walk->keep = walk->run_count <= DIRECTORY_STATES;
	if (!walk->keep)
		return;
	if (walk->next >= 2 && walk->partial == RECALL_NONE)
		states_note(walk, &walk->above);
	states_note(walk, &walk->noted);
}

/* folded.bpf.h */
static __always_inline bool fold_run(const struct subject *s, struct name_run *run);

static long run_chunk(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct name_run *run;
	__u32 state;

	if (walk->run >= walk->run_end) {
		if (walk->next == 0 || walk->going == 0)
			return 1; /* the outcome is final */
		walk->run = 0;
		walk->offset = 0;
		if (walk->next <= 2 && finds_directory(walk))
			directories_note(walk);
		if (!read_component(walk)) {
			walk->broken = 1;
			return 1;
		}
		walk->run_end = walk->run_count;
	}
	run = &walk->runs[walk->run & (RUN_SLOTS - 1)];
	state = run->state;
	/* Not below its bound directory yet, or already final. */
	if (walk->next >= run->depth || (state & CORDON_ABSORBING)) {
		next_run(walk);
		return 0;
	}
	if (walk->fold.marks & COMPONENT_FOLDED) {
		if (!fold_run(s, run)) {
			walk->reason = CORDON_REASON_UNRESOLVED;
			return 1;
		}
		next_run(walk);
		return 0;
	}
	state = step_bytes(s, &walk->slash, state);
	run->state = state;
	if (state & CORDON_ABSORBING) {
		walk->going--;
		next_run(walk);
	} else if (walk->offset >= walk->length) {
		next_run(walk);
	}
	return 0;
}

static long short_chunk(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct name_run *run = &walk->runs[0];

	if (walk->offset >= walk->length || walk->going == 0 || (run->state & CORDON_ABSORBING))
		return 1;
	run->state = step_bytes(s, walk->name, run->state);
	return 0;
}

/*
 * Runs a key that is no path (network, socket, abstract name, special object). Its bytes are in
 * walk->name. Returns the state reached.
 */
static __noinline __u32 run_short(const struct subject *s, __u32 start, __u32 length)
{
	struct walk *walk = s->walk;

	runs_prepare(s);
	run_add(walk, 0, start_state(s, start), 0);
	walk->length = length;
	bpf_loop(CHUNKS_PER_NAME, short_chunk, (void *)s, 0);
	return walk->run_count ? walk->runs[0].state : CORDON_STATE_DEAD;
}

#endif
