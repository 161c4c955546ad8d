/* SPDX-License-Identifier: Apache-2.0 */
/* Builds records as lists of their fields; the first failure is remembered. */
#include "audit/record/fields.h"

#include <string.h>
#include <sys/wait.h>

#include "audit/record/names.h"
#include "audit/text/text.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "base/uuid.h"

void fields_begin(struct fields *f, uint64_t time, const char *kind, const char *action,
		  const char *outcome)
{
	char text[CLOCK_TEXT_SIZE];
	json_t *event;

	*f = (struct fields){.record = json_object()};
	clock_format(time, text);
	fields_set(f, f->record, "@timestamp", json_string(text));
	event = fields_object(f, f->record, "event");
	fields_set(f, event, "kind", json_string(kind));
	fields_set(f, event, "action", json_string(action));
	fields_set(f, event, "outcome", json_string(outcome));
	f->cordon = json_object();
	fields_set(f, f->cordon, "schema", json_integer(RECORD_SCHEMA));
}

json_t *fields_end(struct fields *f)
{
	/* Last in the record: what everybody looks for stands first. */
	fields_set(f, f->record, "cordon", f->cordon);
	if (f->failed) {
		json_decref(f->record);
		return NULL;
	}
	return f->record;
}

void fields_set(struct fields *f, json_t *parent, const char *key, json_t *value)
{
	if (json_object_set_new(parent, key, value) < 0)
		f->failed = true;
}

json_t *fields_object(struct fields *f, json_t *parent, const char *key)
{
	json_t *object = json_object();

	fields_set(f, parent, key, object);
	return json_object_get(parent, key);
}

void fields_number(struct fields *f, json_t *parent, const char *key, uint64_t value)
{
	fields_set(f, parent, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

void fields_number_or_null(struct fields *f, json_t *parent, const char *key, uint64_t value)
{
	if (value == 0)
		fields_set(f, parent, key, json_null());
	else
		fields_number(f, parent, key, value);
}

void fields_text(struct fields *f, json_t *parent, const char *key, const char *bytes, size_t size)
{
	if (text_set(parent, key, bytes, size) < 0)
		f->failed = true;
}

void fields_string(struct fields *f, json_t *parent, const char *key, const char *string)
{
	if (text_set_string(parent, key, string) < 0)
		f->failed = true;
}

void fields_strings(struct fields *f, json_t *parent, const char *key, char *const *strings)
{
	size_t count = 0;

	while (strings && strings[count])
		count++;
	if (text_set_list(parent, key, count, (const char *const *)strings) < 0)
		f->failed = true;
}

void fields_limits(struct fields *f, json_t *parent, uint32_t limits)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < AUDIT_LIMIT_COUNT; i++)
		if ((limits >> i) & 1 &&
		    json_array_append_new(list, json_string(name_of_limit(i))) < 0)
			f->failed = true;
	fields_set(f, parent, "limits", list);
}

void fields_digest(struct fields *f, json_t *parent, const char *key,
		   const unsigned char digest[32])
{
	char text[SHA256_TEXT_SIZE];

	hex_encode(digest, SHA256_SIZE, text);
	fields_set(f, parent, key, json_string(text));
}

static void set_id(struct fields *f, const char *key, uint32_t id)
{
	fields_set(f, fields_object(f, f->record, key), "id", json_sprintf("%u", id));
}

void fields_user(struct fields *f, uint32_t uid, uint32_t gid)
{
	set_id(f, "user", uid);
	set_id(f, "group", gid);
}

json_t *fields_execution(struct fields *f, const struct audit_execution *execution)
{
	json_t *object = fields_object(f, f->cordon, "execution");
	char id[UUID_TEXT_SIZE];

	uuid_format(execution->id, id);
	fields_set(f, object, "id", json_string(id));
	fields_string(f, object, "session", execution->session);
	fields_string(f, object, "agent", execution->agent);
	return object;
}

json_t *fields_policy(struct fields *f, const struct audit_execution *execution)
{
	json_t *object = fields_object(f, f->cordon, "policy");

	fields_string(f, object, "name", execution->policy->name);
	fields_string(f, object, "file", execution->policy->file);
	fields_digest(f, object, "digest", execution->policy->digest);
	return object;
}

void fields_code(struct fields *f, json_t *parent, const struct audit_code *code)
{
	json_t *object = fields_object(f, parent, "code");
	char changed[CLOCK_TEXT_SIZE];

	fields_set(f, object, "source", json_string(name_of_code_source(code->source)));
	fields_string(f, object, "path", code->path);
	if (code->have_digest) {
		fields_digest(f, object, "sha256", code->digest);
		fields_number(f, object, "length", code->length);
	} else {
		fields_set(f, object, "sha256", json_null());
		fields_set(f, object, "length", json_null());
	}
	if (!code->watched)
		return;
	fields_number(f, object, "opens", code->opens);
	fields_set(f, object, "changed", json_boolean(code->opened.inode != 0));
	if (code->opened.inode == 0)
		return;
	object = fields_object(f, object, "opened");
	fields_number(f, object, "inode", code->opened.inode);
	fields_number(f, object, "device", code->opened.device);
	fields_number(f, object, "size", code->opened.size);
	clock_format(code->opened.changed, changed);
	fields_set(f, object, "ctime", json_string(changed));
}

void fields_status(struct fields *f, json_t *parent, int status)
{
	if (WIFEXITED(status)) {
		fields_set(f, parent, "exit_code", json_integer(WEXITSTATUS(status)));
		fields_set(f, parent, "signal", json_null());
	} else {
		const char *name = name_of_signal(WTERMSIG(status));

		fields_set(f, parent, "exit_code", json_null());
		fields_set(f, parent, "signal",
			   name ? json_string(name) : json_sprintf("%d", WTERMSIG(status)));
	}
}
