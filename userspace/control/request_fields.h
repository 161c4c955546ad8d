/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the keys of requests hold, checked: -EINVAL with a text that names the key, -ENOMEM. Copies
 * are the caller's; each is NULL where a text may be missing and is.
 */
#ifndef CORDON_DAEMON_REQUEST_FIELDS_H
#define CORDON_DAEMON_REQUEST_FIELDS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/failure.h"

/* What jansson found wrong, in the protocol's words. */
int request_malformed(struct failure *failure, const json_error_t *error);

/* -EPROTONOSUPPORT: the client is of another build. */
int request_check_version(int version, struct failure *failure);

int request_copy(const char *text, char **ret_copy, struct failure *failure);

/* An optional text, borrowed: null and an absent key say the same. */
int request_text(const char *key, json_t *value, const char **ret_text, struct failure *failure);

/* Optional, of 1 to `limit` or REQUEST_NAME_MAX bytes. */
int request_copy_bounded(const char *key, const char *text, int limit, char **ret_copy,
			 struct failure *failure);
int request_copy_name(const char *key, json_t *value, char **ret_copy, struct failure *failure);

/* Absolute, of less than PATH_MAX bytes. */
int request_copy_path(const char *key, const char *text, char **ret_copy, struct failure *failure);
int request_copy_optional_path(const char *key, json_t *value, char **ret_copy,
			       struct failure *failure);

/* A policy's name, or the absolute path of its file. */
int request_copy_policy(const char *policy, char **ret_policy, struct failure *failure);

/* 64 hexadecimal digits. */
int request_digest(const char *key, const char *text, unsigned char ret_digest[32],
		   struct failure *failure);

/* From 0 to `limit`. */
int request_count(const char *key, json_int_t value, json_int_t limit, struct failure *failure);

/* An array of texts, NULL-terminated; `nulls`: entries may be null. */
int request_strings(const char *key, json_t *array, bool nulls, char ***ret_strings,
		    struct failure *failure);

#endif
