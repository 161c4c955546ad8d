/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nondeterministic automaton of a policy: one trie of pattern elements per start state.
 * Patterns share common prefixes, so ten thousand rules below /usr need only one walk.
 */
#ifndef CORDON_POLICY_NFA_H
#define CORDON_POLICY_NFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/abi.h"
#include "policy/core/slots.h"

enum element_kind {
	ELEMENT_RANGE,	   /* one byte, low to high */
	ELEMENT_SET,	   /* one byte of `ascii` */
	ELEMENT_CHARACTER, /* one byte of `ascii`, one UTF-8 sequence, or one byte above 0x7f */
	ELEMENT_STAR,	   /* any bytes except '/', or none */
	ELEMENT_GLOBSTAR,  /* any bytes, or none */
	ELEMENT_DIRSTAR,   /* nothing, or any bytes and a '/' */
};

struct element {
	enum element_kind kind;
	uint8_t low, high; /* ELEMENT_RANGE */
	uint32_t ascii[4]; /* bit b of word b / 32 */
};

/* A rule's effect on the names that end at a node. */
struct nfa_accept {
	uint32_t rule;	 /* or CORDON_NO_RULE: built in */
	uint32_t rights; /* with those beyond CORDON_EXCEPT_SHIFT */
	bool deny;
	uint32_t next; /* of the same node, 0: none */
};

struct nfa_edge {
	uint8_t low, high;
	uint32_t target;
	uint32_t next; /* of the same node, 0: none */
};

/* A node reached without a byte. */
struct nfa_skip {
	uint32_t target;
	uint32_t next; /* of the same node, 0: none */
};

struct nfa_node {
	uint32_t edges, skips, accepts; /* first of each list, 0: none */
	uint32_t parent;		/* its predecessor in the trie, 0: none */
	uint32_t owner;			/* the rule that made it */
	bool sink;			/* accepts every continuation */
	bool floating;			/* reached from CORDON_START_FLOATING */
};

/* Index 0 of these four arrays is unused. */
struct nfa {
	struct nfa_node *nodes;
	struct nfa_edge *edges;
	struct nfa_skip *skips;
	struct nfa_accept *accepts;
	size_t node_count, edge_count, skip_count, accept_count;
	size_t node_capacity, edge_capacity, skip_capacity, accept_capacity;
	uint32_t last_sink; /* the latest sink: reused while the rule is the same */
	uint32_t starts[CORDON_START_COUNT]; /* 0: no pattern starts there */
	struct nfa_child *children;	     /* hash table: node and element to node */
	size_t child_count, child_capacity;
	struct element *sets; /* distinct sets seen, for that table's keys */
	size_t set_count, set_capacity;
	struct slots set_slots;
	/* for new nodes */
	uint32_t owner;
	bool floating;
	bool exceptions; /* rights beyond CORDON_EXCEPT_SHIFT are used */
};

#define NFA_NODES_MAX (8u << 20)

/* NULL: no memory. */
struct nfa *nfa_new(void);
void nfa_free(struct nfa *n);
DEFINE_CLEANUP(struct nfa *, nfa_free, nfa_freep)

/* All functions: -ENOMEM; -E2BIG: NFA_NODES_MAX. */
int nfa_start(struct nfa *n, enum cordon_start start, uint32_t *ret_node);

/* Finds the node that `element` leads to from `node`, or makes it. */
int nfa_follow(struct nfa *n, uint32_t node, const struct element *element, uint32_t *ret_node);

/* The same for one byte from low to high. */
int nfa_follow_range(struct nfa *n, uint32_t node, uint8_t low, uint8_t high, uint32_t *ret_node);

/* Accepts the node's name and every continuation. All names of one rule share sinks. */
int nfa_add_sink(struct nfa *n, uint32_t node, uint32_t rule, uint32_t rights, bool deny);

/* Accepts only the name that ends at the node. */
int nfa_add_accept(struct nfa *n, uint32_t node, uint32_t rule, uint32_t rights, bool deny);

#endif
