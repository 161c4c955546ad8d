/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the kernel's own matcher over a compiled policy on the host. */
#include "policy/ask/evaluate.h"

#include <errno.h>
#include <string.h>

#include "policy/compile/tables.h"

struct blob {
	const unsigned char *data;
	size_t size;
};

static __always_inline const void *table_at(void *tables, __u32 offset, __u32 size)
{
	const struct blob *b = tables;

	/* All tables consist of 32-bit words: damaged offsets must not make misaligned pointers. */
	if (offset % sizeof(__u32) != 0 || offset > b->size || size > b->size - offset)
		return NULL;
	return b->data + offset;
}

#include "bpf/pure/matcher.h"

static bool section_is_sound(const struct cordon_policy_header *h, uint32_t offset, uint32_t count,
			     size_t element_size)
{
	uint64_t end = (uint64_t)h->pages * CORDON_PAGE_SIZE;

	return count > 0 && offset >= sizeof(*h) && offset % element_size == 0 && offset <= end &&
	       count <= (end - offset) / element_size;
}

/* A reference to an existing state. */
static bool is_reference(const struct cordon_policy_header *h, uint32_t reference)
{
	return (reference & CORDON_STATE_MASK) < h->states_count;
}

static bool header_is_sound(const struct cordon_policy_header *h)
{
	if (!section_is_sound(h, h->states_offset, h->states_count, sizeof(struct cordon_state)) ||
	    !section_is_sound(h, h->edges_offset, h->edges_count, sizeof(struct cordon_edge)) ||
	    !section_is_sound(h, h->finals_offset, h->finals_count, sizeof(struct cordon_final)) ||
	    !section_is_sound(h, h->verdicts_offset, h->verdicts_count,
			      sizeof(struct cordon_verdict)) ||
	    h->finals_count != h->states_count || h->states_count > CORDON_STATE_MASK)
		return false;
	for (unsigned int i = 0; i < CORDON_START_SLOTS; i++)
		if (!is_reference(h, h->start[i]))
			return false;
	return true;
}

/* The absorbing mark on a reference promises that all bytes lead from this state to itself. */
static bool is_absorbing(const struct cordon_state *states, const struct cordon_edge *edges,
			 uint32_t number)
{
	if ((states[number].otherwise & CORDON_STATE_MASK) != number)
		return false;
	for (unsigned int byte = 0; byte < 256; byte++) {
		const struct cordon_edge *e = &edges[states[number].base + byte];

		if (e->check == number && (e->next & CORDON_STATE_MASK) != number)
			return false;
	}
	return true;
}

static bool promise_is_kept(const struct cordon_state *states, const struct cordon_edge *edges,
			    uint32_t reference)
{
	return !(reference & CORDON_ABSORBING) ||
	       is_absorbing(states, edges, reference & CORDON_STATE_MASK);
}

static bool references_are_sound(const unsigned char *tables, const struct cordon_policy_header *h)
{
	const struct cordon_state *states = (const void *)(tables + h->states_offset);
	const struct cordon_edge *edges = (const void *)(tables + h->edges_offset);
	const struct cordon_final *finals = (const void *)(tables + h->finals_offset);

	/* Check all ranges first: the checks below follow references. */
	for (uint32_t i = 0; i < h->states_count; i++)
		if (h->edges_count < 256 || states[i].base > h->edges_count - 256 ||
		    !is_reference(h, states[i].otherwise) || finals[i].verdict >= h->verdicts_count)
			return false;
	for (uint32_t i = 0; i < h->edges_count; i++)
		if ((edges[i].check != 0xffffffffu && edges[i].check >= h->states_count) ||
		    !is_reference(h, edges[i].next))
			return false;
	if (!is_absorbing(states, edges, 0))
		return false;
	for (uint32_t i = 0; i < h->states_count; i++)
		if (!promise_is_kept(states, edges, states[i].otherwise))
			return false;
	for (uint32_t i = 0; i < h->edges_count; i++)
		if (!promise_is_kept(states, edges, edges[i].next))
			return false;
	for (unsigned int i = 0; i < CORDON_START_SLOTS; i++)
		if (!promise_is_kept(states, edges, h->start[i]))
			return false;
	return true;
}

static bool dead_state_is_sound(const unsigned char *tables, const struct cordon_policy_header *h)
{
	const struct cordon_final *final = (const void *)(tables + h->finals_offset);
	const struct cordon_verdict *verdicts = (const void *)(tables + h->verdicts_offset);
	const struct cordon_verdict *v = &verdicts[final->verdict];

	return !v->allow && !v->deny && !final->may_allow && !final->must_allow && !final->may_deny;
}

int policy_tables_check(const unsigned char *tables, size_t size)
{
	struct cordon_policy_header h;
	unsigned char digest[32];
	int r;

	if (size < sizeof(h) || (uintptr_t)tables % _Alignof(struct cordon_policy_header) != 0)
		return -EBADMSG;
	memcpy(&h, tables, sizeof(h));
	if (h.magic != CORDON_POLICY_MAGIC)
		return -EBADMSG;
	if (h.version != CORDON_POLICY_VERSION)
		return -EPROTONOSUPPORT;
	if (h.pages == 0 || h.pages > CORDON_MAX_PAGES ||
	    size != (size_t)h.pages * CORDON_PAGE_SIZE || !header_is_sound(&h))
		return -EBADMSG;
	r = tables_digest(tables, size, digest);
	if (r < 0)
		return r;
	if (memcmp(digest, h.digest, sizeof(digest)) != 0 || !references_are_sound(tables, &h) ||
	    !dead_state_is_sound(tables, &h))
		return -EBADMSG;
	return 0;
}

/* A policy's tables, ready to be run. */
struct runner {
	struct blob blob;
	const struct cordon_policy_header *header;
	struct matcher matcher;
};

static int runner_init(struct runner *runner, const unsigned char *tables, size_t size)
{
	const struct cordon_policy_header *h;

	runner->blob = (struct blob){tables, size};
	h = table_at(&runner->blob, 0, sizeof(*h));
	if (!h || h->magic != CORDON_POLICY_MAGIC)
		return -EBADMSG;
	runner->header = h;
	runner->matcher = (struct matcher){h->states_offset, h->states_count, h->edges_offset,
					   h->edges_count};
	return 0;
}

static uint32_t advance(struct runner *runner, uint32_t state, const unsigned char *bytes,
			size_t size)
{
	for (size_t i = 0; i < size && !(state & CORDON_ABSORBING); i++)
		state = matcher_step(&runner->blob, &runner->matcher, state, bytes[i]);
	return state;
}

static int outcome_of(struct runner *runner, uint32_t state, struct cordon_verdict *ret_outcome,
		      struct cordon_final *ret_final)
{
	const struct cordon_policy_header *h = runner->header;
	const struct cordon_verdict *verdict;
	const struct cordon_final *final;

	state &= CORDON_STATE_MASK;
	if (state >= h->finals_count)
		return -EBADMSG;
	final = table_at(&runner->blob, h->finals_offset + state * (uint32_t)sizeof(*final),
			 sizeof(*final));
	if (!final || final->verdict >= h->verdicts_count)
		return -EBADMSG;
	verdict = table_at(&runner->blob,
			   h->verdicts_offset + final->verdict * (uint32_t)sizeof(*verdict),
			   sizeof(*verdict));
	if (!verdict)
		return -EBADMSG;
	if (ret_outcome)
		*ret_outcome = *verdict;
	if (ret_final)
		*ret_final = *final;
	return 0;
}

/* The verdict after `size` bytes, plus a '/' if `slash`. */
static int run(const unsigned char *tables, size_t size, unsigned int start, const void *question,
	       size_t question_size, bool slash, struct cordon_verdict *ret_outcome,
	       struct cordon_final *ret_final)
{
	struct runner runner;
	uint32_t state;
	int r = runner_init(&runner, tables, size);

	if (r < 0)
		return r;
	if (start >= CORDON_START_COUNT)
		return -EINVAL;
	state = advance(&runner, runner.header->start[start], question, question_size);
	if (slash)
		state = advance(&runner, state, (const unsigned char *)"/", 1);
	return outcome_of(&runner, state, ret_outcome, ret_final);
}

int policy_run(const unsigned char *tables, size_t size, unsigned int start, const void *question,
	       size_t question_size, struct cordon_verdict *ret_outcome,
	       struct cordon_final *ret_final)
{
	return run(tables, size, start, question, question_size, false, ret_outcome, ret_final);
}

static void answer_clear(struct policy_answer *a)
{
	*a = (struct policy_answer){0};
	memset(a->rule, 0xff, sizeof(a->rule));
}

/* In this order: allows, denies that an exception can take back, final denies. */
static unsigned int rank_of(uint32_t deny, uint32_t bit)
{
	return !(deny & bit) ? 0 : deny >> CORDON_EXCEPT_SHIFT & bit ? 2 : 1;
}

static void answer_add(struct policy_answer *a, const struct cordon_verdict *outcome)
{
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		uint32_t bit = CORDON_RIGHT(right);
		unsigned int rank = rank_of(outcome->deny, bit),
			     before = rank_of(a->verdict.deny, bit);

		if (rank > before || (rank == before && outcome->rule[right] < a->rule[right]))
			a->rule[right] = outcome->rule[right];
	}
	if (outcome->except)
		a->except = outcome->except;
	verdict_add(&a->verdict, outcome);
}

/* If an exception takes a deny back and another rule allows the access, the exception decides. */
static void answer_finish(struct policy_answer *a, uint32_t wanted)
{
	uint32_t taken_back = a->verdict.deny & ~verdict_denied(&a->verdict) & CORDON_ALL_RIGHTS;

	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++)
		if (taken_back & CORDON_RIGHT(right))
			a->rule[right] = a->verdict.allow & CORDON_RIGHT(right)
						 ? (uint16_t)(a->except - 1)
						 : CORDON_NO_RULE;
	a->missing = verdict_missing(&a->verdict, wanted);
}

/* States that spellings of a name lead to. A name that leads to more has no verdict. */
struct spellings {
	uint32_t states[64];
	size_t count;
};

static int spellings_add(struct spellings *s, uint32_t state)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->states[i] == state)
			return 0;
	if (s->count == ARRAY_SIZE(s->states))
		return -E2BIG;
	s->states[s->count++] = state;
	return 0;
}

/* Takes all states over one byte, in both cases if it is a letter. */
static int spellings_step(struct runner *runner, struct spellings *s, unsigned char byte)
{
	bool letter = (unsigned char)((byte | 0x20) - 'a') < 26;
	unsigned char other = byte ^ 0x20;
	struct spellings next = {.count = 0};
	int r = 0;

	for (size_t i = 0; i < s->count && r == 0; i++) {
		r = spellings_add(&next, advance(runner, s->states[i], &byte, 1));
		if (r == 0 && letter)
			r = spellings_add(&next, advance(runner, s->states[i], &other, 1));
	}
	*s = next;
	return r;
}

/*
 * Adds the outcomes of all spellings of a name. Both cases of the letters above the directory that
 * compares without case are taken as well, since a record does not name that directory.
 */
static int add_spellings(const unsigned char *tables, size_t size, unsigned int start,
			 const char *name, size_t name_size, bool slash, struct policy_answer *a)
{
	struct cordon_verdict outcome;
	struct spellings s;
	struct runner runner;
	int r = runner_init(&runner, tables, size);

	if (r < 0)
		return r;
	s = (struct spellings){.states = {runner.header->start[start]}, .count = 1};
	for (size_t i = 0; i < name_size && r == 0; i++)
		r = spellings_step(&runner, &s, (unsigned char)name[i]);
	if (slash && r == 0)
		r = spellings_step(&runner, &s, '/');
	for (size_t i = 0; i < s.count && r == 0; i++) {
		r = outcome_of(&runner, s.states[i], &outcome, NULL);
		if (r == 0)
			answer_add(a, &outcome);
	}
	return r;
}

static int add_name(const unsigned char *tables, size_t size, unsigned int start, const char *name,
		    size_t name_size, bool slash, struct policy_answer *a)
{
	struct cordon_verdict outcome;
	int r = run(tables, size, start, name, name_size, slash, &outcome, NULL);

	if (r == 0)
		answer_add(a, &outcome);
	return r;
}

/*
 * Finds the offset in the name at which the input of run `start` begins. False: the policy has no
 * such run.
 */
static bool find_part(const struct policy_path *p, unsigned int start, size_t *ret_begin)
{
	if (start == CORDON_START_PATH || start == CORDON_START_FLOATING) {
		*ret_begin = 0;
		return true;
	}
	if (start < CORDON_START_ANCHOR ||
	    p->anchors[start - CORDON_START_ANCHOR] == POLICY_NO_ANCHOR)
		return false;
	*ret_begin = p->anchors[start - CORDON_START_ANCHOR];
	return true;
}

static uint32_t unspoken_component(struct runner *runner, uint32_t state)
{
	unsigned char bytes[UNSPOKEN_LENGTH + 1];

	memset(bytes, UNSPOKEN_BYTE, UNSPOKEN_LENGTH);
	bytes[UNSPOKEN_LENGTH] = '/';
	return advance(runner, state, bytes, sizeof(bytes));
}

/* 1: rules treat creation the same from both states on. Negative: damaged tables. */
static int is_same_below(struct runner *runner, uint32_t a, uint32_t b)
{
	struct cordon_final one = {0}, other = {0};
	int r = outcome_of(runner, a, NULL, &one);

	if (r == 0)
		r = outcome_of(runner, b, NULL, &other);
	if (r < 0)
		return r;
	return a == b || (!verdict_speaks_of_making(&one) && !verdict_speaks_of_making(&other));
}

/*
 * One run of the check of a link's name in bpf/core/below.bpf.h. Adds the run's verdict for
 * everything below the name to `below`. 1: rules distinguish these names from their neighbours, 0:
 * they do not.
 */
static int add_below(struct runner *runner, unsigned int start, const char *part, size_t size,
		     struct verdict *below)
{
	const char *leaf = memrchr(part, '/', size);
	size_t directory_size = leaf ? (size_t)(leaf - part) : 0;
	uint32_t directory = advance(runner, runner->header->start[start],
				     (const unsigned char *)part, directory_size);
	uint32_t named = advance(runner, directory, (const unsigned char *)part + directory_size,
				 size - directory_size);
	uint32_t beside = advance(runner, directory, (const unsigned char *)"/", 1), deeper;
	struct cordon_final final;
	int r;

	named = advance(runner, named, (const unsigned char *)"/", 1);
	beside = unspoken_component(runner, beside);
	deeper = unspoken_component(runner, beside);
	r = outcome_of(runner, named, NULL, &final);
	if (r < 0)
		return r;
	verdict_add_final(below, &final);
	r = is_same_below(runner, deeper, beside);
	if (r == 1)
		r = is_same_below(runner, beside, named);
	return r < 0 ? r : !r;
}

/*
 * The link's name itself is granted: computes the rights missing below it, if rules distinguish
 * those names.
 */
static int judge_below_link(const unsigned char *tables, size_t size,
			    const struct policy_path *path, struct policy_answer *a)
{
	struct verdict below = {0};
	struct runner runner;
	bool spoken = false;
	size_t begin;
	int r = runner_init(&runner, tables, size);

	for (unsigned int start = 0; start < CORDON_START_COUNT && r >= 0; start++) {
		if (!find_part(path, start, &begin) || begin == path->size)
			continue;
		r = add_below(&runner, start, path->name + begin, path->size - begin, &below);
		spoken |= r > 0;
	}
	if (r < 0)
		return r;
	a->missing = spoken ? verdict_tree_makes(&below) : 0;
	a->below = a->missing != 0;
	/* The rule that allows the name does not decide this. */
	if (a->below)
		a->rule[CORDON_CREATE] = a->rule[CORDON_WRITE] = CORDON_NO_RULE;
	return 0;
}

int policy_judge_path(const unsigned char *tables, size_t size, const struct policy_path *path,
		      uint32_t wanted, struct policy_answer *ret_answer)
{
	/* The root has no components: it has a slash only as an absolute name. */
	bool root = path->size == 1 && path->name[0] == '/';
	size_t name_size = root ? 0 : path->size, begin;
	struct policy_answer a;

	answer_clear(&a);
	for (unsigned int start = 0; start < CORDON_START_COUNT; start++) {
		bool slash = path->listing || (root && start < CORDON_START_ANCHOR);
		int r;

		if (!find_part(path, start, &begin))
			continue;
		if (begin > name_size || (begin < name_size && begin && path->name[begin] != '/'))
			return -EINVAL;
		r = (path->case_insensitive ? add_spellings : add_name)(
			tables, size, start, path->name + begin, name_size - begin, slash, &a);
		if (r < 0)
			return r;
	}
	answer_finish(&a, wanted);
	if (path->link && !a.missing && !root) {
		int r = judge_below_link(tables, size, path, &a);

		if (r < 0)
			return r;
	}
	*ret_answer = a;
	return 0;
}

int policy_judge(const unsigned char *tables, size_t size, unsigned int start, const void *question,
		 size_t question_size, uint32_t wanted, struct policy_answer *ret_answer)
{
	struct cordon_verdict outcome;
	struct policy_answer a;
	int r = policy_run(tables, size, start, question, question_size, &outcome, NULL);

	if (r < 0)
		return r;
	answer_clear(&a);
	answer_add(&a, &outcome);
	answer_finish(&a, wanted);
	*ret_answer = a;
	return 0;
}

/*
 * Calls `visit` for each state that one more byte leads to. A state that several bytes lead to is
 * mostly visited once.
 */
static int for_each_next(struct runner *runner, uint32_t state,
			 int (*visit)(struct runner *runner, uint32_t state, void *context),
			 void *context)
{
	uint32_t last = CORDON_STATE_BROKEN;
	int r = 0;

	for (unsigned int byte = 0; byte < 256 && r == 0; byte++) {
		unsigned char b = (unsigned char)byte;
		uint32_t next = advance(runner, state, &b, 1);

		if (byte == 0 || next != last)
			r = visit(runner, next, context);
		last = next;
	}
	return r;
}

struct port_search {
	uint32_t wanted;
	struct policy_answer *answer;
};

static int visit_port(struct runner *runner, uint32_t state, void *context)
{
	struct port_search *search = context;
	struct cordon_verdict outcome;
	struct policy_answer a;
	int r = outcome_of(runner, state, &outcome, NULL);

	if (r < 0)
		return r;
	answer_clear(&a);
	answer_add(&a, &outcome);
	a.missing = verdict_missing(&a.verdict, search->wanted);
	if (a.missing && !(a.verdict.deny & search->wanted))
		return 0;
	*search->answer = a;
	return a.missing == 0;
}

static int visit_half(struct runner *runner, uint32_t state, void *context)
{
	return for_each_next(runner, state, visit_port, context);
}

int policy_judge_any_port(const unsigned char *tables, size_t size, const void *question,
			  size_t question_size, uint32_t wanted, struct policy_answer *ret_answer)
{
	struct port_search search = {wanted, ret_answer};
	struct runner runner;
	uint32_t state;
	int r = runner_init(&runner, tables, size);

	if (r < 0)
		return r;
	answer_clear(ret_answer);
	ret_answer->missing = wanted;
	state = advance(&runner, runner.header->start[CORDON_START_NET], question, question_size);
	r = for_each_next(&runner, state, visit_half, &search);
	return r < 0 ? r : 0;
}
