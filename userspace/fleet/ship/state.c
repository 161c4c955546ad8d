/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and saves the shipper's state: a log position with three more members. */
#include "fleet/ship/state.h"

#include <errno.h>
#include <limits.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"

DEFINE_CLEANUP(json_t *, json_decref, state_json_decrefp)

/* Reads a count; a missing member is 0. */
static int read_number(const json_t *object, const char *name, uint64_t *ret)
{
	const json_t *value = json_object_get(object, name);

	if (value && (!json_is_integer(value) || json_integer_value(value) < 0))
		return -EBADMSG;
	*ret = (uint64_t)json_integer_value(value);
	return 0;
}

int ship_state_new_secret(struct ship_state *state)
{
	return RAND_bytes(state->secret, sizeof(state->secret)) == 1 ? 0 : -EIO;
}

/* A state file of an earlier version has no secret. */
static int read_secret(const json_t *object, struct ship_state *state)
{
	const char *text = json_string_value(json_object_get(object, "secret"));

	if (!json_object_get(object, "secret"))
		return ship_state_new_secret(state);
	return text && strlen(text) == 2 * SHA256_SIZE
		       ? hex_decode(text, state->secret, sizeof(state->secret))
		       : -EBADMSG;
}

static int load_one(const char *path, struct ship_state *ret_state)
{
	_cleanup_(state_json_decrefp) json_t *object = NULL;
	struct ship_state state = {};
	int r;

	*ret_state = state;
	r = audit_cursor_load(path, &object);
	if (r == 0)
		r = audit_cursor_from_json(object, &state.acknowledged);
	if (r == 0)
		r = read_number(object, "sending", &state.sending);
	if (r == 0)
		r = read_number(object, "first", &state.first);
	if (r == 0)
		r = read_secret(object, &state);
	if (r == 0)
		*ret_state = state;
	return r;
}

static int recent_path(const char *path, char recent[PATH_MAX])
{
	return snprintf(recent, PATH_MAX, "%s" SHIP_STATE_RECENT, path) < PATH_MAX ? 0
										   : -ENAMETOOLONG;
}

/* True if the second file has the same position or a later one. A damaged file is ignored. */
static bool goes_beyond(const struct ship_state *recent, const struct ship_state *state)
{
	const struct audit_cursor *there = &recent->acknowledged, *here = &state->acknowledged;

	if (here->sequence == 0)
		return there->sequence > 0 || recent->sending > 0;
	if (strcmp(there->log, here->log) != 0)
		return false;
	if (there->sequence != here->sequence)
		return there->sequence > here->sequence;
	/* At the same position the first file may be the newer one, with a different `sending`. */
	return recent->sending > state->sending && there->known == here->known &&
	       memcmp(there->chain, here->chain, SHA256_SIZE) == 0;
}

int ship_state_load(const char *path, struct ship_state *ret_state)
{
	char recent_file[PATH_MAX];
	struct ship_state recent;
	int r = load_one(path, ret_state), error;

	if (r == -ENOENT) {
		error = ship_state_new_secret(ret_state);
		return error < 0 ? error : r;
	}
	if (r == 0)
		r = recent_path(path, recent_file);
	if (r == 0 && load_one(recent_file, &recent) == 0 && goes_beyond(&recent, ret_state))
		*ret_state = recent;
	return r;
}

int ship_state_save(const char *path, const struct ship_state *state, bool lasting)
{
	_cleanup_(state_json_decrefp) json_t *object = audit_cursor_to_json(&state->acknowledged);
	char recent_file[PATH_MAX], secret[SHA256_TEXT_SIZE];
	int r = recent_path(path, recent_file);

	if (r < 0)
		return r;

	hex_encode(state->secret, sizeof(state->secret), secret);
	if (!object || json_object_set_new(object, "secret", json_string(secret)) < 0 ||
	    json_object_set_new(object, "sending", json_integer((json_int_t)state->sending)) < 0 ||
	    json_object_set_new(object, "first", json_integer((json_int_t)state->first)) < 0)
		return -ENOMEM;
	return audit_cursor_save(lasting ? path : recent_file, object, lasting);
}
