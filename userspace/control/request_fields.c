/* SPDX-License-Identifier: Apache-2.0 */
/* Validates members of requests: -EINVAL with the key's name in the text, or -ENOMEM. */
#include "control/request_fields.h"

#include <limits.h>
#include <string.h>

#include "base/hex.h"
#include "control/protocol.h"
#include "control/request.h"

/* Converts jansson's error to an error of the protocol. */
int request_malformed(struct failure *failure, const json_error_t *error)
{
	return failure_set(failure, EINVAL, "malformed request: %.160s", error->text);
}

int request_check_version(int version, struct failure *failure)
{
	if (version == PROTOCOL_VERSION)
		return 0;
	return failure_set(failure, EPROTONOSUPPORT,
			   "the daemon uses version %d of the protocol, the client version %d; "
			   "use one build for both",
			   PROTOCOL_VERSION, version);
}

int request_copy(const char *text, char **ret_copy, struct failure *failure)
{
	*ret_copy = text ? strdup(text) : NULL;
	if (text && !*ret_copy)
		return failure_set(failure, ENOMEM, "%m");
	return 0;
}

/* Reads an optional string: null and a missing key are equivalent. */
int request_text(const char *key, json_t *value, const char **ret_text, struct failure *failure)
{
	if (value && !json_is_null(value) && !json_is_string(value))
		return failure_set(failure, EINVAL, "\"%s\" must be a text or null", key);
	*ret_text = json_string_value(value);
	return 0;
}

int request_copy_bounded(const char *key, const char *text, int limit, char **ret_copy,
			 struct failure *failure)
{
	if (text && (*text == '\0' || strlen(text) > (size_t)limit))
		return failure_set(failure, EINVAL, "\"%s\" must have 1 to %d bytes", key, limit);
	return request_copy(text, ret_copy, failure);
}

int request_copy_name(const char *key, json_t *value, char **ret_copy, struct failure *failure)
{
	const char *text = NULL;
	int r = request_text(key, value, &text, failure);

	if (r < 0)
		return r;
	return request_copy_bounded(key, text, REQUEST_NAME_MAX, ret_copy, failure);
}

int request_copy_path(const char *key, const char *text, char **ret_copy, struct failure *failure)
{
	if (text && (text[0] != '/' || strlen(text) >= PATH_MAX))
		return failure_set(failure, EINVAL,
				   "\"%s\" must be an absolute path of less than %d bytes", key,
				   PATH_MAX);
	return request_copy(text, ret_copy, failure);
}

int request_copy_optional_path(const char *key, json_t *value, char **ret_copy,
			       struct failure *failure)
{
	const char *text = NULL;
	int r = request_text(key, value, &text, failure);

	return r < 0 ? r : request_copy_path(key, text, ret_copy, failure);
}

int request_digest(const char *key, const char *text, unsigned char ret_digest[32],
		   struct failure *failure)
{
	if (hex_decode(text, ret_digest, 32) < 0)
		return failure_set(failure, EINVAL, "\"%s\" must be a SHA-256 digest", key);
	return 0;
}

int request_count(const char *key, json_int_t value, json_int_t limit, struct failure *failure)
{
	if (value < 0 || value > limit)
		return failure_set(failure, EINVAL, "\"%s\" must be from 0 to %lld", key,
				   (long long)limit);
	return 0;
}

int request_strings(const char *key, json_t *array, bool nulls, char ***ret_strings,
		    struct failure *failure)
{
	int r = protocol_strings_of(array, nulls, ret_strings);

	if (r < 0)
		return failure_set(failure, r,
				   r == -EINVAL ? "\"%s\" must be an array of texts" : "%s: %m",
				   key);
	return 0;
}

int request_copy_policy(const char *policy, char **ret_policy, struct failure *failure)
{
	if (*policy == '\0' || strlen(policy) >= PATH_MAX ||
	    (strchr(policy, '/') && policy[0] != '/'))
		return failure_set(failure, EINVAL,
				   "\"policy\" must be a name or an absolute path");
	return request_copy(policy, ret_policy, failure);
}
