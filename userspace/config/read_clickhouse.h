/* SPDX-License-Identifier: Apache-2.0 */
/* The section `clickhouse` of fleet.yaml: the database for the rows of all hosts. */
#ifndef CORDON_CONFIG_READ_CLICKHOUSE_H
#define CORDON_CONFIG_READ_CLICKHOUSE_H

#include "policy/source/reader.h"

/* The arena owns the strings. All except `url` and `database` may be NULL. */
struct config_clickhouse {
	const char *url; /* http://HOST:PORT or https://HOST:PORT */
	const char *database;
	const char *user, *password_file;
	const char *ca, *certificate, *key;
};

/* For a table of keys. `target`: const struct config_clickhouse **. */
int config_read_clickhouse(struct reader *r, const struct node *n, void *target);

#endif
