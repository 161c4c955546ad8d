/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each value of each field stands in a stretch of the log: ascending places, kept as the
 * differences in base 128 (7 bits a byte, the lowest first, the top bit: more follows).
 */
#ifndef CORDON_AUDIT_POSTINGS_H
#define CORDON_AUDIT_POSTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "audit/search/skim.h"
#include "base/cleanup.h"

struct postings;

struct posting {
	enum skim_field field;
	const char *value;
	size_t size;
	const unsigned char *places;
	size_t places_size;
};

struct postings *postings_new(void);
void postings_free(struct postings *postings);
DEFINE_CLEANUP(struct postings *, postings_free, postings_freep)

/* Forgets all, and keeps the memory. */
void postings_clear(struct postings *postings);

/* `place` is no less than any before. -ENOMEM. */
int postings_add(struct postings *postings, enum skim_field field, const char *value, size_t size,
		 uint32_t place);

/* Sorts by field and value, and calls `visit` for each until it fails. */
int postings_each(struct postings *postings, int (*visit)(void *data, const struct posting *p),
		  void *data);

/* Takes one difference off the front. False: nothing left, or damaged. */
bool postings_next(const unsigned char **at, const unsigned char *end, uint32_t *place);

#endif
