/* SPDX-License-Identifier: Apache-2.0 */
/* Host names in network rules: how they are read, what they match, how they are shown. */
#include <netinet/in.h>
#include <string.h>

#include "policy/ask/diff.h"
#include "policy/ask/host_judge.h"
#include "policy/source/host_name.h"
#include "policy/ask/question.h"
#include "tests/unit/policy/support.h"

static void test_reading(void **state)
{
	static const char *const good[] = {"example.org", "a",		"xn--bcher-kva.example",
					   "_x.y",	  "a-b.c1.d_e", "1e100.net"};
	static const char *const patterns[] = {
		"*.example.org", "**.example.org", "api-*.example.org", "**", "a.*.b", "*a*.b"};
	static const char *const bad[] = {"",	    ".",     "a..b",	      "-a.b", "a-.b",
					  ".a",	    "a b",   "b\303\274cher", "a/b",  "a.b..",
					  "a***.b", "x**.b", "a,b",	      "a:b"};
	char name[HOST_NAME_SIZE], long_name[300], turned[HOST_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(host_name_read(good[i], false, name), 0);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		assert_int_equal(host_name_read(patterns[i], true, name), 0);
		assert_int_equal(host_name_read(patterns[i], false, name), -EINVAL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (host_name_read(bad[i], true, name) != -EINVAL)
			fail_msg("\"%s\" passes for a name", bad[i]);
	assert_int_equal(host_name_read("WWW.Example.ORG.", false, name), 0);
	assert_string_equal(name, "www.example.org");
	host_name_reverse(name, turned);
	assert_string_equal(turned, "org/example/www");
	host_name_restore(turned, strlen(turned), name);
	assert_string_equal(name, "www.example.org");
	host_name_reverse("a", turned);
	assert_string_equal(turned, "a");
	memset(long_name, 'a', sizeof(long_name));
	for (size_t i = 63; i < 253; i += 64)
		long_name[i] = '.';
	long_name[253] = '\0';
	assert_int_equal(host_name_read(long_name, false, name), 0);
	host_name_reverse(name, turned);
	host_name_restore(turned, strlen(turned), name);
	assert_string_equal(name, long_name);
	long_name[253] = 'a';
	long_name[254] = '\0';
	assert_int_equal(host_name_read(long_name, false, name), -EINVAL);
	long_name[63] = 'a';
	long_name[100] = '\0';
	assert_int_equal(host_name_read(long_name, false, name), -EINVAL);
}

static int may(const struct compiled_policy *p, const char *right, const char *object)
{
	static const char *const unbound[CORDON_MAX_ANCHORS];
	char error[QUESTION_ERROR_TEXT];
	struct policy_question q;
	struct policy_answer answer;
	int allowed;

	if (question_read(p, right, object, unbound, &q, error) < 0)
		fail_msg("%s: %s", object, error);
	assert_int_equal(question_judge(p, &q, &answer), 0);
	allowed = answer.missing == 0;
	question_release(&q);
	return allowed;
}

static int may_connect(const struct compiled_policy *p, const char *object)
{
	return may(p, "connect", object);
}

static void test_matching(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(
		"version: 1\nnetwork:\n"
		"  - {allow: [connect], to: [pypi.example.org, '*.files.example.org'], ports: [443]}\n"
		"  - {allow: [connect], to: ['**.example.com', 203.0.113.1], ports: [80-90], "
		"protocols: [tcp, udp]}\n"
		"  - {deny: [connect], to: ['*.bad.example.com']}\n"
		"  - {allow: [connect], to: ['api-*.example.net']}\n");
	static const char *const good[] = {
		"tcp:pypi.example.org:443",    "tcp:PyPI.Example.Org.:443",
		"tcp:a.files.example.org:443", "udp:a.b.c.example.com:85",
		"tcp:bad.example.com:80",      "tcp:203.0.113.1:80",
		"tcp:api-1.example.net:1",     "tcp:api-_.x.example.com:80",
		"udp:x.bad.example.com:80",
	};
	static const char *const bad[] = {
		"tcp:pypi.example.org:80",   "udp:pypi.example.org:443",
		"tcp:xpypi.example.org:443", "tcp:x.pypi.example.org:443",
		"tcp:files.example.org:443", "tcp:a.b.files.example.org:443",
		"tcp:example.com:80",	     "tcp:x.bad.example.com:80",
		"tcp:example.org:443",	     "tcp:pypi.example.org.evil.net:443",
		"tcp:a.example.com:91",	     "tcp:api-1.x.example.net:1",
		"tcp:203.0.113.2:80",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (!may_connect(p, good[i]))
			fail_msg("%s is not allowed", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (may_connect(p, bad[i]))
			fail_msg("%s is allowed", bad[i]);
	assert_true(((const struct cordon_policy_header *)p->tables)->flags & CORDON_POLICY_HOSTS);
}

/* A rule with names alone leads to no address. */
static void test_no_addresses(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p =
		compile_good("version: 1\nnetwork:\n  - {allow: [connect], to: ['**']}\n"
			     "  - {deny: [connect], to: [a.b]}\n");
	_cleanup_(compiled_policy_freep) struct compiled_policy *denied =
		compile_good("version: 1\nnetwork:\n  - {deny: [connect], to: [a.b]}\n");

	(void)state;
	assert_true(may_connect(p, "tcp:x.y:1"));
	assert_false(may_connect(p, "tcp:a.b:1"));
	assert_false(may_connect(p, "tcp:8.8.8.8:1"));
	assert_false(((const struct cordon_policy_header *)denied->tables)->flags &
		     CORDON_POLICY_HOSTS);
}

/* Resolvers of musl bind to the wildcard address and port 0, and to nothing else. */
static void test_resolver_bind(void **state)
{
	static const char *const bad[] = {"udp:0.0.0.0:53", "udp:127.0.0.1:0", "udp:[::1]:0",
					  "tcp:0.0.0.0:0",  "udp:0.0.0.1:0",   "udp:192.0.2.1:0"};
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(
		"version: 1\nnetwork:\n  - {allow: [connect], to: [a.b], ports: [443]}\n");
	_cleanup_(compiled_policy_freep) struct compiled_policy *no_names = compile_good(
		"version: 1\nnetwork:\n  - {allow: [connect], to: [192.0.2.1], protocols: [udp]}\n");
	_cleanup_(compiled_policy_freep) struct compiled_policy *denied = compile_good(
		"version: 1\nnetwork:\n  - {allow: [connect], to: [a.b], ports: [443]}\n"
		"  - {deny: [bind], to: any, protocols: [udp]}\n");

	(void)state;
	assert_true(may(p, "bind", "udp:0.0.0.0:0"));
	assert_true(may(p, "bind", "udp:[::]:0"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(may(p, "bind", bad[i]));
	assert_false(may(p, "listen", "udp:0.0.0.0:0"));
	assert_false(may(no_names, "bind", "udp:0.0.0.0:0"));
	assert_false(may(denied, "bind", "udp:0.0.0.0:0"));
}

static const struct policy_difference *
connect_of(const struct policy_difference differences[POLICY_DIFFERENCES])
{
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++)
		if (strcmp(differences[i].section, "network") == 0 &&
		    strcmp(differences[i].right, "connect") == 0)
			return &differences[i];
	fail_msg("no row for connect");
	return NULL;
}

static void test_difference(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = compile_good(
		"version: 1\nnetwork:\n  - {allow: [connect], to: ['*.b.c'], ports: [443]}\n");
	_cleanup_(compiled_policy_freep) struct compiled_policy *b = compile_good(
		"version: 1\nnetwork:\n  - {allow: [connect], to: ['**.b.c'], ports: [443]}\n");
	struct policy_difference differences[POLICY_DIFFERENCES];
	const struct policy_difference *row;

	(void)state;
	assert_int_equal(policy_diff(a, b, differences), 0);
	row = connect_of(differences);
	assert_non_null(row->wider.object);
	assert_non_null(strstr(row->wider.object, ".b.c:443"));
	assert_null(row->narrower.object);
	policy_diff_release(differences);
}

/* Is the name to be looked up? By the rule that says no, or -1: by none. */
static void check_lookup(const struct compiled_policy *p, const char *name, bool allowed, int rule)
{
	struct policy_answer answer;

	assert_int_equal(host_judge(p, name, &answer), 0);
	if ((answer.missing == 0) != allowed)
		fail_msg("%s is%s to be looked up", name, allowed ? "" : " not");
	if (!allowed && rule < 0)
		assert_int_equal(answer.verdict.deny & answer.missing, 0);
	else if (!allowed)
		assert_int_equal(answer.rule[CORDON_NET_CONNECT], rule);
}

/* A name may be looked up if it may be connected to at some port by some protocol. */
static void test_lookup(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(
		"version: 1\nnetwork:\n"
		"  - {allow: [connect], to: ['*.a.test'], ports: [443, 65535]}\n"
		"  - {allow: [connect], to: [udp.test], ports: [0-1], protocols: [udp]}\n"
		"  - {allow: [connect], to: [ping.test], protocols: [icmp]}\n"
		"  - {deny: [connect], to: [none.a.test]}\n"
		"  - {deny: [connect], to: [some.a.test], ports: [443]}\n"
		"  - {deny: [connect], to: [both.a.test], ports: [443, 65535]}\n"
		"  - {deny: [connect], to: [odd.test], ports: [4242]}\n");
	char long_name[HOST_NAME_SIZE];

	(void)state;
	check_lookup(p, "x.a.test", true, 0);
	check_lookup(p, "some.a.test", true, 0);
	check_lookup(p, "udp.test", true, 0);
	check_lookup(p, "ping.test", true, 0);
	check_lookup(p, "none.a.test", false, 3);
	check_lookup(p, "both.a.test", false, 5);
	check_lookup(p, "odd.test", false, 6);
	check_lookup(p, "a.test", false, -1);
	check_lookup(p, "x.x.a.test", false, -1);
	check_lookup(p, "test", false, -1);
	/* Longer than the kernel keeps. */
	memset(long_name, 'x', sizeof(long_name));
	for (size_t i = 60; i < 251; i += 61)
		long_name[i] = '.';
	memcpy(long_name + 251 - strlen(".a.test"), ".a.test", sizeof(".a.test"));
	check_lookup(p, long_name, false, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),	     cmocka_unit_test(test_matching),
		cmocka_unit_test(test_no_addresses), cmocka_unit_test(test_difference),
		cmocka_unit_test(test_lookup),	     cmocka_unit_test(test_resolver_bind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
