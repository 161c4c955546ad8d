/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for approval, what does not, and what decisions do, over restarts of the daemon too.
 */
#include "tests/unit/daemon/policy/approval_store.h"

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

/* As `cordon approve` has it: the errand's work, then the decision. */
static void grant_with_rules(const char *digest)
{
	const struct approval_decision d = {
		.decision = AUDIT_APPROVAL_GRANTED, .digest = digest, .reason = "a reason"};
	const char *const none[] = {NULL};
	_cleanup_(freep) char *lines = NULL;
	unsigned char identity[SHA256_SIZE];
	struct failure failure = {};
	size_t size;
	FILE *to = open_memstream(&lines, &size);

	assert_int_equal(approvals_subject(approvals, &d, NOW, recorder, NULL, identity, &failure),
			 0);
	assert_int_equal(approvals_write_rules(approvals, identity, none, to, &failure), 0);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(approvals_take_rules(approvals, identity, lines, size), 0);
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, 0), 0);
}

static bool knows_rules(const char *digest)
{
	const struct approval_decision d = {.digest = digest};
	unsigned char identity[SHA256_SIZE];
	struct failure failure = {};

	assert_int_equal(approvals_subject(approvals, &d, NOW, recorder, NULL, identity, &failure),
			 0);
	return approvals_know_rules(approvals, identity);
}

/* The policy as a file, which is read again to find the rules behind others. */
static void ask_for_file(const char *text)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	_cleanup_(freep) char *message = NULL;
	struct failure failure = {};
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/p.yaml", directory);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(policy_compile(path, NULL, d, &policy), 0);
	assert_int_equal(approvals_check(approvals, policy, NULL, 1000, NOW, recorder, NULL,
					 &message, &failure),
			 -EPERM);
}

static char *last_waiting(void)
{
	size_t next;
	json_t *list = approvals_list(approvals, 0, 1 << 20, &next);
	const json_t *entry = json_array_get(list, json_array_size(list) - 1);
	char *digest = strdup(json_string_value(json_object_get(entry, "digest")));

	assert_string_equal(json_string_value(json_object_get(entry, "state")), "waiting");
	json_decref(list);
	return digest;
}

/*
 * Every rule is on record, not an example for each right; for the first of a name, all that it
 * allows.
 */
static void test_every_rule_is_recorded(void **state)
{
	_cleanup_(freep) char *first = asked(POLICY("p", "1G", "")), *second = NULL;

	(void)state;
	grant_with_rules(first);
	/* There is no such file: what other rules allow as well cannot be told. */
	assert_string_equal(
		recorded.lines,
		"files read, list /srv/a/a and others without end below /srv/a/, allowed "
		"by /p.yaml:5: allow read /srv/a/**\n" WIDENINGS_INCOMPLETE "\n");
	ask_for_file(POLICY("p", "2G",
			    "  - {allow: [read], paths: [/x]}\n"
			    "  - {allow: [read], paths: ['/home/**']}\n"
			    "  - {allow: [read], paths: ['/home/user/**']}\n"
			    "network:\n  - {allow: [connect], to: any, ports: [443]}\n"));
	second = last_waiting();
	assert_false(knows_rules(second));
	grant_with_rules(second);
	assert_non_null(strstr(recorded.lines, "limits.memory"));
	*strstr(recorded.lines, "limits.memory") = '\0';
	for (char *at; (at = strstr(recorded.lines, directory));)
		memmove(at, at + strlen(directory), strlen(at + strlen(directory)) + 1);
	assert_string_equal(
		recorded.lines,
		"this lets it read credentials: files read, list /home/a and others without end "
		"below /home/, allowed by /p.yaml:7: allow read /home/**\n"
		"this lets it read credentials: files read, list /home/user/a and others without "
		"end below /home/user/, as other rules do, allowed by /p.yaml:8: allow read "
		"/home/user/**\n"
		"this lets it connect anywhere: network connect tcp:97.97.97.97:443 and more than a "
		"million others, allowed by /p.yaml:10: allow connect over tcp to any ports 443\n"
		"files read, list /x, allowed by /p.yaml:6: allow read /x\n");
	/* What is kept stays so over a restart. */
	reopen();
	assert_true(knows_rules(second));
	assert_int_equal(decide(AUDIT_APPROVAL_REVOKED, second, 0), 0);
	assert_non_null(strstr(recorded.lines, "this lets it connect anywhere"));
}

/* Without the errand's word, the record of the first of a name has what it says. */
static void test_texts_of_rules(void **state)
{
	_cleanup_(freep) char *first = asked(POLICY("p", "1G", WRITES)), *second = NULL;
	unsigned char identity[SHA256_SIZE];
	struct approval_decision d = {.digest = first};
	struct failure failure = {};

	(void)state;
	assert_int_equal(approvals_subject(approvals, &d, NOW, recorder, NULL, identity, &failure),
			 0);
	assert_int_equal(approvals_take_texts(approvals, identity), 0);
	assert_false(approvals_know_rules(approvals, identity));
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, first, 0), 0);
	assert_string_equal(recorded.lines, "allowed by /p.yaml:5: allow read /srv/a/**\n"
					    "allowed by /p.yaml:6: allow write /srv/b/**\n");
	/* Others have examples. */
	second = asked(POLICY("p", "2G", WRITES));
	d.digest = second;
	assert_int_equal(approvals_subject(approvals, &d, NOW, recorder, NULL, identity, &failure),
			 0);
	assert_int_equal(approvals_take_texts(approvals, identity), 0);
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, second, 0), 0);
	assert_non_null(strstr(recorded.lines, "limits.memory"));
}

/* What is no list of lines changes nothing. */
static void test_damaged_rules(void **state)
{
	_cleanup_(freep) char *digest = asked(POLICY("p", "1G", ""));
	const struct approval_decision d = {
		.decision = AUDIT_APPROVAL_GRANTED, .digest = digest, .reason = "a reason"};
	_cleanup_(freep) char *many = calloc(1, 5000);
	unsigned char identity[SHA256_SIZE], other[SHA256_SIZE] = {};
	struct failure failure = {};

	(void)state;
	assert_int_equal(approvals_subject(approvals, &d, NOW, recorder, NULL, identity, &failure),
			 0);
	assert_int_equal(approvals_take_rules(approvals, identity, "a\0b", 3), -EPROTO);
	assert_int_equal(approvals_take_rules(approvals, identity, many, 5000), -EPROTO);
	assert_int_equal(approvals_take_rules(approvals, other, "a", 2), -ENOENT);
	assert_int_equal(approvals_take_rules(approvals, identity, "a\0b", 4), 0);
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, 0), 0);
	assert_string_equal(recorded.lines, "a\nb\n");
}

static int errand_work_of_grant(const void *context, FILE *to, struct errand_fds *fds,
				struct failure *failure)
{
	static const char *const none[] = {NULL};

	(void)context;
	(void)fds;
	return approvals_write_rules(approvals, granted.identity, none, to, failure);
}

static void on_answer(void *context, int result, const char *data, size_t size,
		      struct errand_fds *fds, const struct failure *failure)
{
	(void)context;
	(void)fds;
	(void)failure;
	granted.over = true;
	granted.result = result;
	granted.size = size;
	granted.lines = result == 0 ? malloc(size + 1) : NULL;
	if (granted.lines)
		memcpy(granted.lines, data, size);
}

/* Other work of the loop, which does not wait. */
static void on_turn(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
	granted.turns++;
}

static void run_errand(const char *digest, time_t seconds)
{
	const struct approval_decision d = {
		.decision = AUDIT_APPROVAL_GRANTED, .digest = digest, .reason = "a reason"};
	const struct errand_job job = {.what = "what compares policies",
				       .seconds = seconds,
				       .work = errand_work_of_grant,
				       .done = on_answer};
	const struct timeval often = {.tv_usec = 1000};
	struct failure failure = {};
	struct errand *errand;
	struct event *turn;

	memset(&granted, 0, sizeof(granted));
	granted.base = event_base_new();
	turn = event_new(granted.base, -1, EV_PERSIST, on_turn, NULL);
	assert_int_equal(event_add(turn, &often), 0);
	assert_int_equal(approvals_subject(approvals, &d, NOW, recorder, NULL, granted.identity,
					   &failure),
			 0);
	assert_int_equal(errand_start(granted.base, &job, &errand, &failure), 0);
	while (!granted.over)
		assert_int_equal(event_base_loop(granted.base, EVLOOP_ONCE), 0);
	errands_forget();
	event_free(turn);
	event_base_free(granted.base);
}

/* In a process of its own, with what the daemon knows of both policies. */
static void test_errand_finds_rules(void **state)
{
	static const char expected[] =
		"this lets it read credentials: files read, list /x, and names without end below "
		"/root/, allowed by ";
	_cleanup_(freep) char *digest = NULL;

	(void)state;
	approve(POLICY("p", "1G", ""), 0);
	ask_for_file(POLICY("p", "1G", "  - {allow: [read], paths: ['/root/**', /x]}\n"));
	digest = last_waiting();
	run_errand(digest, 60);
	assert_int_equal(granted.result, 0);
	assert_int_equal(
		approvals_take_rules(approvals, granted.identity, granted.lines, granted.size), 0);
	free(granted.lines);
	assert_int_equal(decide(AUDIT_APPROVAL_GRANTED, digest, 0), 0);
	assert_int_equal(strncmp(recorded.lines, expected, sizeof(expected) - 1), 0);
}

/*
 * Thousands of hostile rules: the loop goes on after half a second or so, and what it cannot
 * compare waits.
 */
static void test_hostile_policy(void **state)
{
	_cleanup_(freep) char *text = NULL, *message = NULL, *digest = NULL;
	struct timespec begin, end;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fputs("version: 1\nname: p\nlimits: {memory: 1G}\nvariables: [v, w, x, y]\nfiles:\n", out);
	for (int i = 0; i < 3000; i++)
		fprintf(out, "  - {allow: [%s], paths: ['${%c}/d%d/%c*/f%d']}\n",
			i % 2 ? "read" : "write", "vwxy"[i % 4], i / 7, 'a' + i % 26, i);
	fclose(out);
	approve(POLICY("p", "1G",
		       "  - {allow: [read], paths: ['${workdir}/**/b*/c', '${tmp}/**/a/*d/e']}\n"),
		0);
	{
		_cleanup_(compiled_policy_freep) struct compiled_policy *policy = compile(text);
		struct failure failure = {};

		assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin), 0);
		assert_int_equal(approvals_check(approvals, policy, NULL, 1000, NOW, recorder, NULL,
						 &message, &failure),
				 -EPERM);
		assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end), 0);
	}
	print_message("%.2f s of processor time, sanitized\n",
		      (double)(end.tv_sec - begin.tv_sec) +
			      (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	assert_non_null(strstr(message, "cannot be compared with the approved one"));
	/* Its rules take longer, too long perhaps; the loop goes on all the while. */
	digest = last_waiting();
	run_errand(digest, 2);
	print_message("the loop took %u turns meanwhile\n", granted.turns);
	assert_true(granted.turns > 20);
	assert_true(granted.result == 0 || granted.result == -E2BIG ||
		    granted.result == -ETIMEDOUT);
	free(granted.lines);
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
		cmocka_unit_test_setup_teardown(test_every_rule_is_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_texts_of_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errand_finds_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_policy, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
