/* SPDX-License-Identifier: Apache-2.0 */
/* Collects each distinct access of executions, in the form of the kernel's policy check. */
#include "insight/recording/recording.h"

#include <search.h>
#include <string.h>

#include "audit/record/names.h"
#include "insight/recording/recording_state.h"
#include "insight/text/view.h"
#include "policy/core/vector.h"

struct node {
	const struct recording *recording;
	size_t index;
	const struct recorded_access *probe; /* the access searched for, instead of an index */
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
	*run = (struct recorded_run){.id = recording_copy(r, id),
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
	run->directories[run->directory_count].name = recording_copy(r, name);
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
	run->program = recording_copy(r, view_text(record, "cordon.execution.program"));
	run->observed = mode && strcmp(mode, "observe") == 0;
	run->kept = view_field(record, "cordon.environment.kept");
	if (json_array_append(r->records, record) < 0 || !run->program)
		return -ENOMEM;
	json_object_foreach((json_t *)directories, name, path)
		if (json_is_string(path) && result == 0 && !strstr(name, "_base64"))
			result = add_directory(r, run, name, json_string_value(path));
	if (run->directory_count == 0 && view_workdir(record))
		result = add_directory(r, run, "workdir", view_workdir(record));
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
	return recording_copy(r, program ? program : view_text(record, "process.name"));
}

/* --- accesses ----------------------------------------------------------------------------- */

static uint32_t take_rights(const json_t *record)
{
	const json_t *list = view_field(record, "cordon.rights"), *name;
	uint32_t rights = 0, right;
	size_t i;

	json_array_foreach(list, i, name) {
		right = recording_find_name(name_of_right, CORDON_RIGHT_COUNT,
					    json_string_value(name));
		if (right < CORDON_RIGHT_COUNT)
			rights |= CORDON_RIGHT(right);
	}
	/* Creating a special file requires a right for that in addition to CREATE. */
	if (rights & CORDON_RIGHT(CORDON_SPECIAL))
		rights |= CORDON_RIGHT(CORDON_CREATE);
	/* Changing a file with other names requires a right for that in addition to WRITE. */
	if (rights & CORDON_RIGHT(CORDON_LINKS))
		rights |= CORDON_RIGHT(CORDON_WRITE);
	return rights;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Accesses are equal if they differ only in time and process. */
static int compare_accesses(const struct recorded_access *a, const struct recorded_access *b)
{
	int r = compare_numbers(a->run, b->run);

	r = r ? r : compare_numbers(a->kind, b->kind);
	r = r ? r : compare_numbers(a->outcome, b->outcome);
	r = r ? r : compare_numbers(a->operation, b->operation);
	r = r ? r : compare_numbers(a->rights, b->rights);
	r = r ? r : compare_numbers(a->reason, b->reason);
	r = r ? r : compare_numbers(a->listing, b->listing);
	r = r ? r : compare_numbers(a->temporary, b->temporary);
	r = r ? r : compare_numbers(a->size, b->size);
	r = r ? r : memcmp(a->bytes, b->bytes, a->size);
	r = r ? r : compare_numbers(a->named_size, b->named_size);
	return r || !a->named_size ? r : memcmp(a->named, b->named, a->named_size);
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

	a.operation = (uint8_t)recording_find_name(name_of_operation, CORDON_OP_COUNT,
						   view_text(record, "cordon.operation"));
	a.rights = take_rights(record);
	if (reason)
		a.reason =
			(uint8_t)recording_find_name(name_of_reason, CORDON_REASON_COUNT, reason);
	a.program = program_of(r, run, record);
	result = a.program ? recording_object(r, run, record, &a) : -ENOMEM;
	if (result < 0)
		return result;
	if (outcome == ACCESS_ALLOWED && view_field(record, "cordon.rule.number"))
		run->ruled = true;
	return merge_access(r, &a);
}

/* Adds an executed program. If everything is logged, the exec's access was already added. */
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
		result = a.program ? recording_bytes(r, view_field(record, "process"), "executable",
						     &a.bytes, &a.size)
				   : -ENOMEM;
	if (result < 0 || !a.size || a.bytes[0] != '/' || tfind(&probe, &r->tree, compare_nodes))
		return result;
	a.text = recording_copy(r, view_text(record, "process.executable"));
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
	else if (view_is(record, "open") || view_is(record, "change") || view_is(record, "connect"))
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
		run->policy = recording_copy(r, view_text(record, "cordon.policy.name"));
		run->policy_file = recording_copy(r, view_text(record, "cordon.policy.file"));
		run->policy_digest = recording_copy(r, view_text(record, "cordon.policy.digest"));
		if (!run->policy || !run->policy_file || !run->policy_digest)
			return -ENOMEM;
	}
	return take_record(r, run, record);
}
