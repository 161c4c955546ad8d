/* SPDX-License-Identifier: Apache-2.0 */
/* Which events of an execution have arrived, by sequence number. */
#include "daemon/execution/sequence.h"

#include <string.h>

#define RANGE_MAX (1u << 20)

static void remove_run(struct sequence *s, size_t index)
{
	memmove(&s->runs[index], &s->runs[index + 1], (s->count - index - 1) * sizeof(s->runs[0]));
	s->count--;
}

/* The first run becomes settled; what lies before it is a gap. */
static void settle_first(struct sequence *s, sequence_gap_handler handler, void *context)
{
	if (s->runs[0].first > s->settled + 1)
		handler(s->settled, s->runs[0].first, context);
	s->settled = s->runs[0].last;
	remove_run(s, 0);
}

static void insert_run(struct sequence *s, size_t index, uint64_t number)
{
	memmove(&s->runs[index + 1], &s->runs[index], (s->count - index) * sizeof(s->runs[0]));
	s->runs[index] = (struct sequence_run){.first = number, .last = number};
	s->count++;
}

void sequence_add(struct sequence *s, uint64_t number, sequence_gap_handler handler, void *context)
{
	size_t i = s->count;

	if (s->anywhere) {
		s->settled = number - 1;
		s->anywhere = false;
	}
	if (number <= s->settled)
		return;
	/* From the end: most arrive in order. */
	while (i > 0 && s->runs[i - 1].first > number)
		i--;
	if (i > 0 && number <= s->runs[i - 1].last)
		return;
	if (i > 0 && s->runs[i - 1].last + 1 == number) {
		s->runs[i - 1].last = number;
		if (i < s->count && s->runs[i].first == number + 1) {
			s->runs[i - 1].last = s->runs[i].last;
			remove_run(s, i);
		}
	} else if (i < s->count && s->runs[i].first == number + 1) {
		s->runs[i].first = number;
	} else {
		if (s->count == SEQUENCE_MAX_RUNS) {
			settle_first(s, handler, context);
			/* It may lie in the hole just given up. */
			if (number <= s->settled)
				return;
			i = i > 0 ? i - 1 : 0;
		}
		insert_run(s, i, number);
	}
	while (s->count > 0 && s->runs[0].first == s->settled + 1)
		settle_first(s, handler, context);
}

void sequence_add_range(struct sequence *s, uint64_t first, uint64_t last,
			sequence_gap_handler handler, void *context)
{
	/*
	 * One by one but for what is settled, and not for ever: so long a range is a hole that was
	 * given up.
	 */
	if (last - first > RANGE_MAX)
		first = last - RANGE_MAX;
	if (first <= s->settled)
		first = s->settled + 1;
	for (uint64_t number = first; number != 0 && number <= last; number++)
		sequence_add(s, number, handler, context);
}

void sequence_finish(struct sequence *s, uint64_t last, sequence_gap_handler handler, void *context)
{
	while (s->count > 0)
		settle_first(s, handler, context);
	if (s->anywhere)
		return;
	if (last > s->settled) {
		handler(s->settled, last + 1, context);
		s->settled = last;
	}
}
