/* SPDX-License-Identifier: Apache-2.0 */
/* An automaton of all names that the kernel can check: every witness must be one of them. */
#include "policy/automaton/names.h"

#include <string.h>

enum state {
	DEAD,
	START,
	ROOT,
	SLASH,
	DOT,
	DOTS,
	COMPONENT,
	SPECIAL, /* after '@'; the rest of both words follows */
	STATES = 32,
};

#define SEGMENTS_MAX 8

struct writer {
	struct automaton *a;
	uint32_t targets[256];
};

static void fill(struct writer *w, uint32_t target)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->targets); i++)
		w->targets[i] = target;
}

/* Appends the next state. */
static void put(struct writer *w, enum name_kind kind)
{
	struct automaton *a = w->a;
	uint32_t count = a->first[a->state_count];

	for (unsigned int byte = 0; byte < 256; byte++) {
		if (byte == 0 || w->targets[byte] != w->targets[byte - 1])
			a->segments[count++].target = w->targets[byte];
		a->segments[count - 1].last = (uint8_t)byte;
	}
	a->verdict[a->state_count] = kind;
	a->first[++a->state_count] = count;
}

static void put_component(struct writer *w, enum name_kind kind, uint32_t dot, uint32_t slash)
{
	fill(w, COMPONENT);
	w->targets[0] = DEAD;
	w->targets['.'] = dot;
	w->targets['/'] = slash;
	put(w, kind);
}

/* Each byte leads to the next state; `word` is the rest of the word from the next state on. */
static void put_word(struct writer *w, const char *word)
{
	for (; *word; word++) {
		fill(w, DEAD);
		w->targets[(unsigned char)*word] = w->a->state_count + 1;
		put(w, NAME_NONE);
	}
	fill(w, DEAD);
	put(w, NAME_SPECIAL);
}

static void put_all(struct writer *w)
{
	fill(w, DEAD);
	put(w, NAME_NONE); /* DEAD */
	w->targets['/'] = ROOT;
	w->targets['@'] = SPECIAL;
	put(w, NAME_NONE); /* START */
	put_component(w, NAME_ROOT, DOT, DEAD);
	put_component(w, NAME_LISTING, DOT, DEAD);    /* SLASH */
	put_component(w, NAME_NONE, DOTS, DEAD);      /* DOT */
	put_component(w, NAME_NONE, COMPONENT, DEAD); /* DOTS */
	put_component(w, NAME_OBJECT, COMPONENT, SLASH);
	fill(w, DEAD);
	w->targets['a'] = SPECIAL + 1;
	w->targets['m'] = SPECIAL + 1 + (uint32_t)strlen("anonymous");
	put(w, NAME_NONE); /* SPECIAL */
	put_word(w, "nonymous");
	put_word(w, "emfd");
}

struct automaton *names_automaton(void)
{
	_cleanup_(automaton_freep) struct automaton *a = calloc(1, sizeof(*a));
	struct writer w = {.a = a};

	if (!a)
		return NULL;
	a->first = calloc(STATES + 1, sizeof(*a->first));
	a->segments = calloc((size_t)STATES * SEGMENTS_MAX, sizeof(*a->segments));
	a->verdict = calloc(STATES, sizeof(*a->verdict));
	if (!a->first || !a->segments || !a->verdict)
		return NULL;
	put_all(&w);
	a->start[CORDON_START_PATH] = START;
	return TAKE_PTR(a);
}
