/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that map members of `status` to metrics. */
#include "watch/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define NSEC_PER_SECOND 1e9

/* Maximum number of an object's members that become label values. */
#define MEMBERS_MAX 24u

enum unit {
	NUMBER,
	NSEC, /* converted to seconds */
	TRUTH,
};

/* One metric: the member `key` of the object `in`, or of `status` if that is NULL. */
struct metric {
	struct exposition_family family;
	const char *in, *key;
	enum unit unit;
};

#define COUNTER(name, help) {"cordon_" name "_total", "counter", help}
#define GAUGE(name, help)   {"cordon_" name, "gauge", help}

static const struct metric metrics[] = {
	{GAUGE("enforcing", "1: enforcement is loaded and in force."), NULL, "enforcing", TRUTH},
	{GAUGE("daemon_embedded", "1: a daemon that leaves when it is idle, not the service."),
	 NULL, "embedded", TRUTH},
	{GAUGE("daemon_uptime_seconds", "Since the daemon started; its counters began at 0 then."),
	 NULL, "uptime_nsec", NSEC},
	{GAUGE("executions", "Executions that are live."), NULL, "executions", NUMBER},
	{COUNTER("executions_started", "Executions that were started."), "totals", "started",
	 NUMBER},
	{COUNTER("executions_refused", "Launches that were rejected."), "totals", "refused",
	 NUMBER},
	{COUNTER("denials", "Accesses of executions that were denied."), "totals", "denials",
	 NUMBER},
	{COUNTER("would_denials", "Accesses that would be denied outside of observe mode."),
	 "totals", "would_denials", NUMBER},
	{COUNTER("attempts", "Accesses to marked objects that the host's permissions denied."),
	 "totals", "attempts", NUMBER},
	{COUNTER("packets_denied", "Packets of executions that were dropped."), "totals",
	 "packets_denied", NUMBER},
	{COUNTER("events", "Events of executions that the kernel reported."), "totals", "events",
	 NUMBER},
	{COUNTER("events_coalesced", "Events that were counted into a like one before them."),
	 "totals", "coalesced", NUMBER},
	{COUNTER("events_limited", "Events over the limit of one execution per second."), "totals",
	 "limited", NUMBER},
	{COUNTER("events_dropped",
		 "Events that found no room in the kernel's rings, or in the daemon."),
	 "totals", "dropped", NUMBER},
	{COUNTER("gaps", "Gap records: each counts missing events of an execution."), "totals",
	 "gaps", NUMBER},
	{COUNTER("events_missing", "Missing events, as counted by gap records."), "totals",
	 "missing_events", NUMBER},
	{COUNTER("events_stray", "Events of executions that are no more."), NULL, "stray_events",
	 NUMBER},
	{COUNTER("events_malformed", "Events that are none."), NULL, "malformed_events", NUMBER},
	{GAUGE("policies", "Compiled policies that are resident in the kernel."), NULL, "policies",
	 NUMBER},
	{GAUGE("connections", "Clients that are connected to the daemon."), NULL, "connections",
	 NUMBER},
	{GAUGE("log_writable", "1: an execution may start, since its log can be written."), NULL,
	 "log_writable", TRUTH},
	{GAUGE("log_failing", "1: the last try to write the log failed."), "log_figures", "failing",
	 TRUTH},
	{COUNTER("log_records_lost", "Records that are not in any log."), NULL, "records_lost",
	 NUMBER},
	{GAUGE("log_last_sequence", "Sequence number of the last record in the log."),
	 "log_figures", "records", NUMBER},
	{COUNTER("log_written_bytes", "Bytes that were written to the log."), "log_figures",
	 "written_bytes", NUMBER},
	{GAUGE("log_free_bytes", "Bytes that are free on the log's file system."), "log_figures",
	 "free_bytes", NUMBER},
	{GAUGE("log_sealing", "1: the log is sealed with keys."), "log_figures", "sealing", TRUTH},
	{GAUGE("log_sealed_sequence", "Sequence number of the last seal in the log."),
	 "log_figures", "sealed", NUMBER},
	{GAUGE("log_seal_age_seconds", "Since the last seal that the daemon has made."),
	 "log_figures", "seal_age_nsec", NSEC},
	{GAUGE("executors", "Entries of cordon.yaml that are in force."), "executors", "entries",
	 NUMBER},
	{COUNTER("executions_adopted", "Executions that executors made, since cordon was loaded."),
	 "executors", "adopted", NUMBER},
	{COUNTER("adoptions_refused", "Processes that were not adopted, since cordon was loaded."),
	 "executors", "refused", NUMBER},
	{COUNTER("adoptions_cleaned_late", "Environments that the daemon had to clean."),
	 "executors", "cleaned_late", NUMBER},
	{GAUGE("dns_waiting", "DNS queries that wait for a response."), "dns", "waiting", NUMBER},
};

/* One sample for each number in an object, except the member that is a separate metric. */
struct metric_group {
	struct exposition_family family;
	const char *label;
	const char *in, *key; /* as in struct metric */
	const char *but;
};

static const struct metric_group groups[] = {
	{COUNTER("executions_ended", "Executions that have ended, by cause."), "cause", "totals",
	 "ended", NULL},
	{COUNTER("enforcement", "Counters of the enforcement in the kernel, since it was "
				"loaded; see cordon status."),
	 "counter", NULL, "counters", NULL},
	{COUNTER("dns_questions", "DNS queries of executions, by result."), "what", NULL, "dns",
	 "waiting"},
};

static const json_t *member(const json_t *status, const char *in, const char *key)
{
	return json_object_get(in ? json_object_get(status, in) : status, key);
}

static bool is_count(const json_t *value)
{
	return json_is_integer(value) && json_integer_value(value) >= 0;
}

static void add_metric(struct exposition *x, const struct metric *metric, const json_t *status)
{
	const json_t *value = member(status, metric->in, metric->key);

	exposition_begin(x, &metric->family);
	if (metric->unit == TRUTH) {
		if (json_is_boolean(value))
			exposition_add(x, "", NULL, json_is_true(value));
	} else if (is_count(value) && metric->unit == NSEC) {
		exposition_add_real(x, "", NULL,
				    (double)json_integer_value(value) / NSEC_PER_SECOND);
	} else if (is_count(value)) {
		exposition_add(x, "", NULL, (uint64_t)json_integer_value(value));
	}
}

static void add_group(struct exposition *x, const struct metric_group *group, const json_t *status)
{
	json_t *object = (json_t *)member(status, group->in, group->key), *value;
	unsigned int count = 0;
	const char *name;

	exposition_begin(x, &group->family);
	json_object_foreach(object, name, value) {
		const struct exposition_label label = {group->label, name};

		if (!is_count(value) || (group->but && strcmp(name, group->but) == 0))
			continue;
		if (++count <= MEMBERS_MAX)
			exposition_add(x, "", &label, (uint64_t)json_integer_value(value));
		else
			x->left_out++;
	}
}

/*
 * A bucket with an upper bound "below" becomes one with "le", because exact equality does not
 * matter.
 */
static void add_turns(struct exposition *x, const json_t *status)
{
	static const struct exposition_family family = {
		"cordon_loop_turn_seconds", "histogram",
		"Iterations of the daemon's loop: other clients wait meanwhile."};
	static const struct exposition_family longest =
		GAUGE("loop_longest_turn_seconds", "The longest turn since the daemon started.");
	static const struct exposition_family busiest =
		GAUGE("loop_busiest_turn_seconds",
		      "Processor time of the turn that took most since the daemon started.");
	const json_t *turns = json_object_get(status, "turns"),
		     *histogram = json_object_get(turns, "histogram"),
		     *total = json_object_get(turns, "total_nsec"),
		     *most = json_object_get(json_object_get(turns, "longest"), "nsec"),
		     *busy = json_object_get(json_object_get(turns, "busiest"), "nsec");
	uint64_t sum = 0;

	exposition_begin(x, &family);
	for (size_t i = 0; i < json_array_size(histogram) && i < MEMBERS_MAX; i++) {
		const json_t *bucket = json_array_get(histogram, i),
			     *bound = json_object_get(bucket, "below_nsec"),
			     *count = json_object_get(bucket, "turns");
		struct exposition_label le = {"le", "+Inf"};
		char text[32];

		sum += is_count(count) ? (uint64_t)json_integer_value(count) : 0;
		if (is_count(bound)) {
			snprintf(text, sizeof(text), "%.9g",
				 (double)json_integer_value(bound) / NSEC_PER_SECOND);
			le.value = text;
		}
		exposition_add(x, "_bucket", &le, sum);
	}
	/* An older daemon sends no sum: then there is no histogram. */
	if (is_count(total)) {
		exposition_add_real(x, "_sum", NULL,
				    (double)json_integer_value(total) / NSEC_PER_SECOND);
		exposition_add(x, "_count", NULL, sum);
	}
	exposition_begin(x, &longest);
	if (is_count(most))
		exposition_add_real(x, "", NULL,
				    (double)json_integer_value(most) / NSEC_PER_SECOND);
	exposition_begin(x, &busiest);
	if (is_count(busy))
		exposition_add_real(x, "", NULL,
				    (double)json_integer_value(busy) / NSEC_PER_SECOND);
}

/* Extracts the name before the colon of "memory controller: `limits: memory` is not applied". */
static void feature_of(const json_t *gap, char ret_name[EXPOSITION_MAX_LABEL + 1])
{
	const char *text = json_string_value(gap);

	snprintf(ret_name, EXPOSITION_MAX_LABEL + 1, "%.*s", text ? (int)strcspn(text, ":") : 0,
		 text ? text : "");
}

/* Skip duplicates, because a duplicate series would make the whole text invalid. */
static bool is_named_before(const json_t *gaps, size_t index, const char *name)
{
	char other[EXPOSITION_MAX_LABEL + 1];

	for (size_t i = 0; i < index; i++) {
		feature_of(json_array_get(gaps, i), other);
		if (strcmp(other, name) == 0)
			return true;
	}
	return false;
}

static void add_gaps(struct exposition *x, const json_t *status)
{
	static const struct exposition_family count =
		GAUGE("kernel_gaps", "Features that this kernel lacks, and what that uncovers.");
	static const struct exposition_family each =
		GAUGE("kernel_gap", "1: this kernel lacks the feature; see cordon doctor.");
	const json_t *gaps = json_object_get(status, "gaps");
	char name[EXPOSITION_MAX_LABEL + 1];
	const struct exposition_label label = {"feature", name};

	if (!json_is_array(gaps))
		return;
	exposition_begin(x, &count);
	exposition_add(x, "", NULL, json_array_size(gaps));
	exposition_begin(x, &each);
	for (size_t i = 0; i < json_array_size(gaps) && i < MEMBERS_MAX; i++) {
		feature_of(json_array_get(gaps, i), name);
		if (name[0] && !is_named_before(gaps, i, name))
			exposition_add(x, "", &label, 1);
	}
}

static void add_version(struct exposition *x, const struct exposition_family *family,
			const char *version)
{
	const struct exposition_label label = {"version", version};

	exposition_begin(x, family);
	exposition_add(x, "", &label, 1);
}

static void add_own(struct exposition *x, const struct metrics_source *source)
{
	static const struct exposition_family up =
		GAUGE("up", "1: the daemon responded; 0: other metrics are missing.");
	static const struct exposition_family took =
		GAUGE("status_seconds", "How long that took, or until it was given up.");
	static const struct exposition_family version =
		GAUGE("watch_build_info", "1: the version of what writes these.");

	exposition_begin(x, &up);
	exposition_add(x, "", NULL, source->status != NULL);
	exposition_begin(x, &took);
	exposition_add_real(x, "", NULL, (double)source->took_nsec / NSEC_PER_SECOND);
	add_version(x, &version, CORDON_VERSION);
}

static void add_status(struct exposition *x, const json_t *status)
{
	static const struct exposition_family family =
		GAUGE("build_info", "1: the version of the daemon.");
	const char *version = json_string_value(json_object_get(status, "version"));

	if (version)
		add_version(x, &family, version);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		add_metric(x, &metrics[i], status);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		add_group(x, &groups[i], status);
	add_turns(x, status);
	add_gaps(x, status);
}

int metrics_write(struct exposition *x, const struct metrics_source *source)
{
	static const struct exposition_family left_out =
		GAUGE("watch_series_left_out", "Series over the limit of one host.");

	x->reserved = 1;
	add_own(x, source);
	if (source->status)
		add_status(x, source->status);
	x->reserved = 0;
	exposition_begin(x, &left_out);
	exposition_add(x, "", NULL, x->left_out);
	return x->text.failed ? -ENOMEM : 0;
}
