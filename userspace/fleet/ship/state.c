/* SPDX-License-Identifier: Apache-2.0 */
/* The shipper's one state file: a cursor, with two members more. */
#include "fleet/ship/state.h"

#include <errno.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(json_t *, json_decref, state_json_decrefp)

/* A count that may be absent. */
static int read_number(const json_t *object, const char *name, uint64_t *ret)
{
	const json_t *value = json_object_get(object, name);

	if (value && (!json_is_integer(value) || json_integer_value(value) < 0))
		return -EBADMSG;
	*ret = (uint64_t)json_integer_value(value);
	return 0;
}

int ship_state_load(const char *path, struct ship_state *ret_state)
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
		*ret_state = state;
	return r;
}

int ship_state_save(const char *path, const struct ship_state *state)
{
	_cleanup_(state_json_decrefp) json_t *object = audit_cursor_to_json(&state->acknowledged);

	if (!object ||
	    json_object_set_new(object, "sending", json_integer((json_int_t)state->sending)) < 0 ||
	    json_object_set_new(object, "first", json_integer((json_int_t)state->first)) < 0)
		return -ENOMEM;
	return audit_cursor_save(path, object);
}
