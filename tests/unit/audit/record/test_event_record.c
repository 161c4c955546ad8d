/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what the kernel tells of: denials, attempts, programs, ends and accesses. */
#include "base/clock.h"
#include "tests/unit/audit/record/example_execution.h"

#define BYTES(s) s, sizeof(s) - 1

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

/* The wall clock was set since the execution started: by how much is in the record. */
static void test_clock_step(void **state)
{
	const uint64_t hour = 3600 * NSEC_PER_SEC, slewed = 50 * NSEC_PER_MSEC;
	const struct {
		uint64_t offset;
		int64_t step;
	} cases[] = {
		{FIXTURE_BOOT_OFFSET - 2 * hour, 2 * (int64_t)hour},
		{FIXTURE_BOOT_OFFSET + 2 * hour, -2 * (int64_t)hour},
		{FIXTURE_BOOT_OFFSET - slewed, 0},
		{FIXTURE_BOOT_OFFSET, 0},
		{0, 0},
	};
	struct fixture_denial denial = {.pid = 1200,
					.comm = "python3",
					.operation = CORDON_OP_OPEN,
					.kind = CORDON_OBJECT_PATH,
					.object = "/etc/shadow",
					.object_size = 11};
	struct fixture f;

	(void)state;
	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(json_decrefp) json_t *record = NULL;
		const json_t *step;

		f.execution.clock_offset = cases[i].offset;
		record = of_denial(&f, &denial);
		assert_text(record, "@timestamp", "2025-11-21T00:00:00.000000000Z");
		step = json_object_get(json_object_get(record, "cordon"), "clock_step_ns");
		assert_int_equal(step != NULL, cases[i].step != 0);
		assert_true(json_integer_value(step) == cases[i].step);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attempt),
		cmocka_unit_test(test_denial_of_a_path),
		cmocka_unit_test(test_clock_step),
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
	};

	return cmocka_run_group_tests(tests, load_schema, drop_schema);
}
