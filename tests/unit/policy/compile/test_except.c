/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions of an include: the matcher's verdicts against the reference, and by name. */
#include <unistd.h>

#include "policy/ask/wider_rules.h"
#include "tests/unit/policy/draw.h"
#include "tests/unit/policy/support.h"

#define PAIRS 120000u
#define RULES 3 /* of the policy, of the fragment, and of the exceptions */
#define NAMES 150

static void write_file(const char *name, const char *text)
{
	FILE *out = fopen(name, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

/* Returns NULL if the compiler rejects the rules because they multiply. */
static struct compiled_policy *compile(const char *text)
{
	static const char *const directories[] = {".", NULL};
	static const struct policy_search search = {.directories = directories};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p = NULL;
	int r;

	write_file("test.yaml", text);
	r = policy_compile("test.yaml", &search, d, &p);
	if (r < 0 && r != -E2BIG) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%s\n%s", text, why);
	}
	return p;
}

/* ---- against the reference ---- */

struct drawing {
	struct drawn own[RULES], fragment[RULES], except[RULES];
};

static void draw(struct drawing *drawing)
{
	for (int i = 0; i < RULES; i++) {
		draw_rule(&drawing->own[i]);
		draw_rule(&drawing->fragment[i]);
		do
			draw_rule(&drawing->except[i]);
		while (floats(&drawing->except[i]));
		drawing->own[i].deny = i == 0;
		drawing->fragment[i].deny = i > 0;
		drawing->except[i].deny = false;
	}
}

static struct compiled_policy *compile_drawing(const struct drawing *drawing)
{
	_cleanup_(freep) char *fragment = spell(drawing->fragment, RULES);
	_cleanup_(freep) char *text = NULL;
	char *whole;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(fragment && out);
	assert_true(asprintf(&whole, "fragment: true\n%s", fragment) > 0);
	write_file("part.yaml", whole);
	free(whole);
	fputs("version: 1\ninclude:\n  - part:\n      except:\n", out);
	for (int i = 0; i < RULES; i++)
		fprintf(out, "        - '%s%s'\n", variable(&drawing->except[i]),
			drawing->except[i].pattern);
	fputs("files:\n", out);
	for (int i = 0; i < RULES; i++)
		fprintf(out, "  - {%s: [%s], paths: ['%s%s']}\n",
			drawing->own[i].deny ? "deny" : "allow",
			drawing->own[i].write ? "write" : "read", variable(&drawing->own[i]),
			drawing->own[i].pattern);
	assert_int_equal(fclose(out), 0);
	return compile(text);
}

/* An exception is of all rights; of a listing where it names the directory. */
static bool is_excepted(const struct drawing *drawing, unsigned int right, const struct question *q)
{
	for (int i = 0; i < RULES; i++) {
		struct drawn rule = drawing->except[i];

		rule.write = right == CORDON_WRITE;
		if (speaks(&rule, right, q))
			return true;
	}
	return false;
}

static void compare(const struct compiled_policy *p, const struct drawing *drawing,
		    const struct question *q, size_t *taken_back)
{
	struct policy_path path = path_of(q->name, strlen(q->name));
	struct policy_answer a;

	memcpy(path.anchors, q->anchors, sizeof(path.anchors));
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 0, &a), 0);
	for (unsigned int right = CORDON_READ; right <= CORDON_WRITE; right++) {
		struct expected own = expect(drawing->own, RULES, right, q);
		struct expected fragment = expect(drawing->fragment, RULES, right, q);
		bool excepted = is_excepted(drawing, right, q);
		bool allow = own.allow || fragment.allow;
		bool deny = own.deny || (fragment.deny && !excepted);

		if (deny != ((verdict_denied(&a.verdict) & CORDON_RIGHT(right)) != 0) ||
		    (allow && !deny) != ((verdict_granted(&a.verdict) & CORDON_RIGHT(right)) != 0))
			fail_msg("name %s, workdir at %zd, tmp at %zd, right %u: expected allow %d "
				 "deny %d, got %x %x",
				 q->name, (ssize_t)q->anchors[CORDON_ANCHOR_WORKDIR],
				 (ssize_t)q->anchors[CORDON_ANCHOR_TMP], right, allow, deny,
				 a.verdict.allow, a.verdict.deny);
		*taken_back += allow && !deny && fragment.deny;
		if (allow && !deny && fragment.deny)
			assert_non_null(strstr(p->rules[a.rule[right]].text, "except"));
		else if (deny || allow)
			assert_null(strstr(p->rules[a.rule[right]].text, "except"));
	}
}

static void test_against_reference(void **state)
{
	size_t taken_back = 0, pairs = 0;

	(void)state;
	random_state = setting("CORDON_SEED", 20261130) | 1ull << 63;
	while (pairs < PAIRS) {
		struct drawing drawing;

		draw(&drawing);
		_cleanup_(compiled_policy_freep) struct compiled_policy *p =
			compile_drawing(&drawing);

		for (int i = 0; p && i < NAMES; i++, pairs++) {
			struct question q;

			make_name(q.name);
			place_anchors(&q);
			compare(p, &drawing, &q, &taken_back);
		}
	}
	print_message("%zu verdicts by an exception\n", taken_back);
	assert_true(taken_back > 200);
}

/* ---- by name ---- */

#define SECRETS                                                                                    \
	"version: 1\nfragment: true\nfiles:\n"                                                     \
	"  - {deny: [all], paths: ['**/.{env,npmrc}'], tags: [credentials]}\n"

#define POLICY(rest)                                                                               \
	"version: 1\n" rest "files:\n  - {allow: [all], paths: ['${workdir}/**', '/srv/**']}\n"

/* Of a name below the work directory /w, or of another one. */
static bool granted_below(const struct compiled_policy *p, const char *name, unsigned int right)
{
	bool below = strncmp(name, "/w/", 3) == 0;
	struct policy_path path = path_of(name, strlen(name));
	struct policy_answer a;

	if (below)
		path.anchors[CORDON_ANCHOR_WORKDIR] = 2;
	assert_int_equal(
		policy_judge_path(p->tables, p->tables_size, &path, CORDON_RIGHT(right), &a), 0);
	return !a.missing;
}

static void test_names(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL, *before = NULL;

	(void)state;
	write_file("secrets.yaml", SECRETS);
	p = compile(POLICY("include: [{secrets: {except: ['${workdir}/.env', /srv/x/.npmrc]}}]\n"));
	before = compile(POLICY("include: [secrets]\n"));
	assert_true(granted_below(p, "/w/.env", CORDON_READ));
	assert_true(granted_below(p, "/w/.env", CORDON_WRITE));
	assert_true(granted_below(p, "/srv/x/.npmrc", CORDON_READ));
	assert_false(granted_below(before, "/w/.env", CORDON_READ));
	assert_false(granted_below(p, "/w/.npmrc", CORDON_READ));
	assert_false(granted_below(p, "/w/sub/.env", CORDON_READ));
	assert_false(granted_below(p, "/w/.env/x", CORDON_READ));
	assert_false(granted_below(p, "/srv/.env", CORDON_READ));
	assert_false(granted_below(p, "/srv/x/.env", CORDON_READ));
	assert_false(granted_below(p, "/srv/y/.npmrc", CORDON_READ));
	/* Nothing allows it. */
	assert_false(granted_below(p, "/etc/.env", CORDON_READ));
}

/* What another file denies is not taken back, the policy's own rules included. */
static void test_other_denies(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL, *q = NULL;

	(void)state;
	write_file("secrets.yaml", SECRETS);
	write_file("more.yaml", "version: 1\nfragment: true\nfiles:\n"
				"  - {deny: [write], paths: ['**/.env']}\n");
	p = compile(POLICY("include: [more, {secrets: {except: ['${workdir}/.env']}}]\n"));
	assert_true(granted_below(p, "/w/.env", CORDON_READ));
	assert_false(granted_below(p, "/w/.env", CORDON_WRITE));
	q = compile(POLICY(
		"include: [{secrets: {except: ['${workdir}/.env']}}]\n") "  - {deny: [read], paths: ['${workdir}/*']}\n");
	assert_false(granted_below(q, "/w/.env", CORDON_READ));
	assert_true(granted_below(q, "/w/.env", CORDON_WRITE));
}

/* The policy that is amended includes the fragment by another one. */
static void test_amended(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;

	(void)state;
	write_file("secrets.yaml", SECRETS);
	write_file("part.yaml", "version: 1\nfragment: true\ninclude: [secrets]\n");
	write_file("base.yaml", POLICY("include: [part]\n"));
	p = compile("version: 1\namends: base\n"
		    "include: [{secrets: {except: ['${workdir}/.env']}}]\n");
	assert_true(granted_below(p, "/w/.env", CORDON_READ));
	assert_false(granted_below(p, "/w/a/.env", CORDON_READ));
}

static struct compiled_policy *compile_with(const char *include, const char *rest)
{
	_cleanup_(freep) char *text = NULL;

	assert_true(asprintf(&text, "version: 1\n%sfiles:\n%s%s", include,
			     "  - {allow: [all], paths: ['${workdir}/**']}\n", rest) > 0);
	return compile(text);
}

static void test_diff(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = NULL, *b = NULL;
	static const char *const directories[] = {".", NULL};
	static const struct policy_search search = {.directories = directories};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *line = NULL;
	struct policy_written *written;
	struct widenings found;

	(void)state;
	write_file("secrets.yaml", SECRETS);
	a = compile(POLICY("include: [secrets]\n"));
	write_file("test.yaml", POLICY("include: [{secrets: {except: ['${workdir}/.env']}}]\n"));
	assert_int_equal(policy_check_written("test.yaml", &search, d, &written, &b), 0);
	assert_int_equal(widenings_find(a, b, written, POLICY_TUPLES_MAX, &found), 0);
	assert_int_equal(found.count, 1);
	assert_true(found.complete);
	line = widening_line(&found.list[0], b);
	assert_non_null(strstr(line, "list, write, create, delete /a/.env (workdir=/a)"));
	assert_non_null(strstr(line, "test.yaml:2: except ${workdir}/.env from secrets"));
	widenings_release(&found);
	/* The other way round nothing is wider. */
	assert_int_equal(widenings_find(b, a, NULL, POLICY_TUPLES_MAX, &found), 0);
	assert_int_equal(found.count, 0);
	widenings_release(&found);
	policy_written_free(written);
}

/* Too large as a whole: the exception is found where variables with the same rules are unbound. */
static void test_large_diff(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = NULL, *b = NULL;
	static const char rest[] =
		"  - {allow: [read], paths: ['${home}/a/**/b', '${tmp}/c/**/d', '/e/**/f']}\n"
		"  - {deny: [read], paths: ['**/g*/h', '${home}/**/i']}\n";
	struct policy_difference differences[POLICY_DIFFERENCES];
	struct widenings found;
	size_t tuples = 64;
	int r = -E2BIG;

	(void)state;
	write_file("secrets.yaml", SECRETS);
	a = compile_with("include: [secrets]\n", rest);
	b = compile_with("include: [{secrets: {except: ['${workdir}/.env']}}]\n", rest);
	for (; r == -E2BIG && tuples < POLICY_TUPLES_MAX; tuples += tuples / 4)
		r = widenings_find(a, b, NULL, tuples, &found);
	assert_int_equal(r, 0);
	assert_int_equal(found.count, 1);
	assert_non_null(strstr(b->rules[found.list[0].by.rule].text, "except"));
	widenings_release(&found);
	assert_int_equal(policy_diff_within(a, b, tuples - tuples / 5, differences), -E2BIG);
}

static int enter_directory(void **state)
{
	static char directory[] = "/tmp/cordon-except-XXXXXX";

	*state = directory;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
	static const char *const files[] = {"test.yaml", "part.yaml", "secrets.yaml", "more.yaml",
					    "base.yaml"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (unlink(files[i]) < 0)
			return -1;
	return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_reference),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_other_denies),
		cmocka_unit_test(test_amended),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_large_diff),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
