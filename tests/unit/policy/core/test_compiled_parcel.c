/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled policy comes out of a parcel as it went in, and out of a damaged one not at all. */
#include "tests/unit/policy/support.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/core/compiled_parcel.h"

static const char whole[] = "version: 1\n"
			    "name: whole\n"
			    "description: all of it\n"
			    "limits: {wall: 1m, memory: 1G, pids: 64}\n"
			    "environment: {keep: [PATH, 'LC_*'], set: {A: '1', B: ''}}\n"
			    "audit: {arguments: full}\n"
			    "run_by: [alice, '@agents']\n"
			    "variables: [docs]\n"
			    "files:\n"
			    "  - allow: [read, write]\n"
			    "    paths: [/a, '${tmp}/**', '${docs}/**']\n"
			    "    severity: high\n"
			    "    tags: [x, y]\n"
			    "    message: why\n";

static void put(const struct compiled_policy *policy, char **ret_data, size_t *ret_size)
{
	FILE *to = open_memstream(ret_data, ret_size);

	assert_non_null(to);
	compiled_policy_put(to, policy);
	assert_int_equal(fclose(to), 0);
}

static void assert_same_texts(char *const *a, char *const *b)
{
	assert_true((a == NULL) == (b == NULL));
	for (; a && *a; a++, b++)
		assert_string_equal(*a, *b);
	assert_true(!b || !*b);
}

static void assert_same_text(const char *a, const char *b)
{
	assert_true((a == NULL) == (b == NULL));
	if (a)
		assert_string_equal(a, b);
}

static void assert_same(const struct compiled_policy *a, const struct compiled_policy *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->file, b->file);
	assert_same_text(a->description, b->description);
	assert_memory_equal(a->digest, b->digest, sizeof(a->digest));
	assert_string_equal(a->digest_text, b->digest_text);
	assert_int_equal(a->tables_size, b->tables_size);
	assert_memory_equal(a->tables, b->tables, a->tables_size);
	assert_memory_equal(&a->limits, &b->limits, sizeof(a->limits));
	assert_int_equal(a->environment.keep_all, b->environment.keep_all);
	assert_same_texts(a->environment.keep, b->environment.keep);
	assert_same_texts(a->environment.set_names, b->environment.set_names);
	assert_same_texts(a->environment.set_values, b->environment.set_values);
	assert_int_equal(a->arguments, b->arguments);
	assert_int_equal(a->observe, b->observe);
	assert_same_texts(a->run_by, b->run_by);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		assert_same_text(a->anchor_names[i], b->anchor_names[i]);
	assert_int_equal(a->rule_count, b->rule_count);
	for (size_t i = 0; i < a->rule_count; i++) {
		assert_string_equal(a->rules[i].file, b->rules[i].file);
		assert_int_equal(a->rules[i].line, b->rules[i].line);
		assert_string_equal(a->rules[i].text, b->rules[i].text);
		assert_same_text(a->rules[i].severity, b->rules[i].severity);
		assert_same_text(a->rules[i].message, b->rules[i].message);
		assert_same_texts(a->rules[i].tags, b->rules[i].tags);
	}
}

static void expect_same(const struct compiled_policy *policy)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *read = NULL;
	_cleanup_(freep) char *data = NULL;
	struct parcel from;
	size_t size;

	put(policy, &data, &size);
	from = (struct parcel){data, size};
	assert_int_equal(compiled_policy_take(&from, &read), 0);
	assert_int_equal(from.left, 0);
	assert_same(policy, read);
}

static void test_same(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile_good(whole);
	_cleanup_(compiled_policy_freep) struct compiled_policy *least =
		compile_good("version: 1\nname: least\nmode: observe\n");

	(void)state;
	expect_same(policy);
	expect_same(least);
	assert_int_equal(compiled_policy_observe(policy), 0);
	expect_same(policy);
}

static void test_cut(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile_good(whole);
	_cleanup_(freep) char *data = NULL;
	size_t size;

	(void)state;
	put(policy, &data, &size);
	/* The tables at its end are long, and one size. */
	for (size_t cut = 0; cut < size; cut += cut < size - policy->tables_size ? 1 : 4096) {
		struct compiled_policy *read = NULL;
		struct parcel from = {data, cut};

		assert_int_equal(compiled_policy_take(&from, &read), -EPROTO);
		assert_null(read);
	}
}

/* Whatever a byte becomes, it is refused or something that can be freed. */
static void test_damaged(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile_good(whole);
	_cleanup_(freep) char *data = NULL;
	size_t size;

	(void)state;
	put(policy, &data, &size);
	for (size_t at = 0; at < size - policy->tables_size; at++) {
		const char before = data[at];

		for (int bit = 0; bit < 8; bit++) {
			struct compiled_policy *read = NULL;
			struct parcel from = {data, size};

			data[at] = (char)(before ^ (1 << bit));
			(void)compiled_policy_take(&from, &read);
			compiled_policy_free(read);
		}
		data[at] = before;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
