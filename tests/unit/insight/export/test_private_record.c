/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record without names: every text that docs/audit.schema.json leaves to others is replaced, also
 * one that it does not know; equal names stay equal, under one key only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "insight/export/private_record.h"
#include "insight/text/view.h"

static const struct private_key one = {.key = {1, 2, 3}}, other = {.key = {4}};

__attribute__((format(printf, 1, 2))) static json_t *loads(const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	json_error_t error;
	va_list args;
	json_t *value;

	va_start(args, format);
	assert_true(vasprintf(&text, format, args) >= 0);
	va_end(args);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	value = json_loads(text, 0, &error);
	if (!value)
		fail_msg("%s: %s", error.text, text);
	return value;
}

static json_t *places(void)
{
	_cleanup_(json_decrefp) json_t *start =
		loads("{'cordon':{'execution':{'workdir':'/srv/jobs/acme','directories':{"
		      "'tmp':'/tmp/cordon-1','data':'/srv/jobs/acme/in','depth':3}}}}");

	return private_places(start);
}

/* What becomes of a path. Valid until the next call. */
static const char *path(const struct private_key *key, const char *text)
{
	static char result[256];
	_cleanup_(json_decrefp) json_t *known = places();
	_cleanup_(json_decrefp) json_t *record = loads("{'file':{'path':'%s'}}", text);

	assert_non_null(known);
	assert_int_equal(private_record(key, known, record), 0);
	snprintf(result, sizeof(result), "%s", view_text(record, "file.path"));
	return result;
}

static void expect_class(const char *text, const char *class, const char *ending)
{
	const char *result = path(&one, text);
	size_t length = strlen(class);

	if (strncmp(result, class, length) != 0 || result[length] != '/' ||
	    result[length + 1] != '~' ||
	    strspn(result + length + 2, "0123456789abcdef") != PRIVATE_NAME_SIZE - 2 ||
	    strcmp(result + length + PRIVATE_NAME_SIZE, ending) != 0)
		fail_msg("%s became %s", text, result);
}

static void expect_same(const char *text, const char *expected)
{
	assert_string_equal(path(&one, text), expected);
}

static void paths_become_classes(void **state)
{
	(void)state;
	expect_class("/srv/jobs/acme/jane/report.csv", "workdir", ".csv");
	/* The narrowest place, and no more than what lies in it. */
	expect_class("/srv/jobs/acme/in/jane", "data", "");
	expect_class("/srv/jobs/acme-2/x", "srv", "");
	expect_class("/tmp/cordon-1/x.jane", "tmp", "");
	expect_class("/tmp/jane.py", "tmp", ".py");
	expect_class("/home/jane", "home", "");
	expect_class("/home/jane/.ssh/", "home", "/");
	expect_class("/root/.aws/credentials", "home", "");
	expect_class("/dev/shm/jane", "tmp", "");
	expect_class("/usr/local/bin/jane.sh", "usr", ".sh");
	expect_class("/customers/jane", "other", "");
	expect_class("/usr/binary", "usr", "");
	/* Names that lead elsewhere, as they were asked for. */
	expect_class("/proc/self/root/home/jane/x", "other", "");
	expect_same("/srv/jobs/acme", "workdir");
	expect_same("/srv/jobs/acme/", "workdir/");
	expect_same("/home", "home");
	expect_same("/", "/");
	expect_same("/usr/bin/python3", "/usr/bin/python3");
	expect_same("/proc/17/environ", "/proc/17/environ");
}

static void equal_names_stay_equal(void **state)
{
	char first[256], second[PRIVATE_NAME_SIZE], third[PRIVATE_NAME_SIZE];

	(void)state;
	snprintf(first, sizeof(first), "%s", path(&one, "/home/jane/x"));
	assert_string_equal(first, path(&one, "/home/jane/x"));
	assert_string_not_equal(first, path(&one, "/home/jane/y"));
	assert_string_not_equal(first, path(&other, "/home/jane/x"));
	assert_int_equal(private_name(&one, "jane", second), 0);
	assert_int_equal(private_name(&other, "jane", third), 0);
	assert_string_not_equal(second, third);
}

static void tenants_have_keys_of_their_own(void **state)
{
	struct private_key acme, again, evil;

	(void)state;
	assert_int_equal(private_key_of_tenant(&one, "acme", &acme), 0);
	assert_int_equal(private_key_of_tenant(&one, "acme", &again), 0);
	assert_int_equal(private_key_of_tenant(&one, "evil", &evil), 0);
	assert_memory_equal(&acme, &again, sizeof(acme));
	assert_memory_not_equal(&acme, &evil, sizeof(acme));
	assert_memory_not_equal(&acme, &one, sizeof(acme));
}

/* --- all fields that there are ------------------------------------------------------------ */

/* Texts that are free in the schema and stay: an operator's, or the kernel's and cordon's own. */
static const char *const own[] = {
	"cordon.approval.decision",
	"cordon.end.signal",
	"cordon.execution.language",
	"cordon.gap.error",
	"cordon.gap.from",
	"cordon.gap.to",
	"cordon.identity.tenant",
	"cordon.identity.version",
	"cordon.policy.file",
	"cordon.policy.name",
	"cordon.previous_policy.file",
	"cordon.previous_policy.name",
	"cordon.rule.file",
	"cordon.rule.severity",
	"cordon.rule.tags",
	"host.os.kernel",
	"network.transport",
	"process.signal",
};
static json_t *schema;
static unsigned int free_texts;

static bool is_own(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(own[i], name) == 0)
			return true;
	return false;
}

static const json_t *resolved(const json_t *node)
{
	const char *reference = json_string_value(json_object_get(node, "$ref"));

	return reference ? json_object_get(json_object_get(schema, "$defs"),
					   reference + strlen("#/$defs/"))
			 : node;
}

static bool may_be_text(const json_t *node)
{
	const json_t *type = json_object_get(node, "type"), *each;
	size_t i;

	if (json_is_string(type))
		return strcmp(json_string_value(type), "string") == 0;
	json_array_foreach(type, i, each)
		if (strcmp(json_string_value(each), "string") == 0)
			return true;
	return false;
}

/* {"a":{"b":[TEXT]}} of "a.b" */
static json_t *record_with(const char *name, const char *text, bool list)
{
	const char *dot = strrchr(name, '.');
	json_t *value = list ? json_pack("[s]", text) : json_string(text);
	char buffer[256];

	snprintf(buffer, sizeof(buffer), "%s", name);
	while (true) {
		dot = strrchr(buffer, '.');
		value = json_pack("{s:o}", dot ? dot + 1 : buffer, value);
		if (!dot)
			return value;
		buffer[dot - buffer] = '\0';
	}
}

static void check_text(const char *name, bool list)
{
	_cleanup_(json_decrefp) json_t *record = record_with(name, "Jane Doe", list);
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(private_record(&one, NULL, record), 0);
	text = json_dumps(record, JSON_COMPACT);
	if (is_own(name) != (strstr(text, "Jane") != NULL))
		fail_msg("%s: %s", name, text);
	free_texts++;
}

static void check_node(const json_t *node, const char *name, bool list);

static void check_members(const json_t *node, const char *name)
{
	const json_t *member;
	const char *key;
	char below[256];

	json_object_foreach(json_object_get(node, "properties"), key, member) {
		snprintf(below, sizeof(below), "%s%s%s", name, name[0] ? "." : "", key);
		check_node(member, below, false);
	}
}

static void check_node(const json_t *node, const char *name, bool list)
{
	const json_t *each;
	size_t i;

	node = resolved(node);
	json_array_foreach(json_object_get(node, "anyOf"), i, each)
		check_node(each, name, list);
	check_members(node, name);
	if (json_object_get(node, "items"))
		check_node(json_object_get(node, "items"), name, true);
	if (may_be_text(node) && !json_object_get(node, "enum") &&
	    !json_object_get(node, "pattern"))
		check_text(name, list);
}

static void all_that_others_choose(void **state)
{
	(void)state;
	schema = json_load_file("docs/audit.schema.json", 0, NULL);
	assert_non_null(schema);
	check_node(schema, "", false);
	assert_in_range(free_texts, 40, 200);
	/* What the schema leaves open, and what it does not know. */
	check_text("cordon.agent.program", false);
	check_text("cordon.identity.labels.owner", false);
	check_text("cordon.of.another.day", true);
	json_decref(schema);
}

static void enums_and_digests_stay(void **state)
{
	static const char text[] =
		"{'seq':7,'@timestamp':'2026-11-21T00:00:00.000000001Z','event':{'action':'denial'},"
		"'user':{'id':'1000'},'process':{'name':'python3','executable':'/usr/bin/python3.11',"
		"'pid':7},'source':{'ip':'127.0.0.1'},'cordon':{'operation':'open','rights':['read'],"
		"'reason':'default','arguments':{'sha256':'ab'},'execution':{'id':'01'}}}";
	_cleanup_(json_decrefp) json_t *record = loads(text), *expected = loads(text);

	(void)state;
	assert_int_equal(private_record(&one, NULL, record), 0);
	assert_true(json_equal(record, expected));
}

/* Not what stands beside a text, nor what guesses could be confirmed by. */
static void nothing_tells_by_another_way(void **state)
{
	_cleanup_(json_decrefp) json_t *record = loads(
		"{'seq':7,'chain':'00','file':{'path':'/home/jane','path_base64':'L2hvbWU='},'process':{"
		"'name':'jane','executable':'/home/jane/jane','args':['--name','Jane']},'cordon':{"
		"'gap':{'previous':{'chain':'00','seq':6}},'suggestion':{'rule':'allow read /home/jane'}}}");
	_cleanup_(freep) char *text = NULL;

	(void)state;
	assert_int_equal(private_record(&one, NULL, record), 0);
	text = json_dumps(record, JSON_COMPACT);
	assert_null(strcasestr(text, "jane"));
	assert_null(strstr(text, "--name"));
	assert_null(strstr(text, "chain"));
	assert_null(strstr(text, "base64"));
	assert_int_equal(view_number(record, "cordon.gap.previous.seq"), 6);
}

/* --- keys --------------------------------------------------------------------------------- */

static int read_key(const char *text, mode_t mode, struct private_key *ret_key, char *said)
{
	char file[] = "/tmp/cordon-key-XXXXXX";
	struct failure failure = {};
	int fd = mkstemp(file), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	closep(&fd);
	r = private_key_read(file, ret_key, &failure);
	unlink(file);
	strcpy(said, failure.text);
	return r;
}

static void keys_are_files(void **state)
{
	static const char digits[] =
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
	struct private_key key;
	struct failure failure = {};
	char said[sizeof(failure.text)];

	(void)state;
	assert_int_equal(read_key(digits, 0640, &key, said), 0);
	assert_int_equal(key.key[31], 0x1f);
	assert_int_equal(read_key(digits, 0644, &key, said), -EPERM);
	assert_non_null(strstr(said, "create another key"));
	assert_int_equal(read_key(digits + 2, 0600, &key, said), -EINVAL);
	assert_non_null(strstr(said, "openssl rand -hex 32"));
	assert_int_equal(read_key("", 0600, &key, said), -EINVAL);
	assert_int_equal(private_key_read("/nonexistent/key", &key, &failure), -ENOENT);
	assert_int_equal(private_key_read("/tmp", &key, &failure), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_become_classes),
		cmocka_unit_test(equal_names_stay_equal),
		cmocka_unit_test(tenants_have_keys_of_their_own),
		cmocka_unit_test(all_that_others_choose),
		cmocka_unit_test(enums_and_digests_stay),
		cmocka_unit_test(nothing_tells_by_another_way),
		cmocka_unit_test(keys_are_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
