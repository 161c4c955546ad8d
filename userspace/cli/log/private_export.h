/* SPDX-License-Identifier: Apache-2.0 */
/* Takes names out of the records of a log that are exported. */
#ifndef CORDON_CLI_PRIVATE_EXPORT_H
#define CORDON_CLI_PRIVATE_EXPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "insight/export/private_record.h"

struct private_export {
	const char *path; /* of the key; NULL: names are not to be taken out */
	struct private_key key;
	json_t *places; /* of each execution, by its id */
};

/*
 * Reads the key, and in the log in `directory` what the paths of its executions are classed by.
 * -errno: it was said why.
 */
int private_export_begin(struct private_export *private, const char *directory);
void private_export_end(struct private_export *private);

/* A start that is written meanwhile. */
void private_export_note(struct private_export *private, const json_t *record);

/* As private_record(). */
int private_export_record(struct private_export *private, json_t *record);

#endif
