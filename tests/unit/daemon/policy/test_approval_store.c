/* SPDX-License-Identifier: Apache-2.0 */
/* The store of approvals: what is kept in it, expires, is edited, listed, or proposed. */
#include "tests/unit/daemon/policy/approval_store.h"

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

static int propose(const char *base_text, const char *text, const char *use, uint32_t uid,
		   uint64_t now, json_t **ret_entry)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *base = compile(base_text);
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile(text);
	struct approval_proposal proposal = {
		.base = base, .policy = policy, .use = use, .expires = now + HOUR, .uid = uid};
	struct failure failure = {};
	int r;

	assert_int_equal(widening_describe_all(base, policy, WIDENING_TUPLES_LOOP, &proposal.wider),
			 0);
	r = approvals_propose(approvals, &proposal, now, ret_entry, &failure);
	widening_free(proposal.wider);
	assert_true((r < 0) == (failure.text[0] != '\0'));
	return r;
}

static bool amended(const char *base_text, const char *use, uint64_t now)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *base = compile(base_text);

	return approvals_amended(approvals, base, use, now, recorder, NULL) != NULL;
}

static int decide_proposal(const json_t *entry, enum audit_approval_decision decision, uint64_t now)
{
	const struct approval_decision d = {
		.decision = decision,
		.digest = json_string_value(json_object_get(entry, "digest")),
		.reason = "because",
	};
	struct failure failure = {};
	json_t *after = NULL;
	int r = approvals_decide(approvals, &d, now, recorder, NULL, &after, &failure);

	json_decref(after);
	return r;
}

#define BASE	 POLICY("p", "1M", "")
#define MORE	 POLICY("p", "1M", WRITES)
#define SESSION	 "{\"session\":\"s\",\"user\":7}"
#define SESSION2 "{\"session\":\"t\",\"user\":7}"

/*
 * It waits with exactly what it adds, counts once it is approved, for its use and base alone, and
 * ends by itself.
 */
static void test_proposal(void **state)
{
	json_t *entry = NULL, *again = NULL;

	(void)state;
	assert_int_equal(propose(BASE, MORE, SESSION, 7, NOW, &entry), 0);
	assert_string_equal(json_string_value(json_object_get(entry, "state")), "waiting");
	assert_int_equal(json_array_size(json_object_get(entry, "witnesses")), 1);
	assert_non_null(
		strstr(json_string_value(json_array_get(json_object_get(entry, "witnesses"), 0)),
		       "/srv/b/"));
	assert_int_equal(json_integer_value(json_object_get(entry, "expires")), NOW + HOUR);
	assert_false(amended(BASE, SESSION, NOW));
	assert_int_equal(propose(BASE, MORE, SESSION, 7, NOW, &again), 0);
	assert_true(json_equal(json_object_get(entry, "digest"), json_object_get(again, "digest")));
	assert_int_equal(decide_proposal(entry, AUDIT_APPROVAL_GRANTED, NOW + 1), 0);
	assert_true(amended(BASE, SESSION, NOW + 2));
	assert_false(amended(BASE, SESSION2, NOW + 2));
	assert_false(amended(MORE, SESSION, NOW + 2));
	/* It is approved for that session, not for whoever brings such a policy. */
	assert_int_equal(check(MORE), -EPERM);
	reopen();
	assert_true(amended(BASE, SESSION, NOW + HOUR - 1));
	assert_false(amended(BASE, SESSION, NOW + HOUR));
	assert_int_equal(recorded.last, AUDIT_APPROVAL_EXPIRED);
	json_decref(entry);
	json_decref(again);
}

static void test_refused_proposals(void **state)
{
	json_t *entry = NULL, *ignored = NULL;

	(void)state;
	assert_int_equal(propose(BASE, BASE, SESSION, 7, NOW, &entry), -ENODATA);
	assert_int_equal(propose(MORE, BASE, SESSION, 7, NOW, &entry), -ENODATA);
	assert_int_equal(propose(BASE, MORE, SESSION, 7, NOW, &entry), 0);
	/* Too late to approve what was asked for until then. */
	assert_int_equal(decide_proposal(entry, AUDIT_APPROVAL_GRANTED, NOW + HOUR), -EINVAL);
	assert_int_equal(decide_proposal(entry, AUDIT_APPROVAL_REFUSED, NOW + 1), 0);
	assert_int_equal(propose(BASE, MORE, SESSION, 7, NOW + 2, &ignored), -EPERM);
	assert_false(amended(BASE, SESSION, NOW + 2));
	json_decref(entry);
}

/* One user's cannot crowd out those of others, and make room when their time is up. */
static void test_many_proposals(void **state)
{
	char use[64];
	json_t *entry;

	(void)state;
	for (int i = 0; i <= APPROVALS_PROPOSED_MAX; i++) {
		bool fits = i < APPROVALS_PROPOSED_MAX;

		snprintf(use, sizeof(use), "{\"session\":\"%d\",\"user\":7}", i);
		entry = NULL;
		assert_int_equal(propose(BASE, MORE, use, 7, NOW, &entry), fits ? 0 : -EDQUOT);
		json_decref(entry);
	}
	entry = NULL;
	assert_int_equal(propose(BASE, MORE, SESSION, 8, NOW, &entry), 0);
	json_decref(entry);
	entry = NULL;
	assert_int_equal(propose(BASE, MORE, use, 7, NOW + HOUR, &entry), 0);
	json_decref(entry);
	/* Of all of them that one alone is left, until its time is up. */
	for (uint64_t now = NOW + HOUR; now <= NOW + 2 * HOUR; now += HOUR) {
		size_t ignored;

		approvals_forget_overdue(approvals, now);
		entry = approvals_list(approvals, 0, 60000, &ignored);
		assert_int_equal(json_array_size(entry), now == NOW + HOUR);
		json_decref(entry);
	}
}

static size_t waiting(void)
{
	size_t next;
	json_t *list = approvals_list(approvals, 0, 60000, &next);
	size_t count = json_array_size(list);

	json_decref(list);
	return count;
}

static bool is_the_one(const void *context, const char *execution)
{
	return strcmp(context, execution) == 0;
}

/* What waits for an execution waits no longer than that lives, or than whoever asked wants it. */
static void test_of_an_execution(void **state)
{
	json_t *entry = NULL, *other = NULL;
	const char *digest;

	(void)state;
	assert_int_equal(propose(BASE, MORE, "{\"execution\":\"x\"}", 7, NOW, &entry), 0);
	assert_int_equal(propose(BASE, MORE, SESSION, 7, NOW, &other), 0);
	approvals_forget_ended(approvals, is_the_one, "x");
	assert_int_equal(waiting(), 2);
	approvals_forget_ended(approvals, is_the_one, "y");
	assert_int_equal(waiting(), 1);
	digest = json_string_value(json_object_get(other, "digest"));
	approvals_withdraw(approvals, digest, NOW + HOUR + 1);
	approvals_withdraw(approvals, json_string_value(json_object_get(entry, "digest")),
			   NOW + HOUR);
	approvals_withdraw(approvals, "none", NOW + HOUR);
	assert_int_equal(waiting(), 1);
	approvals_withdraw(approvals, digest, NOW + HOUR);
	assert_int_equal(waiting(), 0);
	json_decref(entry);
	json_decref(other);
}

static void test_texts(void **state)
{
	_cleanup_(freep) char *path = NULL, *again = NULL, *other = NULL;
	struct failure failure = {};
	struct stat st;

	(void)state;
	assert_int_equal(approvals_keep_text(approvals, "a", &path, &failure), 0);
	assert_int_equal(approvals_keep_text(approvals, "a", &again, &failure), 0);
	assert_int_equal(approvals_keep_text(approvals, "b", &other, &failure), 0);
	assert_string_equal(path, again);
	assert_string_not_equal(path, other);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* Not taken for approvals. */
	reopen();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_expiry, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waiting_is_compared_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusal_and_revocation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_revocation_of_what_covers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_record_no_decision, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ahead, setup, teardown),
		cmocka_unit_test_setup_teardown(test_edited_store, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_in_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directory_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_proposal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_proposals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_proposals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_an_execution, setup, teardown),
		cmocka_unit_test_setup_teardown(test_texts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
