/* SPDX-License-Identifier: Apache-2.0 */
/* Drops members of a subset that cannot affect a verdict any more. */
#include "policy/automaton/settle.h"

#include <string.h>

/*
 * The verdicts that a node can still lead to: rights, and the first rule that contains any of them.
 */
struct prospect {
	uint32_t allow, deny;
	uint32_t allow_rule, deny_rule;
};

/* Bits of a set of rights, with the bits from CORDON_EXCEPT_SHIFT on. */
#define BITS (CORDON_EXCEPT_SHIFT + CORDON_RIGHT_COUNT)

/*
 * The rules that a subset's sinks settle for every continuation: the first rule per right, or
 * UNSETTLED.
 */
struct settled {
	uint32_t allow_rule[BITS], deny_rule[BITS];
};

void settling_release(struct settling *l)
{
	free(l->prospects);
	free(l->settled_by);
}

static bool join_prospect(struct prospect *p, const struct prospect *other)
{
	struct prospect old = *p;

	p->allow |= other->allow;
	p->deny |= other->deny;
	if (other->allow_rule < p->allow_rule)
		p->allow_rule = other->allow_rule;
	if (other->deny_rule < p->deny_rule)
		p->deny_rule = other->deny_rule;
	return memcmp(&old, p, sizeof(old)) != 0;
}

static bool look_ahead(struct settling *l, uint32_t node)
{
	const struct nfa *n = l->nfa;
	struct prospect p = l->prospects[node];

	for (uint32_t i = n->nodes[node].accepts; i; i = n->accepts[i].next) {
		const struct nfa_accept *a = &n->accepts[i];
		struct prospect own = {a->deny ? 0 : a->rights, a->deny ? a->rights : 0,
				       a->deny ? UNSETTLED : a->rule,
				       a->deny ? a->rule : UNSETTLED};

		join_prospect(&p, &own);
	}
	for (uint32_t i = n->nodes[node].edges; i; i = n->edges[i].next)
		join_prospect(&p, &l->prospects[n->edges[i].target]);
	for (uint32_t i = n->nodes[node].skips; i; i = n->skips[i].next)
		join_prospect(&p, &l->prospects[n->skips[i].target]);
	return join_prospect(&l->prospects[node], &p);
}

/*
 * Nodes mostly have higher numbers than their predecessors, so iterating backwards settles them
 * quickly.
 */
int settling_init(struct settling *l, const struct nfa *n)
{
	bool changed = true;

	l->nfa = n;
	l->prospects = calloc(n->node_count, sizeof(*l->prospects));
	l->settled_by = calloc(n->node_count, sizeof(*l->settled_by));
	if (!l->prospects || !l->settled_by)
		return -ENOMEM;
	for (size_t i = 0; i < n->node_count; i++) {
		l->prospects[i].allow_rule = l->prospects[i].deny_rule = UNSETTLED;
		l->settled_by[i] = UNSETTLED;
	}
	while (changed) {
		changed = false;
		for (size_t i = n->node_count; i-- > 1;)
			changed |= look_ahead(l, (uint32_t)i);
	}
	return 0;
}

static bool find_settled(const struct nfa *nfa, const uint32_t *members, size_t count,
			 struct settled *s)
{
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		const struct nfa_node *n = &nfa->nodes[members[i]];
		const struct nfa_accept *a = &nfa->accepts[n->accepts];

		if (!n->sink)
			continue;
		if (!found)
			memset(s, 0xff, sizeof(*s));
		found = true;
		for (unsigned int right = 0; right < BITS; right++) {
			uint32_t *rule = a->deny ? &s->deny_rule[right] : &s->allow_rule[right];

			if (a->rights & CORDON_RIGHT(right) && a->rule < *rule)
				*rule = a->rule;
		}
	}
	return found;
}

/*
 * Checks that a sink's rule decides in place of a node's rule. Among rules of one kind the first
 * decides, so a later rule must not; and a sink does not settle itself.
 *
 * Among rules that match at any depth the outermost match decides. To keep their order, n such
 * rules would each need a copy of all rules before them.
 */
static bool stands_in(uint32_t settled, uint32_t rule, const struct nfa_node *node)
{
	if (settled == UNSETTLED)
		return false;
	if (node->sink)
		return settled < rule;
	return node->floating || settled <= rule;
}

/* True if sinks already decide every verdict that the node can still lead to. */
static bool is_settled(const struct nfa *nfa, const struct prospect *p, const struct settled *s,
		       const struct nfa_node *node, uint32_t *ret_by)
{
	for (unsigned int right = 0; right < BITS; right++) {
		uint32_t deny = s->deny_rule[right], allow = s->allow_rule[right];
		/* Only final denies settle an allow. */
		unsigned int final = right + (nfa->exceptions ? CORDON_EXCEPT_SHIFT : 0);
		uint32_t over = final < BITS ? s->deny_rule[final] : UNSETTLED;

		if (p->deny & CORDON_RIGHT(right)) {
			if (!stands_in(deny, p->deny_rule, node))
				return false;
			*ret_by = deny;
		}
		if (p->allow & CORDON_RIGHT(right) && over == UNSETTLED) {
			if (!stands_in(allow, p->allow_rule, node))
				return false;
			*ret_by = allow;
		} else if (p->allow & CORDON_RIGHT(right)) {
			*ret_by = over;
		}
	}
	return true;
}

void settling_drop(struct settling *l, uint32_t *members, size_t *count)
{
	struct settled s;
	size_t kept = 0;

	if (!find_settled(l->nfa, members, *count, &s))
		return;
	for (size_t i = 0; i < *count; i++) {
		const struct nfa_node *n = &l->nfa->nodes[members[i]];
		uint32_t by = UNSETTLED;

		if (!is_settled(l->nfa, &l->prospects[members[i]], &s, n, &by)) {
			members[kept++] = members[i];
			continue;
		}
		l->settled_by[members[i]] = by;
	}
	*count = kept;
}
