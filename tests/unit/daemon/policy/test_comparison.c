/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is compared beside the loop: it counts as if the loop had done it, while the same is
 * approved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "daemon/policy/approval_file.h"
#include "daemon/policy/approvals.h"
#include "daemon/policy/comparing.h"
#include "daemon/policy/comparison.h"
#include "daemon/privsep/errand.h"
#include "policy/compile/compile.h"

#define NOW (1800000000ull * 1000000000ull)

#define POLICY(rest)                                                                               \
	"version: 1\nname: p\nfiles:\n"                                                            \
	"  - {allow: [read], paths: [/srv/a/**, /srv/b/**]}\n" rest
#define NARROWER "version: 1\nname: p\nfiles:\n  - {allow: [read], paths: [/srv/a/**]}\n"
#define WIDER	 POLICY("  - {allow: [write], paths: [/etc/**]}\n")

static char directory[64];
static struct approvals *approvals;

static int recorder(void *context, const struct audit_approval *approval)
{
	(void)context;
	(void)approval;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int setup(void **state)
{
	struct failure failure = {};

	(void)state;
	strcpy(directory, "/tmp/cordon-comparison-XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(approvals_open(directory, &approvals, &failure), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	approvals_free(approvals);
	return nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct compiled_policy *compile(const char *text)
{
	const char *const none[] = {NULL};
	const struct policy_search search = {.directories = none};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *policy;

	assert_int_equal(policy_compile_text(text, strlen(text), "/p.yaml", &search, d, &policy),
			 0);
	return policy;
}

static void approve(const char *text)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile(text);
	const struct approval_decision decision = {
		.decision = AUDIT_APPROVAL_GRANTED,
		.ahead = policy,
		.reason = "a reason",
		.who = {.pid = getpid(), .uid = geteuid()},
	};
	struct failure failure = {};
	json_t *entry = NULL;

	assert_int_equal(
		approvals_decide(approvals, &decision, NOW, recorder, NULL, &entry, &failure), 0);
	json_decref(entry);
}

static bool must_compare(const char *text)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile(text);

	return approvals_must_compare(approvals, policy, NULL, NOW);
}

/* What an errand would write. */
static char *written(const char *text, size_t *ret_size)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile(text);
	struct failure failure = {};
	char *data = NULL;
	FILE *to = open_memstream(&data, ret_size);

	assert_non_null(to);
	assert_int_equal(approvals_write_comparison(approvals, policy, NULL, NOW, to, &failure), 0);
	assert_int_equal(fclose(to), 0);
	return data;
}

static void compare_beside(const char *text)
{
	size_t size;
	_cleanup_(freep) char *data = written(text, &size);

	assert_int_equal(approvals_take_comparison(approvals, data, size), 0);
}

static int check(const char *text, char **ret_message)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile(text);
	struct failure failure = {};

	return approvals_check(approvals, policy, NULL, 1000, NOW, recorder, NULL, ret_message,
			       &failure);
}

static void test_what_is_compared(void **state)
{
	_cleanup_(freep) char *none = NULL, *message = NULL;

	(void)state;
	/* There is nothing to compare it with. */
	assert_false(must_compare(POLICY("")));
	approve(POLICY(""));
	assert_false(must_compare(POLICY("")));
	assert_true(must_compare(NARROWER));
	compare_beside(NARROWER);
	assert_false(must_compare(NARROWER));
	assert_int_equal(check(NARROWER, &none), 0);
	assert_false(must_compare(NARROWER));
	assert_true(must_compare(WIDER));
	compare_beside(WIDER);
	assert_int_equal(check(WIDER, &message), -EPERM);
	assert_non_null(strstr(message, "/etc"));
	/* It waits, and need not be compared again until something else is approved. */
	assert_false(must_compare(WIDER));
	approve(POLICY("  - {allow: [write], paths: [/var/**]}\n"));
	assert_true(must_compare(WIDER));
	/* What is covered stays so, however much more is approved. */
	assert_false(must_compare(NARROWER));
	assert_int_equal(check(NARROWER, &none), 0);
}

/* What others were approved meanwhile, or are not any more, decides. */
static void test_stale(void **state)
{
	_cleanup_(freep) char *data = NULL, *none = NULL;
	size_t size;

	(void)state;
	approve(POLICY(""));
	data = written(WIDER, &size);
	approve(WIDER);
	assert_int_equal(approvals_take_comparison(approvals, data, size), -ESTALE);
	assert_int_equal(check(WIDER, &none), 0);
}

static void decide(enum audit_approval_decision decision, const char *text)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile(text);
	unsigned char identity[SHA256_SIZE];
	char digest[SHA256_TEXT_SIZE];
	const struct approval_decision decided = {
		.decision = decision,
		.digest = digest,
		.reason = "a reason",
		.who = {.pid = getpid(), .uid = geteuid()},
	};
	struct failure failure = {};
	json_t *entry = NULL;

	assert_int_equal(approval_identity(policy, NULL, identity), 0);
	hex_encode(identity, sizeof(identity), digest);
	assert_int_equal(
		approvals_decide(approvals, &decided, NOW, recorder, NULL, &entry, &failure), 0);
	json_decref(entry);
}

/* Nor does it say anything once what it was compared with is approved no more. */
static void test_stale_by_revocation(void **state)
{
	_cleanup_(freep) char *data = NULL, *message = NULL;
	size_t size;

	(void)state;
	approve(POLICY(""));
	data = written(NARROWER, &size);
	decide(AUDIT_APPROVAL_REVOKED, POLICY(""));
	assert_int_equal(approvals_take_comparison(approvals, data, size), -ESTALE);
	assert_int_equal(check(NARROWER, &message), -EPERM);
}

/* What is refused has covered nothing: what was found stays. */
static void test_refusal_changes_nothing(void **state)
{
	_cleanup_(freep) char *data = NULL, *message = NULL;
	size_t size;

	(void)state;
	approve(POLICY(""));
	data = written(NARROWER, &size);
	assert_int_equal(check(WIDER, &message), -EPERM);
	decide(AUDIT_APPROVAL_REFUSED, WIDER);
	assert_int_equal(approvals_take_comparison(approvals, data, size), 0);
	assert_false(must_compare(NARROWER));
}

/* --- beside the loop ---------------------------------------------------------------------- */

/* What was compiled, and what for. */
struct compiling {
	struct policy_use uses[3];
	const char *purposes[3];
};

const struct policy_use *compiling_use(const struct compiling *compiling, size_t index)
{
	return index < ARRAY_SIZE(compiling->uses) ? &compiling->uses[index] : NULL;
}

const char *compiling_purpose(const struct compiling *compiling, size_t index)
{
	return compiling->purposes[index];
}

static int done = -1;

static void on_done(void *context, int result, const struct failure *failure)
{
	(void)failure;
	assert_int_equal(result, 0);
	done++;
	comparing_free(TAKE_PTR(*(struct comparing **)context));
}

/* Only what has to be, each for what it is for; the loop finds it. */
static void test_beside_the_loop(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *narrower = compile(NARROWER),
								*wider = compile(WIDER);
	struct event_base *base = event_base_new();
	struct compiling compiling = {
		.uses = {{.policy = narrower}, {.policy = narrower}, {.policy = wider}},
		.purposes = {"of another use"},
	};
	struct comparing *comparing = NULL;
	struct comparing_job job = {
		.base = base,
		.approvals = approvals,
		.compiling = &compiling,
		.done = on_done,
		.context = &comparing,
	};
	struct failure failure = {};

	(void)state;
	done = 0;
	/* Nothing is approved of that name. */
	assert_int_equal(comparing_start(&job, &comparing, &failure), 0);
	approve(POLICY(""));
	assert_true(must_compare(NARROWER) && must_compare(WIDER));
	assert_int_equal(comparing_start(&job, &comparing, &failure), 1);
	comparing_free(TAKE_PTR(comparing));
	assert_int_equal(comparing_start(&job, &comparing, &failure), 1);
	while (done == 0)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
	assert_false(must_compare(NARROWER) || must_compare(WIDER));
	assert_int_equal(comparing_start(&job, &comparing, &failure), 0);
	job.approvals = NULL;
	assert_int_equal(comparing_start(&job, &comparing, &failure), 0);
	assert_int_equal(done, 1);
	comparing_free(NULL);
	errands_forget();
	event_base_free(base);
}

static void test_damaged(void **state)
{
	_cleanup_(freep) char *data = NULL, *larger = NULL;
	size_t size;

	(void)state;
	approve(POLICY(""));
	data = written(WIDER, &size);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(approvals_take_comparison(approvals, data, i), -EPROTO);
	larger = calloc(1, size + 1);
	assert_non_null(larger);
	memcpy(larger, data, size);
	assert_int_equal(approvals_take_comparison(approvals, larger, size + 1), -EPROTO);
	assert_true(must_compare(WIDER));
	assert_int_equal(approvals_take_comparison(approvals, data, size), 0);
	assert_false(must_compare(WIDER));
}

/*
 * Any directory may be bound below any other one: twice as many names to tell apart with each rule.
 */
static void write_large(char *text, size_t size)
{
	FILE *to = fmemopen(text, size, "w");

	assert_non_null(to);
	fputs("version: 1\nname: p\nvariables: [v, w, x]\nfiles:\n", to);
	for (int i = 0; i < 13; i++)
		fprintf(to, "  - {allow: [read], paths: ['${%c}/**/%c/**/%c*']}\n", "vwx"[i % 3],
			'a' + i, 'h' + i);
	assert_int_equal(fclose(to), 0);
}

static void test_more_than_the_loop_compares(void **state)
{
	_cleanup_(freep) char *message = NULL;
	char large[2048];

	(void)state;
	write_large(large, sizeof(large));
	approve(POLICY(""));
	compare_beside(large);
	assert_int_equal(check(large, &message), -EPERM);
	assert_non_null(strstr(message, "files read "));
	free(TAKE_PTR(message));
	/* By the loop alone it is not told in what it is wider, but waits all the same. */
	assert_int_equal(teardown(NULL) | setup(NULL), 0);
	approve(POLICY(""));
	assert_int_equal(check(large, &message), -EPERM);
	assert_non_null(strstr(message, "cannot be compared"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_compared, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale_by_revocation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusal_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beside_the_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_more_than_the_loop_compares, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
