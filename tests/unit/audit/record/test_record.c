/* SPDX-License-Identifier: Apache-2.0 */
/* Records of starts, ends, traffic, policies and decisions, field by field. */
#include "tests/unit/audit/record/example_execution.h"

/* R-06, field by field. */
static void test_start(void **state)
{
	char *kept[] = {(char *)"PATH", (char *)"LANG", NULL};
	char *removed[] = {(char *)"AWS_SECRET_ACCESS_KEY", NULL};
	char *directories[] = {(char *)"workdir", (char *)"/home/u/work", (char *)"tmp",
			       (char *)"/tmp/x", NULL};
	_cleanup_(json_decrefp) json_t *record = NULL;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	f.execution.directories = directories;
	f.execution.environment_kept = kept;
	f.execution.environment_removed = removed;
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME + 7));
	assert_text(record, "@timestamp", "2025-11-21T00:00:00.000000007Z");
	assert_text(record, "event.action", "execution-start");
	assert_text(record, "cordon.execution.id", "019aa3c4-11d2-7abc-8def-010203040506");
	assert_text(record, "cordon.execution.executor", "cordon-run");
	assert_text(record, "cordon.execution.language", "python");
	assert_text(record, "cordon.execution.agent", "coder");
	assert_text(record, "cordon.execution.session", "s-17");
	assert_text(record, "cordon.execution.workdir", "/home/u/work");
	assert_text(record, "cordon.execution.directories.workdir", "/home/u/work");
	assert_text(record, "cordon.execution.directories.tmp", "/tmp/x");
	assert_number(record, "cordon.execution.timeout_ms", 60000);
	assert_text(record, "cordon.execution.code.source", "file");
	assert_text(record, "cordon.execution.code.sha256",
		    "c0de000000000000000000000000000000000000000000000000000000000000");
	assert_number(record, "cordon.execution.code.length", 812);
	assert_text(record, "user.id", "1000");
	assert_null_field(record, "cordon.limits.open_files");
	assert_int_equal(json_array_size(view_field(record, "cordon.environment.kept")), 2);
	assert_int_equal(json_array_size(view_field(record, "cordon.environment.removed")), 1);
}

static void test_start_shows_arguments_only_if_asked(void **state)
{
	char *arguments[] = {(char *)"python3", (char *)"-c", NULL};
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	f.execution.argument_count = 3;
	f.execution.arguments = arguments;
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_null(view_field(record, "process.args"));
	json_decref(record);
	f.policy.arguments = POLICY_ARGUMENTS_FULL;
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_int_equal(json_array_size(view_field(record, "process.args")), 3);
	assert_true(json_is_null(json_array_get(view_field(record, "process.args"), 2)));
	json_decref(record);
}

static void test_start_says_who(void **state)
{
	struct fixture f;
	json_t *record, *processes;

	(void)state;
	fixture_init(&f);
	f.execution.have_login = true;
	f.execution.login_uid = 1000;
	f.execution.starters = calloc(AUDIT_STARTERS_MAX, sizeof(*f.execution.starters));
	assert_non_null(f.execution.starters);
	f.execution.starters[0] = (struct audit_starter){
		.pid = 7,
		.started = FIXTURE_TIME,
		.name = strdup("agent"),
		.program = strdup("/opt/agent"),
		.have_arguments = true,
		.arguments_digest = {0xab},
	};
	f.execution.starters[1] = (struct audit_starter){.pid = 1, .name = strdup("\xff")};
	f.execution.starter_count = 2;
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_number(record, "cordon.started_by.login_uid", 1000);
	processes = json_object_get(
		json_object_get(json_object_get(record, "cordon"), "started_by"), "processes");
	assert_int_equal(json_array_size(processes), 2);
	assert_text(json_array_get(processes, 0), "executable", "/opt/agent");
	assert_int_equal(strncmp(json_string_value(json_object_get(json_array_get(processes, 0),
								   "arguments_sha256")),
				 "ab00", 4),
			 0);
	assert_null_field(json_array_get(processes, 1), "executable");
	assert_null_field(json_array_get(processes, 1), "arguments_sha256");
	json_decref(record);
	f.execution.have_login = false;
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_null_field(record, "cordon.started_by.login_uid");
	json_decref(record);
	audit_starters_free(f.execution.starters);
}

static void test_start_says_what_the_caller_says(void **state)
{
	char traceparent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
	char conversation[] = "c-17";
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_null(view_field(record, "cordon.caller"));
	json_decref(record);
	f.execution.traceparent = traceparent;
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_text(record, "cordon.caller.trace_id", "4bf92f3577b34da6a3ce929d0e0e4736");
	assert_text(record, "cordon.caller.span_id", "00f067aa0ba902b7");
	assert_null(view_field(record, "cordon.caller.conversation_id"));
	json_decref(record);
	f.execution.conversation = conversation;
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_text(record, "cordon.caller.conversation_id", "c-17");
	json_decref(record);
}

static void test_start_in_a_container(void **state)
{
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_null(json_object_get(record, "container"));
	json_decref(record);
	f.execution.container.id = (char *)"51d7";
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_text(record, "container.id", "51d7");
	assert_null_field(record, "container.name");
	assert_int_equal(json_array_size(view_field(record, "container.image.hash.all")), 0);
	json_decref(record);
	f.execution.container.name = (char *)"box";
	f.execution.container.image = (char *)"python:3-slim";
	f.execution.container.image_id = (char *)"sha256:a3";
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_text(record, "container.name", "box");
	assert_text(record, "container.image.name", "python:3-slim");
	assert_int_equal(json_array_size(view_field(record, "container.image.hash.all")), 1);
	json_decref(record);
}

static void test_start_with_the_least(void **state)
{
	_cleanup_(json_decrefp) json_t *record = NULL;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	f.execution.session = f.execution.agent = f.execution.language = NULL;
	memset(&f.execution.code, 0, sizeof(f.execution.code));
	memset(&f.execution.limits, 0, sizeof(f.execution.limits));
	record = checked(audit_record_start(&f.execution, FIXTURE_TIME));
	assert_null_field(record, "cordon.execution.session");
	assert_null_field(record, "cordon.execution.timeout_ms");
	assert_text(record, "cordon.execution.code.source", "none");
}

static void test_end(void **state)
{
	struct audit_end end = {
		.cause = AUDIT_END_SIGNALED,
		.have_status = true,
		.status = 9,
		.duration_nsec = 1234567890,
		.killed_tasks = 3,
		.attempts = 6,
		.have_memory = true,
		.memory_peak_bytes = 1 << 20,
		.oom_kills = 2,
		.denials = 4,
		.last_sequence = 17,
		.bytes_sent = 5,
		.packets_denied = 6,
	};
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	record = checked(audit_record_end(&f.execution, &end, FIXTURE_TIME));
	assert_text(record, "event.outcome", "failure");
	assert_number(record, "event.duration", 1234567890);
	assert_text(record, "cordon.end.signal", "SIGKILL");
	assert_null_field(record, "cordon.end.exit_code");
	assert_number(record, "cordon.end.killed_tasks", 3);
	assert_number(record, "cordon.counters.attempts", 6);
	assert_null_field(record, "cordon.resources.cpu_user_ns");
	assert_number(record, "cordon.resources.memory_peak_bytes", 1 << 20);
	assert_number(record, "cordon.resources.oom_kills", 2);
	assert_number(record, "cordon.counters.last_sequence", 17);
	assert_number(record, "cordon.network.bytes_sent", 5);
	assert_number(record, "cordon.network.bytes_received", 0);
	assert_number(record, "cordon.network.packets_denied", 6);
	json_decref(record);
	for (int cause = AUDIT_END_EXITED; cause <= AUDIT_END_NOT_STARTED; cause++) {
		end.cause = (enum audit_end_cause)cause;
		end.have_status = cause % 2 == 0;
		end.status = 0;
		record = checked(audit_record_end(&f.execution, &end, FIXTURE_TIME));
		assert_text(record, "event.outcome",
			    cause == AUDIT_END_EXITED ? "success" : "failure");
		json_decref(record);
	}
}

static struct cordon_traffic to_443(bool served)
{
	struct cordon_traffic counts = {
		.served = served,
		.bytes_sent = 1000,
		.bytes_received = 70,
		.packets_sent = 9,
		.packets_received = 2,
		.connections = 3,
	};

	memcpy(counts.name, (unsigned char[]){4, 6, 203, 0, 113, 7, 1, 0xbb}, 8);
	return counts;
}

static void test_traffic(void **state)
{
	struct audit_traffic traffic = {.counts = to_443(false), .domain = "example.org"};
	const unsigned char six[20] = {6, 17, 0x20, 1, 0xd, 0xb8, [17] = 1, [19] = 53};
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	record = checked(audit_record_traffic(&f.execution, &traffic, FIXTURE_TIME));
	assert_text(record, "event.action", "traffic");
	assert_text(record, "cordon.traffic.direction", "outbound");
	assert_text(record, "destination.ip", "203.0.113.7");
	assert_text(record, "destination.domain", "example.org");
	assert_text(record, "network.transport", "tcp");
	assert_number(record, "destination.port", 443);
	assert_number(record, "source.bytes", 1000);
	assert_number(record, "destination.bytes", 70);
	assert_number(record, "cordon.traffic.bytes_sent", 1000);
	assert_number(record, "cordon.traffic.connections", 3);
	json_decref(record);
	traffic = (struct audit_traffic){.counts = to_443(true)};
	record = checked(audit_record_traffic(&f.execution, &traffic, FIXTURE_TIME));
	assert_text(record, "cordon.traffic.direction", "inbound");
	assert_text(record, "source.ip", "203.0.113.7");
	assert_number(record, "destination.port", 443);
	/* Who came is the source, and sent what was received here. */
	assert_number(record, "source.bytes", 70);
	assert_number(record, "destination.bytes", 1000);
	assert_number(record, "cordon.traffic.bytes_sent", 1000);
	json_decref(record);
	traffic.counts.served = 0;
	memcpy(traffic.counts.name, six, sizeof(six));
	record = checked(audit_record_traffic(&f.execution, &traffic, FIXTURE_TIME));
	assert_text(record, "destination.ip", "2001:db8::1");
	assert_text(record, "network.type", "ipv6");
	assert_number(record, "destination.port", 53);
	json_decref(record);
	traffic.rest = true;
	record = checked(audit_record_traffic(&f.execution, &traffic, FIXTURE_TIME));
	assert_text(record, "cordon.traffic.direction", "other");
	assert_null_field(record, "cordon.traffic.connections");
	assert_null(json_object_get(json_object_get(record, "destination"), "ip"));
	json_decref(record);
}

static void test_traffic_of_the_others(void **state)
{
	const struct cordon_traffic counts[] = {to_443(false), to_443(true)};
	struct audit_end whole = {
		.bytes_sent = 2500,
		.bytes_received = 100,
		.packets_sent = 20,
		.packets_received = 4,
	};
	struct cordon_traffic rest;

	(void)state;
	assert_true(audit_traffic_rest(&whole, counts, 2, &rest));
	assert_int_equal(rest.bytes_sent, 500);
	assert_int_equal(rest.packets_sent, 2);
	/* Counted since the whole was read. */
	assert_int_equal(rest.bytes_received, 0);
	assert_int_equal(rest.packets_received, 0);
	whole.packets_sent = 18;
	assert_false(audit_traffic_rest(&whole, counts, 2, &rest));
	assert_false(audit_traffic_rest(&(struct audit_end){}, NULL, 0, &rest));
}

static void test_records_of_cordon_itself(void **state)
{
	_cleanup_(json_decrefp) json_t *details =
		json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "executions", 3, "resumed", 2,
			  "cgroups", 0, "directories", 0, "state_files", 0, "failures", 0);
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	record = checked(audit_record_gap(&f.execution, 5, 9, FIXTURE_TIME));
	assert_number(record, "cordon.gap.missing", 3);
	json_decref(record);
	record = checked(audit_record_agent("recover", details, FIXTURE_TIME));
	assert_text(record, "event.action", "agent-recover");
	assert_number(record, "cordon.agent.executions", 3);
	json_decref(record);
	record = checked(audit_record_agent("stop", NULL, FIXTURE_TIME));
	json_decref(record);
	record = checked(audit_record_refused(NULL, "no policy", 0, FIXTURE_TIME));
	assert_text(record, "error.message", "no policy");
	json_decref(record);
}

static void test_policy_change(void **state)
{
	char line[] = "files read /etc/passwd";
	char *const wider[] = {line, NULL}, *const none[] = {NULL};
	char name[] = "after", file[] = "/after.yaml";
	struct compiled_policy after = {.name = name, .file = file, .digest = {0xcd}};
	struct audit_policy_change change = {
		.policy = &after, .reason = "asked for", .wider = wider, .pid = 5};
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	record = checked(audit_record_policy_change(&f.execution, &change, FIXTURE_TIME));
	assert_text(record, "event.action", "policy-change");
	assert_text(record, "cordon.policy.name", "after");
	assert_text(record, "cordon.previous_policy.name", f.execution.policy->name);
	assert_text(record, "cordon.change.reason", "asked for");
	assert_number(record, "cordon.change.pid", 5);
	json_decref(record);
	change = (struct audit_policy_change){
		.policy = &after, .wider = none, .pid = 5, .have_login = true, .login_uid = 1000};
	record = checked(audit_record_policy_change(&f.execution, &change, FIXTURE_TIME));
	assert_number(record, "cordon.change.login_uid", 1000);
	json_decref(record);
}

static void test_approval(void **state)
{
	char line[] = "files read /etc/passwd";
	char *const witnesses[] = {line, NULL};
	struct audit_approval approval = {.decision = AUDIT_APPROVAL_GRANTED,
					  .subject = "policy agent",
					  .digest = {0xcd},
					  .reason = "needs it",
					  .witnesses = witnesses,
					  .pid = 5,
					  .uid = 1000};
	struct fixture f;
	json_t *record;

	(void)state;
	record = checked(audit_record_approval(&approval, FIXTURE_TIME));
	assert_text(record, "event.action", "approval");
	assert_text(record, "event.outcome", "success");
	assert_text(record, "user.id", "1000");
	assert_text(record, "cordon.approval.decision", "granted");
	assert_text(record, "cordon.approval.subject", "policy agent");
	assert_null_field(record, "cordon.approval.base");
	assert_null_field(record, "cordon.approval.expires");
	json_decref(record);
	approval.decision = AUDIT_APPROVAL_EXPIRED;
	approval.reason = NULL;
	approval.have_base = approval.have_login = true;
	approval.login_uid = 1001;
	approval.who = "a\xff";
	fixture_init(&f);
	approval.execution = &f.execution;
	approval.expires = FIXTURE_TIME;
	record = checked(audit_record_approval(&approval, FIXTURE_TIME));
	assert_text(record, "event.outcome", "failure");
	assert_number(record, "cordon.approval.login_uid", 1001);
	assert_text(record, "cordon.approval.expires", "2025-11-21T00:00:00.000000000Z");
	assert_text(record, "cordon.approval.who_base64", "Yf8=");
	json_decref(record);
}

/* The schema refuses what it should: else the checks above say nothing. */
static void test_schema_is_strict(void **state)
{
	static const char *const spoilers[] = {
		"{\"extra\": 1}",
		"{\"@timestamp\": \"yesterday\"}",
		"{\"event\": {\"kind\": \"event\", \"action\": \"denial\", \"outcome\": \"unknown\"}}",
		"{\"event\": {\"kind\": \"event\", \"action\": \"x\", \"outcome\": \"unknown\"}}",
		"{\"cordon\": {\"schema\": 1}}",
		"{\"cordon\": {\"schema\": 2, \"gap\": {\"of\": \"events\", \"missing\": 1}}}",
		"{\"cordon\": {\"schema\": 1, \"gap\": {\"of\": \"events\", \"missing\": -1}}}",
		"{\"cordon\": {\"schema\": 1, \"gap\": {\"of\": \"sheep\", \"missing\": 1}}}",
		"{\"user\": {\"id\": 0}}",
		"{\"event\": {\"kind\": \"event\", \"action\": \"seal\", \"outcome\": \"success\"}}",
		("{\"event\": {\"kind\": \"event\", \"action\": \"agent-stuck\", \"outcome\": \"success\"},"
		 " \"cordon\": {\"schema\": 1, \"agent\": {}}}"),
	};
	struct fixture f;

	(void)state;
	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_SIZE(spoilers); i++) {
		_cleanup_(json_decrefp) json_t *record =
			checked(audit_record_gap(&f.execution, 5, 9, FIXTURE_TIME));
		_cleanup_(json_decrefp) json_t *spoiler = json_loads(spoilers[i], 0, NULL);
		char error[512];

		assert_non_null(spoiler);
		json_object_update(record, spoiler);
		if (is_valid(record, error))
			fail_msg("the schema lets pass %s", spoilers[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_start_shows_arguments_only_if_asked),
		cmocka_unit_test(test_start_says_who),
		cmocka_unit_test(test_start_says_what_the_caller_says),
		cmocka_unit_test(test_start_in_a_container),
		cmocka_unit_test(test_start_with_the_least),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_traffic),
		cmocka_unit_test(test_traffic_of_the_others),
		cmocka_unit_test(test_records_of_cordon_itself),
		cmocka_unit_test(test_policy_change),
		cmocka_unit_test(test_approval),
		cmocka_unit_test(test_schema_is_strict),
	};

	return cmocka_run_group_tests(tests, load_schema, drop_schema);
}
