/* SPDX-License-Identifier: Apache-2.0 */
/* What waits for approval, what does not, and what decisions do, over restarts of the daemon too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/policy/approvals.h"
#include "policy/compile/compile.h"

#define HOUR 3600000000000ull
#define NOW  (1800000000ull * 1000000000ull)

#define POLICY(name, limit, rest)                                                                  \
	"version: 1\nname: " name "\nlimits: {memory: " limit "}\nfiles:\n"                        \
	"  - {allow: [read], paths: [/srv/a/**]}\n" rest
#define WRITES "  - {allow: [write], paths: [/srv/b/**]}\n"

static char directory[64];
static struct approvals *approvals;
static struct {
	int count, fails;
	enum audit_approval_decision last;
	char reason[64];
	bool witnesses;
} recorded;

static int recorder(void *context, const struct audit_approval *approval)
{
	(void)context;
	if (recorded.fails)
		return -ENOSPC;
	recorded.count++;
	recorded.last = approval->decision;
	recorded.witnesses = approval->witnesses && approval->witnesses[0];
	snprintf(recorded.reason, sizeof(recorded.reason), "%s",
		 approval->reason ? approval->reason : "");
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void reopen(void)
{
	struct failure failure = {};

	if (approvals)
		approvals_free(approvals);
	approvals = NULL;
	assert_int_equal(approvals_open(directory, &approvals, &failure), 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/cordon-approvals-XXXXXX");
	assert_non_null(mkdtemp(directory));
	memset(&recorded, 0, sizeof(recorded));
	reopen();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (approvals)
		approvals_free(approvals);
	approvals = NULL;
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

static int check_use(const char *text, const char *use, uint64_t now, char **ret_message)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile(text);
	struct failure failure = {};
	char *message;
	int r = approvals_check(approvals, policy, use, 1000, now, recorder, NULL, &message,
				&failure);

	assert_true((r < 0) == (failure.text[0] != '\0'));
	if (ret_message)
		*ret_message = message;
	else
		free(message);
	return r;
}

static int check_at(const char *text, uint64_t now, char **ret_message)
{
	return check_use(text, NULL, now, ret_message);
}

static int check(const char *text)
{
	return check_at(text, NOW, NULL);
}

/* The digest that a refusal says how to approve. */
static char *asked_for_use(const char *text, const char *use)
{
	char *message, *at, *digest;

	assert_int_equal(check_use(text, use, NOW, &message), -EPERM);
	at = strstr(message, "cordon approve ");
	assert_non_null(at);
	digest = strndup(at + strlen("cordon approve "), 16);
	free(message);
	return digest;
}

static char *asked(const char *text)
{
	return asked_for_use(text, NULL);
}

static int decide(enum audit_approval_decision decision, const char *digest, uint64_t expires)
{
	const struct approval_decision d = {
		.decision = decision,
		.digest = digest,
		.reason = "a reason",
		.expires = expires,
		.who = {.pid = getpid(), .uid = geteuid()},
	};
	struct failure failure = {};
	json_t *entry = NULL;
	int r = approvals_decide(approvals, &d, NOW, recorder, NULL, &entry, &failure);

	json_decref(entry);
	return r;
}

static void approve(const char *text, uint64_t expires)
{
	_cleanup_(freep) char *digest = asked(text);

	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, expires), 0);
	assert_int_equal(check(text), 0);
}

static void test_first_use(void **state)
{
	_cleanup_(freep) char *digest = NULL, *message = NULL;

	(void)state;
	assert_int_equal(check_at(POLICY("p", "1G", ""), NOW, &message), -EPERM);
	assert_non_null(strstr(message, "none of this name is approved"));
	digest = asked(POLICY("p", "1G", ""));
	assert_int_equal(recorded.count, 0);
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, 0), 0);
	assert_int_equal(recorded.count, 1);
	assert_int_equal(recorded.last, AUDIT_APPROVAL_GRANTED);
	assert_string_equal(recorded.reason, "a reason");
	assert_int_equal(check(POLICY("p", "1G", "")), 0);
	/* Of another name it is another policy. */
	assert_int_equal(check(POLICY("q", "1G", "")), -EPERM);
	reopen();
	assert_int_equal(check(POLICY("p", "1G", "")), 0);
	assert_int_equal(check(POLICY("q", "1G", "")), -EPERM);
}

static void test_wider_waits_and_narrower_does_not(void **state)
{
	_cleanup_(freep) char *message = NULL, *limits = NULL;

	(void)state;
	approve(POLICY("p", "1G", WRITES), 0);
	assert_int_equal(check(POLICY("p", "512M", WRITES)), 0);
	assert_int_equal(check(POLICY("p", "1G", "")), 0);
	assert_int_equal(check_at(POLICY("p", "2G", WRITES), NOW, &limits), -EPERM);
	assert_non_null(strstr(limits, "limits.memory"));
	assert_int_equal(
		check_at(POLICY("p", "1G", WRITES "  - {allow: [write], paths: [/etc/**]}\n"), NOW,
			 &message),
		-EPERM);
	assert_non_null(strstr(message, "/etc"));
	assert_int_equal(check(POLICY("p", "1G", WRITES "environment: {keep: [SECRET]}\n")),
			 -EPERM);
	assert_int_equal(check(POLICY("p", "1G", WRITES "run_by: [alice]\n")), -EPERM);
	assert_int_equal(check(POLICY("p", "1G", WRITES "mode: observe\n")), -EPERM);
	reopen();
	assert_int_equal(check(POLICY("p", "512M", "")), 0);
	assert_int_equal(check(POLICY("p", "2G", "")), -EPERM);
}

/* Approved for one use, it is not for another, nor for anybody's; less of it needs no approval. */
static void test_uses(void **state)
{
	_cleanup_(freep) char *digest = asked_for_use(POLICY("p", "1G", ""), "a");

	(void)state;
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(check_use(POLICY("p", "1G", ""), "a", NOW, NULL), 0);
		assert_int_equal(check_use(POLICY("p", "512M", ""), "a", NOW, NULL), 0);
		assert_int_equal(check_use(POLICY("p", "2G", ""), "a", NOW, NULL), -EPERM);
		assert_int_equal(check_use(POLICY("p", "1G", ""), "b", NOW, NULL), -EPERM);
		assert_int_equal(check(POLICY("p", "1G", "")), -EPERM);
		reopen();
	}
	assert_int_equal(decide(AUDIT_APPROVAL_REVOKED, digest, 0), 0);
	assert_int_equal(check_use(POLICY("p", "512M", ""), "a", NOW, NULL), -EPERM);
}

/* The store keeps tables once, whatever policy has them. */
static void test_same_tables_under_two_names(void **state)
{
	(void)state;
	approve(POLICY("p", "1G", WRITES), 0);
	approve(POLICY("q", "1G", WRITES), 0);
	reopen();
	assert_int_equal(check(POLICY("p", "512M", WRITES)), 0);
	assert_int_equal(check(POLICY("q", "512M", WRITES)), 0);
	assert_int_equal(check(POLICY("q", "2G", WRITES)), -EPERM);
}

static void test_witnesses_are_recorded(void **state)
{
	(void)state;
	approve(POLICY("p", "1G", ""), 0);
	assert_false(recorded.witnesses);
	approve(POLICY("p", "1G", WRITES), 0);
	assert_true(recorded.witnesses);
}

static void test_expiry(void **state)
{
	(void)state;
	approve(POLICY("p", "1G", WRITES), NOW + HOUR);
	assert_int_equal(check(POLICY("p", "1G", "")), 0);
	assert_int_equal(check_at(POLICY("p", "1G", ""), NOW + HOUR - 1, NULL), 0);
	/* With it goes what was let in because it allows less. */
	assert_int_equal(check_at(POLICY("p", "1G", ""), NOW + HOUR, NULL), -EPERM);
	assert_int_equal(recorded.last, AUDIT_APPROVAL_EXPIRED);
	assert_int_equal(recorded.count, 2);
	assert_int_equal(check_at(POLICY("p", "1G", WRITES), NOW + HOUR, NULL), -EPERM);
	assert_int_equal(recorded.count, 2);
	reopen();
	/* Not even where the clock goes back. */
	assert_int_equal(check(POLICY("p", "1G", WRITES)), -EPERM);
}

static void version(char text[512], int number)
{
	int size = snprintf(text, 512, POLICY("p", "1G", ""));

	for (int i = 0; i < 4; i++)
		size += snprintf(text + size, 512 - (size_t)size,
				 "  - {allow: [write], paths: [/srv/%d/**/x%d*y*]}\n", number, i);
}

static uint64_t processor_nsec(int checks, const struct compiled_policy *policy)
{
	uint64_t start = clock_nsec(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < checks; i++) {
		struct failure failure = {};
		char *message;

		assert_int_equal(approvals_check(approvals, policy, NULL, 1000, NOW, recorder, NULL,
						 &message, &failure),
				 -EPERM);
		free(message);
	}
	return clock_nsec(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* What waits is asked about every second: it is compared when it comes, and after each decision. */
static void test_waiting_is_compared_once(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	char text[512];
	uint64_t first;

	(void)state;
	for (int i = 0; i < 5; i++) {
		version(text, i);
		approve(text, 0);
	}
	version(text, 9);
	policy = compile(text);
	first = processor_nsec(1, policy);
	assert_true(processor_nsec(20, policy) < 5 * first);
	/* A decision about another may let it in. */
	approve(POLICY("p", "1G", "  - {allow: [write], paths: [/srv/**]}\n"), 0);
	assert_int_equal(check(text), 0);
}

static void test_refusal_and_revocation(void **state)
{
	_cleanup_(freep) char *digest = asked(POLICY("p", "1G", "")), *wide = NULL;

	(void)state;
	assert_int_equal(decide(AUDIT_APPROVAL_REVOKED, digest, 0), -EINVAL);
	assert_int_equal(decide(AUDIT_APPROVAL_REFUSED, digest, 0), 0);
	assert_int_equal(decide(AUDIT_APPROVAL_REFUSED, digest, 0), -EALREADY);
	assert_int_equal(check(POLICY("p", "1G", "")), -EPERM);
	/* Not by the back door either: by one that allows more. */
	wide = asked(POLICY("p", "1G", WRITES));
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, wide, 0), 0);
	assert_int_equal(check(POLICY("p", "1G", "")), -EPERM);
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, 0), 0);
	assert_int_equal(check(POLICY("p", "1G", "")), 0);
	assert_int_equal(decide(AUDIT_APPROVAL_REFUSED, digest, 0), -EINVAL);
	assert_int_equal(decide(AUDIT_APPROVAL_REVOKED, digest, 0), 0);
	assert_int_equal(recorded.last, AUDIT_APPROVAL_REVOKED);
	assert_int_equal(check(POLICY("p", "1G", "")), -EPERM);
	reopen();
	assert_int_equal(check(POLICY("p", "1G", "")), -EPERM);
	assert_int_equal(check(POLICY("p", "1G", WRITES)), 0);
}

/* What was let in because it allows less than what was approved is not, once that is no longer. */
static void test_revocation_of_what_covers(void **state)
{
	_cleanup_(freep) char *digest = asked(POLICY("p", "1G", WRITES));

	(void)state;
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, 0), 0);
	assert_int_equal(check(POLICY("p", "1G", "")), 0);
	assert_int_equal(decide(AUDIT_APPROVAL_REVOKED, digest, 0), 0);
	assert_int_equal(check(POLICY("p", "1G", "")), -EPERM);
}

static void test_no_record_no_decision(void **state)
{
	_cleanup_(freep) char *digest = asked(POLICY("p", "1G", ""));

	(void)state;
	recorded.fails = 1;
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, 0), -ENOSPC);
	recorded.fails = 0;
	assert_int_equal(check(POLICY("p", "1G", "")), -EPERM);
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, "ffffffffffffffff", 0), -ENOENT);
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, NOW - 1), -EINVAL);
}

static void test_ahead(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy =
		compile(POLICY("p", "1G", ""));
	const struct approval_decision d = {
		.decision = AUDIT_APPROVAL_GRANTED,
		.ahead = policy,
		.reason = "nobody is there at night",
		.who = {.pid = getpid(), .uid = geteuid()},
	};
	struct failure failure = {};
	json_t *entry;

	(void)state;
	assert_int_equal(approvals_decide(approvals, &d, NOW, recorder, NULL, &entry, &failure), 0);
	assert_string_equal(json_string_value(json_object_get(entry, "state")), "approved");
	json_decref(entry);
	assert_int_equal(check(POLICY("p", "1G", "")), 0);
}

static json_t *listed(void)
{
	size_t next;

	return approvals_list(approvals, 0, 60000, &next);
}

/* Whoever edits a file changes what is compared with, and then nothing is covered by it. */
static void test_edited_store(void **state)
{
	json_t *list;
	char path[160], text[32768];
	const char *digest;
	FILE *file;
	size_t size;
	char *limit;

	(void)state;
	approve(POLICY("p", "1G", ""), 0);
	list = listed();
	digest = json_string_value(json_object_get(json_array_get(list, 0), "digest"));
	snprintf(path, sizeof(path), "%s/approvals/%s.json", directory, digest);
	json_decref(list);
	file = fopen(path, "r+e");
	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	limit = strstr(text, "1073741824");
	assert_non_null(limit);
	memcpy(limit, "9", 1);
	rewind(file);
	fwrite(text, 1, size, file);
	fclose(file);
	reopen();
	assert_int_equal(check(POLICY("p", "2G", "")), -EPERM);
	file = fopen(path, "we");
	fputs("{}", file);
	fclose(file);
	approvals_free(TAKE_PTR(approvals));
	assert_int_equal(approvals_open(directory, &approvals, NULL), -EBADMSG);
}

static void test_list_in_parts(void **state)
{
	size_t from = 0, next, seen = 0, parts = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		char text[256];

		snprintf(text, sizeof(text), POLICY("p%d", "1G", ""), i);
		assert_int_equal(check(text), -EPERM);
	}
	do {
		json_t *list = approvals_list(approvals, from, 2000, &next);

		assert_true(json_dumpb(list, NULL, 0, JSON_COMPACT) <= 2002);
		seen += json_array_size(list);
		parts++;
		json_decref(list);
		from = next;
	} while (next > 0);
	assert_int_equal(seen, 20);
	assert_true(parts > 2);
}

static void test_directory_of_others(void **state)
{
	struct failure failure = {};
	struct approvals *none;

	(void)state;
	approvals_free(TAKE_PTR(approvals));
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(approvals_open(directory, &none, &failure), -EPERM);
	assert_int_equal(chmod(directory, 0700), 0);
	assert_int_equal(approvals_open("/proc/nowhere", &none, &failure), -ENOENT);
	assert_non_null(strstr(failure.text, "approvals"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_use, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wider_waits_and_narrower_does_not, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_uses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_tables_under_two_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_witnesses_are_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_expiry, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waiting_is_compared_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusal_and_revocation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_revocation_of_what_covers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_record_no_decision, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ahead, setup, teardown),
		cmocka_unit_test_setup_teardown(test_edited_store, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_in_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directory_of_others, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
