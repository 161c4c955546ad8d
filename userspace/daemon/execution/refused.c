/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what executions were refused as rules that would allow it. */
#include "daemon/execution/approval_check.h"
#include "daemon/execution/refused.h"

#include <string.h>

#include "audit/text/buffer.h"

struct refused_list {
	struct refused items[REFUSED_KEPT];
	size_t next; /* the oldest, once all are in use */
};

void refused_release(struct refused *r)
{
	free(r->policy);
	free(r->file);
	free(r->session);
	json_decref(r->rules);
	json_decref(r->denials);
	json_decref(r->start);
	*r = (struct refused){};
}

void refused_list_free(struct refused_list *list)
{
	for (size_t i = 0; list && i < REFUSED_KEPT; i++)
		refused_release(&list->items[i]);
	free(list);
}

/* --- gathering ---------------------------------------------------------------------------- */

static bool is_setting(const char *rule)
{
	return strncmp(rule, "process:", strlen("process:")) == 0;
}

/*
 * The one thing that is wanted of a record, without reading all of it. Text inside of strings has
 * no quotes that are not escaped, and so never looks like this. NULL: it suggests none.
 */
static json_t *suggested_rule(const char *record, size_t size)
{
	static const char before[] = ",\"suggestion\":{\"rule\":";
	const char *at = memmem(record, size, before, sizeof(before) - 1), *rule;

	if (!at)
		return NULL;
	rule = at + sizeof(before) - 1;
	return json_loadb(rule, size - (size_t)(rule - record),
			  JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, NULL);
}

static bool is_denied_by_rule(const char *record, size_t size)
{
	static const char reason[] = ",\"reason\":\"rule\"";

	return memmem(record, size, reason, sizeof(reason) - 1);
}

static json_t *copy_or_null(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value ? json_incref(value) : json_null();
}

/* The parts of a record that a proposal is made from. NULL: no memory. */
static json_t *denial_of(const char *record, size_t size)
{
	_cleanup_(json_decrefp) json_t *whole = json_loadb(record, size, 0, NULL);
	const json_t *cordon = json_object_get(whole, "cordon");

	if (!whole)
		return NULL;
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o}}", "seq",
			 copy_or_null(whole, "seq"), "event", copy_or_null(whole, "event"),
			 "process", copy_or_null(whole, "process"), "destination",
			 copy_or_null(whole, "destination"), "network",
			 copy_or_null(whole, "network"), "cordon", "execution",
			 copy_or_null(cordon, "execution"), "operation",
			 copy_or_null(cordon, "operation"), "object",
			 copy_or_null(cordon, "object"), "rights", copy_or_null(cordon, "rights"),
			 "reason", copy_or_null(cordon, "reason"));
}

static int take_rule(struct refused *refused, const char *rule, const char *record, size_t size,
		     size_t *bytes)
{
	if (json_object_get(refused->rules, rule))
		return 0;
	if (is_setting(rule)) {
		refused->settings++;
		return 0;
	}
	if (json_object_size(refused->rules) == REFUSED_RULES_MAX ||
	    *bytes + strlen(rule) > REFUSED_BYTES_MAX) {
		refused->omitted++;
		return 0;
	}
	*bytes += strlen(rule);
	return json_object_set_new(refused->rules, rule, json_true()) < 0 ||
			       json_array_append_new(refused->denials, denial_of(record, size)) < 0
		       ? -ENOMEM
		       : 0;
}

int refused_gather(const struct reported *reported, struct refused *refused)
{
	size_t bytes = 0;
	int r = 0;

	refused->rules = json_object();
	refused->denials = json_array();
	if (!refused->rules || !refused->denials)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < reported->count; i++) {
		size_t size;
		const char *text = reported_text(reported, i, &size);
		json_t *rule = suggested_rule(text, size);

		if (json_is_string(rule))
			r = take_rule(refused, json_string_value(rule), text, size, &bytes);
		else if (is_denied_by_rule(text, size))
			refused->denied++;
		json_decref(rule);
	}
	return r;
}

static json_t *start_of(const struct execution *e, const struct compiled_policy *policy)
{
	char *const *directories = e->record.directories;
	json_t *named = json_object();

	for (; named && directories && directories[0] && directories[1]; directories += 2)
		json_object_set_new(named, directories[0], json_string(directories[1]));
	return json_pack("{s:I, s:{s:s}, s:{s:{s:s, s:s, s:o}, s:{s:s, s:s, s:s}}}", "seq",
			 (json_int_t)0, "event", "action", "execution-start", "cordon", "execution",
			 "id", e->id, "mode", "enforce", "directories", named, "policy", "name",
			 policy->name, "file", policy->file, "digest", policy->digest_text);
}

/* Where the policy's name is that of an amended one, the file says which. */
static int fill(const struct execution *e, const struct reported *reported, struct refused *r)
{
	const struct compiled_policy *policy = e->policy ? e->policy->policy : NULL;

	if (!policy || !policy->file)
		return -ENOENT;
	memcpy(r->id, e->id, sizeof(r->id));
	r->uid = e->owner.uid;
	r->member = e->owner.member;
	r->live = e->state == EXECUTION_LIVE;
	r->policy = strdup(policy->name);
	r->file = strdup(policy->file);
	r->session = e->record.session ? strdup(e->record.session) : NULL;
	r->start = start_of(e, policy);
	if (!r->policy || !r->file || (e->record.session && !r->session))
		return -ENOMEM;
	return refused_gather(reported, r);
}

int refused_of(const struct execution *e, const struct reported *reported,
	       struct refused *ret_refused)
{
	struct refused refused = {};
	int r = fill(e, reported, &refused);

	if (r < 0)
		refused_release(&refused);
	else
		*ret_refused = refused;
	return r;
}

void refused_keep(const struct execution *e)
{
	struct daemon *daemon = e->daemon;
	struct refused refused = {};

	if (!approvals_required(daemon) || e->reported.count == 0)
		return;
	if (!daemon->refused)
		daemon->refused = calloc(1, sizeof(*daemon->refused));
	if (!daemon->refused || refused_of(e, &e->reported, &refused) < 0)
		return;
	refused.live = false;
	refused_release(&daemon->refused->items[daemon->refused->next]);
	daemon->refused->items[daemon->refused->next] = refused;
	daemon->refused->next = (daemon->refused->next + 1) % REFUSED_KEPT;
}

/* --- finding ------------------------------------------------------------------------------ */

static bool matches(const char *id, const char *wanted)
{
	return id[0] && strncmp(id, wanted, strlen(wanted)) == 0;
}

static bool may_ask(const struct peer *peer, bool member, uid_t uid)
{
	return peer->root || (member && uid == peer->ucred.uid);
}

static int copy(const struct refused *from, struct refused *ret)
{
	struct refused r = *from;

	r.policy = strdup(from->policy);
	r.file = strdup(from->file);
	r.session = from->session ? strdup(from->session) : NULL;
	json_incref(r.rules);
	json_incref(r.denials);
	json_incref(r.start);
	if (!r.policy || !r.file || (from->session && !r.session)) {
		refused_release(&r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

/* How many there are; one of them goes to *ret_live or *ret_ended. */
static size_t look(const struct daemon *daemon, const char *id, const struct peer *peer,
		   const struct execution **ret_live, const struct refused **ret_ended)
{
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		const struct execution *e = daemon->by_slot[i];

		if (!e || e->state == EXECUTION_FINISHED || !matches(e->id, id) ||
		    !may_ask(peer, e->owner.member, e->owner.uid))
			continue;
		*ret_live = e;
		found++;
	}
	for (size_t i = 0; daemon->refused && i < REFUSED_KEPT; i++) {
		const struct refused *r = &daemon->refused->items[i];

		if (!matches(r->id, id) || !may_ask(peer, r->member, r->uid))
			continue;
		*ret_ended = r;
		found++;
	}
	return found;
}

int refused_find(const struct daemon *daemon, const char *id, const struct peer *peer,
		 struct refused *ret_refused)
{
	const struct execution *live = NULL;
	const struct refused *ended = NULL;
	size_t found = look(daemon, id, peer, &live, &ended);

	if (found != 1)
		return found ? -ENOTUNIQ : -ENOENT;
	return live ? refused_of(live, &live->reported, ret_refused) : copy(ended, ret_refused);
}

/* --- the text ----------------------------------------------------------------------------- */

/*
 * The lines of one section in a suggestion: each section begins at the left, and its rules do not.
 */
static void add_section(struct buffer *out, const char *rule, const char *section)
{
	bool inside = false;

	while (*rule) {
		size_t length = strcspn(rule, "\n");

		if (rule[0] != ' ')
			inside = length == strlen(section) + 1 &&
				 strncmp(rule, section, length - 1) == 0;
		else if (inside) {
			buffer_add(out, rule, length);
			buffer_literal(out, "\n");
		}
		rule += length + (rule[length] == '\n');
	}
}

static void write_rules(struct buffer *out, json_t *rules)
{
	static const char *const sections[] = {"files", "exec", "unix", "network"};
	const char *rule;
	json_t *value;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct buffer lines = {};

		json_object_foreach(rules, rule, value) {
			add_section(&lines, rule, sections[i]);
		}
		if (lines.size > 0) {
			buffer_string(out, sections[i]);
			buffer_literal(out, ":\n");
			buffer_add(out, lines.data, lines.size);
		}
		out->failed |= lines.failed;
		buffer_free(&lines);
	}
}

char *refused_policy_text(const struct refused *refused)
{
	json_t *file = json_string(refused->file);
	/* A text of JSON is one of YAML. */
	char *quoted = file ? json_dumps(file, JSON_ENCODE_ANY) : NULL;
	struct buffer out = {};

	json_decref(file);
	if (!quoted)
		return NULL;
	buffer_literal(&out, "# What an execution was denied, and somebody has asked for.\n"
			     "version: 1\namends: ");
	buffer_string(&out, quoted);
	buffer_literal(&out, "\n");
	write_rules(&out, refused->rules);
	buffer_add(&out, "", 1);
	free(quoted);
	if (out.failed)
		buffer_free(&out);
	return out.data;
}
