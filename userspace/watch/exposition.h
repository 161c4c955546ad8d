/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus text exposition, format 0.0.4, with a bound on how many series come of it: whoever
 * stores series pays for each, for as long as they are kept, so that no fault of a daemon may make
 * many.
 */
#ifndef CORDON_WATCH_EXPOSITION_H
#define CORDON_WATCH_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/text/buffer.h"

/* Series of one host, at most. */
#define EXPOSITION_MAX_SERIES 100u
/* Bytes of a label's value, at most: what is longer is cut. */
#define EXPOSITION_MAX_LABEL 64u

struct exposition_label {
	const char *name;
	const char *value; /* UTF-8 */
};

struct exposition_family {
	const char *
		name; /* of the family: a counter's ends with _total, a histogram's has no suffix */
	const char *type; /* "counter", "gauge" or "histogram" */
	const char *help; /* one line */
};

struct exposition {
	struct buffer text; /* `failed`: no memory */
	size_t series;	    /* in the text */
	size_t left_out;    /* that would have been too many, or had no number */
	size_t reserved;    /* of EXPOSITION_MAX_SERIES, for what comes later */
	const struct exposition_family *family;
	bool headed; /* HELP and TYPE of the family are in the text */
};

static inline void exposition_release(struct exposition *x)
{
	buffer_free(&x->text);
}

/*
 * What follows is of this family, which must stay until the next one; nothing is written of one
 * without a sample.
 */
void exposition_begin(struct exposition *x, const struct exposition_family *family);

/*
 * A sample of the family at hand; `label` may be NULL. `suffix` is "" or, of a histogram,
 * "_bucket", "_sum", "_count". It is left out, and counted, where no more series may be, or where
 * the number is none.
 */
void exposition_add(struct exposition *x, const char *suffix, const struct exposition_label *label,
		    uint64_t number);
void exposition_add_real(struct exposition *x, const char *suffix,
			 const struct exposition_label *label, double number);

#endif
