/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus text exposition, format 0.0.4, with a limit on the number of series. Each stored
 * series has a cost, so that an erroneous daemon must not create many.
 */
#ifndef CORDON_WATCH_EXPOSITION_H
#define CORDON_WATCH_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/text/buffer.h"

/* Maximum number of series of one host. */
#define EXPOSITION_MAX_SERIES 100u
/* Maximum size of a label's value in bytes; longer values are truncated. */
#define EXPOSITION_MAX_LABEL 64u

struct exposition_label {
	const char *name;
	const char *value; /* UTF-8 */
};

struct exposition_family {
	const char *name; /* a counter's ends with _total, a histogram's has no suffix */
	const char *type; /* "counter", "gauge" or "histogram" */
	const char *help; /* one line */
};

struct exposition {
	struct buffer text; /* `failed`: out of memory */
	size_t series;	    /* in the text */
	size_t left_out;    /* samples omitted over the limit or for lack of a number */
	size_t reserved;    /* number of series reserved for later */
	const struct exposition_family *family;
	bool headed; /* the text has the family's HELP and TYPE */
};

static inline void exposition_release(struct exposition *x)
{
	buffer_free(&x->text);
}

/*
 * Starts a family, which must stay valid until the next one. A family without a sample is not
 * written.
 */
void exposition_begin(struct exposition *x, const struct exposition_family *family);

/*
 * Adds a sample of the current family; `label` may be NULL. `suffix` is "", or for a histogram
 * "_bucket", "_sum" or "_count". Omits and counts a sample over the limit, and one that is not
 * finite.
 */
void exposition_add(struct exposition *x, const char *suffix, const struct exposition_label *label,
		    uint64_t number);
void exposition_add_real(struct exposition *x, const char *suffix,
			 const struct exposition_label *label, double number);

#endif
