/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subset of YAML for policies: one document, block or flow style, plain and quoted scalars.
 * Anchors, aliases, tags and duplicate keys are not allowed, so that a reviewer sees each value at
 * the place where it takes effect.
 */
#ifndef CORDON_POLICY_NODE_H
#define CORDON_POLICY_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/source/source.h"

#define NODE_DEPTH_MAX 16

enum node_type {
	NODE_SCALAR,
	NODE_SEQUENCE,
	NODE_MAPPING,
};

struct node {
	enum node_type type;
	struct place place;
	/* NODE_SCALAR */
	const char *text;
	size_t size;
	bool plain; /* not quoted: may be a number, a boolean or null */
	/* NODE_SEQUENCE: the items; NODE_MAPPING: key, value, key, value, ... (keys are scalars) */
	struct node **items;
	size_t count;
};

/*
 * *ret_node is NULL for a text without content. The arena owns everything. -EINVAL: reported in
 * `d`; -ENOMEM.
 */
int node_parse(struct arena *a, const struct source *s, struct diagnostics *d,
	       struct node **ret_node);

/* YAML 1.2, core schema: null, ~ or no value. */
bool node_is_null(const struct node *n);

/* "a string", "a list", "a mapping", ... for messages. */
const char *node_describe(const struct node *n);

/* The value of `key`, or NULL. */
struct node *node_get(const struct node *mapping, const char *key);

#endif
