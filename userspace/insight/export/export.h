/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports records as Elastic Common Schema 9.4, Open Cybersecurity Schema Framework 1.8, and CSV.
 * docs/reference/export.md has the mapping.
 */
#ifndef CORDON_INSIGHT_EXPORT_H
#define CORDON_INSIGHT_EXPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "audit/text/buffer.h"
#include "insight/export/flat_record.h"

#define EXPORT_ECS_VERSION  "9.4.0"
#define EXPORT_OCSF_VERSION "1.8.0"

struct export_source {
	const char *host;    /* the log's host, or NULL */
	const char *version; /* of cordon */
};

/* Append one object as text without a newline. Errors are recorded in the buffer. */
void export_ecs(struct buffer *out, const struct flat_record *f,
		const struct export_source *source);
void export_ocsf(struct buffer *out, const struct flat_record *f,
		 const struct export_source *source);

/*
 * Writes a line of RFC 4180. A cell that a spreadsheet would treat as a formula begins with an
 * apostrophe. Control characters and bidirectional controls are shown as \x1b and \u{202e}.
 */
void export_csv_head(FILE *out);
void export_csv(FILE *out, const json_t *record);

/*
 * Writes the same from a record's line, many times faster; `buffer` is scratch space. Returns
 * false, with nothing written, if the line must be parsed.
 */
bool export_csv_line(FILE *out, struct buffer *buffer, const char *line, size_t size);

/* Writes one quoted cell. NULL: empty. */
void export_csv_cell(FILE *out, const char *text);

#endif
