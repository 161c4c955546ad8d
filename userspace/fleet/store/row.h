/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts the columns of a record that queries over all hosts filter by. No I/O. */
#ifndef CORDON_FLEET_ROW_H
#define CORDON_FLEET_ROW_H

#include <jansson.h>
#include <stdint.h>

#define ROW_TEXT_SIZE 256

/* Texts point into the record, and are "" if it has none. */
struct row {
	uint64_t sequence;
	const char *time, *action, *execution, *policy, *digest, *operation;
	char rule[ROW_TEXT_SIZE];     /* "runtime/credentials.yaml:9", or the reason: "default" */
	char template[ROW_TEXT_SIZE]; /* template of the object, never a raw path: counted */
};

void row_from_record(const json_t *record, uint64_t sequence, struct row *ret_row);

/* Returns the host's name in the record, or NULL. */
const char *row_host_name(const json_t *record);

/*
 * Replaces the variable parts of a path, so that counts have few groups: numbers become '#', long
 * hexadecimal words and user names '*'. Below three directories the path becomes "**" and the
 * file's extension.
 */
void row_path_template(const char *path, char ret_template[ROW_TEXT_SIZE]);

#endif
