// SPDX-License-Identifier: Apache-2.0
/* Which records a query wants: the fast look at a line says what the parsed record says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "audit/search/postings.h"
#include "audit/search/query.h"
#include "audit/search/skim.h"
#include "base/cleanup.h"

static const json_t *field_of(const json_t *record, const char *name)
{
	while (record) {
		size_t length = strcspn(name, ".");

		record = json_object_getn(record, name, length);
		if (!name[length])
			break;
		name += length + 1;
	}
	return record;
}

/* Skimming must find the very strings that parsing finds. */
static void assert_skimmed(const char *line)
{
	json_t *record = json_loads(line, 0, NULL);
	struct skim skim;

	assert_non_null(record);
	assert_int_equal(skim_record(line, strlen(line), &skim), 0);
	for (unsigned int i = 0; i < SKIM_FIELD_COUNT; i++) {
		const json_t *value = field_of(record, skim_field_name(i));
		char buffer[4096];
		const char *text;
		size_t size;

		if (!json_is_string(value)) {
			assert_null(skim.values[i].data);
			continue;
		}
		if (!skim.values[i].data)
			fail_msg("%s was not found in %s", skim_field_name(i), line);
		assert_int_equal(skim_decode(&skim.values[i], buffer, sizeof(buffer), &text, &size),
				 0);
		assert_int_equal(size, json_string_length(value));
		assert_memory_equal(text, json_string_value(value), size);
	}
	json_decref(record);
}

static void test_skim_agrees_with_the_parser(void **state)
{
	static const char *const lines[] = {
		"{}",
		"{\"seq\":1}",
		"{\"@timestamp\":\"2026\",\"event\":{\"action\":\"denial\",\"kind\":\"alert\"}}",
		/* names that look like others, at other depths and in other objects */
		"{\"action\":\"x\",\"event\":{\"event\":{\"action\":\"y\"},\"action\":\"z\"}}",
		("{\"cordon\":{\"execution\":{\"id\":\"1\",\"session\":null,\"agent\":\"a\"},"
		 "\"policy\":{\"name\":\"n\",\"digest\":\"d\",\"id\":\"no\"},\"operation\":\"open\"}}"),
		"{\"cordon\":{\"object\":{\"id\":\"no\",\"execution\":{\"id\":\"no\"}}}}",
		"{\"file\":{\"path\":\"/a \\\" b \\\\\"},\"process\":{\"executable\":\"\\u00e9\\u202e\"}}",
		"{\"file\":{\"path\":\"{\\\"file\\\":{\\\"path\\\":\\\"fake\\\"}}\"}}",
		"{\"x\":[{\"file\":{\"path\":\"no\"}},[\"]\",\"}\"]],\"file\":{\"path\":\"yes\"}}",
		"{\"file\":\"no object\",\"event\":[\"action\"],\"destination\":{\"ip\":\"::1\",\"port\":1}}",
		"{\"destination\":{\"port\":-1.5e3,\"ip\":\"192.0.2.1\",\"x\":true}}",
		" { \"file\" : { \"path\" : \"spaced\" } , \"cordon\" : { } } ",
		"{\"file\":{\"path\":\"\"},\"\":{\"\":\"\"}}",
		"{\"event\":{\"action\":5},\"process\":{\"executable\":null}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_skimmed(lines[i]);
}

static void test_skim_refuses_what_is_no_object(void **state)
{
	static const char *const lines[] = {
		"",	      "[]",	  "{",	       "{\"a",	      "{\"a\"",	     "{\"a\":",
		"{\"a\":\"b", "{\"a\":{", "{\"a\":[1", "{\"file\":{", "{\"a\":\"\\", "nonsense",
		"{a:\"b\"}",
	};
	struct skim skim;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(skim_record(lines[i], strlen(lines[i]), &skim), -EBADMSG);
}

static void test_glob(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		{"/etc/shadow", "/etc/shadow", true},
		{"/etc/shadow", "/etc/shadow-", false},
		{"/etc/*", "/etc/passwd", true},
		{"/etc/*", "/etc/ssh/config", false},
		{"/etc/**", "/etc/ssh/config", true},
		{"/etc/**", "/etcetera", false},
		{"**/.env", "/srv/a/.env", true},
		{"/srv/**/x/*.py", "/srv/a/b/x/y.py", true},
		{"/srv/**/x/*.py", "/srv/a/b/x/y/z.py", false},
		{"id_rsa", "/root/.ssh/id_rsa", true},
		{"id_*", "/root/.ssh/id_rsa", true},
		{"id_*", "/root/id_rsa/x", false},
		{"/tmp/?", "/tmp/a", true},
		{"/tmp/?", "/tmp/", false},
		{"/tmp?a", "/tmp/a", false},
		{"/x[a-c]", "/xb", true},
		{"/x[!a-c]", "/xb", false},
		{"/x[!a-c]", "/xz", true},
		{"/x[]]", "/x]", true},
		{"/x[^/]y", "/x/y", false},
		{"/{a,b{", "/a", false},
		{"/[x{],a}", "/x", false},
		{"/etc/{shadow,gshadow}", "/etc/gshadow", true},
		{"/etc/{shadow,gshadow}", "/etc/passwd", false},
		{"/{a,b}/{c,d}*", "/b/dx", true},
		{"/a\\*b", "/a*b", true},
		{"/a\\*b", "/axb", false},
		{"*", "/anything", true},
		{"/**", "/a/b/c", true},
		{"/a*b*c*d*e", "/axbxcxdx", false},
		{"", "", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(audit_glob_freep) struct audit_glob *glob = NULL;

		if (audit_glob_new(cases[i].pattern, &glob) < 0) {
			assert_false(cases[i].matches);
			continue;
		}
		if (audit_glob_matches(glob, cases[i].name, strlen(cases[i].name)) !=
		    cases[i].matches)
			fail_msg("%s and %s", cases[i].pattern, cases[i].name);
		if (cases[i].matches)
			assert_memory_equal(cases[i].name, audit_glob_prefix(glob),
					    strlen(audit_glob_prefix(glob)));
	}
}

/* Alternatives multiply, and stars could make a matcher that goes back and forth take for ever. */
static void test_glob_stays_small(void **state)
{
	_cleanup_(audit_glob_freep) struct audit_glob *glob = NULL;
	char name[4096];

	(void)state;
	assert_int_equal(audit_glob_new("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", &glob),
			 -E2BIG);
	assert_int_equal(audit_glob_new("/x[a", &glob), -EINVAL);
	assert_int_equal(audit_glob_new("/x{a", &glob), -EINVAL);
	assert_int_equal(audit_glob_new("**a**a**a**a**a**a**a**a**a**a**b", &glob), 0);
	memset(name, 'a', sizeof(name));
	assert_false(audit_glob_matches(glob, name, sizeof(name)));
}

static void test_network(void **state)
{
	static const struct {
		const char *network, *address;
		bool contains;
	} cases[] = {
		{"203.0.113.7", "203.0.113.7", true},
		{"203.0.113.7", "203.0.113.8", false},
		{"203.0.113.0/24", "203.0.113.9", true},
		{"203.0.113.0/24", "203.0.114.9", false},
		{"203.0.113.8/31", "203.0.113.9", true},
		{"203.0.113.8/31", "203.0.113.10", false},
		{"0.0.0.0/0", "8.8.8.8", true},
		{"0.0.0.0/0", "::1", false},
		{"2001:db8::/33", "2001:db8:7fff::1", true},
		{"2001:db8::/33", "2001:db8:8000::1", false},
		{"[2001:db8::1]:53", "2001:db8::1", true},
		{"203.0.113.7:443", "203.0.113.7", true},
		{"::1", "not an address", false},
	};
	static const char *const wrong[] = {"",		  "x",	    "1.2.3",	 "1.2.3.4/33",
					    "1.2.3.4:",	  "[::1",   "::1/129",	 "1.2.3.4:70000",
					    "1.2.3.4:1x", "[::1]x", "1.2.3.4/-1"};
	struct audit_network network;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(audit_network_parse(cases[i].network, &network), 0);
		assert_int_equal(audit_network_contains(&network, cases[i].address,
							strlen(cases[i].address)),
				 cases[i].contains);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(audit_network_parse(wrong[i], &network), -EINVAL);
	assert_int_equal(audit_network_parse("[2001:db8::1]:53", &network), 0);
	assert_int_equal(network.port, 53);
}

static const char denial[] =
	"{\"seq\":7,\"@timestamp\":\"2026-11-22T03:11:02.432641924Z\",\"event\":{\"action\":\"denial\"},"
	"\"file\":{\"path\":\"/root/.ssh/id_rsa\"},\"destination\":{\"ip\":\"203.0.113.7\",\"port\":443},"
	"\"process\":{\"args\":[\"curl\",\"p\\u00e4ss\"]},\"cordon\":{\"execution\":{\"id\":"
	"\"01a2013c-58d6\",\"session\":\"s\",\"agent\":\"a\"},\"policy\":{\"name\":\"deadbeef\","
	"\"digest\":\"b471e8faf4ea\"},\"operation\":\"open\"},\"chain\":\"x\"}";

static bool asks(const struct audit_query *query)
{
	json_t *record = json_loads(denial, 0, NULL);
	bool matches = audit_query_matches(query, record);
	enum query_answer answer = audit_query_ask_line(query, denial, strlen(denial));

	if (answer != QUERY_MAYBE)
		assert_int_equal(answer, matches ? QUERY_YES : QUERY_NO);
	json_decref(record);
	return matches;
}

static void test_query(void **state)
{
	_cleanup_(audit_glob_freep) struct audit_glob *ssh = NULL, *etc = NULL;
	struct audit_network with_port, other_port;

	(void)state;
	assert_int_equal(audit_glob_new("**/.ssh/**", &ssh), 0);
	assert_int_equal(audit_glob_new("/etc/**", &etc), 0);
	assert_int_equal(audit_network_parse("203.0.113.0/24:443", &with_port), 0);
	assert_int_equal(audit_network_parse("203.0.113.0/24:80", &other_port), 0);
#define YES(...) assert_true(asks(&(struct audit_query){__VA_ARGS__}))
#define NO(...)	 assert_false(asks(&(struct audit_query){__VA_ARGS__}))
	YES(.execution = NULL);
	YES(.execution = "01a2013c");
	NO(.execution = "01a2013c-58d6-7");
	/* Its end, and the beginning of its last group. */
	YES(.execution = "58d6");
	NO(.execution = "58d7");
	YES(.session = "s", .agent = "a", .operation = "open", .action = "denial");
	NO(.session = "S");
	NO(.agent = "");
	YES(.policy = "deadbeef");
	YES(.policy = "b471e8fa");
	NO(.policy = "b471");
	YES(.verdict = AUDIT_VERDICT_DENIED);
	NO(.verdict = AUDIT_VERDICT_ALLOWED);
	NO(.verdict = AUDIT_VERDICT_WOULD_DENY);
	YES(.path = ssh);
	NO(.path = etc);
	YES(.address = &with_port);
	NO(.address = &other_port);
	YES(.text = "id_rsa");
	YES(.text = "p\xc3\xa4ss");
	NO(.text = "p\xc3\xb6ss");
	NO(.text = "destination");
	YES(.since = "2026-11-22T03:11:02.432641924Z", .until = "2026-11-22T03:11:02.432641924Z");
	NO(.since = "2026-11-22T03:11:02.432641925Z");
	NO(.until = "2026-11-22T03:11:02.432641923Z");
}

/* Without parsing it: what the few fields say is known, what they leave out is not. */
static void test_line(void **state)
{
	struct audit_network address, with_port;
	size_t size = strlen(denial);

	(void)state;
	assert_int_equal(audit_network_parse("203.0.113.0/24", &address), 0);
	assert_int_equal(audit_network_parse("203.0.113.0/24:443", &with_port), 0);
#define LINE(...) audit_query_ask_line(&(struct audit_query){__VA_ARGS__}, denial, size)
	assert_int_equal(LINE(.session = "s", .action = "denial", .address = &address), QUERY_YES);
	assert_int_equal(LINE(.session = "t"), QUERY_NO);
	assert_int_equal(LINE(.address = &with_port), QUERY_MAYBE);
	assert_int_equal(LINE(.text = "id_rsa"), QUERY_MAYBE);
	assert_int_equal(LINE(.text = "id_dsa"), QUERY_NO);
	assert_int_equal(LINE(.sequence = 7), QUERY_MAYBE);
	assert_int_equal(audit_query_ask_line(&(struct audit_query){}, "[]", 2), QUERY_NO);
}

static int collect(void *data, const struct posting *posting)
{
	const unsigned char *at = posting->places, *end = at + posting->places_size;
	uint32_t place = 0;
	FILE *out = data;

	fprintf(out, "%d %.*s:", posting->field, (int)posting->size, posting->value);
	while (postings_next(&at, end, &place))
		fprintf(out, " %u", place);
	fputc('\n', out);
	return at == end ? 0 : -EBADMSG;
}

static void test_postings(void **state)
{
	_cleanup_(postings_freep) struct postings *p = postings_new();
	_cleanup_(freep) char *text = NULL;
	const unsigned char endless[] = {0xff, 0xff}, *at = endless;
	uint32_t place = 0;
	size_t size;
	FILE *out;

	(void)state;
	assert_non_null(p);
	for (unsigned int round = 0; round < 2; round++) {
		postings_clear(p);
		assert_int_equal(postings_add(p, SKIM_PATH, "b", 1, 0), 0);
		assert_int_equal(postings_add(p, SKIM_PATH, "a", 1, 127), 0);
		assert_int_equal(postings_add(p, SKIM_PATH, "b", 1, 128), 0);
		assert_int_equal(postings_add(p, SKIM_ACTION, "b", 1, 300), 0);
		assert_int_equal(postings_add(p, SKIM_PATH, "b", 1, 0x7fffffff), 0);
		assert_int_equal(postings_add(p, SKIM_PATH, "ba", 2, 0xffffffff), 0);
	}
	out = open_memstream(&text, &size);
	assert_int_equal(postings_each(p, collect, out), 0);
	fclose(out);
	assert_string_equal(text, "1 b: 300\n8 a: 127\n8 b: 0 128 2147483647\n8 ba: 4294967295\n");
	assert_false(postings_next(&at, endless + sizeof(endless), &place));
}

/* More values than fit into the first tables. */
static void test_postings_grow(void **state)
{
	_cleanup_(postings_freep) struct postings *p = postings_new();
	_cleanup_(freep) char *text = NULL;
	size_t size, lines = 0;
	char value[16];
	FILE *out;

	(void)state;
	for (uint32_t i = 0; i < 60000; i++) {
		snprintf(value, sizeof(value), "v%u", i % 20000);
		assert_int_equal(postings_add(p, SKIM_PATH, value, strlen(value), i), 0);
	}
	out = open_memstream(&text, &size);
	assert_int_equal(postings_each(p, collect, out), 0);
	fclose(out);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 20000);
	assert_non_null(strstr(text, "\n8 v19999: 19999 39999 59999\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_skim_agrees_with_the_parser),
		cmocka_unit_test(test_skim_refuses_what_is_no_object),
		cmocka_unit_test(test_glob),
		cmocka_unit_test(test_glob_stays_small),
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_postings),
		cmocka_unit_test(test_postings_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
