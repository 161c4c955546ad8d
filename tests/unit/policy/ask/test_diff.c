/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison of policies against brute force: every name up to a stated length over a small
 * alphabet, with every way to bind two variables, asked of both policies by the matcher itself.
 */
#include "policy/ask/diff.h"
#include "policy/ask/question.h"
#include "policy/ask/widening.h"
#include "tests/unit/policy/support.h"

#define LENGTH_MAX 6
#define ROUNDS	   1000
/* More than the comparison below takes, and far fewer than both policies have together. */
#define SPECIAL_TUPLES 3000

static uint32_t random_state = 20261122;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

/* The shortest difference per right and direction; SIZE_MAX: none. */
struct expected {
	size_t size[2]; /* [0]: only the first policy grants it, [1]: only the second one */
};

enum { ROW_READ, ROW_LIST, ROW_WRITE };

static void note(struct expected *e, bool a, bool b, size_t size)
{
	if (a != b && size < e->size[b])
		e->size[b] = size;
}

static uint32_t granted_at(const struct compiled_policy *p, const char *name, size_t size,
			   const size_t *anchors)
{
	struct policy_path path = path_of(name, size);
	struct policy_answer a;

	path.anchors[CORDON_ANCHOR_WORKDIR] = anchors[0];
	path.anchors[CORDON_ANCHOR_TMP] = anchors[1];
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 0, &a), 0);
	return a.verdict.allow & ~a.verdict.deny;
}

static void compare_at(struct compiled_policy *const p[2], const char *name, size_t size,
		       const size_t *anchors, struct expected *e)
{
	uint32_t a = granted_at(p[0], name, size, anchors);
	uint32_t b = granted_at(p[1], name, size, anchors);
	bool listing = size > 1 && name[size - 1] == '/', object = size == 1 || !listing;

	if (size == 1 || listing)
		note(&e[ROW_LIST], a & 1, b & 1, size);
	if (!object)
		return;
	note(&e[ROW_READ], a & CORDON_RIGHT(CORDON_READ), b & CORDON_RIGHT(CORDON_READ), size);
	note(&e[ROW_WRITE], a & CORDON_RIGHT(CORDON_WRITE), b & CORDON_RIGHT(CORDON_WRITE), size);
}

/* Each variable nowhere, or at each directory above the name or at the name itself. */
static void compare_name(struct compiled_policy *const p[2], const char *name, size_t size,
			 struct expected *e)
{
	size_t places[LENGTH_MAX + 2] = {POLICY_NO_ANCHOR}, count = 1, end = size;

	if (size > 1 && name[size - 1] == '/')
		end--;
	for (size_t i = 2; i <= end; i++)
		if (i == end || name[i] == '/')
			places[count++] = i;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++) {
			size_t anchors[] = {places[i], places[j]};

			compare_at(p, name, size, anchors, e);
		}
}

/*
 * All names over the alphabet: the letters that patterns hold, one that only wildcards match, and
 * '/'. Patterns here hold no '?' and [!...], which tell bytes beyond ASCII apart.
 */
static void compare_all(struct compiled_policy *const p[2], struct expected *e)
{
	static const char alphabet[] = {'a', 'b', 'd', '/'};
	char name[LENGTH_MAX + 1] = "/";

	for (size_t size = 1; size <= LENGTH_MAX; size++)
		for (uint32_t code = 0; code < 1u << 2 * (size - 1); code++) {
			bool valid = true;

			for (size_t i = 1; i < size; i++) {
				name[i] = alphabet[code >> 2 * (i - 1) & 3];
				valid &= name[i] != '/' || name[i - 1] != '/';
			}
			if (valid)
				compare_name(p, name, size, e);
		}
}

static void write_rules(FILE *out)
{
	static const char *const pieces[] = {"a",  "b",	   "/",	   "/a",    "*",
					     "b*", "[ab]", "/**/", "{a,b}", "/*"};
	static const char *const starts[] = {"/", "/", "/", "**/", "${workdir}/", "${tmp}/"};
	uint32_t rules = 2 + random_below(4);

	fputs("version: 1\nfiles:\n", out);
	while (rules--) {
		static const char *const rights[] = {"read", "write", "read, write"};
		uint32_t count = random_below(4), wild = 0;

		fprintf(out, "  - {%s: [%s], paths: ['%s", random_below(3) ? "allow" : "deny",
			rights[random_below(3)], starts[random_below(ARRAY_SIZE(starts))]);
		while (count--) {
			const char *piece = pieces[random_below(ARRAY_SIZE(pieces))];

			if (strchr(piece, '*') && ++wild > 1)
				continue;
			fputs(piece, out);
		}
		fputs(random_below(4) ? "']}\n" : "**']}\n", out);
	}
}

static struct compiled_policy *draw(char **ret_text)
{
	size_t size;
	FILE *out = open_memstream(ret_text, &size);

	write_rules(out);
	fclose(out);
	return compile_good(*ret_text);
}

static void check_row(const struct expected *e, const struct policy_difference *d,
		      const char *const texts[2], size_t *differences)
{
	for (size_t side = 0; side < 2; side++) {
		const struct policy_witness *w = side ? &d->wider : &d->narrower;
		size_t size = w->object ? w->size : SIZE_MAX;

		assert_int_equal(!!w->object,
				 !!(d->change & (side ? SETTING_WIDER : SETTING_NARROWER)));
		*differences += e->size[side] != SIZE_MAX;
		/* Brute force knows nothing of longer names; up to its length both must agree. */
		if (size != e->size[side] && (e->size[side] != SIZE_MAX || size <= LENGTH_MAX))
			fail_msg("%s:\n%s---\n%s%s by \"%s\" of %zu bytes (%s), expected %zu",
				 d->right, texts[0], texts[1], side ? "wider" : "narrower",
				 w->object ? w->object : "nothing", w->size,
				 w->bindings ? w->bindings : "", e->size[side]);
	}
}

static void test_against_brute_force(void **state)
{
	size_t differences = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(freep) char *first = NULL, *second = NULL;
		_cleanup_(compiled_policy_freep) struct compiled_policy *a = draw(&first);
		_cleanup_(compiled_policy_freep) struct compiled_policy *b = draw(&second);
		struct compiled_policy *const policies[] = {a, b};
		const char *const texts[] = {first, second};
		struct expected e[3];
		struct policy_difference d[POLICY_DIFFERENCES];

		memset(e, 0xff, sizeof(e));
		compare_all(policies, e);
		assert_int_equal(policy_diff(a, b, d), 0);
		for (size_t row = ROW_READ; row <= ROW_WRITE; row++)
			check_row(&e[row], &d[row], texts, &differences);
		policy_diff_release(d);
	}
	print_message("%zu shortest differences found both ways\n", differences);
	assert_true(differences > ROUNDS);
}

static void check_change(const char *first, const char *second, const char *section,
			 const char *right, enum setting_change change, const char *wider)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = compile_good(first);
	_cleanup_(compiled_policy_freep) struct compiled_policy *b = compile_good(second);
	struct policy_difference d[POLICY_DIFFERENCES];
	bool found = false;

	assert_int_equal(policy_diff(a, b, d), 0);
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++) {
		if (strcmp(d[i].section, section) != 0 || strcmp(d[i].right, right) != 0)
			continue;
		found = true;
		assert_int_equal(d[i].change, change);
		if (wider)
			assert_string_equal(d[i].wider.object, wider);
		else
			assert_null(d[i].wider.object);
	}
	assert_true(found);
	policy_diff_release(d);
}

static void test_other_objects(void **state)
{
	static const char none[] = "version: 1\n";

	(void)state;
	check_change(none, "version: 1\nexec:\n  - {allow: [map], paths: ['@memfd']}\n", "exec",
		     "map", SETTING_WIDER, "@memfd");
	check_change(none, "version: 1\nunix:\n  - {allow: [bind], abstract: [xy]}\n", "unix",
		     "bind", SETTING_WIDER, "abstract:xy");
	check_change(none, "version: 1\nunix:\n  - {allow: [connect], abstract: [xy]}\n", "unix",
		     "connect", SETTING_WIDER, "abstract:xy");
	check_change(none, "version: 1\nunix:\n  - {allow: [connect], paths: [/s]}\n", "unix",
		     "connect", SETTING_WIDER, "/s");
	check_change(
		"version: 1\nnetwork:\n  - {allow: [connect], to: [10.0.0.0/8], ports: [443]}\n",
		"version: 1\nnetwork:\n  - {allow: [connect], to: [10.0.0.0/31], ports: [443]}\n"
		"  - {allow: [connect], to: ['2001:db8::1'], ports: [53], protocols: [udp]}\n",
		"network", "connect", SETTING_BOTH, "udp:[2001:db8::1]:53");
	check_change(
		"version: 1\nnetwork:\n  - {allow: [connect], to: [10.0.0.0/8]}\n",
		"version: 1\nnetwork:\n  - {allow: [connect], to: [10.0.0.0/9, 10.128.0.0/9]}\n",
		"network", "connect", SETTING_EQUAL, NULL);
	check_change(
		none,
		"version: 1\nnetwork:\n  - {allow: [socket], families: [netlink], types: [raw], "
		"protocols: [9]}\n",
		"network", "socket", SETTING_WIDER, "netlink/raw/9");
}

/* What only shows where a variable lies inside what another rule speaks of. */
static void test_variables(void **state)
{
	static const char plain[] =
		"version: 1\nfiles:\n  - {allow: [read], paths: ['${workdir}/**']}\n";
	static const char denied[] =
		"version: 1\nfiles:\n  - {allow: [read], paths: ['${workdir}/**']}\n"
		"  - {deny: [all], paths: [/h/s]}\n";
	static const char nested[] =
		"version: 1\nfiles:\n  - {allow: [read], paths: ['${workdir}/**']}\n"
		"  - {deny: [all], paths: ['${tmp}']}\n";

	(void)state;
	check_change(plain, denied, "files", "read", SETTING_NARROWER, NULL);
	check_change(denied, plain, "files", "read", SETTING_WIDER, "/h/s");
	check_change(nested, plain, "files", "read", SETTING_WIDER, "/a/a");
	/* The same variable under another number. */
	check_change(
		"version: 1\nvariables: [x, y]\nfiles:\n  - {allow: [read], paths: ['${y}/a']}\n",
		"version: 1\nvariables: [y, x]\nfiles:\n  - {allow: [read], paths: ['${y}/a']}\n",
		"files", "read", SETTING_EQUAL, NULL);
	check_change(
		"version: 1\nvariables: [x, y]\nfiles:\n  - {allow: [read], paths: ['${y}/a']}\n",
		"version: 1\nvariables: [y, x]\nfiles:\n  - {allow: [read], paths: ['${x}/a']}\n",
		"files", "read", SETTING_BOTH, "/a/a");
}

static enum setting_change compare_setting(const char *name, const char *first, const char *second)
{
	char x[1024], y[1024];
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = NULL, *b = NULL;

	snprintf(x, sizeof(x), "version: 1\n%s\n", first);
	snprintf(y, sizeof(y), "version: 1\n%s\n", second);
	a = compile_good(x);
	b = compile_good(y);
	for (size_t i = 0; setting_name(i); i++)
		if (strcmp(setting_name(i), name) == 0)
			return setting_compare(a, b, i);
	fail_msg("no setting %s", name);
	return SETTING_EQUAL;
}

/*
 * Whoever may create may make anything special, unless the policy says that it takes a right of its
 * own.
 */
static void test_special(void **state)
{
#define RULES	     "files:\n  - {allow: [create], paths: [/a, /b]}\n"
#define SPECIAL_RULE "  - {allow: [special], paths: [/b, /c]}\n"
	static const char any[] = "version: 1\n" RULES, judged[] =
								"version: 1\n"
								"process: {special: deny}\n" RULES;
	static const char some[] = "version: 1\n"
				   "process: {special: deny}\n" RULES SPECIAL_RULE;

	static const char none[] = "version: 1\n"
				   "process: {special: deny}\n" RULES SPECIAL_RULE
				   "  - {deny: [special], paths: [/b]}\n";

	(void)state;
	check_change(any, any, "files", "special", SETTING_EQUAL, NULL);
	check_change(any, judged, "files", "special", SETTING_NARROWER, NULL);
	check_change(judged, any, "files", "special", SETTING_WIDER, "/a");
	check_change(judged, some, "files", "special", SETTING_WIDER, "/b");
	check_change(any, some, "files", "special", SETTING_NARROWER, NULL);
	check_change("version: 1\n", any, "files", "special", SETTING_EQUAL, NULL);
	check_change(some, none, "files", "link", SETTING_NARROWER, NULL);
	check_change(none, some, "files", "link", SETTING_WIDER, "/b");
	check_change(any, judged, "files", "link", SETTING_EQUAL, NULL);
	assert_int_equal(compare_setting("process.special", "", "process: {special: deny}"),
			 SETTING_NARROWER);
}

/*
 * What `special: deny` decides has a product of its own: the rest of two policies that are the same
 * else is settled at once, however many tuples theirs has.
 */
static void test_special_is_apart(void **state)
{
#define LONG_RULES                                                                                  \
	"files:\n"                                                                                  \
	"  - {allow: [read, write, create, delete], paths: ['${workdir}/**', '${tmp}/**']}\n"       \
	"  - {deny: [all], paths: ['/**/.git/config', '/**/.ssh/**', '${home}/.cache/*/x']}\n"      \
	"  - {deny: [write], paths: ['${workdir}/**/.git/hooks/**', '/**/*.key', '/**/.aws/**']}\n" \
	"  - {allow: [read], paths: ['/usr/lib/python3*/**', '/etc/*.conf', /proc/self/maps]}\n"
	_cleanup_(compiled_policy_freep) struct compiled_policy *a =
		compile_good("version: 1\nprocess: {special: deny}\n" LONG_RULES);
	_cleanup_(compiled_policy_freep) struct compiled_policy *b =
		compile_good("version: 1\n" LONG_RULES);
	struct policy_difference differences[POLICY_DIFFERENCES];

	(void)state;
	assert_int_equal(policy_diff_within(a, b, SPECIAL_TUPLES, differences), 0);
	policy_diff_release(differences);
}

static void test_settings(void **state)
{
	(void)state;
	assert_int_equal(compare_setting("limits.memory", "limits: {memory: 1G}", ""),
			 SETTING_WIDER);
	assert_int_equal(compare_setting("limits.memory", "", "limits: {memory: 1G}"),
			 SETTING_NARROWER);
	assert_int_equal(compare_setting("limits.wall", "limits: {wall: 1m}",
					 "limits: {wall: 60s}"),
			 SETTING_EQUAL);
	assert_int_equal(compare_setting("process.capabilities", "process: {capabilities: [kill]}",
					 "process: {capabilities: [chown]}"),
			 SETTING_BOTH);
	assert_int_equal(compare_setting("process.trace", "", "process: {trace: own}"),
			 SETTING_WIDER);
	assert_int_equal(compare_setting("process.namespaces", "", "process: {namespaces: allow}"),
			 SETTING_WIDER);
	assert_int_equal(compare_setting("process.namespaces", "process: {namespaces: allow}",
					 "process: {namespaces: own}"),
			 SETTING_WIDER);
	assert_int_equal(compare_setting("process.namespaces", "process: {namespaces: own}",
					 "process: {namespaces: deny}"),
			 SETTING_NARROWER);
	assert_int_equal(compare_setting("mode", "mode: observe", ""), SETTING_NARROWER);
	assert_int_equal(compare_setting("on_denial.limit", "on_denial: {limit: 5, action: kill}",
					 "on_denial: {limit: 6, action: kill}"),
			 SETTING_WIDER);
	assert_int_equal(compare_setting("ask", "ask: 1h", "ask: 60m"), SETTING_EQUAL);
	assert_int_equal(compare_setting("ask", "", "ask: 30s"), SETTING_WIDER);
	assert_int_equal(compare_setting("ask", "ask: 1m", "ask: none"), SETTING_NARROWER);
	assert_int_equal(compare_setting("audit.opens", "audit: {opens: all}",
					 "audit: {opens: denied}"),
			 SETTING_WIDER);
	assert_int_equal(compare_setting("environment.keep", "environment: {keep: ['LC_*', PATH]}",
					 "environment: {keep: [LC_ALL, PATH]}"),
			 SETTING_NARROWER);
	assert_int_equal(compare_setting("environment.keep", "environment: {keep: ['LC_*']}",
					 "environment: {keep: ['L*', HOME]}"),
			 SETTING_WIDER);
	assert_int_equal(compare_setting("environment.set", "environment: {set: {A: \"1\"}}",
					 "environment: {set: {A: \"2\"}}"),
			 SETTING_BOTH);
}

static void test_widening(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = compile_good(
		"version: 1\nlimits: {memory: 1G}\nfiles:\n  - {allow: [read], paths: [/a]}\n");
	_cleanup_(compiled_policy_freep) struct compiled_policy *b = compile_good(
		"version: 1\nprocess: {trace: own}\nfiles:\n  - {allow: [read, write], paths: [/a]}\n");
	char **lines = NULL;

	(void)state;
	assert_int_equal(widening_describe(a, b, &lines), 0);
	assert_string_equal(lines[0],
			    "files write /a, allowed by test.yaml:4: allow read, write /a");
	assert_string_equal(lines[1], "process.trace: none -> own");
	/* The limit that is gone has had its effect at the launch. */
	assert_null(lines[2]);
	widening_free(lines);
	assert_int_equal(widening_describe(b, a, &lines), 0);
	assert_null(lines[0]);
	widening_free(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_brute_force),
		cmocka_unit_test(test_other_objects),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_special_is_apart),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_widening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
