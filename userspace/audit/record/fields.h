/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that records are built from. The first failure (there is but one: no memory) is
 * remembered, so that a record is written down as a list of its fields.
 */
#ifndef CORDON_AUDIT_FIELDS_H
#define CORDON_AUDIT_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/record/record.h"

#define RECORD_SCHEMA 1

struct fields {
	json_t *record;
	json_t *cordon; /* record["cordon"], borrowed */
	bool failed;
};

void fields_begin(struct fields *f, uint64_t time, const char *kind, const char *action,
		  const char *outcome);
/* The record, or NULL if anything failed. */
json_t *fields_end(struct fields *f);

/* parent[key]: an object of its own; borrowed, NULL only if failed. */
json_t *fields_object(struct fields *f, json_t *parent, const char *key);

/* Takes the reference. */
void fields_set(struct fields *f, json_t *parent, const char *key, json_t *value);
void fields_number(struct fields *f, json_t *parent, const char *key, uint64_t value);
/* null for 0: no limit, not known. */
void fields_number_or_null(struct fields *f, json_t *parent, const char *key, uint64_t value);
void fields_text(struct fields *f, json_t *parent, const char *key, const char *bytes, size_t size);
void fields_string(struct fields *f, json_t *parent, const char *key, const char *string);
/* NULL-terminated; NULL: an empty list. */
/* An array "limits" of the names of these bits of enum audit_limit. */
void fields_limits(struct fields *f, json_t *parent, uint32_t limits);

void fields_strings(struct fields *f, json_t *parent, const char *key, char *const *strings);
void fields_digest(struct fields *f, json_t *parent, const char *key,
		   const unsigned char digest[32]);

/* user.id and group.id */
void fields_user(struct fields *f, uint32_t uid, uint32_t gid);

/* cordon.execution with id, session and agent: borrowed, for more. */
json_t *fields_execution(struct fields *f, const struct audit_execution *execution);
/* cordon.policy */
json_t *fields_policy(struct fields *f, const struct audit_execution *execution);
/* code: source, path, sha256, length */
void fields_code(struct fields *f, json_t *parent, const struct audit_code *code);
/* exit code or signal of a wait(2) status */
void fields_status(struct fields *f, json_t *parent, int status);

#endif
