/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which one policy is wider than another: all of them, in order, with examples that
 * hold.
 */
#include "policy/ask/wider_rules.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "policy/ask/question.h"
#include "policy/ask/widening.h"
#include "tests/unit/policy/support.h"

#define ROUNDS 300

static uint32_t random_state = 20261123;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

/* A policy, and how it is written in ./test.yaml. */
struct subject {
	struct compiled_policy *policy;
	struct policy_written *written;
};

static void subject_release(struct subject *s)
{
	compiled_policy_free(s->policy);
	policy_written_free(s->written);
}

static struct subject read_policy(const char *text)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct subject s = {};
	FILE *out = fopen("test.yaml", "w");
	int r;

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	r = policy_check_written("test.yaml", NULL, d, &s.written, &s.policy);
	if (r < 0) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%s\n%s", text, why);
	}
	return s;
}

static void expect_lines(const char *before, const char *after, const char *const *expected,
			 size_t expected_count)
{
	_cleanup_(subject_release) struct subject b = read_policy(after);
	_cleanup_(compiled_policy_freep) struct compiled_policy *a =
		compile_good(before ? before : "version: 1\n");
	struct widenings found;

	assert_int_equal(widenings_find(before ? a : NULL, b.policy, b.written, POLICY_TUPLES_MAX,
					&found),
			 0);
	assert_true(found.complete);
	for (size_t i = 0; i < found.count && i < expected_count; i++) {
		_cleanup_(freep) char *line = widening_line(&found.list[i], b.policy);

		assert_string_equal(line, expected[i]);
	}
	assert_int_equal(found.count, expected_count);
	widenings_release(&found);
}

#define EXPECT(before, after, expected) expect_lines(before, after, expected, ARRAY_SIZE(expected))

/* A rule for one file hides none of the others, nor do rules that allow the same. */
static void test_every_rule(void **state)
{
	static const char *const expected[] = {
		"this lets it read credentials: files read, list /home/a and others without end "
		"below /home/, allowed by test.yaml:6: allow read /home/**",
		"this lets it read credentials: files read, list /root/a and others without end "
		"below /root/, allowed by test.yaml:7: allow read /root/**",
		"this lets it read credentials: files read, list /home/user/a and others without end "
		"below /home/user/, as other rules do, allowed by test.yaml:8: allow read /home/user/**",
		"this lets it connect anywhere: network connect tcp:97.97.97.97:443 and more than a "
		"million others, allowed by test.yaml:12: allow connect over tcp to any ports 443",
		"files write /a/a (workdir=/a) and others without end, allowed by test.yaml:9: "
		"allow write ${workdir}/**",
		"files read, list /opt/data/a and others without end below /opt/data/, allowed by "
		"test.yaml:5: allow read /opt/data/**",
		"network connect tcp:192.0.2.0:80 and 3 more, allowed by test.yaml:13: allow connect "
		"over tcp to 192.0.2.0/30 ports 80",
		"files read, list /opt/a and 2 more, allowed by test.yaml:4: allow read /opt/[a-c]",
		"files read, list /x, allowed by test.yaml:3: allow read /srv/**, /x",
	};

	(void)state;
	EXPECT("version: 1\nfiles:\n  - {allow: [read], paths: [/srv/**]}\n",
	       "version: 1\nfiles:\n"
	       "  - {allow: [read], paths: [/srv/**, /x]}\n"
	       "  - {allow: [read], paths: ['/opt/[a-c]']}\n"
	       "  - {allow: [read], paths: ['/opt/data/**']}\n"
	       "  - {allow: [read], paths: ['/home/**']}\n"
	       "  - {allow: [read], paths: ['/root/**']}\n"
	       "  - {allow: [read], paths: ['/home/user/**']}\n"
	       "  - {allow: [write], paths: ['${workdir}/**']}\n"
	       "  - {allow: [read], paths: [/srv/x]}\n"
	       "network:\n"
	       "  - {allow: [connect], to: any, ports: [443]}\n"
	       "  - {allow: [connect], to: [192.0.2.0/30], ports: [80]}\n",
	       expected);
	/* The other way round nothing is wider. */
	expect_lines("version: 1\nfiles:\n  - {allow: [read], paths: [/srv/**, /x]}\n",
		     "version: 1\nfiles:\n  - {allow: [read], paths: [/srv/**]}\n", NULL, 0);
}

/* The first policy of a name: all that it allows. */
static void test_first(void **state)
{
	static const char *const expected[] = {
		"this lets it run any program: exec run / and others without end below /, allowed by "
		"test.yaml:5: allow run /**",
		"files read, list /srv/a and others without end below /srv/, allowed by test.yaml:3: "
		"allow read /srv/**",
	};

	(void)state;
	EXPECT(NULL,
	       "version: 1\nfiles:\n  - {allow: [read], paths: [/srv/**]}\n"
	       "exec:\n  - {allow: [run], paths: ['/**']}\n",
	       expected);
}

/* Below which directory there is no end to them, though a short name is judged alike. */
static void test_where_there_is_no_end(void **state)
{
	static const char *const expected[] = {
		"files read, list /dev/null, and names without end below /usr/share/lib/, allowed by "
		"test.yaml:3: allow read /dev/null, /usr/share/lib/*.x",
	};

	(void)state;
	EXPECT("version: 1\n",
	       "version: 1\nfiles:\n"
	       "  - {allow: [read], paths: [/dev/null, '/usr/share/lib/*.x']}\n",
	       expected);
}

/*
 * Anywhere is told at whatever port, by address of either kind and by name, and where few addresses
 * were allowed before.
 */
static void test_anywhere(void **state)
{
	static const char some[] =
		"version: 1\nnetwork:\n  - {allow: [connect], to: [198.51.100.0/24], ports: [8443]}\n";
	static const char *const wide[][2] = {
		{"to: any, ports: [8443]", "connect anywhere"},
		{"to: ['::/0'], ports: [8443]", "connect anywhere"},
		{"to: any", "connect anywhere, at any port"},
		{"to: any, ports: [53], protocols: [udp]", "send anywhere"},
		{"to: any, protocols: [icmp]", "send anywhere"},
		{"to: ['**'], ports: [8443]", "connect anywhere"},
		{"to: [203.0.113.0/24], ports: [8443]", NULL},
		{"to: ['*.example.net'], ports: [8443]", NULL},
	};
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = compile_good(some);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		struct widenings found;
		struct subject b;
		char text[256];

		snprintf(text, sizeof(text), "version: 1\nnetwork:\n  - {allow: [connect], %s}\n",
			 wide[i][0]);
		b = read_policy(text);
		assert_int_equal(widenings_find(a, b.policy, b.written, POLICY_TUPLES_MAX, &found),
				 0);
		assert_true(found.count > 0);
		if (!wide[i][1])
			assert_null(found.list[0].alarm.text);
		else if (!found.list[0].alarm.text)
			fail_msg("%s: no alarm", wide[i][0]);
		else
			assert_string_equal(found.list[0].alarm.text, wide[i][1]);
		widenings_release(&found);
		subject_release(&b);
	}
}

/*
 * What is compared by itself, special objects, is told with the rest of the same rule, and of no
 * other.
 */
static void test_special(void **state)
{
	static const char before[] = "version: 1\nprocess: {special: deny}\n"
				     "files:\n  - {allow: [read], paths: [/w/a]}\n";
	static const char after[] =
		"version: 1\nfiles:\n  - {allow: [read, write, create], paths: [/w/a]}\n"
		"network:\n  - {allow: [connect], to: [192.0.2.1], ports: [443]}\n";
	static const char *const expected[] = {
		"files write, create, link, special /w/a, allowed by test.yaml:3: allow read, write, "
		"create /w/a",
		"network connect, host tcp:192.0.2.1:443, allowed by test.yaml:5: allow connect over tcp "
		"to 192.0.2.1 ports 443",
	};

	(void)state;
	EXPECT(before, after, expected);
}

/* All that one rule does, and the gravest kind first however small it is. */
static void test_kinds(void **state)
{
	static const char *const expected[] = {
		"this lets it read credentials and change files that other programs load or run: "
		"files read, list, write, create, delete / and others without end below /, allowed "
		"by test.yaml:3: allow all /**",
		"this lets it read credentials: files read, list /etc/shadow, as other rules do, "
		"allowed by test.yaml:4: allow read /etc/shadow",
		"this lets it change files that other programs load or run: files write "
		"/usr/local/bin/a and others without end below /usr/local/bin/, as other rules do, "
		"allowed by test.yaml:5: allow write /usr/local/bin/*",
		"this lets it connect anywhere, at any port: network connect tcp:97.97.97.97:24929 "
		"and more than a million others, allowed by test.yaml:9: allow connect over tcp to "
		"any",
		"this lets it run any program: exec run / and others without end below /, allowed by "
		"test.yaml:7: allow run /**",
	};

	(void)state;
	EXPECT(NULL,
	       "version: 1\nfiles:\n  - {allow: [read, write, create, delete], paths: ['/**']}\n"
	       "  - {allow: [read], paths: [/etc/shadow]}\n"
	       "  - {allow: [write], paths: ['/usr/local/bin/*']}\n"
	       "exec:\n  - {allow: [run], paths: ['/**']}\n"
	       "network:\n  - {allow: [connect], to: any}\n",
	       expected);
}

/* What a rule with a severity or tags denied comes before what is larger. */
static void test_denied(void **state)
{
	static const char *const expected[] = {
		"this lets it do something that a rule denied: files write /srv/hook, allowed by "
		"test.yaml:4: allow write /srv/hook",
		"files read, list /opt/a and others without end below /opt/, allowed by test.yaml:3: "
		"allow read /opt/**",
	};

	(void)state;
	EXPECT("version: 1\nfiles:\n  - {deny: [write], paths: [/srv/hook], tags: [persistence]}\n",
	       "version: 1\nfiles:\n  - {allow: [read], paths: ['/opt/**']}\n"
	       "  - {allow: [write], paths: [/srv/hook]}\n",
	       expected);
}

/* Without what is written, a rule that others cover stays unseen, and the list says so. */
static void test_incomplete(void **state)
{
	static const char text[] = "version: 1\nfiles:\n  - {allow: [read], paths: [/srv/**]}\n"
				   "  - {allow: [read], paths: [/srv/a/**]}\n";
	_cleanup_(subject_release) struct subject b = read_policy(text);
	struct widenings found;

	(void)state;
	assert_int_equal(widenings_find(NULL, b.policy, NULL, POLICY_TUPLES_MAX, &found), 0);
	assert_int_equal(found.count, 1);
	assert_false(found.complete);
	widenings_release(&found);
	assert_int_equal(widenings_find(NULL, b.policy, b.written, POLICY_TUPLES_MAX, &found), 0);
	assert_int_equal(found.count, 2);
	assert_true(found.list[1].behind && !found.list[0].behind);
	assert_true(found.complete);
	widenings_release(&found);
}

/* Rules behind rules, more than there are rounds: it ends, and does not claim to be complete. */
static void test_bounded(void **state)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct widenings found;
	struct subject b;

	(void)state;
	fputs("version: 1\nfiles:\n", out);
	for (int i = 0; i < 100; i++)
		fputs("  - {allow: [read], paths: [/srv/**]}\n", out);
	fclose(out);
	b = read_policy(text);
	assert_int_equal(widenings_find(NULL, b.policy, b.written, POLICY_TUPLES_MAX, &found), 0);
	assert_int_equal(found.count, WIDENINGS_ROUNDS_MAX);
	assert_false(found.complete);
	widenings_release(&found);
	subject_release(&b);
}

/* ---- whatever policies are drawn ---- */

static void write_files(FILE *out)
{
	static const char *const pieces[] = {"a",  "b",	   "/",	   "/a",    "*",
					     "b*", "[ab]", "/**/", "{a,b}", "/*"};
	static const char *const starts[] = {"/", "/", "/", "**/", "${workdir}/", "${tmp}/"};
	static const char *const rights[] = {"read", "write", "read, write", "create, special",
					     "all"};
	uint32_t count = random_below(4), wild = 0;

	fprintf(out, "  - {%s: [%s], paths: ['%s", random_below(3) ? "allow" : "deny",
		rights[random_below(ARRAY_SIZE(rights))], starts[random_below(ARRAY_SIZE(starts))]);
	while (count--) {
		const char *piece = pieces[random_below(ARRAY_SIZE(pieces))];

		if (strchr(piece, '*') && ++wild > 1)
			continue;
		fputs(piece, out);
	}
	fputs(random_below(4) ? "']}\n" : "**']}\n", out);
}

static void write_network(FILE *out)
{
	static const char *const rights[] = {"connect", "bind", "connect, listen"};
	static const char *const to[] = {"any",	       "[10.0.0.0/8]", "[10.1.0.0/16]", "['::1']",
					 "['**.a.b']", "[127.0.0.1]",  "['x.a.b']"};
	size_t right = random_below(ARRAY_SIZE(rights));
	const char *place = to[random_below(right == 0 ? 7 : 3)];

	fprintf(out, "  - {%s: [%s], to: %s%s}\n", random_below(4) ? "allow" : "deny",
		rights[right], place, random_below(2) ? ", ports: [80, 443]" : "");
}

static char *draw(void)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "version: 1\n%sfiles:\n", random_below(3) ? "" : "process: {special: deny}\n");
	for (uint32_t i = 2 + random_below(5); i > 0; i--)
		write_files(out);
	fputs("network:\n", out);
	for (uint32_t i = 1 + random_below(3); i > 0; i--)
		write_network(out);
	fputs("exec:\n", out);
	for (uint32_t i = 1 + random_below(2); i > 0; i--)
		fprintf(out, "  - {allow: [%s], paths: ['/%s']}\n", random_below(2) ? "run" : "map",
			random_below(2) ? "**" : "a/*");
	fclose(out);
	return text;
}

/* "workdir=/a tmp=/a/b", as directories by the policy's numbers. */
static void bind(const struct compiled_policy *p, char *bindings,
		 const char *directories[CORDON_MAX_ANCHORS])
{
	for (char *rest, *one = strtok_r(bindings, " ", &rest); one;
	     one = strtok_r(NULL, " ", &rest)) {
		char *directory = strchr(one, '=');

		assert_non_null(directory);
		*directory++ = '\0';
		for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
			if (p->anchor_names[i] && strcmp(p->anchor_names[i], one) == 0)
				directories[i] = directory;
	}
}

static bool is_allowed(const struct compiled_policy *p, const struct policy_widening *by)
{
	_cleanup_(freep) char *bindings = strdup(by->witness.bindings);
	const char *directories[CORDON_MAX_ANCHORS] = {};
	char error[QUESTION_ERROR_TEXT];
	struct policy_question q;
	struct policy_answer a;
	bool allowed;

	bind(p, bindings, directories);
	if (question_read(p, by->rights[0], by->witness.object, directories, &q, error) < 0)
		fail_msg("%s %s: %s", by->rights[0], by->witness.object, error);
	assert_int_equal(question_judge(p, &q, &a), 0);
	allowed = a.missing == 0;
	question_release(&q);
	return allowed;
}

/* What else than their own right special objects take is no single question. */
static bool is_question(const struct policy_widening *by)
{
	return strcmp(by->rights[0], "special") != 0 && strcmp(by->rights[0], "link") != 0;
}

static bool is_wider(const struct compiled_policy *a, const struct compiled_policy *b)
{
	struct policy_difference d[POLICY_DIFFERENCES];
	bool wider = false;

	assert_int_equal(policy_diff(a, b, d), 0);
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++)
		wider |= d[i].change & SETTING_WIDER;
	policy_diff_release(d);
	return wider;
}

static void check_examples(const struct compiled_policy *a, const struct subject *b,
			   const struct widenings *found, const char *const texts[2])
{
	for (size_t i = 0; i < found->count; i++) {
		const struct policy_widening *by = &found->list[i].by;

		assert_true(by->rule < b->policy->rule_count);
		if (is_question(by) && (is_allowed(a, by) || !is_allowed(b->policy, by)))
			fail_msg("%s---\n%s%s %s (%s) is not newly allowed", texts[0], texts[1],
				 by->rights[0], by->witness.object, by->witness.bindings);
	}
}

/*
 * Without one of those that are listed it may be as wide; without all of them it is not wider at
 * all.
 */
static void check_rest(const struct compiled_policy *a, const struct subject *b,
		       const struct widenings *found, const char *const texts[2])
{
	_cleanup_(freep) bool *left_out = calloc(b->policy->rule_count + 1, sizeof(*left_out));
	_cleanup_(compiled_policy_freep) struct compiled_policy *rest = NULL;

	for (size_t i = 0; i < found->count; i++)
		left_out[found->list[i].by.rule] = true;
	assert_int_equal(policy_written_without(b->written, left_out, &rest), 0);
	if (is_wider(a, rest))
		fail_msg("%s---\n%sis wider without all %zu rules", texts[0], texts[1],
			 found->count);
}

static void test_drawn(void **state)
{
	size_t wider = 0, behind = 0, rules = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(freep) char *first = draw(), *second = draw();
		_cleanup_(compiled_policy_freep) struct compiled_policy *a = compile_good(first);
		_cleanup_(subject_release) struct subject b = read_policy(second);
		const char *const texts[] = {first, second};
		struct widenings found;

		assert_int_equal(widenings_find(a, b.policy, b.written, POLICY_TUPLES_MAX, &found),
				 0);
		assert_true(found.complete);
		assert_int_equal(found.count > 0, is_wider(a, b.policy));
		check_examples(a, &b, &found, texts);
		check_rest(a, &b, &found, texts);
		wider += found.count > 0;
		rules += found.count;
		for (size_t i = 0; i < found.count; i++)
			behind += found.list[i].behind;
		widenings_release(&found);
	}
	print_message("%zu pairs are wider, by %zu rules, %zu of them behind others\n", wider,
		      rules, behind);
	assert_true(wider > ROUNDS / 2 && behind > ROUNDS / 10);
}

static int enter_directory(void **state)
{
	static char directory[] = "/tmp/cordon-wider-XXXXXX";

	*state = directory;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
	return unlink("test.yaml") == 0 && chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_rule), cmocka_unit_test(test_first),
		cmocka_unit_test(test_anywhere),   cmocka_unit_test(test_denied),
		cmocka_unit_test(test_special),	   cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_incomplete), cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_drawn),	   cmocka_unit_test(test_where_there_is_no_end),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
