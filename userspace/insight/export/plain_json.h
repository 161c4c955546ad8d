/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the restricted JSON that the log's writer usually produces: printable ASCII without blanks
 * between values, and only short escapes. Reading such a line takes a tenth of the time of parsing.
 * All other lines need a parser.
 */
#ifndef CORDON_INSIGHT_PLAIN_JSON_H
#define CORDON_INSIGHT_PLAIN_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum plain_kind {
	PLAIN_STRING, /* without its quotes, with its escapes */
	PLAIN_INTEGER,
	PLAIN_ARRAY,  /* complete, with its brackets */
	PLAIN_OBJECT, /* complete; passed after its members */
	PLAIN_WORD,   /* true, false, null; for a parser's text also other numbers */
};

struct plain_value {
	enum plain_kind kind;
	const char *data;
	size_t size;
	bool escaped; /* a string with escapes */
};

/*
 * Calls `take` for each value in the outermost object with its dotted name ("cordon.execution.id"),
 * except values in lists. Returns false if the line has another form, or if `take` returns false;
 * then ignore all values.
 */
bool plain_json_walk(const char *line, size_t size,
		     bool (*take)(void *data, const char *name, size_t name_size,
				  const struct plain_value *value),
		     void *data);

/*
 * The same for text that jansson wrote with JSON_COMPACT and JSON_ENSURE_ASCII. Skips members with
 * a dot in the name or a very long name. Returns false if `take` does.
 */
bool plain_json_walk_dumped(const char *line, size_t size,
			    bool (*take)(void *data, const char *name, size_t name_size,
					 const struct plain_value *value),
			    void *data);

#endif
