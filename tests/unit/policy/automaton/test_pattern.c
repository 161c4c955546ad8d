/* SPDX-License-Identifier: Apache-2.0 */
/* Path patterns and what they match. */
#include "tests/unit/policy/support.h"

static int allows(const char *pattern, const char *name)
{
	char text[1024];
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;

	snprintf(text, sizeof(text), "version: 1\nfiles:\n  - {allow: [read], paths: ['%s']}\n",
		 pattern);
	p = compile_good(text);
	return granted_path(p, name, CORDON_READ);
}

static int denies(const char *pattern, const char *name)
{
	char text[1024];
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;

	snprintf(text, sizeof(text), "version: 1\nfiles:\n  - {deny: [read], paths: ['%s']}\n",
		 pattern);
	p = compile_good(text);
	return (ask_path(p, name).verdict.deny & CORDON_RIGHT(CORDON_READ)) != 0;
}

static void test_listing(void **state)
{
	(void)state;
	assert_true(allows("/usr/lib/**", "/usr/lib/"));
	assert_true(allows("/usr/lib/**", "/usr/lib/a/b"));
	assert_true(allows("/usr/lib/**", "/usr/lib/a/"));
	assert_false(allows("/usr/lib/**", "/usr/lib"));
	assert_true(allows("/usr/lib/*", "/usr/lib/"));
	assert_true(allows("/usr/lib/*", "/usr/lib/a"));
	assert_false(allows("/usr/lib/*", "/usr/lib/a/b"));
	assert_true(allows("/usr/lib/", "/usr/lib/"));
	assert_false(allows("/usr/lib/", "/usr/lib"));
	assert_false(allows("/usr/lib/", "/usr/lib/a"));
	assert_true(allows("/usr/lib", "/usr/lib"));
	assert_true(allows("/usr/lib", "/usr/lib/"));
	assert_false(allows("/usr/lib", "/usr/lib/a"));
	assert_true(allows("/", "/"));
	assert_false(allows("/", "/a"));
	assert_true(allows("/**", "/"));
}

static void test_itself(void **state)
{
	(void)state;
	assert_true(denies("/a/.git/.", "/a/.git"));
	assert_false(denies("/a/.git/.", "/a/.git/x"));
	assert_false(denies("/a/.git/.", "/a/.git/"));
	assert_true(denies("/*/x/.", "/a/x"));
	assert_false(denies("/*/x/.", "/a/x/x"));
	assert_true(allows("/a/.", "/a"));
	assert_false(allows("/a/.", "/a/"));
	assert_false(allows("/a/.", "/a/b"));
}

static void test_wildcards(void **state)
{
	(void)state;
	assert_true(allows("/a/**/b", "/a/b"));
	assert_true(allows("/a/**/b", "/a/x/y/b"));
	assert_false(allows("/a/**/b", "/ab"));
	assert_false(allows("/a/**/b", "/a/xb"));
	assert_true(allows("**/x", "/x"));
	assert_true(allows("**/x", "/a/b/x"));
	assert_false(allows("**/x", "/ax"));
	assert_true(allows("/a**", "/abc/d"));
	assert_true(allows("/a//b", "/a/b"));
	assert_true(allows("/{a,b/{c,d}}/e", "/b/d/e"));
	assert_false(allows("/{a,b/{c,d}}/e", "/b/e"));
	assert_true(allows("/a{,.old}", "/a"));
	assert_true(allows("/a{,.old}", "/a.old"));
	assert_true(allows("/[a-c]x", "/bx"));
	assert_false(allows("/[!a-c]x", "/bx"));
	assert_true(allows("/[!a-c]x", "/\xc3\xa4x"));
	assert_false(allows("/[!a]b", "//b"));
	assert_true(allows("/[]x]", "/]"));
	assert_true(allows("/?", "/\xc3\xa4"));
	assert_true(allows("/?", "/\xff"));
	assert_false(allows("/?", "/ab"));
	assert_false(allows("/?", "//"));
	assert_true(allows("/\\*", "/*"));
	assert_false(allows("/\\*", "/a"));
	assert_true(allows("/\\{a\\}", "/{a}"));
	assert_true(allows("/$a", "/$a"));
}

static void test_deny_covers_what_lies_below(void **state)
{
	(void)state;
	assert_true(denies("/a", "/a"));
	assert_true(denies("/a", "/a/"));
	assert_true(denies("/a", "/a/b/c"));
	assert_false(denies("/a", "/ab"));
	assert_false(denies("/a/**", "/a"));
	assert_true(denies("/a/**", "/a/"));
	assert_false(denies("/a/", "/a"));
	assert_true(denies("/a/", "/a/b"));
	assert_true(denies("**/.env", "/x/.env/y"));
	assert_true(denies("/", "/etc"));
}

static void test_anchors(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p =
		compile_good("version: 1\n"
			     "variables: [data]\n"
			     "files:\n"
			     "  - {allow: [read], paths: ['${workdir}/**', '${data}']}\n"
			     "  - {allow: [write], paths: ['${workdir}']}\n"
			     "  - {deny: [write], paths: ['${tmp}']}\n");
	const struct cordon_policy_header *h = (const void *)p->tables;
	unsigned int data = CORDON_START_ANCHOR + CORDON_ANCHOR_USER;

	(void)state;
	assert_int_equal(h->anchors_used, 1u << CORDON_ANCHOR_WORKDIR | 1u << CORDON_ANCHOR_TMP |
						  1u << CORDON_ANCHOR_USER);
	assert_string_equal(p->anchor_names[CORDON_ANCHOR_USER], "data");
	assert_null(p->anchor_names[CORDON_ANCHOR_USER + 1]);
	assert_true(granted(p, CORDON_START_ANCHOR, "/", CORDON_READ));
	assert_true(granted(p, CORDON_START_ANCHOR, "/a", CORDON_READ));
	assert_false(granted(p, CORDON_START_ANCHOR, "", CORDON_READ));
	assert_true(granted(p, CORDON_START_ANCHOR, "", CORDON_WRITE));
	assert_false(granted(p, CORDON_START_ANCHOR, "/a", CORDON_WRITE));
	assert_true(granted(p, data, "", CORDON_READ));
	assert_true(granted(p, data, "/", CORDON_READ));
	assert_false(granted(p, data, "/a", CORDON_READ));
	assert_int_equal(ask(p, CORDON_START_ANCHOR + CORDON_ANCHOR_TMP, "/x", 2).deny,
			 CORDON_RIGHT(CORDON_WRITE));
	assert_false(granted(p, CORDON_START_PATH, "/a", CORDON_READ));
}

/* The runs of one question, combined as the kernel combines them. */
static void test_whole_question(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p =
		compile_good("version: 1\n"
			     "files:\n"
			     "  - {allow: [read], paths: ['/srv/**', /]}\n"
			     "  - {deny: [all], paths: ['**/.env']}\n"
			     "  - {allow: [write], paths: ['${workdir}/**', '${workdir}']}\n"
			     "  - {deny: [write], paths: [/srv/w/sealed, '${workdir}/x']}\n");
	const struct cordon_policy_header *h = (const void *)p->tables;
	struct policy_path path = path_of("/srv/w/sealed", 13);
	struct policy_answer a;

	(void)state;
	assert_int_equal(h->start[CORDON_START_NET], CORDON_STATE_DEAD);
	assert_int_not_equal(h->start[CORDON_START_FLOATING], CORDON_STATE_DEAD);
	path.anchors[CORDON_ANCHOR_WORKDIR] = strlen("/srv/w");
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 3, &a), 0);
	assert_int_equal(a.missing, CORDON_RIGHT(CORDON_WRITE));
	assert_int_equal(a.rule[CORDON_WRITE], 3);
	assert_int_equal(a.rule[CORDON_READ], 0);
	path.name = "/srv/w/a/.env/b";
	path.size = strlen(path.name);
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 3, &a), 0);
	assert_int_equal(a.missing, 3);
	assert_int_equal(a.rule[CORDON_WRITE], 1);
	path.name = "/srv/w";
	path.size = strlen(path.name);
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 3, &a), 0);
	assert_int_equal(a.missing, 0);
	path.listing = true;
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 3, &a), 0);
	assert_int_equal(a.missing, 0);
	path.anchors[CORDON_ANCHOR_WORKDIR] = 3;
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 3, &a), -EINVAL);
	/* The root as work directory: no component, and a slash only as an absolute name. */
	path = path_of("/", 1);
	path.anchors[CORDON_ANCHOR_WORKDIR] = 0;
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 3, &a), 0);
	assert_int_equal(a.missing, 0);
	path = path_of("/x/y", 4);
	path.anchors[CORDON_ANCHOR_WORKDIR] = 0;
	assert_int_equal(policy_judge_path(p->tables, p->tables_size, &path, 3, &a), 0);
	assert_int_equal(a.missing, 3);
	assert_int_equal(a.rule[CORDON_WRITE], 3);
}

static void test_specials_and_abstract_names(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p =
		compile_good("version: 1\n"
			     "exec:\n"
			     "  - {allow: [map], paths: ['@anonymous', '/**']}\n"
			     "unix:\n"
			     "  - {allow: [connect, bind], abstract: ['a/*', 'b**']}\n");

	(void)state;
	assert_true(granted(p, CORDON_START_PATH, "@anonymous", CORDON_MAP));
	assert_false(granted(p, CORDON_START_PATH, "@memfd", CORDON_MAP));
	assert_true(granted(p, CORDON_START_ABSTRACT, "a/x", CORDON_UNIX_BIND));
	assert_false(granted(p, CORDON_START_ABSTRACT, "a/x/y", CORDON_UNIX_BIND));
	assert_true(granted(p, CORDON_START_ABSTRACT, "bx/y", CORDON_UNIX_CONNECT));
	assert_false(granted(p, CORDON_START_PATH, "a/x", CORDON_UNIX_CONNECT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_itself),
		cmocka_unit_test(test_wildcards),
		cmocka_unit_test(test_deny_covers_what_lies_below),
		cmocka_unit_test(test_anchors),
		cmocka_unit_test(test_whole_question),
		cmocka_unit_test(test_specials_and_abstract_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
