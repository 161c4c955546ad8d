/* SPDX-License-Identifier: Apache-2.0 */
#include "insight/recording.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <search.h>
#include <string.h>

#include "audit/names.h"
#include "insight/view.h"
#include "policy/host_judge.h"
#include "policy/units.h"
#include "policy/vector.h"
#include "policy/words.h"

/* Of a name that was looked up: a rule for any port allows that. */
#define LIKELY_PORT 443u

struct recording {
	struct arena *arena;
	json_t *records;  /* start records, which runs borrow from */
	json_t *programs; /* by run and process */
	json_t *pids;	  /* by run and pid: of the execution's own processes */
	json_t *indices;  /* of runs by id */
	void *tree;	  /* of struct node, by what makes an access distinct */
	struct recorded_run *runs;
	size_t run_count, run_capacity;
	struct recorded_access *accesses;
	size_t access_count, access_capacity;
};

struct node {
	const struct recording *recording;
	size_t index;
	const struct recorded_access *probe; /* instead of an index, while it is looked for */
};

void recording_free(struct recording *r)
{
	tdestroy(r->tree, free);
	free(r->runs);
	free(r->accesses);
	json_decref(r->records);
	json_decref(r->programs);
	json_decref(r->pids);
	json_decref(r->indices);
	if (r->arena)
		arena_free(r->arena);
	free(r);
}

struct recording *recording_new(void)
{
	_cleanup_(recording_freep) struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->arena = arena_new();
	r->records = json_array();
	r->programs = json_object();
	r->pids = json_object();
	r->indices = json_object();
	if (!r->arena || !r->records || !r->programs || !r->pids || !r->indices)
		return NULL;
	return TAKE_PTR(r);
}

const struct recorded_run *recording_runs(const struct recording *r, size_t *ret_count)
{
	*ret_count = r->run_count;
	return r->runs;
}

const struct recorded_access *recording_accesses(const struct recording *r, size_t *ret_count)
{
	*ret_count = r->access_count;
	return r->accesses;
}

const char *recorded_directory(const struct recorded_run *run, const char *name)
{
	for (size_t i = 0; i < run->directory_count; i++)
		if (strcmp(run->directories[i].name, name) == 0)
			return run->directories[i].path;
	return NULL;
}

/* --- texts -------------------------------------------------------------------------------- */

static const char *copy(struct recording *r, const char *text)
{
	return text ? arena_copy(r->arena, text, strlen(text)) : "";
}

static int base64_value(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Base64 (RFC 4648), up to the padding. */
static char *decode_base64(struct arena *a, const char *text, size_t *ret_size)
{
	char *bytes = arena_alloc(a, strlen(text) + 1);
	uint32_t held = 0;
	size_t size = 0, bits = 0;

	for (; bytes && base64_value(*text) >= 0; text++) {
		held = held << 6 | (uint32_t)base64_value(*text);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes[size++] = (char)(held >> bits);
		}
	}
	*ret_size = size;
	return bytes;
}

/* A text member of an object, exact also where it was no text. */
static int take_bytes(struct recording *r, const json_t *object, const char *key,
		      const char **ret_bytes, size_t *ret_size)
{
	const json_t *text = json_object_get(object, key);
	_cleanup_(freep) char *exact_key = NULL;
	const char *exact;

	if (asprintf(&exact_key, "%s_base64", key) < 0)
		return -ENOMEM;
	exact = json_string_value(json_object_get(object, exact_key));
	if (exact) {
		*ret_bytes = decode_base64(r->arena, exact, ret_size);
	} else {
		*ret_size = json_string_length(text);
		*ret_bytes = arena_copy(r->arena, text ? json_string_value(text) : "", *ret_size);
	}
	return *ret_bytes ? 0 : -ENOMEM;
}

/* --- runs --------------------------------------------------------------------------------- */

static int find_run(struct recording *r, const char *id, struct recorded_run **ret_run)
{
	const json_t *index = json_object_get(r->indices, id);
	struct recorded_run *run;

	if (index) {
		*ret_run = &r->runs[json_integer_value(index)];
		return 0;
	}
	if (vector_reserve(&r->runs, &r->run_capacity, r->run_count + 1) < 0 ||
	    json_object_set_new(r->indices, id, json_integer((json_int_t)r->run_count)) < 0)
		return -ENOMEM;
	run = &r->runs[r->run_count++];
	*run = (struct recorded_run){.id = copy(r, id),
				     .program = "",
				     .policy = "",
				     .policy_file = "",
				     .policy_digest = ""};
	*ret_run = run;
	return run->id ? 0 : -ENOMEM;
}

static int add_directory(struct recording *r, struct recorded_run *run, const char *name,
			 const char *path)
{
	size_t n = strlen(path);

	if (run->directory_count == CORDON_MAX_ANCHORS || *path != '/')
		return 0;
	while (n && path[n - 1] == '/')
		n--;
	run->directories[run->directory_count].name = copy(r, name);
	run->directories[run->directory_count].path = arena_copy(r->arena, path, n);
	if (!run->directories[run->directory_count].name ||
	    !run->directories[run->directory_count].path)
		return -ENOMEM;
	run->directory_count++;
	return 0;
}

static int take_start(struct recording *r, struct recorded_run *run, json_t *record)
{
	const json_t *directories = view_field(record, "cordon.execution.directories");
	const char *mode = view_text(record, "cordon.execution.mode"), *name;
	const json_t *path;
	int result = 0;

	run->started = true;
	run->program = copy(r, view_text(record, "cordon.execution.program"));
	run->observed = mode && strcmp(mode, "observe") == 0;
	run->kept = view_field(record, "cordon.environment.kept");
	if (json_array_append(r->records, record) < 0 || !run->program)
		return -ENOMEM;
	json_object_foreach((json_t *)directories, name, path)
		if (json_is_string(path) && result == 0 && !strstr(name, "_base64"))
			result = add_directory(r, run, name, json_string_value(path));
	if (run->directory_count == 0 && view_text(record, "cordon.execution.workdir"))
		result = add_directory(r, run, "workdir",
				       view_text(record, "cordon.execution.workdir"));
	return result;
}

static void take_end(struct recorded_run *run, const json_t *record)
{
	run->ended = true;
	run->lost += view_number(record, "cordon.counters.dropped") +
		     view_number(record, "cordon.counters.limited");
	run->duration_nsec = view_number(record, "event.duration");
	run->memory_peak_bytes = view_number(record, "cordon.resources.memory_peak_bytes");
	run->pids_peak = view_number(record, "cordon.resources.pids_peak");
}

/* --- processes ---------------------------------------------------------------------------- */

static int note_process(struct recording *r, const struct recorded_run *run, const json_t *record)
{
	const char *executable = view_text(record, "process.executable");
	const char *entity = view_text(record, "process.entity_id"), *slash;
	_cleanup_(freep) char *key = NULL;
	char pid[96];

	snprintf(pid, sizeof(pid), "%s %llu", run->id,
		 (unsigned long long)view_number(record, "process.pid"));
	if (json_object_set_new(r->pids, pid, json_true()) < 0)
		return -ENOMEM;
	if (!executable || !entity)
		return 0;
	slash = strrchr(executable, '/');
	if (asprintf(&key, "%s %s", run->id, entity) < 0 ||
	    json_object_set_new(r->programs, key, json_string(slash ? slash + 1 : executable)) < 0)
		return -ENOMEM;
	return 0;
}

static const char *program_of(struct recording *r, const struct recorded_run *run,
			      const json_t *record)
{
	const char *entity = view_text(record, "process.entity_id"), *program = NULL;
	_cleanup_(freep) char *key = NULL;

	if (entity && asprintf(&key, "%s %s", run->id, entity) >= 0)
		program = json_string_value(json_object_get(r->programs, key));
	return copy(r, program ? program : view_text(record, "process.name"));
}

/* --- accesses ----------------------------------------------------------------------------- */

static uint32_t find_name(const char *(*name_of)(uint32_t number), uint32_t count, const char *name)
{
	for (uint32_t i = 0; name && i < count; i++)
		if (strcmp(name_of(i), name) == 0)
			return i;
	return count;
}

static uint32_t take_rights(const json_t *record)
{
	const json_t *list = view_field(record, "cordon.rights"), *name;
	uint32_t rights = 0, right;
	size_t i;

	json_array_foreach(list, i, name) {
		right = find_name(name_of_right, CORDON_RIGHT_COUNT, json_string_value(name));
		if (right < CORDON_RIGHT_COUNT)
			rights |= CORDON_RIGHT(right);
	}
	return rights;
}

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

/* The directory of a process below /proc, as rules spell it: all but other executions' are "self". */
static int spell_self(struct recording *r, struct recorded_access *a)
{
	static const char proc[] = "/proc/";
	size_t head = strlen(proc), digits, rest;
	char *spelled;

	if (a->size < head || memcmp(a->bytes, proc, head) != 0 ||
	    a->reason == CORDON_REASON_FOREIGN)
		return 0;
	digits = digits_at(a->bytes + head);
	if (!digits || (a->bytes[head + digits] && a->bytes[head + digits] != '/'))
		return 0;
	rest = a->size - head - digits;
	spelled = arena_alloc(r->arena, head + 4 + rest + 1);
	if (!spelled)
		return -ENOMEM;
	memcpy(spelled, "/proc/self", head + 4);
	memcpy(spelled + head + 4, a->bytes + head + digits, rest);
	a->bytes = spelled;
	a->size = head + 4 + rest;
	return 0;
}

static bool is_below(const char *path, size_t size, const char *directory, size_t n)
{
	return size >= n && memcmp(path, directory, n) == 0 && (size == n || path[n] == '/');
}

/*
 * Times and extended attributes are changed by a hook that knows no mount: the name begins at the root of
 * its file system. It is looked for below the variables, which alone can allow it: each may be known
 * by the end of its path. False: it is below none.
 */
static bool place_unmounted(struct recording *r, const struct recorded_run *run,
			    struct recorded_access *a)
{
	const char *best = NULL, *best_end = NULL;

	for (size_t i = 0; i < run->directory_count; i++) {
		const char *path = run->directories[i].path, *end = path;

		if (is_below(a->bytes, a->size, path, strlen(path)))
			return true;
		while ((end = strchr(end + 1, '/'))) {
			if (!is_below(a->bytes, a->size, end, strlen(end)) ||
			    (best && strlen(end) < strlen(best_end)))
				continue;
			best = path;
			best_end = end;
		}
	}
	if (!best)
		return false;
	a->bytes = arena_printf(r->arena, "%.*s%s", (int)(best_end - best), best, a->bytes);
	a->size = a->bytes ? strlen(a->bytes) : 0;
	return a->bytes != NULL;
}

static int take_path(struct recording *r, const struct recorded_run *run, const json_t *object,
		     struct recorded_access *a)
{
	int result = take_bytes(r, object, "text", &a->bytes, &a->size);
	bool unmounted = a->operation == CORDON_OP_SETATTR || a->operation == CORDON_OP_SETXATTR;

	if (result < 0)
		return result;
	a->text = copy(r, json_string_value(json_object_get(object, "text")));
	a->kind = a->size && a->bytes[0] == '/' ? ACCESS_PATH : ACCESS_OTHER;
	a->partial = json_object_get(object, "length") || json_object_get(object, "text_length");
	if (a->size > 1 && a->bytes[a->size - 1] == '/') {
		a->bytes = arena_copy(r->arena, a->bytes, --a->size);
		a->listing = true;
	}
	if (!a->bytes || !a->text)
		return -ENOMEM;
	if (unmounted && !place_unmounted(r, run, a))
		a->partial = true;
	return a->bytes ? spell_self(r, a) : -ENOMEM;
}

static const char *set_bytes(struct recording *r, struct recorded_access *a, const void *bytes,
			     size_t size)
{
	a->size = size;
	a->bytes = arena_copy(r->arena, bytes, size);
	return a->bytes;
}

static uint32_t protocol_number(const char *name)
{
	for (uint32_t i = 0; name && i < 256; i++)
		if (name_of_protocol(i) && strcmp(name_of_protocol(i), name) == 0)
			return i;
	return name ? (uint32_t)strtoul(name, NULL, 10) : 0;
}

static int take_net(struct recording *r, const json_t *record, struct recorded_access *a)
{
	const char *ip = view_text(record, "destination.ip");
	const char *transport = view_text(record, "network.transport");
	uint64_t port = view_number(record, "destination.port");
	unsigned char bytes[20] = {0}, address[16];
	size_t n;

	a->kind = ACCESS_OTHER;
	if (!ip)
		return 0;
	n = strchr(ip, ':') ? 16 : 4;
	if (inet_pton(n == 4 ? AF_INET : AF_INET6, ip, address) != 1)
		return 0;
	bytes[0] = n == 4 ? 4 : 6;
	bytes[1] = (unsigned char)protocol_number(transport);
	memcpy(bytes + 2, address, n);
	bytes[2 + n] = (unsigned char)(port >> 8);
	bytes[3 + n] = (unsigned char)port;
	a->kind = ACCESS_NET;
	a->text = arena_printf(r->arena, n == 4 ? "%s:%s:%llu" : "%s:[%s]:%llu",
			       transport ? transport : "?", ip, (unsigned long long)port);
	return a->text && set_bytes(r, a, bytes, n + 4) ? 0 : -ENOMEM;
}

static int take_host(struct recording *r, struct recorded_access *a)
{
	unsigned char bytes[CORDON_HOST_QUESTION_SIZE];
	char name[HOST_NAME_SIZE];
	size_t size;

	if (host_name_read(a->text, false, name) < 0)
		return 0;
	size = host_question(name, IPPROTO_TCP, bytes);
	if (size == 0)
		return 0;
	bytes[size++] = LIKELY_PORT >> 8;
	bytes[size++] = LIKELY_PORT & 0xff;
	a->kind = ACCESS_HOST;
	return set_bytes(r, a, bytes, size) ? 0 : -ENOMEM;
}

/* A word of one of the tables, or a number. */
static uint64_t word_or_number(const struct word *words, const char *text, size_t size)
{
	char copied[32] = "";
	const struct word *found;
	uint64_t number = 0;

	if (size < sizeof(copied))
		memcpy(copied, text, size);
	found = words_find(words, copied);
	if (found)
		return found->value;
	return units_number(copied, &number) == 0 ? number : protocol_number(copied);
}

static int take_socket(struct recording *r, struct recorded_access *a)
{
	const char *type = strchr(a->text, '/'), *protocol = type ? strchr(type + 1, '/') : NULL;
	unsigned char bytes[4];
	uint64_t number;

	a->kind = ACCESS_OTHER;
	if (!protocol)
		return 0;
	bytes[0] = (unsigned char)word_or_number(words_socket_families, a->text,
						 (size_t)(type - a->text));
	bytes[1] = (unsigned char)word_or_number(words_socket_types, type + 1,
						 (size_t)(protocol - type - 1));
	number = word_or_number(words_socket_protocols, protocol + 1, strlen(protocol + 1));
	bytes[2] = (unsigned char)(number >> 8);
	bytes[3] = (unsigned char)number;
	a->kind = ACCESS_SOCKET;
	return set_bytes(r, a, bytes, sizeof(bytes)) ? 0 : -ENOMEM;
}

static void take_number(struct recorded_access *a)
{
	a->kind = ACCESS_OTHER;
	if (a->reason == CORDON_REASON_BUILTIN)
		return;
	if (a->operation == CORDON_OP_USERNS)
		a->kind = ACCESS_USERNS;
	if (a->operation != CORDON_OP_CAPABLE)
		return;
	for (uint64_t number = 0; number < 64; number++) {
		const char *name = name_of_capability(number);

		if (!name || strcmp(name, a->text) != 0)
			continue;
		a->kind = ACCESS_CAPABILITY;
		a->number = number;
	}
}

static void take_process(const struct recording *r, const struct recorded_run *run,
			 struct recorded_access *a)
{
	const char *pid = a->text + strcspn(a->text, "0123456789");
	char key[96];

	snprintf(key, sizeof(key), "%s %.*s", run->id, (int)digits_at(pid), pid);
	a->own = json_object_get(r->pids, key) != NULL;
	a->kind = a->operation == CORDON_OP_SIGNAL  ? ACCESS_SIGNAL
		  : a->operation == CORDON_OP_TRACE ? ACCESS_TRACE
						    : ACCESS_OTHER;
}

static int take_object(struct recording *r, const struct recorded_run *run, const json_t *record,
		       struct recorded_access *a)
{
	const json_t *object = view_field(record, "cordon.object");
	const char *kind = view_text(record, "cordon.object.kind");

	a->kind = ACCESS_OTHER;
	a->text = copy(r, view_text(record, "cordon.object.text"));
	if (!a->text)
		return -ENOMEM;
	switch (find_name(name_of_object_kind, CORDON_OBJECT_COUNT, kind)) {
	case CORDON_OBJECT_PATH:
		return take_path(r, run, object, a);
	case CORDON_OBJECT_SPECIAL:
		a->kind = ACCESS_SPECIAL;
		return set_bytes(r, a, a->text, strlen(a->text)) ? 0 : -ENOMEM;
	case CORDON_OBJECT_ABSTRACT:
		a->kind = ACCESS_ABSTRACT;
		return take_bytes(r, object, "text", &a->bytes, &a->size);
	case CORDON_OBJECT_NET:
		return take_net(r, record, a);
	case CORDON_OBJECT_HOST:
		return take_host(r, a);
	case CORDON_OBJECT_SOCKET:
		return take_socket(r, a);
	case CORDON_OBJECT_NUMBER:
		take_number(a);
		break;
	case CORDON_OBJECT_PROCESS:
		take_process(r, run, a);
		break;
	default:
		break;
	}
	return a->bytes || set_bytes(r, a, a->text, strlen(a->text)) ? 0 : -ENOMEM;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* One access is like another if nothing but its time and process differs. */
static int compare_accesses(const struct recorded_access *a, const struct recorded_access *b)
{
	int r = compare_numbers(a->run, b->run);

	r = r ? r : compare_numbers(a->kind, b->kind);
	r = r ? r : compare_numbers(a->outcome, b->outcome);
	r = r ? r : compare_numbers(a->operation, b->operation);
	r = r ? r : compare_numbers(a->rights, b->rights);
	r = r ? r : compare_numbers(a->reason, b->reason);
	r = r ? r : compare_numbers(a->listing, b->listing);
	r = r ? r : compare_numbers(a->size, b->size);
	return r ? r : memcmp(a->bytes, b->bytes, a->size);
}

static int compare_nodes(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return compare_accesses(x->probe ? x->probe : &x->recording->accesses[x->index],
				y->probe ? y->probe : &y->recording->accesses[y->index]);
}

static int merge_access(struct recording *r, const struct recorded_access *a)
{
	struct node *node = calloc(1, sizeof(*node));
	struct node *const *found;

	if (!node)
		return -ENOMEM;
	*node = (struct node){r, r->access_count, a};
	found = tsearch(node, &r->tree, compare_nodes);
	if (!found) {
		free(node);
		return -ENOMEM;
	}
	if (*found != node) {
		r->accesses[(*found)->index].count += a->count;
		free(node);
		return 0;
	}
	if (vector_reserve(&r->accesses, &r->access_capacity, r->access_count + 1) < 0) {
		tdelete(node, &r->tree, compare_nodes);
		free(node);
		return -ENOMEM;
	}
	r->accesses[r->access_count++] = *a;
	node->probe = NULL;
	return 0;
}

static int take_access(struct recording *r, struct recorded_run *run, const json_t *record,
		       enum access_outcome outcome)
{
	const char *reason = view_text(record, "cordon.reason");
	struct recorded_access a = {
		.run = (size_t)(run - r->runs),
		.record = view_number(record, "seq"),
		.count = 1 + view_number(record, "cordon.repeats"),
		.outcome = outcome,
		.reason = RECORDING_NO_ANSWER,
	};
	int result;

	a.operation = (uint8_t)find_name(name_of_operation, CORDON_OP_COUNT,
					 view_text(record, "cordon.operation"));
	a.rights = take_rights(record);
	if (reason)
		a.reason = (uint8_t)find_name(name_of_reason, CORDON_REASON_COUNT, reason);
	a.program = program_of(r, run, record);
	result = a.program ? take_object(r, run, record, &a) : -ENOMEM;
	if (result < 0)
		return result;
	if (outcome == ACCESS_ALLOWED && view_field(record, "cordon.rule.number"))
		run->ruled = true;
	return merge_access(r, &a);
}

/*
 * A program that was run. Where everything is on record, its exec was asked about just before and is
 * there already.
 */
static int take_exec(struct recording *r, struct recorded_run *run, const json_t *record)
{
	struct recorded_access a = {
		.run = (size_t)(run - r->runs),
		.record = view_number(record, "seq"),
		.count = 1,
		.kind = ACCESS_PATH,
		.outcome = ACCESS_OBSERVED,
		.operation = CORDON_OP_EXEC,
		.rights = CORDON_EXEC_RIGHTS,
		.reason = CORDON_REASON_DEFAULT,
	};
	struct node probe = {r, 0, &a};
	int result = note_process(r, run, record);

	a.program = program_of(r, run, record);
	if (result == 0)
		result = a.program ? take_bytes(r, view_field(record, "process"), "executable",
						&a.bytes, &a.size)
				   : -ENOMEM;
	if (result < 0 || !a.size || a.bytes[0] != '/' || tfind(&probe, &r->tree, compare_nodes))
		return result;
	a.text = copy(r, view_text(record, "process.executable"));
	a.outcome = ACCESS_ALLOWED;
	a.reason = RECORDING_NO_ANSWER;
	return a.text ? merge_access(r, &a) : -ENOMEM;
}

static int take_record(struct recording *r, struct recorded_run *run, json_t *record)
{
	if (view_is(record, "execution-start"))
		return take_start(r, run, record);
	if (view_is(record, "execution-end"))
		take_end(run, record);
	else if (view_is(record, "gap"))
		run->lost += view_number(record, "cordon.gap.missing");
	else if (view_is(record, "process-exec"))
		return take_exec(r, run, record);
	else if (view_is(record, "process-exit"))
		return note_process(r, run, record);
	else if (view_is(record, "denial"))
		return take_access(r, run, record, ACCESS_REFUSED);
	else if (view_is(record, "would-deny"))
		return take_access(r, run, record, ACCESS_OBSERVED);
	else if (view_is(record, "open") || view_is(record, "connect"))
		return take_access(r, run, record, ACCESS_ALLOWED);
	return 0;
}

int recording_add(struct recording *r, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");
	struct recorded_run *run = NULL;
	int result;

	if (!id)
		return 0;
	result = find_run(r, id, &run);
	if (result < 0)
		return result;
	run->last = view_number(record, "seq");
	if (!run->first)
		run->first = run->last;
	if (!*run->policy && view_text(record, "cordon.policy.name")) {
		run->policy = copy(r, view_text(record, "cordon.policy.name"));
		run->policy_file = copy(r, view_text(record, "cordon.policy.file"));
		run->policy_digest = copy(r, view_text(record, "cordon.policy.digest"));
		if (!run->policy || !run->policy_file || !run->policy_digest)
			return -ENOMEM;
	}
	return take_record(r, run, record);
}
