/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/socket.h>

#include "audit/record/traffic.h"
#include "audit/record/approval.h"
#include "audit/record/record.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "tests/unit/audit/fixture.h"
#include "insight/text/view.h"
#include "tests/unit/audit/schema_check.h"

#define BYTES(s) s, sizeof(s) - 1

static json_t *schema;

static int load_schema(void **state)
{
	json_error_t error;

	(void)state;
	schema = json_load_file("docs/audit.schema.json", JSON_REJECT_DUPLICATES, &error);
	if (!schema)
		fail_msg("docs/audit.schema.json: line %d: %s", error.line, error.text);
	return 0;
}

static int drop_schema(void **state)
{
	(void)state;
	json_decref(schema);
	return 0;
}

/* As it would stand in a log. */
static bool is_valid(const json_t *record, char error[512])
{
	struct schema_check check = {.root = schema};
	json_t *line = json_deep_copy(record);
	bool valid;

	json_object_set_new(line, "seq", json_integer(1));
	json_object_set_new(line, "chain",
			    json_string("00000000000000000000000000000000"
					"00000000000000000000000000000000"));
	valid = schema_valid(&check, schema, line, "record");
	json_decref(line);
	memcpy(error, check.error, 512);
	return valid;
}

static json_t *checked(json_t *record)
{
	char error[512];

	assert_non_null(record);
	if (!is_valid(record, error)) {
		char *text = json_dumps(record, JSON_INDENT(1));

		print_message("%s\n", text);
		free(text);
		fail_msg("%s", error);
	}
	return record;
}

static json_t *of_event(struct fixture *f, const struct fixture_event *e)
{
	json_t *record = NULL;

	assert_int_equal(audit_record_event(&f->execution, e->data, e->size, FIXTURE_BOOT_OFFSET,
					    &record),
			 0);
	return checked(record);
}

static json_t *of_denial(struct fixture *f, const struct fixture_denial *denial)
{
	struct fixture_event e;

	fixture_denial(f, denial, &e);
	return of_event(f, &e);
}

static void assert_text(const json_t *record, const char *name, const char *expected)
{
	const char *text = view_text(record, name);

	if (!text)
		fail_msg("%s is missing", name);
	assert_string_equal(text, expected);
}

static void assert_number(const json_t *record, const char *name, uint64_t expected)
{
	assert_true(view_has_number(record, name));
	assert_int_equal(view_number(record, name), expected);
}

static void assert_null_field(const json_t *record, const char *name)
{
	assert_true(json_is_null(view_field(record, name)));
}

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

static void test_denial_of_a_path(void **state)
{
	struct fixture_denial denial = {
		.pid = 1200,
		.parent = 999,
		.comm = "python3",
		.operation = CORDON_OP_OPEN,
		.rights = CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE),
		.kind = CORDON_OBJECT_PATH,
		.object = "/etc/shadow",
		.object_size = 11,
		.repeats = 4,
	};
	_cleanup_(json_decrefp) json_t *record = NULL;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	record = of_denial(&f, &denial);
	assert_text(record, "@timestamp", "2025-11-21T00:00:00.000000000Z");
	assert_text(record, "event.kind", "alert");
	assert_text(record, "event.action", "denial");
	assert_text(record, "event.outcome", "failure");
	assert_text(record, "cordon.operation", "open");
	assert_text(record, "file.path", "/etc/shadow");
	assert_text(record, "cordon.error", "EACCES");
	assert_text(record, "cordon.reason", "default");
	assert_null_field(record, "cordon.rule");
	assert_number(record, "cordon.repeats", 4);
	assert_number(record, "cordon.sequence", 1);
	assert_number(record, "cordon.policy.generation", 2);
	assert_number(record, "process.pid", 1200);
	assert_text(record, "process.entity_id", "1200-1200000000");
	assert_text(record, "process.parent.entity_id", "999-999000000");
	assert_text(record, "process.name", "python3");
	assert_text(record, "cordon.suggestion.rule",
		    "files:\n  - {allow: [read, write], paths: [\"/etc/shadow\"]}");
	assert_string_equal(
		json_string_value(json_array_get(view_field(record, "cordon.rights"), 1)), "write");
}

static void test_denial_by_a_rule(void **state)
{
	struct fixture_denial denial = {
		.comm = "sh",
		.operation = CORDON_OP_UNLINK,
		.rights = CORDON_RIGHT(CORDON_DELETE),
		.kind = CORDON_OBJECT_PATH,
		.object = "/home/u/work/.env",
		.object_size = 17,
		.reason = CORDON_REASON_RULE,
		.rule = 1,
	};
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	record = of_denial(&f, &denial);
	assert_number(record, "cordon.rule.number", 1);
	assert_text(record, "cordon.rule.file", "policies/python-sandbox.yaml");
	assert_number(record, "cordon.rule.line", 31);
	assert_text(record, "cordon.rule.text", "deny all **/.env");
	assert_text(record, "cordon.rule.message", "secrets stay where they are");
	assert_text(record, "cordon.rule.severity", "high");
	assert_int_equal(json_array_size(view_field(record, "cordon.rule.tags")), 2);
	assert_null_field(record, "cordon.suggestion.rule");
	assert_non_null(strstr(view_text(record, "cordon.suggestion.why"), "deny beats allow"));
	json_decref(record);
	/* A rule number that the policy at hand does not have is kept, not read. */
	denial.rule = 2;
	record = of_denial(&f, &denial);
	assert_number(record, "cordon.rule.number", 2);
	assert_null(view_field(record, "cordon.rule.text"));
	json_decref(record);
}

static void test_attempt(void **state)
{
	struct fixture_denial attempt = {
		.comm = "cat",
		.operation = CORDON_OP_LOOKUP,
		.kind = CORDON_OBJECT_PATH,
		.object = "/home/u/work/.env",
		.object_size = 17,
		.reason = CORDON_REASON_PERMISSIONS,
		.attempt = true,
		.rule = 1,
		.repeats = 3,
	};
	_cleanup_(json_decrefp) json_t *record = NULL;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	record = of_denial(&f, &attempt);
	assert_text(record, "event.kind", "alert");
	assert_text(record, "event.action", "attempt");
	assert_text(record, "event.outcome", "failure");
	assert_text(record, "file.path", "/home/u/work/.env");
	assert_text(record, "cordon.object.text", "/home/u/work/.env");
	assert_text(record, "cordon.operation", "lookup");
	assert_text(record, "cordon.error", "EACCES");
	assert_text(record, "cordon.reason", "permissions");
	assert_number(record, "cordon.repeats", 3);
	assert_number(record, "cordon.rule.line", 31);
	assert_text(record, "cordon.rule.severity", "high");
	assert_int_equal(json_array_size(view_field(record, "cordon.rights")), 0);
	/* The kernel gives such events no number, and no rule would change what it refuses. */
	assert_null(view_field(record, "cordon.sequence"));
	assert_null(view_field(record, "cordon.suggestion"));
}

static void test_would_deny_an_address(void **state)
{
	static const unsigned char v6[] = {6, 17, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0,
					   0, 0,  0,	0, 0,	0,    0, 1, 0, 53};
	struct fixture_denial denial = {
		.comm = "dig",
		.operation = CORDON_OP_SEND,
		.rights = CORDON_RIGHT(CORDON_NET_CONNECT),
		.kind = CORDON_OBJECT_NET,
		.object = v6,
		.object_size = sizeof(v6),
		.would = 1,
		.error = -EPERM,
	};
	_cleanup_(json_decrefp) json_t *record = NULL;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	record = of_denial(&f, &denial);
	assert_text(record, "event.action", "would-deny");
	assert_text(record, "event.outcome", "success");
	assert_text(record, "destination.ip", "2001:db8::1");
	assert_number(record, "destination.port", 53);
	assert_text(record, "network.transport", "udp");
	assert_text(record, "network.type", "ipv6");
	assert_text(record, "cordon.object.text", "[2001:db8::1]:53");
	assert_text(record, "cordon.error", "EPERM");
	assert_text(record, "cordon.suggestion.rule",
		    "network:\n  - {allow: [connect], to: [\"2001:db8::1\"], ports: [53], "
		    "protocols: [udp]}");
}

/* Names are the attacker's to choose. */
static void test_names_that_are_no_text(void **state)
{
	struct fixture_denial denial = {
		.comm = "\xff\x1b[31m",
		.operation = CORDON_OP_OPEN,
		.rights = CORDON_RIGHT(CORDON_READ),
		.kind = CORDON_OBJECT_PATH,
		.object = "/tmp/\xff\"\n\x1b",
		.object_size = 9,
		.total = 5000,
		.flags = CORDON_OBJECT_MOVED,
	};
	_cleanup_(json_decrefp) json_t *record = NULL;
	_cleanup_(freep) char *line = NULL;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	record = of_denial(&f, &denial);
	assert_text(record, "file.path", "/tmp/\xef\xbf\xbd\"\n\x1b");
	assert_text(record, "file.path_base64", "L3RtcC//Igob");
	assert_text(record, "process.name", "\xef\xbf\xbd\x1b[31m");
	assert_text(record, "process.name_base64", "/xtbMzFt");
	assert_number(record, "cordon.object.length", 5000);
	assert_true(json_is_true(view_field(record, "cordon.object.moved")));
	assert_null_field(record, "cordon.suggestion.rule");
	line = json_dumps(record, JSON_COMPACT | JSON_ENSURE_ASCII);
	for (const char *c = line; *c; c++)
		assert_true(*c >= 0x20 && *c < 0x7f);
}

static void test_objects_of_every_kind(void **state)
{
	static const unsigned char net[] = {4, 6, 203, 0, 113, 7, 1, 0xbb};
	static const unsigned char socket_question[] = {AF_NETLINK, SOCK_RAW, 0, 15};
	static const __u64 capability = 21;
	static const struct cordon_process_object process = {.pid = 1, .number = 9};
	static const struct {
		uint32_t kind, operation, rights;
		const void *object;
		size_t size;
		const char *text;
	} cases[] = {
		{CORDON_OBJECT_NONE, CORDON_OP_USERNS, 0, "", 0, ""},
		{CORDON_OBJECT_PATH, CORDON_OP_OPEN, 1, BYTES("/x"), "/x"},
		{CORDON_OBJECT_SPECIAL, CORDON_OP_MMAP, 1 << CORDON_MAP, BYTES("@memfd"), "@memfd"},
		{CORDON_OBJECT_NET, CORDON_OP_CONNECT, 1 << CORDON_NET_CONNECT, net, sizeof(net),
		 "203.0.113.7:443"},
		{CORDON_OBJECT_SOCKET, CORDON_OP_SOCKET, 1 << CORDON_SOCKET, socket_question,
		 sizeof(socket_question), "netlink/raw/15"},
		{CORDON_OBJECT_ABSTRACT, CORDON_OP_CONNECT, 1 << CORDON_UNIX_CONNECT, BYTES("bus"),
		 "bus"},
		{CORDON_OBJECT_NUMBER, CORDON_OP_CAPABLE, 0, &capability, sizeof(capability),
		 "CAP_SYS_ADMIN"},
		{CORDON_OBJECT_PROCESS, CORDON_OP_SIGNAL, 0, &process, sizeof(process),
		 "process 1 (SIGKILL)"},
		{CORDON_OBJECT_HOST, CORDON_OP_RESOLVE, 1 << CORDON_NET_CONNECT,
		 BYTES("x.example.org"), "x.example.org"},
	};
	struct fixture f;

	(void)state;
	assert_int_equal(ARRAY_SIZE(cases), CORDON_OBJECT_COUNT);
	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (uint8_t reason = 0; reason < CORDON_REASON_COUNT; reason++) {
			struct fixture_denial denial = {
				.comm = "x",
				.operation = cases[i].operation,
				.rights = cases[i].rights,
				.kind = cases[i].kind,
				.object = cases[i].object,
				.object_size = cases[i].size,
				.reason = reason,
			};
			json_t *record = of_denial(&f, &denial);

			assert_text(record, "cordon.object.text", cases[i].text);
			/* Exactly one of a rule and a sentence. */
			assert_true(!view_text(record, "cordon.suggestion.rule") !=
				    !view_text(record, "cordon.suggestion.why"));
			if (reason != CORDON_REASON_DEFAULT && reason != CORDON_REASON_HOST)
				assert_null_field(record, "cordon.suggestion.rule");
			json_decref(record);
		}
}

static void test_exec(void **state)
{
	static const char arguments[] = "env\0python3\0-c\0import secrets_of_mine\0";
	static const char code[] = "import secrets_of_mine";
	unsigned char digest[SHA256_SIZE];
	char digest_text[SHA256_TEXT_SIZE];
	struct fixture_event e;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	assert_int_equal(sha256_of(code, sizeof(code) - 1, digest), 0);
	hex_encode(digest, sizeof(digest), digest_text);
	for (int full = 0; full <= 1; full++) {
		_cleanup_(json_decrefp) json_t *record = NULL;
		_cleanup_(freep) char *line = NULL;
		const json_t *entry;

		f.policy.arguments = full ? POLICY_ARGUMENTS_FULL : POLICY_ARGUMENTS_DIGEST;
		fixture_exec(&f, 7, 1, "env", "/usr/bin/env", BYTES(arguments), 0, &e);
		record = of_event(&f, &e);
		assert_text(record, "process.executable", "/usr/bin/env");
		assert_number(record, "process.args_count", 4);
		assert_number(record, "cordon.arguments.length", sizeof(arguments) - 1);
		assert_true(json_is_false(view_field(record, "cordon.arguments.truncated")));
		entry = json_array_get(view_field(record, "cordon.arguments.code"), 0);
		assert_number(entry, "index", 3);
		assert_number(entry, "length", sizeof(code) - 1);
		assert_text(entry, "sha256", digest_text);
		assert_int_equal(json_array_size(view_field(record, "process.args")), full ? 4 : 0);
		line = json_dumps(record, 0);
		assert_null(strstr(line, "secrets_of_mine"));
	}
}

/* argv[0] says nothing of what runs: the program's path does, too. */
static void test_exec_with_a_false_name(void **state)
{
	_cleanup_(json_decrefp) json_t *record = NULL;
	_cleanup_(freep) char *line = NULL;
	struct fixture_event e;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	f.policy.arguments = POLICY_ARGUMENTS_FULL;
	fixture_exec(&f, 7, 1, "cat", "/usr/bin/dash", BYTES("cat\0-c\0hidden_code\0"), 0, &e);
	record = of_event(&f, &e);
	line = json_dumps(record, 0);
	assert_null(strstr(line, "hidden_code"));
	assert_text(record, "process.executable", "/usr/bin/dash");
}

static void test_exec_truncated(void **state)
{
	_cleanup_(json_decrefp) json_t *record = NULL;
	struct fixture_event e;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	fixture_exec(&f, 7, 1, "cp", "/usr/bin/cp", BYTES("cp\0long-na"), 5000, &e);
	record = of_event(&f, &e);
	assert_true(json_is_true(view_field(record, "cordon.arguments.truncated")));
	assert_number(record, "cordon.arguments.length", 5000);
	assert_number(record, "process.args_count", 2);
}

static void test_exec_without_arguments(void **state)
{
	struct fixture_event e;
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	fixture_exec(&f, 7, 1, "x", "/bin/x", "", 0, 0, &e);
	record = of_event(&f, &e);
	assert_number(record, "process.args_count", 0);
	json_decref(record);
}

static void test_exit(void **state)
{
	struct fixture_event e;
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	fixture_exit(&f, 7, 1, "x", 3 << 8, &e);
	record = of_event(&f, &e);
	assert_text(record, "event.outcome", "failure");
	assert_number(record, "process.exit_code", 3);
	assert_number(record, "cordon.cpu.user_ns", 1500000);
	json_decref(record);
	fixture_exit(&f, 7, 1, "x", SIGSEGV | 0x80, &e);
	record = of_event(&f, &e);
	assert_text(record, "process.signal", "SIGSEGV");
	json_decref(record);
}

static void test_allowed_accesses(void **state)
{
	static const unsigned char net[] = {4, 6, 203, 0, 113, 7, 1, 0xbb};
	struct fixture_event e;
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	fixture_access(&f, CORDON_EVENT_OPEN, 7, 1, "x", CORDON_OP_OPEN, 1, CORDON_OBJECT_PATH,
		       BYTES("/usr/lib/python3/os.py"), &e);
	record = of_event(&f, &e);
	assert_text(record, "event.action", "open");
	assert_text(record, "cordon.rule.text", "allow read /usr/lib/python3/**");
	json_decref(record);
	fixture_access(&f, CORDON_EVENT_CHANGE, 7, 1, "x", CORDON_OP_RMDIR,
		       CORDON_RIGHT(CORDON_DELETE), CORDON_OBJECT_PATH, BYTES("/w/d"), &e);
	record = of_event(&f, &e);
	assert_text(record, "event.action", "change");
	assert_text(record, "event.outcome", "success");
	assert_text(record, "cordon.operation", "rmdir");
	assert_text(record, "file.path", "/w/d");
	json_decref(record);
	fixture_access(&f, CORDON_EVENT_CONNECT, 7, 1, "x", CORDON_OP_CONNECT,
		       CORDON_RIGHT(CORDON_NET_CONNECT), CORDON_OBJECT_NET, net, sizeof(net), &e);
	record = of_event(&f, &e);
	assert_text(record, "event.action", "connect");
	assert_text(record, "destination.ip", "203.0.113.7");
	json_decref(record);
}

static void test_events_without_record(void **state)
{
	struct cordon_event header;
	struct fixture_event e;
	struct fixture f;
	json_t *record = NULL;

	(void)state;
	fixture_init(&f);
	header = fixture_header(&f, CORDON_EVENT_LABEL, 1, 0, "x");
	fixture_finish(&e, &header, sizeof(header), NULL, 0);
	assert_int_equal(audit_record_event(&f.execution, e.data, e.size, 0, &record), -ENODATA);
	header = fixture_header(&f, CORDON_EVENT_EMPTY, 1, 0, "x");
	fixture_finish(&e, &header, sizeof(header), NULL, 0);
	assert_int_equal(audit_record_event(&f.execution, e.data, e.size, 0, &record), -ENODATA);
	assert_null(record);
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
		cmocka_unit_test(test_attempt),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_start_shows_arguments_only_if_asked),
		cmocka_unit_test(test_start_says_who),
		cmocka_unit_test(test_start_with_the_least),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_traffic),
		cmocka_unit_test(test_traffic_of_the_others),
		cmocka_unit_test(test_denial_of_a_path),
		cmocka_unit_test(test_denial_by_a_rule),
		cmocka_unit_test(test_would_deny_an_address),
		cmocka_unit_test(test_names_that_are_no_text),
		cmocka_unit_test(test_objects_of_every_kind),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_with_a_false_name),
		cmocka_unit_test(test_exec_truncated),
		cmocka_unit_test(test_exec_without_arguments),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_allowed_accesses),
		cmocka_unit_test(test_events_without_record),
		cmocka_unit_test(test_records_of_cordon_itself),
		cmocka_unit_test(test_policy_change),
		cmocka_unit_test(test_approval),
		cmocka_unit_test(test_schema_is_strict),
	};

	return cmocka_run_group_tests(tests, load_schema, drop_schema);
}
