/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the common form of cordon.yaml and fleet.yaml: a mapping with a version. */
#ifndef CORDON_CONFIG_READ_ROOT_H
#define CORDON_CONFIG_READ_ROOT_H

#include "policy/source/reader.h"

/*
 * Parses a file by a NULL-terminated table of keys. `diagnostics` must be empty before. Returns 0,
 * -EINVAL after an error in it, or -ENOMEM.
 */
int config_read_root(struct reader *r, const struct source *s, const struct key *keys,
		     void *target);

/* A reader for the table of keys: "version" must be 1. */
int config_read_version(struct reader *r, const struct node *n, void *target);

/* Converts a source to *ret, which on success owns `arena`. */
typedef int config_take(struct arena *arena, const struct source *s, struct diagnostics *d,
			void *ret);

/*
 * Parses the file at `path` with `take`. Returns the result of `take`, or the -ERRNO of
 * source_read(), which is in the diagnostics except for -ENOENT.
 */
int config_read_file(const char *path, struct diagnostics *diagnostics, config_take *take,
		     void *ret);

#endif
