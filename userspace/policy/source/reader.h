/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the YAML tree into the model: keys by table, values by type. Every error is reported with
 * its position. Functions return 0, also if they reported an error, or -ENOMEM.
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

/* One key of a mapping, and the function that reads its value into `target`. */
struct key {
	const char *name;
	int (*read)(struct reader *r, const struct node *value, void *target);
};

/*
 * Reads a mapping with a table that ends with a NULL name. An unknown key is an error, with the
 * closest known key as a hint. `what` describes the mapping: "a file rule".
 */
int reader_mapping(struct reader *r, const struct node *n, const char *what, const struct key *keys,
		   void *target);

/* Reports an error if `n` does not have the type; `expected` describes the type. */
bool reader_expect(struct reader *r, const struct node *n, enum node_type type,
		   const char *expected, const char *hint);

/* Reads a scalar that is not a plain number, boolean or null. False: reported. */
bool reader_string(struct reader *r, const struct node *n, const char *what, const char **ret);

/* Reads a list of such scalars, and appends them to *strings. */
int reader_strings(struct reader *r, const struct node *n, const char *what, const char *example,
		   const char ***strings, size_t *count);

/* The position of a string in such a list. */
const struct place *reader_place_of(const struct node *list, const char *string);

/* True: *ret_number is a plain decimal number of at most `maximum`. */
bool reader_number(struct reader *r, const struct node *n, const char *what, uint64_t maximum,
		   uint64_t *ret_number);

/* False: the value is neither true nor false, which is reported. */
bool reader_boolean(struct reader *r, const struct node *n, const char *what, const char *hint,
		    bool *ret_value);

/* Reads one word of a table; false: reported. `what` describes it: "right", "mode". */
bool reader_word(struct reader *r, const struct node *n, const char *what, const struct word *table,
		 uint32_t *ret_value);

/*
 * Reads which allowed accesses are logged (CORDON_AUDIT_*). The first function is for opens, the
 * second for accesses that are all logged or not at all. False: reported.
 */
bool reader_opens_level(struct reader *r, const struct node *n, uint32_t *ret_level);
bool reader_access_level(struct reader *r, const struct node *n, uint32_t *ret_level);

/* A hint with the closest word of a table, or with all of its words. NULL: no memory. */
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

/*
 * An include with exceptions: a mapping of the file's name. An error is reported, and leaves
 * *ret_rule as it is.
 */
#define EXCEPT_HINT "write {runtime/credentials: {except: [\"${workdir}/.env\"]}}"
int read_exceptions(struct reader *r, const struct node *n, struct rule **ret_rule);

/* Appends the exceptions to the model, and marks the rules there that `source` has. */
int add_exceptions(struct reader *r, struct rule *rule, const struct source *source);

/* Reads one file's tree, except `include`, into the reader's model. */
int read_policy(struct reader *r, const struct node *root);

#endif
