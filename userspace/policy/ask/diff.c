/* SPDX-License-Identifier: Apache-2.0 */
/* Runs two policies' automata in lockstep to find what only one of them allows. */
#include "policy/automaton/alike.h"
#include "policy/ask/diff.h"

#include <string.h>

#include "policy/ask/evaluate.h"
#include "policy/automaton/names.h"
#include "policy/automaton/product.h"
#include "policy/ask/question.h"
#include "policy/compile/unpack.h"
#include "policy/core/vector.h"

#define NONE 0xffffffffu

/* Axes of the product over names. Each variable adds two more axes at the end. */
enum {
	AXIS_NAMES,
	AXIS_PATH, /* of a, then of b */
	AXIS_FLOATING = AXIS_PATH + 2,
	AXIS_VARIABLES = AXIS_FLOATING + 2,
};

#define VARIABLES_MAX (2 * CORDON_MAX_ANCHORS)

/* The rights in the order of a report, with the start state of each. */
static const struct {
	const char *word;
	unsigned int right, start;
	uint32_t kinds; /* of names, bits */
} rows[POLICY_DIFFERENCES] = {
	{"read", CORDON_READ, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_OBJECT},
	{"list", CORDON_READ, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_LISTING},
	{"write", CORDON_WRITE, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_OBJECT},
	{"create", CORDON_CREATE, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_OBJECT},
	{"delete", CORDON_DELETE, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_OBJECT},
	{"link", CORDON_CREATE, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_OBJECT},
	{"special", CORDON_SPECIAL, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_OBJECT},
	{"run", CORDON_RUN, CORDON_START_PATH,
	 1u << NAME_ROOT | 1u << NAME_OBJECT | 1u << NAME_SPECIAL},
	{"map", CORDON_MAP, CORDON_START_PATH,
	 1u << NAME_ROOT | 1u << NAME_OBJECT | 1u << NAME_SPECIAL},
	{"connect", CORDON_UNIX_CONNECT, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_OBJECT},
	{"bind", CORDON_UNIX_BIND, CORDON_START_ABSTRACT, 0},
	{"connect", CORDON_NET_CONNECT, CORDON_START_NET, 0},
	{"bind", CORDON_NET_BIND, CORDON_START_NET, 0},
	{"listen", CORDON_NET_LISTEN, CORDON_START_NET, 0},
	{"socket", CORDON_SOCKET, CORDON_START_SOCKET, 0},
	{"host", CORDON_NET_HOST, CORDON_START_NET, 0},
	{"links", CORDON_LINKS, CORDON_START_PATH, 1u << NAME_ROOT | 1u << NAME_OBJECT},
};

/*
 * No separate right covers symbolic links into the tree: they need "create", and "special" must not
 * be denied.
 */
#define ROW_LINK     5
#define LINK_GRANTED (1u << 31)

/* The rows that `special: deny` affects, and the rights that they depend on. */
#define ROW_SPECIAL    6
#define SPECIAL_ROWS   (1u << ROW_LINK | 1u << ROW_SPECIAL)
#define SPECIAL_RIGHTS (CORDON_RIGHT(CORDON_CREATE) | CORDON_RIGHT(CORDON_SPECIAL))
#define ALL	       0xffffffffu

/* A directory variable that rules of at least one policy start with. */
struct variable {
	const char *name;
	unsigned int start[2]; /* of a and b; CORDON_START_COUNT: not used there */
};

/* The first tuple that shows a difference, by direction: [0] narrower, [1] wider. */
struct found {
	uint32_t node[2];
};

struct diff {
	const struct compiled_policy *policy[2];
	size_t tuples_max; /* limit for each product */
	struct automaton *rights[2];
	struct alike alike; /* for the states of both policies */
	struct automaton *names;
	struct variable variables[VARIABLES_MAX];
	size_t variable_count;
	/* Variables with the same rules in both policies stay unbound: a part of the comparison. */
	bool partial;
	unsigned int start; /* of the current product */
	uint32_t rows;	    /* bits: the rows that the current product compares */
	struct found found[POLICY_DIFFERENCES];
	struct policy_difference *differences;
	/*
	 * Set if the caller wants all widening rules instead: one entry per rule of the second
	 * policy.
	 */
	struct widener *wideners;
	struct policy_widening *widenings;
	size_t widening_count, widening_capacity;
};

static void release_rights(struct diff *d)
{
	for (size_t i = 0; i < 2; i++)
		if (d->rights[i])
			automaton_free(d->rights[i]);
	alike_release(&d->alike);
	d->rights[0] = d->rights[1] = NULL;
}

static void diff_release(struct diff *d)
{
	release_rights(d);
	if (d->names)
		automaton_free(d->names);
	free(d->wideners);
	policy_widenings_free(d->widenings, d->widening_count);
}

static void witness_release(struct policy_witness *w)
{
	free(w->object);
	free(w->bindings);
}

void policy_diff_release(struct policy_difference differences[POLICY_DIFFERENCES])
{
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++) {
		witness_release(&differences[i].wider);
		witness_release(&differences[i].narrower);
	}
}

/* ---- variables ---- */

static struct variable *find_variable(struct diff *d, const char *name)
{
	for (size_t i = 0; i < d->variable_count; i++)
		if (strcmp(d->variables[i].name, name) == 0)
			return &d->variables[i];
	d->variables[d->variable_count] =
		(struct variable){name, {CORDON_START_COUNT, CORDON_START_COUNT}};
	return &d->variables[d->variable_count++];
}

static void find_variables(struct diff *d)
{
	d->variable_count = 0;
	for (size_t side = 0; side < 2; side++)
		for (unsigned int i = 0; i < CORDON_MAX_ANCHORS; i++) {
			const char *name = d->policy[side]->anchor_names[i];

			if (name && d->rights[side]->start[CORDON_START_ANCHOR + i] != 0)
				find_variable(d, name)->start[side] = CORDON_START_ANCHOR + i;
		}
}

static uint32_t variable_state(const struct diff *d, const struct variable *v, size_t side)
{
	return v->start[side] == CORDON_START_COUNT ? 0 : d->rights[side]->start[v->start[side]];
}

/* ---- verdicts ---- */

static void add_state(const struct automaton *a, uint32_t state, struct verdict *v)
{
	if (state != PRODUCT_IDLE)
		verdict_add(v, &a->verdicts[a->verdict[state]]);
}

static bool denies_special(const struct diff *d, size_t side)
{
	const struct cordon_policy_header *header = (const void *)d->policy[side]->tables;

	return header->flags & CORDON_POLICY_SPECIAL;
}

/*
 * Under `special: deny`, the "create" right alone does not grant everything that it grants
 * otherwise.
 */
static bool grants(const struct diff *d, size_t side, size_t row, uint32_t granted)
{
	uint32_t needed = CORDON_RIGHT(rows[row].right);

	if (row == ROW_LINK)
		return granted & LINK_GRANTED;
	if (rows[row].right == CORDON_SPECIAL)
		needed = CORDON_RIGHT(CORDON_CREATE) | (denies_special(d, side) ? needed : 0);
	if (rows[row].right == CORDON_LINKS)
		needed |= CORDON_RIGHT(CORDON_WRITE);
	return (granted & needed) == needed;
}

/* Notes the rights that differ at a tuple: one policy grants them and the other does not. */
static bool is_asked(const struct diff *d, size_t row, enum name_kind kind)
{
	if (!(d->rows & 1u << row))
		return false;
	if (SPECIAL_ROWS & 1u << row && !denies_special(d, 0) && !denies_special(d, 1))
		return false;
	if (rows[row].start != d->start && rows[row].right != CORDON_UNIX_CONNECT)
		return false;
	return rows[row].start != CORDON_START_PATH || d->start != CORDON_START_PATH ||
	       (rows[row].kinds >> kind & 1);
}

static void note_differences(struct diff *d, uint32_t node, const uint32_t granted[2],
			     enum name_kind kind)
{
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++) {
		bool a = grants(d, 0, i, granted[0]), b = grants(d, 1, i, granted[1]);

		if (a != b && d->found[i].node[b] == NONE && is_asked(d, i, kind))
			d->found[i].node[b] = node;
	}
}

static bool is_same_variable(const struct diff *d, const struct variable *v)
{
	return alike_states(&d->alike, variable_state(d, v, 0), variable_state(d, v, 1));
}

/*
 * From here on both policies give the same verdicts, also for each directory that is not bound yet.
 * This holds for most of two versions of a policy, so variables cost little where both are the
 * same.
 */
static bool is_settled(const struct diff *d, const uint32_t *states)
{
	if (d->rows & SPECIAL_ROWS && denies_special(d, 0) != denies_special(d, 1))
		return false;
	for (size_t i = AXIS_PATH; i < AXIS_VARIABLES; i += 2)
		if (!alike_states(&d->alike, states[i], states[i + 1]))
			return false;
	for (size_t i = 0; i < d->variable_count; i++) {
		const uint32_t *own = &states[AXIS_VARIABLES + 2 * i];
		const struct variable *v = &d->variables[i];

		if (!(own[0] == PRODUCT_IDLE ? is_same_variable(d, v)
					     : alike_states(&d->alike, own[0], own[1])))
			return false;
	}
	return true;
}

/* The rights that both policies grant at a tuple of names. False: nothing is compared there. */
static bool judge_name(const struct diff *d, const uint32_t *states, uint32_t granted[2])
{
	struct verdict v[2] = {};
	size_t width = AXIS_VARIABLES + 2 * d->variable_count;

	if (states[AXIS_NAMES] == 0 || is_settled(d, states))
		return false;
	for (size_t i = AXIS_VARIABLES; i < width; i += 2)
		/*
		 * Both runs have ended: the same name without this binding gives the same verdict.
		 */
		if (states[i] == 0 && states[i + 1] == 0)
			return false;
	for (size_t i = AXIS_PATH; i < width; i++)
		add_state(d->rights[(i - AXIS_PATH) % 2], states[i], &v[(i - AXIS_PATH) % 2]);
	for (size_t side = 0; side < 2; side++) {
		granted[side] = verdict_granted(&v[side]);
		if (granted[side] & CORDON_RIGHT(CORDON_CREATE) &&
		    !(denies_special(d, side) &&
		      verdict_denied(&v[side]) & CORDON_RIGHT(CORDON_SPECIAL)))
			granted[side] |= LINK_GRANTED;
	}
	return true;
}

static int visit_name(void *context, struct product *p, uint32_t node)
{
	struct diff *d = context;
	uint32_t granted[2], states[PRODUCT_WIDTH_MAX];
	size_t width = AXIS_VARIABLES + 2 * d->variable_count;
	enum name_kind kind;

	memcpy(states, product_states(p, node), width * sizeof(*states));
	if (!judge_name(d, states, granted))
		return PRODUCT_PRUNE;
	kind = names_kind(d->names, states[AXIS_NAMES]);
	note_differences(d, node, granted, kind);
	for (size_t i = 0; kind == NAME_OBJECT && i < d->variable_count; i++) {
		uint32_t *own = &states[AXIS_VARIABLES + 2 * i];
		int r;

		if (*own != PRODUCT_IDLE || (d->partial && is_same_variable(d, &d->variables[i])))
			continue;
		own[0] = variable_state(d, &d->variables[i], 0);
		own[1] = variable_state(d, &d->variables[i], 1);
		r = product_jump(p, node, states, (unsigned int)i);
		own[0] = own[1] = PRODUCT_IDLE;
		if (r < 0)
			return r;
	}
	return PRODUCT_EXPAND;
}

static bool judge_pair(const struct diff *d, const uint32_t *states, uint32_t granted[2])
{
	if (states[0] == 0 && states[1] == 0)
		return false;
	for (size_t side = 0; side < 2; side++) {
		struct verdict v = {};

		add_state(d->rights[side], states[side], &v);
		granted[side] = verdict_granted(&v);
	}
	return true;
}

static int visit_pair(void *context, struct product *p, uint32_t node)
{
	struct diff *d = context;
	uint32_t granted[2];

	if (!judge_pair(d, product_states(p, node), granted))
		return PRODUCT_PRUNE;
	note_differences(d, node, granted, NAME_NONE);
	return PRODUCT_EXPAND;
}

/* ---- witnesses ---- */

/* The deciding rule of policy `side`. */
static int find_rule(const struct diff *d, size_t side, size_t row, const char *bytes, size_t size,
		     const size_t *marks, uint16_t *ret_rule)
{
	const struct compiled_policy *policy = d->policy[side];
	struct policy_path path = {.name = bytes, .size = size};
	struct policy_answer a;
	int r;

	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		path.anchors[i] = POLICY_NO_ANCHOR;
	for (size_t i = 0; i < d->variable_count; i++)
		if (d->variables[i].start[side] != CORDON_START_COUNT && marks[i] != SIZE_MAX)
			path.anchors[d->variables[i].start[side] - CORDON_START_ANCHOR] = marks[i];
	if (d->start != CORDON_START_PATH) {
		r = policy_judge(policy->tables, policy->tables_size, d->start, bytes, size, 0, &a);
	} else {
		if (size > 1 && bytes[size - 1] == '/') {
			path.listing = true;
			path.size--;
		}
		r = policy_judge_path(policy->tables, policy->tables_size, &path, 0, &a);
	}
	if (r == 0)
		*ret_rule = a.rule[rows[row].right];
	return r;
}

static int describe_bindings(const struct diff *d, const char *bytes, const size_t *marks,
			     char **ret_text)
{
	_cleanup_(freep) char *text = NULL;
	const char *separator = "";
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < d->variable_count; i++) {
		if (marks[i] == SIZE_MAX)
			continue;
		fprintf(out, "%s%s=%.*s", separator, d->variables[i].name, (int)marks[i], bytes);
		separator = " ";
	}
	if (fclose(out) != 0)
		return -ENOMEM;
	*ret_text = TAKE_PTR(text);
	return 0;
}

/* `side`: the policy that allows it. */
static int make_witness(const struct diff *d, const struct product *p, uint32_t node, size_t row,
			size_t side, struct policy_witness *w)
{
	_cleanup_(freep) char *bytes = NULL;
	size_t marks[VARIABLES_MAX];
	int r = product_string(p, node, &bytes, &w->size, marks, d->variable_count);

	if (r == 0)
		r = find_rule(d, side, row, bytes, w->size, marks, &w->allowing);
	if (r == 0)
		r = find_rule(d, !side, row, bytes, w->size, marks, &w->refusing);
	if (r == 0)
		r = describe_bindings(d, bytes, marks, &w->bindings);
	if (r < 0)
		return r;
	w->object = question_format(d->start, bytes, w->size);
	return w->object ? 0 : -ENOMEM;
}

/*
 * Strings are made while the product exists. If several rows show the same right, the first example
 * is kept.
 */
static int make_witnesses(struct diff *d, const struct product *p)
{
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++)
		for (size_t side = 0; side < 2; side++) {
			struct policy_difference *difference = &d->differences[i];
			struct policy_witness *w = side ? &difference->wider
							: &difference->narrower;
			int r;

			if (d->found[i].node[side] == NONE || w->object)
				continue;
			r = make_witness(d, p, d->found[i].node[side], i, side, w);
			if (r < 0)
				return r;
			difference->change |= side ? SETTING_WIDER : SETTING_NARROWER;
		}
	return 0;
}

/* ---- all rules that widen ---- */

/* The number of names that reach each tuple of the product, see product_sizes(). */
struct sizes {
	uint64_t *sizes;
	uint32_t *bounds;
};

static void sizes_release(struct sizes *sizes)
{
	free(sizes->sizes);
	free(sizes->bounds);
}

/* A rule of the second policy that allows more than the first policy. */
struct widener {
	uint32_t node; /* of a shortest example for the first of `rows` */
	size_t row;
	uint32_t large; /* node that an unlimited number of names reaches, NONE: there is none */
	uint32_t rows;
	uint64_t count[POLICY_DIFFERENCES];
};

static bool is_shorter(const struct product *p, uint32_t node, uint32_t than)
{
	return than == NONE || product_depth(p, node) < product_depth(p, than);
}

/* A node with a known directory bound is preferred. */
static bool is_better_large(const struct product *p, const struct sizes *sizes, uint32_t node,
			    uint32_t than)
{
	bool bound = sizes->bounds[node] != PRODUCT_NO_BOUND;

	if (than == NONE || bound != (sizes->bounds[than] != PRODUCT_NO_BOUND))
		return than == NONE || bound;
	return is_shorter(p, node, than);
}

static void note_widener(struct diff *d, const struct product *p, const struct sizes *sizes,
			 uint32_t node, size_t row, uint16_t rule, bool bound)
{
	struct widener *w;

	if (rule >= d->policy[1]->rule_count)
		return;
	w = &d->wideners[rule];
	if (!w->rows || row < w->row || (row == w->row && is_shorter(p, node, w->node))) {
		w->node = node;
		w->row = row;
	}
	w->rows |= 1u << row;
	if (sizes->sizes[node] == PRODUCT_UNBOUNDED && is_better_large(p, sizes, node, w->large))
		w->large = node;
	/* A name is counted once, not again for each binding of a variable. */
	if (bound)
		return;
	if (__builtin_add_overflow(w->count[row], sizes->sizes[node], &w->count[row]))
		w->count[row] = PRODUCT_UNBOUNDED - 1;
}

/* Unless special objects are denied, the "create" right alone allows making them. */
static unsigned int deciding_right(const struct diff *d, size_t row)
{
	return rows[row].right == CORDON_SPECIAL && !denies_special(d, 1) ? CORDON_CREATE
									  : rows[row].right;
}

/* The rule of the second policy that takes back a deny of this right; rule_count: none does. */
static uint16_t excepting_rule(const struct diff *d, const uint32_t *states, size_t from,
			       size_t width, unsigned int right)
{
	const struct automaton *a = d->rights[1];
	uint16_t rule = (uint16_t)d->policy[1]->rule_count;
	struct verdict v = {};

	for (size_t i = from; i < width; i += 2) {
		add_state(a, states[i], &v);
		if (states[i] != PRODUCT_IDLE && a->verdicts[a->verdict[states[i]]].except)
			rule = (uint16_t)(a->verdicts[a->verdict[states[i]]].except - 1);
	}
	return v.deny & ~verdict_denied(&v) & CORDON_RIGHT(right)
		       ? rule
		       : (uint16_t)d->policy[1]->rule_count;
}

/* Each run of the second policy has its own rule that allows the access. */
static void note_wideners(struct diff *d, const struct product *p, const struct sizes *sizes,
			  uint32_t node, size_t row, size_t width)
{
	const uint32_t *states = product_states(p, node);
	size_t from = d->start == CORDON_START_PATH ? AXIS_PATH + 1 : 1;
	const struct automaton *a = d->rights[1];
	unsigned int right = deciding_right(d, row);
	uint16_t except = excepting_rule(d, states, from, width, right);
	bool bound = false;

	for (size_t i = AXIS_VARIABLES; i < width; i++)
		bound |= states[i] != PRODUCT_IDLE;
	if (except < d->policy[1]->rule_count) {
		note_widener(d, p, sizes, node, row, except, bound);
		return;
	}
	for (size_t i = from; i < width; i += 2) {
		const struct cordon_verdict *v;

		if (states[i] == PRODUCT_IDLE)
			continue;
		v = &a->verdicts[a->verdict[states[i]]];
		if (v->allow & ~(v->deny >> CORDON_EXCEPT_SHIFT) & CORDON_RIGHT(right))
			note_widener(d, p, sizes, node, row, v->rule[right], bound);
	}
}

static size_t first_row(uint32_t rows_found)
{
	return (size_t)__builtin_ctz(rows_found);
}

/* For an unlimited number of names: the directory that contains them, or NULL if none is known. */
static char *bound_of(const struct diff *d, const struct product *p, const struct sizes *sizes,
		      uint32_t node)
{
	_cleanup_(freep) char *bytes = NULL;
	size_t size, end = sizes->bounds[node];

	if (end == PRODUCT_NO_BOUND)
		return NULL;
	if (d->start != CORDON_START_PATH || product_string(p, node, &bytes, &size, NULL, 0) < 0)
		return NULL;
	/* The bound is a directory that has the same verdict as its contents. */
	if (bytes[end] == '/')
		end++;
	while (end > 0 && bytes[end - 1] != '/')
		end--;
	return question_format(d->start, bytes, end > 0 ? end : 1);
}

static struct policy_widening *find_widening(const struct diff *d, uint16_t rule)
{
	for (size_t i = 0; i < d->widening_count; i++)
		if (d->widenings[i].rule == rule)
			return &d->widenings[i];
	return NULL;
}

static void add_words(struct policy_widening *widening, uint32_t rows_found)
{
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++)
		if (rows_found & 1u << i)
			widening->rights[widening->right_count++] = rows[i].word;
}

static int take_widener(struct diff *d, const struct product *p, const struct sizes *sizes,
			uint16_t rule)
{
	const struct widener *w = &d->wideners[rule];
	struct policy_widening *made = find_widening(d, rule);
	int r;

	/* The destinations are already reported, and they imply the sockets. */
	if (made && d->start == CORDON_START_SOCKET)
		return 0;
	if (made && d->rows == SPECIAL_ROWS) {
		add_words(made, w->rows);
		return 0;
	}
	if (vector_reserve(&d->widenings, &d->widening_capacity, d->widening_count + 1) < 0)
		return -ENOMEM;
	made = &d->widenings[d->widening_count];
	*made = (struct policy_widening){
		.rule = rule,
		.section = question_section(rows[first_row(w->rows)].right),
		.unbounded = w->large != NONE,
		.count = w->count[first_row(w->rows)],
	};
	add_words(made, w->rows);
	r = make_witness(d, p, w->node, first_row(w->rows), 1, &made->witness);
	/* A variable can be bound to any directory, so names below it have no other bound. */
	if (r == 0 && made->unbounded && !*made->witness.bindings)
		made->below = bound_of(d, p, sizes, w->large);
	if (r == 0)
		d->widening_count++;
	return r;
}

static int collect_wideners(struct diff *d, const struct product *p, size_t width)
{
	_cleanup_(sizes_release) struct sizes all = {};
	const struct sizes *sizes = &all;
	int r = product_sizes(p, &all.sizes, &all.bounds);

	for (uint32_t node = 0; r == 0 && node < product_count(p); node++) {
		const uint32_t *states = product_states(p, node);
		bool names = d->start == CORDON_START_PATH;
		enum name_kind kind = NAME_NONE;
		uint32_t granted[2];

		if (!(names ? judge_name : judge_pair)(d, states, granted))
			continue;
		if (names)
			kind = names_kind(d->names, states[AXIS_NAMES]);
		for (size_t i = 0; i < POLICY_DIFFERENCES; i++)
			if (!grants(d, 0, i, granted[0]) && grants(d, 1, i, granted[1]) &&
			    is_asked(d, i, kind))
				note_wideners(d, p, sizes, node, i, width);
	}
	for (size_t i = 0; r == 0 && i < d->policy[1]->rule_count; i++)
		r = d->wideners[i].rows ? take_widener(d, p, sizes, (uint16_t)i) : 0;
	return r;
}

/* ---- products ---- */

/* Forgets the nodes that were found in the previous product. */
static void begin(struct diff *d, unsigned int start)
{
	d->start = start;
	memset(d->found, 0xff, sizeof(d->found));
	for (size_t i = 0; d->wideners && i < d->policy[1]->rule_count; i++)
		d->wideners[i] = (struct widener){.node = NONE, .large = NONE};
}

static int compare_names(struct diff *d)
{
	const struct automaton *axes[PRODUCT_WIDTH_MAX] = {d->names};
	uint32_t start[PRODUCT_WIDTH_MAX] = {d->names->start[CORDON_START_PATH]};
	size_t width = AXIS_VARIABLES + 2 * d->variable_count;
	_cleanup_(product_freep) struct product *p = NULL;
	int r;

	begin(d, CORDON_START_PATH);
	for (size_t i = AXIS_PATH; i < width; i++) {
		const struct automaton *a = d->rights[(i - AXIS_PATH) % 2];

		axes[i] = a;
		start[i] = i < AXIS_FLOATING	? a->start[CORDON_START_PATH]
			   : i < AXIS_VARIABLES ? a->start[CORDON_START_FLOATING]
						: PRODUCT_IDLE;
	}
	r = product_explore(axes, start, width, d->tuples_max, visit_name, d, &p);
	/* Each name that a part of the comparison finds is one of the whole. */
	if (r == -E2BIG && d->wideners && !d->partial) {
		d->partial = true;
		r = compare_names(d);
		d->partial = false;
		return r == 0 && d->widening_count == 0 ? -E2BIG : r;
	}
	if (r < 0)
		return r;
	return d->wideners ? collect_wideners(d, p, width) : make_witnesses(d, p);
}

static int compare_pairs(struct diff *d, unsigned int start)
{
	const struct automaton *const axes[] = {d->rights[0], d->rights[1]};
	const uint32_t states[] = {axes[0]->start[start], axes[1]->start[start]};
	_cleanup_(product_freep) struct product *p = NULL;
	size_t variables = d->variable_count;
	int r;

	begin(d, start);
	r = product_explore(axes, states, 2, d->tuples_max, visit_pair, d, &p);
	if (r < 0)
		return r;
	d->variable_count = 0;
	r = d->wideners ? collect_wideners(d, p, 2) : make_witnesses(d, p);
	d->variable_count = variables;
	return r;
}

/* Builds the automata of both policies for `rights` (CORDON_RIGHT() bits). */
static int take_rights(struct diff *d, uint32_t rights)
{
	int r;

	release_rights(d);
	r = automaton_of_rights(d->policy[0], rights, &d->rights[0]);
	if (r == 0)
		r = (d->wideners ? automaton_of_rules : automaton_of_rights)(d->policy[1], rights,
									     &d->rights[1]);
	if (r == 0)
		r = alike_compare(d->rights[0], d->rights[1], &d->alike);
	if (r == 0)
		find_variables(d);
	return r;
}

/*
 * Compares the rows of `special: deny` when only one policy contains it. is_settled() never prunes
 * here, so a separate product over these few rights is much smaller.
 */
static int compare_special(struct diff *d)
{
	int r = take_rights(d, SPECIAL_RIGHTS);

	d->rows = SPECIAL_ROWS;
	return r < 0 ? r : compare_names(d);
}

/* Compares over all products. */
static int run(struct diff *d)
{
	bool apart = denies_special(d, 0) != denies_special(d, 1);
	int r;

	d->rows = apart ? ALL & ~SPECIAL_ROWS : ALL;
	d->names = names_automaton();
	r = d->names ? take_rights(d, ALL) : -ENOMEM;
	if (r == 0)
		r = compare_names(d);
	if (r == 0)
		r = compare_pairs(d, CORDON_START_ABSTRACT);
	if (r == 0)
		r = compare_pairs(d, CORDON_START_NET);
	if (r == 0)
		r = compare_pairs(d, CORDON_START_SOCKET);
	return r < 0 || !apart ? r : compare_special(d);
}

int policy_diff(const struct compiled_policy *a, const struct compiled_policy *b,
		struct policy_difference ret_differences[POLICY_DIFFERENCES])
{
	return policy_diff_within(a, b, POLICY_TUPLES_MAX, ret_differences);
}

int policy_diff_within(const struct compiled_policy *a, const struct compiled_policy *b,
		       size_t tuples_max,
		       struct policy_difference ret_differences[POLICY_DIFFERENCES])
{
	struct policy_difference differences[POLICY_DIFFERENCES] = {0};
	_cleanup_(diff_release) struct diff d = {
		.policy = {a, b}, .tuples_max = tuples_max, .differences = differences};
	int r;

	for (size_t i = 0; i < POLICY_DIFFERENCES; i++) {
		differences[i].section = question_section(rows[i].right);
		differences[i].right = rows[i].word;
	}
	r = run(&d);
	if (r < 0)
		policy_diff_release(differences);
	else
		memcpy(ret_differences, differences, sizeof(differences));
	return r;
}

void policy_widening_release(struct policy_widening *widening)
{
	witness_release(&widening->witness);
	free(widening->below);
}

void policy_widenings_free(struct policy_widening *widenings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		policy_widening_release(&widenings[i]);
	free(widenings);
}

int policy_widenings(const struct compiled_policy *a, const struct compiled_policy *b,
		     size_t tuples_max, struct policy_widening **ret_widenings, size_t *ret_count)
{
	_cleanup_(diff_release) struct diff d = {.policy = {a, b}, .tuples_max = tuples_max};
	int r;

	d.wideners = calloc(b->rule_count + 1, sizeof(*d.wideners));
	r = d.wideners ? run(&d) : -ENOMEM;
	if (r < 0)
		return r;
	*ret_widenings = TAKE_PTR(d.widenings);
	*ret_count = d.widening_count;
	d.widening_count = 0;
	return 0;
}
