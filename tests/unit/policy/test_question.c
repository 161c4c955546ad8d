/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions as people spell them, and explanations: which rules match, against a reference, for
 * every name up to a stated length over a small alphabet.
 */
#include "policy/match.h"
#include "policy/question.h"
#include "reference.h"
#include "support.h"

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

/* ---- every rule that matches ---- */

#define LENGTH_MAX 5
#define RULES	   5
#define ROUNDS	   60

static uint32_t random_state = 20261123;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

struct drawn {
	char pattern[64];
	bool deny;
};

static void draw(struct drawn *rules, char *path)
{
	static const char *const pieces[] = {"a", "b", "/", "*", "/**/", "/a", "[!a]", "{a,b}"};
	int fd = mkstemps(path, 5);
	FILE *out = fdopen(fd, "w");

	assert_non_null(out);
	fputs("version: 1\nfiles:\n", out);
	for (int i = 0; i < RULES; i++) {
		uint32_t count = 1 + random_below(4), wild = 0;

		strcpy(rules[i].pattern, random_below(3) ? "/" : "**/");
		while (count--) {
			const char *piece = pieces[random_below(ARRAY_SIZE(pieces))];

			if (strchr(piece, '*') && ++wild > 1)
				continue;
			strcat(rules[i].pattern, piece);
		}
		rules[i].deny = random_below(3) == 0;
		fprintf(out, "  - {%s: [read], paths: ['%s']}\n", rules[i].deny ? "deny" : "allow",
			rules[i].pattern);
	}
	fclose(out);
}

static void check_matches(const char *path, const struct drawn *rules, const char *name)
{
	_cleanup_(policy_matches_release) struct policy_matches m = {0};
	struct policy_question q = {.right = CORDON_READ, .start = CORDON_START_PATH};
	size_t expected = 0;

	q.path = path_of(name, strlen(name));
	q.bytes = (char *)q.path.name;
	q.size = q.path.size;
	assert_int_equal(policy_find_matches(path, NULL, &q, &m), 0);
	for (uint32_t i = 0; i < RULES; i++) {
		bool found = false;

		for (size_t j = 0; j < m.count; j++)
			found |= m.list[j].rule == i && m.list[j].deny == rules[i].deny;
		if (found != reference_rule(rules[i].pattern, rules[i].deny, true, name))
			fail_msg("rule %u (%s) on %s: %d", i, rules[i].pattern, name, found);
		expected += found;
	}
	assert_int_equal(m.count, expected);
	for (size_t j = 1; j < m.count; j++)
		assert_true(m.list[j - 1].deny > m.list[j].deny ||
			    (m.list[j - 1].deny == m.list[j].deny &&
			     m.list[j - 1].rule < m.list[j].rule));
}

static void test_matches(void **state)
{
	static const char alphabet[] = {'a', 'b', 'c', '/'};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		char path[] = "/tmp/cordon-question-XXXXXX.yaml";
		struct drawn rules[RULES];
		char name[LENGTH_MAX + 1] = "/";

		draw(rules, path);
		for (size_t size = 1; size <= LENGTH_MAX; size++)
			for (uint32_t code = 0; code < 1u << 2 * (size - 1); code++) {
				bool valid = true;

				for (size_t i = 1; i < size; i++) {
					name[i] = alphabet[code >> 2 * (i - 1) & 3];
					valid &= name[i] != '/' || name[i - 1] != '/';
				}
				if (valid)
					check_matches(path, rules, name);
			}
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spelling),
		cmocka_unit_test(test_smallest_rule),
		cmocka_unit_test(test_matches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
