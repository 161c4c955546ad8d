/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deterministic automaton of a policy while it is being made: by subset construction, then
 * minimised. State 0 is the dead state.
 */
#ifndef CORDON_POLICY_AUTOMATON_H
#define CORDON_POLICY_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/abi.h"
#include "policy/automaton/nfa.h"

/* More subsets than this mean a state explosion. Fuzzers use a lower limit, for speed. */
#define AUTOMATON_STATES_MAX   (1u << 20)
#define AUTOMATON_MEMBERS_MAX  (48u << 20) /* of all subsets together */
#define AUTOMATON_SEGMENTS_MAX (32u << 20)
#if defined(__has_feature) && __has_feature(coverage_sanitizer)
#define AUTOMATON_STEPS_MAX (1u << 18)
#else
#define AUTOMATON_STEPS_MAX (32u << 20)
#endif

/* Bytes after the previous segment's `last`, up to `last`, lead to `target`. */
struct segment {
	uint32_t target;
	uint8_t last;
};

struct automaton {
	uint32_t state_count;
	uint32_t *first; /* state_count + 1: each state's segments, which cover all 256 bytes */
	struct segment *segments;
	uint32_t *verdict;		 /* per state: index into `verdicts`; verdict 0 is empty */
	struct cordon_verdict *verdicts; /* all different */
	uint32_t verdict_count;
	uint32_t start[CORDON_START_COUNT];
};

void automaton_free(struct automaton *a);
DEFINE_CLEANUP(struct automaton *, automaton_free, automaton_freep)

/* The effect of each rule in the automaton. */
struct rule_use {
	bool decides;	     /* the rule decides at least one right of one name */
	uint32_t decided_by; /* otherwise: a rule that decides in its place, if known */
	uint64_t weight; /* if the construction was given up: members that it added to subsets */
};

/* The cost of the construction so far. It does not depend on the machine. */
struct automaton_effort {
	uint64_t states;
	uint64_t members; /* of all subsets together */
	uint64_t steps;	  /* edges visited, once for each byte range that they apply to */
};

/*
 * Subset construction (Rabin and Scott 1959). `use` has an element per rule. `use` and the effort
 * are also filled on failure. -E2BIG: one of the limits above; -ENOMEM.
 */
int automaton_build(const struct nfa *n, struct rule_use *use, size_t rule_count,
		    struct automaton_effort *ret_effort, struct automaton **ret_automaton);

/*
 * Per state a class number; states with equal numbers give the same verdicts for every
 * continuation. Caller frees. -ENOMEM.
 */
int automaton_classes(const struct automaton *a, uint32_t **ret_class_of);

/*
 * Makes the smallest equivalent automaton, with its states numbered in breadth-first order from the
 * start states. Equivalent automata become identical. -ENOMEM.
 */
int automaton_minimise(const struct automaton *a, struct automaton **ret_automaton);

#endif
