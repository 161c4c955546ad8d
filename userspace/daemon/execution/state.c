/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads state files, /run/cordon/executions/ID.json. */
#include "daemon/execution/state.h"

#include <fcntl.h>
#include <string.h>

#include "base/hex.h"
#include "base/io.h"
#include "daemon/execution/execution.h"

#define STATE_MAX	(4u << 20)
#define STATE_NAME_SIZE (UUID_TEXT_SIZE + 8)

static void file_name(const char *id, const char *suffix, char name[STATE_NAME_SIZE])
{
	snprintf(name, STATE_NAME_SIZE, "%.36s%s", id, suffix);
}

static json_t *changing_json(const struct execution *e)
{
	const struct compiled_policy *p = e->changing;

	if (!p)
		return json_null();
	return json_pack("{s:s,s:s,s:s,s:s}", "asked", e->changing_name, "name", p->name, "file",
			 p->file, "digest", p->digest_text);
}

/* How its command ended, as its owner told; adopted ones have an event for it. */
static json_t *told_json(const struct execution *e)
{
	if (!e->ending.told || !e->end.have_status)
		return json_null();
	return json_pack("{s:i,s:I,s:I}", "status", e->end.status, "user_nsec",
			 (json_int_t)e->end.user_nsec, "system_nsec",
			 (json_int_t)e->end.system_nsec);
}

json_t *state_json(const struct execution *e)
{
	const struct audit_execution *r = &e->record;

	return json_pack(
		"{s:s,s:O,s:s,s:{s:s,s:s,s:s},s:o,s:o,s:b,s:b,s:I,s:o,s:o,s:o,s:I,s:i,s:[I,I,I],s:b,"
		"s:I,s:o}",
		"id", e->id, "request", e->request, "log", logs_directory(e->log), "policy", "name",
		r->policy->name, "file", r->policy->file, "digest", r->policy->digest_text,
		"limits", protocol_limits(&r->limits, false), "limits_missing",
		protocol_strings(r->limits_missing), "observe", r->observe, "started", e->written,
		"start", (json_int_t)e->start, "environment_kept",
		protocol_strings(r->environment_kept), "environment_removed",
		protocol_strings(r->environment_removed), "changing", changing_json(e),
		"client_uid", (json_int_t)e->owner.uid, "leader", (int)e->leader, "unwritten",
		(json_int_t)e->unwritten[0], (json_int_t)e->unwritten[1],
		(json_int_t)e->unwritten[2], "in_order", e->adoption.in_order, "clock_offset",
		(json_int_t)r->clock_offset, "told", told_json(e));
}

int state_save(int dir_fd, const struct execution *e, struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *state = state_json(e);
	_cleanup_(freep) char *text = state ? json_dumps(state, JSON_COMPACT) : NULL;
	char name[STATE_NAME_SIZE], fresh[STATE_NAME_SIZE];
	int r;

	if (!text)
		return failure_set(failure, ENOMEM, "%m");
	file_name(e->id, ".json", name);
	file_name(e->id, ".new", fresh);
	r = io_replace_file(dir_fd, name, fresh, text, false);
	if (r < 0)
		return failure_set(failure, r,
				   "cannot write the state of the execution below "
				   "/run/cordon: %m");
	return 0;
}

void state_remove(int dir_fd, const char *id)
{
	char name[STATE_NAME_SIZE];

	file_name(id, ".json", name);
	(void)unlinkat(dir_fd, name, 0);
	/* What a crash left of one that was being written. */
	file_name(id, ".new", name);
	(void)unlinkat(dir_fd, name, 0);
}

static int parse_changing(json_t *object, struct state *state, struct failure *failure)
{
	const char *asked, *name, *file, *digest;
	json_error_t error;

	if (json_is_null(object))
		return 0;
	if (json_unpack_ex(object, &error, 0, "{s:s,s:s,s:s,s:s!}", "asked", &asked, "name", &name,
			   "file", &file, "digest", &digest) < 0)
		return failure_set(failure, EBADMSG, "%.160s", error.text);
	if (hex_decode(digest, state->changing_digest, 32) < 0)
		return failure_set(failure, EBADMSG, "the digest of a policy is none");
	state->changing = true;
	state->changing_asked = strdup(asked);
	state->changing_name = strdup(name);
	state->changing_file = strdup(file);
	if (!state->changing_asked || !state->changing_name || !state->changing_file)
		return failure_set(failure, ENOMEM, "%m");
	return 0;
}

/* An earlier build knew fewer of them. */
static int parse_unwritten(const json_t *list, struct state *state, struct failure *failure)
{
	size_t count = json_array_size(list);

	if ((list && !json_is_array(list)) || count > ARRAY_SIZE(state->unwritten))
		return failure_set(failure, EBADMSG, "\"unwritten\" is no list of numbers");
	for (size_t i = 0; i < count; i++) {
		const json_t *number = json_array_get(list, i);

		if (!json_is_integer(number))
			return failure_set(failure, EBADMSG, "\"unwritten\" is no list of numbers");
		state->unwritten[i] = (uint64_t)json_integer_value(number);
	}
	return 0;
}

static int parse_told(json_t *object, struct state *state, struct failure *failure)
{
	json_int_t user, system;
	json_error_t error;

	if (!object || json_is_null(object))
		return 0;
	if (json_unpack_ex(object, &error, 0, "{s:i,s:I,s:I!}", "status", &state->told_status,
			   "user_nsec", &user, "system_nsec", &system) < 0)
		return failure_set(failure, EBADMSG, "%.160s", error.text);
	state->told = true;
	state->told_user_nsec = (uint64_t)user;
	state->told_system_nsec = (uint64_t)system;
	return 0;
}

static int parse_into(json_t *object, struct state *state, struct failure *failure)
{
	struct audit_execution *e = &state->request.execution;
	const char *id, *log, *name, *file, *digest;
	json_t *request, *limits, *missing, *kept, *removed, *changing, *unwritten = NULL,
									*told = NULL;
	int observe, started, leader, in_order = 1, r;
	json_error_t error;
	json_int_t start, client, clock_offset = 0;

	if (json_unpack_ex(
		    object, &error, 0,
		    "{s:s,s:o,s:s,s:{s:s,s:s,s:s!},s:o,s:o,s:b,s:b,s:I,s:o,s:o,s:o,s:I,s:i,s?o,s?b,"
		    "s?I,s?o!}",
		    "id", &id, "request", &request, "log", &log, "policy", "name", &name, "file",
		    &file, "digest", &digest, "limits", &limits, "limits_missing", &missing,
		    "observe", &observe, "started", &started, "start", &start, "environment_kept",
		    &kept, "environment_removed", &removed, "changing", &changing, "client_uid",
		    &client, "leader", &leader, "unwritten", &unwritten, "in_order", &in_order,
		    "clock_offset", &clock_offset, "told", &told) < 0)
		return failure_set(failure, EBADMSG, "%.160s", error.text);
	(void)((r = prepare_request_parse(request, &state->request, failure)) < 0 ||
	       (r = uuid_parse(id, e->id)) < 0 ||
	       (r = hex_decode(digest, state->policy_digest, 32)) < 0 ||
	       (r = protocol_limits_of(limits, &e->limits, failure)) < 0 ||
	       (r = protocol_strings_of(missing, false, &e->limits_missing)) < 0 ||
	       (r = protocol_strings_of(kept, false, &e->environment_kept)) < 0 ||
	       (r = protocol_strings_of(removed, false, &e->environment_removed)) < 0);
	if (r < 0)
		return failure_set(failure, r == -ENOMEM ? ENOMEM : EBADMSG, "%m");
	r = parse_changing(changing, state, failure);
	if (r == 0)
		r = parse_told(told, state, failure);
	if (r < 0)
		return r;
	e->observe = observe;
	e->clock_offset = (uint64_t)clock_offset;
	state->started = started;
	state->start = (uint64_t)start;
	state->client_uid = (uint32_t)client;
	state->leader = leader;
	state->in_order = in_order;
	r = parse_unwritten(unwritten, state, failure);
	if (r < 0)
		return r;
	state->asked = json_incref(request);
	state->log = strdup(log);
	state->policy_name = strdup(name);
	state->policy_file = strdup(file);
	if (!state->log || !state->policy_name || !state->policy_file)
		return failure_set(failure, ENOMEM, "%m");
	return 0;
}

int state_parse(json_t *object, struct state *ret_state, struct failure *failure)
{
	struct state state = {};
	int r = parse_into(object, &state, failure);

	if (r < 0)
		state_release(&state);
	else
		*ret_state = state;
	return r;
}

int state_load(int dir_fd, const char *id, struct state *ret_state, struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *object = NULL;
	_cleanup_(freep) char *text = NULL;
	char name[STATE_NAME_SIZE];
	size_t size;
	int r;

	file_name(id, ".json", name);
	r = io_read_file(dir_fd, name, STATE_MAX, &text, &size);
	if (r < 0)
		return failure_set(failure, r, "cannot read %s: %m", name);
	object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	if (!object)
		return failure_set(failure, EBADMSG, "%s is not JSON", name);
	return state_parse(object, ret_state, failure);
}

void state_release(struct state *state)
{
	prepare_request_release(&state->request);
	json_decref(state->asked);
	free(state->log);
	free(state->policy_name);
	free(state->policy_file);
	free(state->changing_asked);
	free(state->changing_name);
	free(state->changing_file);
	*state = (struct state){};
}

/* "ID.json" and "ID.new" */
static bool is_state_name(const char *name, char id[UUID_TEXT_SIZE])
{
	const char *suffix = name + strnlen(name, UUID_TEXT_SIZE - 1);
	unsigned char parsed[16];

	if (strcmp(suffix, ".json") != 0 && strcmp(suffix, ".new") != 0)
		return false;
	memcpy(id, name, UUID_TEXT_SIZE - 1);
	id[UUID_TEXT_SIZE - 1] = '\0';
	return uuid_parse(id, parsed) == 0;
}

int state_for_each(int dir_fd, int (*visit)(const char *id, void *context), void *context)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int r = io_open_directory(dir_fd, ".", &dir);

	while (r == 0 && (entry = readdir(dir)) != NULL) {
		char id[UUID_TEXT_SIZE];

		if (is_state_name(entry->d_name, id))
			r = visit(id, context);
	}
	return r;
}
