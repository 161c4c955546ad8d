/* SPDX-License-Identifier: Apache-2.0 */
/* An automaton of all names that the kernel can check: every witness must be one of them. */
#ifndef CORDON_POLICY_NAMES_H
#define CORDON_POLICY_NAMES_H

#include "policy/automaton/automaton.h"

/* The kinds of names, see names_kind(). */
enum name_kind {
	NAME_NONE = 0,
	NAME_ROOT = 1,	  /* "/": the object and its listing */
	NAME_LISTING = 2, /* "/a/" */
	NAME_OBJECT = 3,  /* "/a" */
	NAME_SPECIAL = 4, /* "@anonymous", "@memfd" */
};

/* Its start state is start[CORDON_START_PATH]. Lengths are not limited. NULL: no memory. */
struct automaton *names_automaton(void);

/* The kind of the string that leads to a state. */
static inline enum name_kind names_kind(const struct automaton *names, uint32_t state)
{
	return names->verdict[state];
}

#endif
