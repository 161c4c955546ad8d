/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of one record: what questions over all hosts are narrowed by. Pure. */
#ifndef CORDON_FLEET_ROW_H
#define CORDON_FLEET_ROW_H

#include <jansson.h>
#include <stdint.h>

#define ROW_TEXT_SIZE 256

/* Texts are borrowed from the record and "" where it has none. */
struct row {
	uint64_t sequence;
	const char *time, *action, *execution, *policy, *digest, *operation;
	char rule
		[ROW_TEXT_SIZE]; /* "runtime/credentials.yaml:9", or why there is none: "default" */
	char template[ROW_TEXT_SIZE]; /* of the object: what roll-ups count, never a raw path */
};

void row_from_record(const json_t *record, uint64_t sequence, struct row *ret_row);

/* What the host calls itself in it; NULL: it does not say. */
const char *row_host_name(const json_t *record);

/*
 * The class of names that a path is of, so that counts by it stay few: numbers are '#', long
 * hexadecimal words and the names of users '*', and what lies deeper than three directories is
 * "**" and the ending of its name.
 */
void row_path_template(const char *path, char ret_template[ROW_TEXT_SIZE]);

#endif
