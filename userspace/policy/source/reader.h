/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the YAML tree to the model: keys by table, values by type, everything wrong reported where
 * it stands. Functions return 0, also when they reported something, or -ENOMEM.
 */
#ifndef CORDON_POLICY_READER_H
#define CORDON_POLICY_READER_H

#include "policy/source/model.h"
#include "policy/source/node.h"
#include "policy/source/words.h"

struct reader {
	struct arena *arena;
	struct diagnostics *diagnostics;
	struct model *model;
};

/* One key of a mapping: what reads its value into `target`. */
struct key {
	const char *name;
	int (*read)(struct reader *r, const struct node *value, void *target);
};

/*
 * Reads a mapping by a table that ends with a NULL name; unknown keys are errors with the closest
 * known one as a hint. `what` names the mapping: "a file rule".
 */
int reader_mapping(struct reader *r, const struct node *n, const char *what, const struct key *keys,
		   void *target);

/* Reports what `n` is instead of `expected`, unless it is of that type. */
bool reader_expect(struct reader *r, const struct node *n, enum node_type type,
		   const char *expected, const char *hint);

/* A scalar that a plain number, boolean or null is not; false: reported. */
bool reader_string(struct reader *r, const struct node *n, const char *what, const char **ret);

/* A list of such; appended to *strings. */
int reader_strings(struct reader *r, const struct node *n, const char *what, const char *example,
		   const char ***strings, size_t *count);

/* Where a string of such a list stands. */
const struct place *reader_place_of(const struct node *list, const char *string);

/* true: a plain decimal number of at most `maximum`. */
bool reader_number(struct reader *r, const struct node *n, const char *what, uint64_t maximum,
		   uint64_t *ret_number);

/* false: it is neither true nor false, which is reported. */
bool reader_boolean(struct reader *r, const struct node *n, const char *what, const char *hint,
		    bool *ret_value);

/* One word of a table; false: reported. `what` names it: "right", "mode". */
bool reader_word(struct reader *r, const struct node *n, const char *what, const struct word *table,
		 uint32_t *ret_value);

/*
 * How much of what is allowed is to be on record, CORDON_AUDIT_*: of opens, and of accesses that
 * are all on record or none. false: reported.
 */
bool reader_opens_level(struct reader *r, const struct node *n, uint32_t *ret_level);
bool reader_access_level(struct reader *r, const struct node *n, uint32_t *ret_level);

/* The closest word of a table as a hint, or the list of all of them. NULL: no memory. */
const char *reader_word_hint(struct reader *r, const struct word *table, const char *text);

/* Sections. */
int read_file_rules(struct reader *r, const struct node *n, void *target);
int read_exec_rules(struct reader *r, const struct node *n, void *target);
int read_unix_rules(struct reader *r, const struct node *n, void *target);
int read_network_rules(struct reader *r, const struct node *n, void *target);
int read_process(struct reader *r, const struct node *n, void *target);
int read_coverage(struct reader *r, const struct node *n, void *target);
int read_limits(struct reader *r, const struct node *n, void *target);
int read_environment(struct reader *r, const struct node *n, void *target);
int read_audit(struct reader *r, const struct node *n, void *target);
int read_on_denial(struct reader *r, const struct node *n, void *target);
int read_ask(struct reader *r, const struct node *n, void *target);

/* Reads one file's tree, `include` apart, into the reader's model. */
int read_policy(struct reader *r, const struct node *root);

#endif
