/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses single values of cordon.yaml. An invalid value adds a diagnostic with the name `what`, and
 * leaves the target unchanged. All return 0 or -ENOMEM.
 */
#ifndef CORDON_CONFIG_READ_VALUE_H
#define CORDON_CONFIG_READ_VALUE_H

#include "policy/source/reader.h"

int config_read_text(struct reader *r, const struct node *n, const char *what, const char **target);

/* Parses an absolute path that the kernel can compare. */
int config_read_path(struct reader *r, const struct node *n, const char *what, const char **target);

/* Parses a list of strings; *target is NULL-terminated, and unchanged if the list is empty. */
int config_read_strings(struct reader *r, const struct node *n, const char *what,
			const char *example, const char ***target);

/* Parses a list of absolute paths. */
int config_read_paths(struct reader *r, const struct node *n, const char *what, const char *example,
		      const char ***target);

/* '*' matches any text. */
int config_read_pattern(struct reader *r, const struct node *n, const char *what,
			const char **target);

#endif
