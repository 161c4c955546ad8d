/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as the log's writer makes it nearly always: printable ASCII without blanks between the
 * values, no escapes but the short ones. Reading such a line this way takes a tenth of what parsing
 * takes; a parser has to look at all others.
 */
#ifndef CORDON_INSIGHT_PLAIN_JSON_H
#define CORDON_INSIGHT_PLAIN_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum plain_kind {
	PLAIN_STRING, /* without its quotes, escapes as they stand */
	PLAIN_INTEGER,
	PLAIN_ARRAY,  /* all of it, with its brackets */
	PLAIN_OBJECT, /* the same, told behind what is in it */
	PLAIN_WORD,   /* true, false, null; of a parser also other numbers */
};

struct plain_value {
	enum plain_kind kind;
	const char *data;
	size_t size;
	bool escaped; /* a string with escapes */
};

/*
 * Calls `take` for each value below the outermost object with its dotted name
 * ("cordon.execution.id"), but for what is in lists. False: the line is something else, or `take`
 * said so; what was taken does not count then.
 */
bool plain_json_walk(const char *line, size_t size,
		     bool (*take)(void *data, const char *name, size_t name_size,
				  const struct plain_value *value),
		     void *data);

/*
 * The same of what jansson wrote with JSON_COMPACT and JSON_ENSURE_ASCII, whatever it is. What
 * has a name with a dot in it, or a very long one, is passed over. False: `take` said so.
 */
bool plain_json_walk_dumped(const char *line, size_t size,
			    bool (*take)(void *data, const char *name, size_t name_size,
					 const struct plain_value *value),
			    void *data);

#endif
