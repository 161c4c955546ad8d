/* SPDX-License-Identifier: Apache-2.0 */
/* What cordon.yaml and fleet.yaml have in common: one mapping, with a version. */
#ifndef CORDON_CONFIG_READ_ROOT_H
#define CORDON_CONFIG_READ_ROOT_H

#include "policy/source/reader.h"

/*
 * Reads the whole of a file by its keys, which are in a table that ends with NULL. -EINVAL: the
 * diagnostics, which were empty before, have an error; -ENOMEM.
 */
int config_read_root(struct reader *r, const struct source *s, const struct key *keys,
		     void *target);

/* For that table: "version" must be 1. */
int config_read_version(struct reader *r, const struct node *n, void *target);

/* Makes of a source what *ret gets, which keeps `arena` where it succeeds. */
typedef int config_take(struct arena *arena, const struct source *s, struct diagnostics *d,
			void *ret);

/*
 * The file at `path`, by `take`. What `take` returns; or what source_read() does, said in the
 * diagnostics but for -ENOENT.
 */
int config_read_file(const char *path, struct diagnostics *diagnostics, config_take *take,
		     void *ret);

#endif
