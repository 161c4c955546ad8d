/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions as people spell them, and explanations: the verdict, the deciding rule and which others
 * match, against a reference, for every name of up to LENGTH_MAX bytes over a small alphabet and
 * every way to bind two variables.
 */
#include "policy/ask/match.h"
#include "policy/ask/question.h"
#include "tests/unit/policy/draw.h"
#include "tests/unit/policy/support.h"

static const char policy_text[] =
	"version: 1\n"
	"variables: [data]\n"
	"files:\n"
	"  - {allow: [read, write], paths: ['${workdir}/**', '/srv/*']}\n"
	"  - {deny: [write], paths: ['${data}/x', '**/.env']}\n"
	"exec:\n"
	"  - {allow: [map], paths: ['@memfd', /lib/x]}\n"
	"unix:\n"
	"  - {allow: [connect], paths: [/s], abstract: ['a*']}\n"
	"network:\n"
	"  - {allow: [connect, listen], to: [10.0.0.0/8, '2001:db8::/32'], ports: [53], protocols: [tcp, udp]}\n"
	"  - {allow: [connect], to: any, protocols: [icmp]}\n"
	"  - {allow: [socket], families: [netlink], types: [raw], protocols: [route]}\n";

static const char *const bound[CORDON_MAX_ANCHORS] = {
	[CORDON_ANCHOR_WORKDIR] = "/home/w", [CORDON_ANCHOR_USER] = "/home/w/d/"};

/* -1: the question is refused. */
static int is_granted(const struct compiled_policy *p, const char *right, const char *object,
		      char *error)
{
	_cleanup_(question_release) struct policy_question q = {0};
	struct policy_answer a;

	if (question_read(p, right, object, bound, &q, error) < 0)
		return -1;
	assert_int_equal(question_judge(p, &q, &a), 0);
	return a.missing == 0;
}

/* Below a directory that compares names without case, each spelling counts, deny over allow. */
static void test_case_insensitive(void **state)
{
	static const char text[] = "version: 1\n"
				   "files:\n"
				   "  - {allow: [read], paths: [\"${workdir}/**\", /srv/Plain]}\n"
				   "  - {deny: [read], paths: [\"**/.netrc\", \"**/.SSH/**\"]}\n";
	static const struct {
		const char *object;
		int insensitive, exact;
	} cases[] = {
		{"${workdir}/.Netrc", 0, 1}, {"${workdir}/.netrc", 0, 0},
		{"${workdir}/.netrd", 1, 1}, {"${workdir}/.ssh/id", 0, 1},
		{"/srv/pLAIN", 1, 0},	     {"/srv/plainer", 0, 0},
		{"${workdir}/.ne[rc", 1, 1},
	};
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile_good(text);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(question_release) struct policy_question q = {0};
		char error[QUESTION_ERROR_TEXT];
		struct policy_answer a;

		assert_int_equal(question_read(policy, "read", cases[i].object, bound, &q, error),
				 0);
		assert_int_equal(question_judge(policy, &q, &a), 0);
		assert_int_equal(a.missing == 0, cases[i].exact);
		q.path.case_insensitive = true;
		assert_int_equal(question_judge(policy, &q, &a), 0);
		assert_int_equal(a.missing == 0, cases[i].insensitive);
	}
}

/*
 * A link gives names to what is below its target: where rules tell those from names beside them, it
 * is refused.
 */
static void test_links(void **state)
{
	static const char text[] =
		"version: 1\n"
		"files:\n"
		"  - {allow: [write, create], paths: [\"${workdir}/a/**\", \"${workdir}/flat/*\"]}\n"
		"  - {allow: [create], paths: [\"${workdir}/flat/fixed/y\", \"${workdir}/all/**\"]}\n"
		"  - {allow: [write], paths: [\"${workdir}/all/**\"]}\n"
		"  - {deny: [create], paths: [\"${workdir}/a/*/hooks/x\", \"**/.ssh\", \"**/.config/gh\"]}\n";
	static const struct {
		const char *object;
		int link, name;
	} cases[] = {
		{"${workdir}/flat/x", 1, 1},	    {"${workdir}/flat/fixed", 0, 1},
		{"${workdir}/a/x/y", 1, 1},	    {"${workdir}/a/x", 0, 1},
		{"${workdir}/a/x/hooks", 0, 1},	    {"${workdir}/a/x/.config", 0, 1},
		{"${workdir}/a/x/y/.config", 0, 1}, {"${workdir}/all/x", 1, 1},
		{"${workdir}/all/.config", 0, 1},   {"${workdir}/all/.ssh", 0, 0},
		{"${workdir}/none", 0, 0},
	};
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(text);
	char error[QUESTION_ERROR_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (is_granted(p, "symlink", cases[i].object, error) != cases[i].link ||
		    is_granted(p, "create", cases[i].object, error) != cases[i].name)
			fail_msg("%s", cases[i].object);
	}
}

static void test_spelling(void **state)
{
	static const struct {
		const char *right, *object;
		int granted;
	} cases[] = {
		{"read", "/srv/a", 1},
		{"read", "/srv/a/b", 0},
		{"list", "/srv/a", 1},
		{"read", "/srv/a/", 1},
		{"read", "/", 0},
		{"read", "/home/w/x", 1},
		{"read", "${workdir}/x", 1},
		{"read", "${workdir}/", 1},
		{"read", "${workdir}", 0},
		{"write", "${data}/x", 0},
		{"write", "${data}/y", 1},
		{"write", "/home/w/d/x/y", 0},
		{"read", "${tmp}/x", 0},
		{"write", "${workdir}/.env", 0},
		{"map", "@memfd", 1},
		{"map", "@anonymous", 0},
		{"connect", "/s", 1},
		{"connect", "abstract:abc", 1},
		{"connect", "abstract:b", 0},
		{"bind", "abstract:abc", 0},
		{"connect", "10.1.2.3:53", 1},
		{"connect", "tcp:10.1.2.3:54", 0},
		{"connect", "udp:[2001:db8::7]:53", 1},
		{"listen", "tcp:[2001:db8::7]:53", 1},
		{"bind", "tcp:10.1.2.3:53", 0},
		{"connect", "icmp:192.0.2.1", 1},
		{"host", "10.1.2.3:53", 0},
		{"host", "icmp:192.0.2.1", 0},
		{"connect", "icmp:2001:db8::1", 1},
		{"socket", "netlink/raw/route", 1},
		{"socket", "netlink/raw/3", 0},
		{"socket", "16/3/0", 1},
		{"socket", "inet/stream/tcp", 1},
		{"read", "srv", -1},
		{"read", "/a//b", -1},
		{"read", "/a/./b", -1},
		{"read", "/a/..", -1},
		{"write", "/a/", -1},
		{"raed", "/a", -1},
		{"read", "@memfd", -1},
		{"map", "@memory", -1},
		{"bind", "/s", -1},
		{"read", "${none}/x", -1},
		{"read", "${workdir}x", -1},
		{"connect", "10.1.2.3", -1},
		{"connect", "10.1.2.3:99999", -1},
		{"connect", "10.0.0.0/8:53", -1},
		{"connect", "[2001:db8::7:53", -1},
		{"connect", "icmp:10.1.2.3:53", -1},
		{"connect", "example.org:443", 0},
		{"connect", "any:443", -1},
		{"connect", "Localhost:443", -1},
		{"connect", "db.localhost:443", -1},
		{"socket", "netlink", -1},
		{"socket", "netlink/raw/x", -1},
		{"read", "abstract:x", -1},
	};
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(policy_text);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char error[QUESTION_ERROR_TEXT] = "";
		int got = is_granted(p, cases[i].right, cases[i].object, error);

		if (got != cases[i].granted)
			fail_msg("%s %s: %d (%s)", cases[i].right, cases[i].object, got, error);
		assert_int_equal(!!*error, got < 0);
	}
}

/* The smallest rule allows the access that it was made for, and is what one would write. */
static void test_smallest_rule(void **state)
{
	static const struct {
		const char *right, *object, *rule;
	} cases[] = {
		{"read", "/a*b/[c]", "- {allow: [read], paths: [\"/a\\\\*b/\\\\[c\\\\]\"]}"},
		{"list", "/x", "- {allow: [read], paths: [\"/x/\"]}"},
		{"create", "${data}/n\\w\"",
		 "- {allow: [create], paths: [\"${data}/n\\\\\\\\w\\\"\"]}"},
		{"run", "@memfd", "- {allow: [run], paths: [\"@memfd\"]}"},
		{"bind", "abstract:x?", "- {allow: [bind], abstract: [\"x\\\\?\"]}"},
		{"bind", "udp:[2001:db8::1]:5",
		 "- {allow: [bind], to: [\"2001:db8::1\"], ports: [5], protocols: [udp]}"},
		{"socket", "packet/raw/768",
		 "- {allow: [socket], families: [packet], types: [raw], protocols: [768]}"},
	};
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(policy_text);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(question_release) struct policy_question q = {0};
		_cleanup_(compiled_policy_freep) struct compiled_policy *with = NULL;
		_cleanup_(freep) char *rule = NULL;
		char error[QUESTION_ERROR_TEXT], text[1024];

		assert_int_equal(
			question_read(p, cases[i].right, cases[i].object, bound, &q, error), 0);
		rule = question_smallest_rule(p, &q);
		assert_string_equal(rule, cases[i].rule);
		snprintf(text, sizeof(text), "version: 1\nvariables: [data]\n%s:\n  %s\n",
			 question_section(q.right), rule);
		with = compile_good(text);
		assert_int_equal(is_granted(p, cases[i].right, cases[i].object, error), 0);
		assert_int_equal(is_granted(with, cases[i].right, cases[i].object, error), 1);
	}
}

/* ---- explanations, against the reference ---- */

#define LENGTH_MAX 5
#define RULES	   4
#define ROUNDS	   12

/* What `explain` tells: whether it is allowed, the deciding rule, and all rules that match. */
static void check_explanation(const struct compiled_policy *p, const char *file,
			      const struct drawn *rules, const struct question *name,
			      unsigned int right)
{
	_cleanup_(policy_matches_release) struct policy_matches m = {0};
	struct policy_question q = {.right = right, .start = CORDON_START_PATH};
	struct expected e = expect(rules, RULES, right, name);
	struct policy_answer answer;
	size_t expected = 0;

	q.path = path_of(name->name, strlen(name->name));
	memcpy(q.path.anchors, name->anchors, sizeof(q.path.anchors));
	q.bytes = (char *)q.path.name;
	q.size = q.path.size;
	assert_int_equal(question_judge(p, &q, &answer), 0);
	if ((answer.missing == 0) != (e.allow && !e.deny))
		fail_msg("%s: right %u, missing %x", name->name, right, answer.missing);
	if (e.allow || e.deny)
		assert_true(decides(rules, RULES, answer.rule[right], right, e.deny, name));
	else
		assert_int_equal(answer.rule[right], CORDON_NO_RULE);
	assert_int_equal(policy_find_matches(file, NULL, &q, &m), 0);
	for (uint32_t i = 0; i < RULES; i++) {
		bool found = false, wanted = speaks(&rules[i], right, name);

		for (size_t j = 0; j < m.count; j++)
			found |= m.list[j].rule == i && m.list[j].deny == rules[i].deny;
		if (found != wanted)
			fail_msg("rule %u (%s%s) on %s: %d", i, variable(&rules[i]),
				 rules[i].pattern, name->name, found);
		expected += wanted;
	}
	assert_int_equal(m.count, expected);
	for (size_t j = 1; j < m.count; j++)
		assert_true(m.list[j - 1].deny > m.list[j].deny ||
			    (m.list[j - 1].deny == m.list[j].deny &&
			     m.list[j - 1].rule < m.list[j].rule));
}

/*
 * Each of two variables nowhere, at the root, or at each directory above the name or the name
 * itself.
 */
static size_t check_bindings(const struct compiled_policy *p, const char *file,
			     const struct drawn *rules, struct question *q)
{
	size_t places[LENGTH_MAX + 2] = {POLICY_NO_ANCHOR, 0}, count = 2, end = strlen(q->name);

	if (end > 1 && q->name[end - 1] == '/')
		end--;
	for (size_t i = 2; i <= end; i++)
		if (i == end || q->name[i] == '/')
			places[count++] = i;
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		q->anchors[i] = POLICY_NO_ANCHOR;
	for (size_t i = 0; i < count * count; i++) {
		q->anchors[CORDON_ANCHOR_WORKDIR] = places[i / count];
		q->anchors[CORDON_ANCHOR_TMP] = places[i % count];
		check_explanation(p, file, rules, q, CORDON_READ);
		check_explanation(p, file, rules, q, CORDON_WRITE);
	}
	return 2 * count * count;
}

/*
 * Every name of up to LENGTH_MAX bytes over the alphabet, with every way to bind the variables. Two
 * letters that patterns hold, a star, which they may hold as itself, and the slash.
 */
static size_t check_all(const struct compiled_policy *p, const char *file,
			const struct drawn *rules)
{
	static const char alphabet[] = {'a', 'b', '*', '/'};
	struct question q = {.name = "/"};
	size_t checked = 0;

	for (size_t size = 1; size <= LENGTH_MAX; size++)
		for (uint32_t code = 0; code < 1u << 2 * (size - 1); code++) {
			bool valid = true;

			for (size_t i = 1; i < size; i++) {
				q.name[i] = alphabet[code >> 2 * (i - 1) & 3];
				valid &= q.name[i] != '/' || q.name[i - 1] != '/';
			}
			if (valid)
				checked += check_bindings(p, file, rules, &q);
		}
	return checked;
}

static void test_explanations(void **state)
{
	size_t checked = 0;

	(void)state;
	random_state = 20261123 | 1ull << 63;
	for (int round = 0; round < ROUNDS; round++) {
		char file[] = "/tmp/cordon-question-XXXXXX.yaml";
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
		_cleanup_(freep) char *text = NULL;
		struct drawn rules[RULES];
		int fd = mkstemps(file, 5);

		for (int i = 0; i < RULES; i++)
			draw_rule(&rules[i]);
		text = spell(rules, RULES);
		assert_non_null(text);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
		close(fd);
		p = compile_good(text);
		checked += check_all(p, file, rules);
		unlink(file);
	}
	print_message("%zu explanations of names of up to %d bytes\n", checked, LENGTH_MAX);
}

static void test_meant(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(policy_text);
	char error[QUESTION_ERROR_TEXT];

	(void)state;
	assert_int_equal(is_granted(p, "raed", "/x", error), -1);
	assert_non_null(strstr(error, "did you mean \"read\"?"));
	assert_int_equal(is_granted(p, "frobnicate", "/x", error), -1);
	assert_non_null(strstr(error, "one of read, list"));
	assert_null(strstr(error, "did you mean"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spelling),      cmocka_unit_test(test_case_insensitive),
		cmocka_unit_test(test_links),	      cmocka_unit_test(test_meant),
		cmocka_unit_test(test_smallest_rule), cmocka_unit_test(test_explanations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
