/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates members of requests: -EINVAL with the key's name in the text, or -ENOMEM. The caller
 * owns copies; a copy is NULL if an optional string is missing.
 */
#ifndef CORDON_DAEMON_REQUEST_FIELDS_H
#define CORDON_DAEMON_REQUEST_FIELDS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/failure.h"

/* Converts jansson's error to an error of the protocol. */
int request_malformed(struct failure *failure, const json_error_t *error);

/* Returns 0, or -EPROTONOSUPPORT if the client has another protocol version. */
int request_check_version(int version, struct failure *failure);

int request_copy(const char *text, char **ret_copy, struct failure *failure);

/* Returns an optional string without a copy: null and a missing key are equivalent. */
int request_text(const char *key, json_t *value, const char **ret_text, struct failure *failure);

/* Copies an optional string of 1 to `limit` or REQUEST_NAME_MAX bytes. */
int request_copy_bounded(const char *key, const char *text, int limit, char **ret_copy,
			 struct failure *failure);
int request_copy_name(const char *key, json_t *value, char **ret_copy, struct failure *failure);

/* Copies an absolute path of less than PATH_MAX bytes. */
int request_copy_path(const char *key, const char *text, char **ret_copy, struct failure *failure);
int request_copy_optional_path(const char *key, json_t *value, char **ret_copy,
			       struct failure *failure);

/* Copies a policy's name, or the absolute path of its file. */
int request_copy_policy(const char *policy, char **ret_policy, struct failure *failure);

/* Parses 64 hexadecimal digits. */
int request_digest(const char *key, const char *text, unsigned char ret_digest[32],
		   struct failure *failure);

/* Checks that a number is from 0 to `limit`. */
int request_count(const char *key, json_int_t value, json_int_t limit, struct failure *failure);

/* Copies an array of strings, NULL-terminated; with `nulls`, entries may be null. */
int request_strings(const char *key, json_t *array, bool nulls, char ***ret_strings,
		    struct failure *failure);

#endif
