/* SPDX-License-Identifier: Apache-2.0 */
/* Makes audit records, one JSON object each, of what the daemon knows. */
#include "audit/record/record.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "audit/record/fields.h"
#include "audit/record/names.h"
#include "audit/record/trace_context.h"
#include "audit/text/text.h"
#include "base/clock.h"

/* What is less is slewing, not a step. */
#define CLOCK_STEP_MIN (100 * (int64_t)NSEC_PER_MSEC)

static void add_limits(struct fields *f, const struct audit_execution *execution)
{
	const struct policy_limits *limits = &execution->limits;
	json_t *object = fields_object(f, f->cordon, "limits");

	fields_number_or_null(f, object, "wall_ms", limits->wall_nsec / NSEC_PER_MSEC);
	fields_number_or_null(f, object, "memory_bytes", limits->memory_bytes);
	fields_number_or_null(f, object, "pids", limits->pids);
	fields_number_or_null(f, object, "cpu_percent", limits->cpu_percent);
	fields_number_or_null(f, object, "cpu_time_ms", limits->cpu_time_nsec / NSEC_PER_MSEC);
	fields_number_or_null(f, object, "address_space_bytes", limits->address_space_bytes);
	fields_number_or_null(f, object, "file_size_bytes", limits->file_size_bytes);
	fields_number_or_null(f, object, "open_files", limits->open_files);
	fields_number_or_null(f, object, "io_read_bytes", limits->io_read_bytes);
	fields_number_or_null(f, object, "io_write_bytes", limits->io_write_bytes);
	fields_strings(f, object, "missing", execution->limits_missing);
}

static void add_arguments(struct fields *f, const struct audit_execution *execution)
{
	json_t *process = fields_object(f, f->record, "process");
	json_t *arguments = fields_object(f, f->cordon, "arguments");

	fields_number(f, process, "args_count", execution->argument_count);
	fields_digest(f, arguments, "sha256", execution->arguments_digest);
	fields_number(f, arguments, "length", execution->arguments_length);
	if (execution->arguments && execution->policy->arguments == POLICY_ARGUMENTS_FULL &&
	    text_set_list(process, "args", execution->argument_count,
			  (const char *const *)execution->arguments) < 0)
		f->failed = true;
}

static void add_directories(struct fields *f, json_t *parent, char *const *directories)
{
	json_t *object = fields_object(f, parent, "directories");

	for (; directories && directories[0] && directories[1]; directories += 2)
		fields_string(f, object, directories[0], directories[1]);
}

void audit_starters_free(struct audit_starter *starters)
{
	for (size_t i = 0; starters && i < AUDIT_STARTERS_MAX; i++) {
		free(starters[i].name);
		free(starters[i].program);
	}
	free(starters);
}

void audit_container_release(struct audit_container *container)
{
	free(container->id);
	free(container->name);
	free(container->image);
	free(container->image_id);
	*container = (struct audit_container){};
}

static void add_starter(struct fields *f, json_t *list, const struct audit_starter *starter)
{
	char started[CLOCK_TEXT_SIZE];
	json_t *object = json_object();

	/* The list takes the reference, and keeps it. */
	if (json_array_append_new(list, object) < 0) {
		f->failed = true;
		return;
	}
	clock_format(starter->started, started);
	fields_number(f, object, "pid", starter->pid);
	fields_string(f, object, "started", started);
	fields_string(f, object, "name", starter->name);
	fields_string(f, object, "executable", starter->program);
	if (starter->have_arguments)
		fields_digest(f, object, "arguments_sha256", starter->arguments_digest);
	else
		fields_set(f, object, "arguments_sha256", json_null());
}

static void add_starters(struct fields *f, const struct audit_execution *execution)
{
	json_t *object = fields_object(f, f->cordon, "started_by"), *list = json_array();

	if (execution->have_login)
		fields_number(f, object, "login_uid", execution->login_uid);
	else
		fields_set(f, object, "login_uid", json_null());
	fields_set(f, object, "processes", list);
	for (size_t i = 0; list && i < execution->starter_count; i++)
		add_starter(f, list, &execution->starters[i]);
}

/* As ECS has it. */
static void add_container(struct fields *f, const struct audit_container *container)
{
	json_t *object = fields_object(f, f->record, "container"), *image, *hash;
	char *const digests[] = {container->image_id, NULL};

	fields_string(f, object, "id", container->id);
	fields_string(f, object, "name", container->name);
	image = fields_object(f, object, "image");
	fields_string(f, image, "name", container->image);
	hash = fields_object(f, image, "hash");
	fields_strings(f, hash, "all", digests);
}

/* Nobody but the caller vouches for it. */
static void add_caller(struct fields *f, const struct audit_execution *execution)
{
	struct trace_context context;
	json_t *object;

	if (!execution->traceparent && !execution->conversation)
		return;
	object = fields_object(f, f->cordon, "caller");
	if (execution->traceparent && trace_context_parse(execution->traceparent, &context)) {
		fields_string(f, object, "trace_id", context.trace);
		fields_string(f, object, "span_id", context.span);
	}
	if (execution->conversation)
		fields_string(f, object, "conversation_id", execution->conversation);
}

static void add_indirections(struct fields *f, const struct audit_execution *execution)
{
	json_t *list = json_array();

	for (char **text = execution->indirections; list && *text; text += 3) {
		json_t *object = json_object();

		/* The list takes the reference, and keeps it. */
		if (json_array_append_new(list, object) < 0) {
			f->failed = true;
			break;
		}
		fields_string(f, object, "name", text[0]);
		fields_string(f, object, "target", text[1]);
		fields_string(f, object, "by", text[2]);
	}
	fields_set(f, f->cordon, "indirections", list);
}

int64_t audit_clock_step(const struct audit_execution *execution, uint64_t clock_offset)
{
	int64_t step = (int64_t)(clock_offset - execution->clock_offset);

	if (execution->clock_offset == 0 || clock_offset == 0 ||
	    (step < CLOCK_STEP_MIN && step > -CLOCK_STEP_MIN))
		return 0;
	return step;
}

json_t *audit_record_start(const struct audit_execution *execution, uint64_t time)
{
	json_t *object;
	struct fields f;

	fields_begin(&f, time, "event", "execution-start", "success");
	object = fields_execution(&f, execution);
	fields_string(&f, object, "executor", execution->executor);
	fields_string(&f, object, "language", execution->language);
	fields_string(&f, object, "workdir", execution->workdir);
	add_directories(&f, object, execution->directories);
	fields_number_or_null(&f, object, "timeout_ms",
			      execution->limits.wall_nsec / NSEC_PER_MSEC);
	fields_string(&f, object, "program", execution->program);
	fields_set(&f, object, "mode", json_string(execution->observe ? "observe" : "enforce"));
	fields_code(&f, object, &execution->code);
	fields_policy(&f, execution);
	add_limits(&f, execution);
	add_arguments(&f, execution);
	if (execution->descriptors)
		fields_strings(&f, f.cordon, "descriptors", execution->descriptors);
	if (execution->indirections)
		add_indirections(&f, execution);
	if (execution->unresolved)
		fields_strings(&f, f.cordon, "unresolved", execution->unresolved);
	object = fields_object(&f, f.cordon, "environment");
	fields_strings(&f, object, "kept", execution->environment_kept);
	fields_strings(&f, object, "removed", execution->environment_removed);
	fields_number(&f, object, "unnamed", execution->environment_unnamed);
	if (execution->container.id)
		add_container(&f, &execution->container);
	fields_user(&f, execution->uid, execution->gid);
	add_starters(&f, execution);
	add_caller(&f, execution);
	return fields_end(&f);
}

static void add_resources(struct fields *f, const struct audit_end *end)
{
	json_t *object = fields_object(f, f->cordon, "resources");

	fields_set(f, object, "cpu_user_ns",
		   end->have_cpu ? json_integer((json_int_t)end->user_nsec) : json_null());
	fields_set(f, object, "cpu_system_ns",
		   end->have_cpu ? json_integer((json_int_t)end->system_nsec) : json_null());
	fields_set(f, object, "memory_peak_bytes",
		   end->have_memory ? json_integer((json_int_t)end->memory_peak_bytes)
				    : json_null());
	fields_set(f, object, "oom_kills",
		   end->have_memory ? json_integer((json_int_t)end->oom_kills) : json_null());
	fields_set(f, object, "pids_peak",
		   end->have_pids ? json_integer((json_int_t)end->pids_peak) : json_null());
}

static void add_counters(struct fields *f, const struct audit_end *end)
{
	json_t *object = fields_object(f, f->cordon, "counters");

	fields_number(f, object, "events", end->events);
	fields_number(f, object, "denials", end->denials);
	fields_number(f, object, "would_denials", end->would_denials);
	fields_number(f, object, "attempts", end->attempts);
	fields_number(f, object, "forks", end->forks);
	fields_number(f, object, "execs", end->execs);
	fields_number(f, object, "coalesced", end->coalesced);
	fields_number(f, object, "dropped", end->dropped);
	fields_number(f, object, "limited", end->limited);
	fields_number(f, object, "unresolved", end->unresolved);
	fields_number(f, object, "last_sequence", end->last_sequence);
}

static void add_network(struct fields *f, const struct audit_end *end)
{
	json_t *object = fields_object(f, f->cordon, "network");

	fields_number(f, object, "bytes_sent", end->bytes_sent);
	fields_number(f, object, "bytes_received", end->bytes_received);
	fields_number(f, object, "packets_sent", end->packets_sent);
	fields_number(f, object, "packets_received", end->packets_received);
	fields_number(f, object, "packets_denied", end->packets_denied);
}

static void add_clock_step(struct fields *f, int64_t step)
{
	if (step != 0)
		fields_set(f, f->cordon, "clock_step_ns", json_integer(step));
}

json_t *audit_record_end(const struct audit_execution *execution, const struct audit_end *end,
			 uint64_t time)
{
	bool well = end->cause == AUDIT_END_EXITED && end->have_status && end->status == 0;
	json_t *object;
	struct fields f;

	fields_begin(&f, time, "event", "execution-end", well ? "success" : "failure");
	fields_number(&f, json_object_get(f.record, "event"), "duration", end->duration_nsec);
	add_clock_step(&f, audit_clock_step(execution, end->clock_offset));
	fields_code(&f, fields_execution(&f, execution), &execution->code);
	fields_policy(&f, execution);
	object = fields_object(&f, f.cordon, "end");
	fields_set(&f, object, "cause", json_string(name_of_end_cause(end->cause)));
	if (end->have_status) {
		fields_status(&f, object, end->status);
	} else {
		fields_set(&f, object, "exit_code", json_null());
		fields_set(&f, object, "signal", json_null());
	}
	fields_number(&f, object, "killed_tasks", end->killed_tasks);
	fields_limits(&f, object, end->limits);
	add_resources(&f, end);
	add_counters(&f, end);
	add_network(&f, end);
	return fields_end(&f);
}

json_t *audit_record_gap(const struct audit_execution *execution, uint64_t after, uint64_t before,
			 uint64_t time)
{
	json_t *object;
	struct fields f;

	fields_begin(&f, time, "event", "gap", "unknown");
	fields_execution(&f, execution);
	object = fields_object(&f, f.cordon, "gap");
	fields_set(&f, object, "of", json_string("events"));
	fields_number(&f, object, "missing", before > after ? before - after - 1 : 0);
	fields_number(&f, object, "after", after);
	fields_number(&f, object, "before", before);
	return fields_end(&f);
}

static void add_policy(struct fields *f, const char *key, const struct compiled_policy *policy)
{
	json_t *object = fields_object(f, f->cordon, key);

	fields_string(f, object, "name", policy->name);
	fields_string(f, object, "file", policy->file);
	fields_digest(f, object, "digest", policy->digest);
}

json_t *audit_record_policy_change(const struct audit_execution *execution,
				   const struct audit_policy_change *change, uint64_t time)
{
	json_t *object;
	struct fields f;

	fields_begin(&f, time, "event", "policy-change", "success");
	fields_execution(&f, execution);
	add_policy(&f, "policy", change->policy);
	add_policy(&f, "previous_policy", execution->policy);
	object = fields_object(&f, f.cordon, "change");
	fields_string(&f, object, "reason", change->reason);
	fields_strings(&f, object, "wider", change->wider);
	fields_number(&f, object, "pid", change->pid);
	fields_number(&f, object, "uid", change->uid);
	if (change->have_login)
		fields_number(&f, object, "login_uid", change->login_uid);
	else
		fields_set(&f, object, "login_uid", json_null());
	return fields_end(&f);
}

json_t *audit_record_resolution(const struct audit_execution *execution,
				const struct audit_resolution *resolution, uint64_t time)
{
	char until[CLOCK_TEXT_SIZE];
	json_t *object;
	struct fields f;

	fields_begin(&f, time, "event", "resolve", "success");
	fields_execution(&f, execution);
	fields_policy(&f, execution);
	object = fields_object(&f, f.record, "dns");
	fields_string(&f, fields_object(&f, object, "question"), "name", resolution->name);
	fields_strings(&f, object, "resolved_ip", resolution->addresses);
	clock_format(resolution->until, until);
	fields_string(&f, fields_object(&f, f.cordon, "resolution"), "until", until);
	return fields_end(&f);
}

json_t *audit_record_agent(const char *action, json_t *details, uint64_t time)
{
	char text[64];
	struct fields f;

	snprintf(text, sizeof(text), "agent-%s", action);
	fields_begin(&f, time, "event", text, "success");
	fields_set(&f, f.cordon, "agent", details ? json_incref(details) : json_object());
	return fields_end(&f);
}

json_t *audit_record_refused(const char *policy, const char *what, uint32_t uid, uint64_t time)
{
	struct fields f;

	fields_begin(&f, time, "event", "execution-refused", "failure");
	fields_string(&f, fields_object(&f, f.cordon, "policy"), "name", policy);
	fields_string(&f, fields_object(&f, f.record, "error"), "message", what);
	fields_set(&f, fields_object(&f, f.record, "user"), "id", json_sprintf("%u", uid));
	return fields_end(&f);
}
