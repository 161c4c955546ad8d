/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of cordon.yaml. What is wrong with one becomes a diagnostic, and its target stays as it
 * was; `what` names it there. -ENOMEM, or 0.
 */
#ifndef CORDON_CONFIG_READ_VALUE_H
#define CORDON_CONFIG_READ_VALUE_H

#include "policy/source/reader.h"

int config_read_text(struct reader *r, const struct node *n, const char *what, const char **target);

/* An absolute path that the kernel can compare. */
int config_read_path(struct reader *r, const struct node *n, const char *what, const char **target);

/* A list of strings; *target is NULL-terminated, and stays as it was where there is none. */
int config_read_strings(struct reader *r, const struct node *n, const char *what,
			const char *example, const char ***target);

/* A list of such paths. */
int config_read_paths(struct reader *r, const struct node *n, const char *what, const char *example,
		      const char ***target);

/* '*' stands for any text. */
int config_read_pattern(struct reader *r, const struct node *n, const char *what,
			const char **target);

#endif
