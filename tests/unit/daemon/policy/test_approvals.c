/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for approval, what does not, and what decisions do, over restarts of the daemon too.
 */
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
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/policy/approvals.h"
#include "daemon/privsep/errand.h"
#include "policy/ask/wider_rules.h"
#include "policy/ask/widening.h"
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
	char lines[2048]; /* those, each with a newline */
} recorded;

static int recorder(void *context, const struct audit_approval *approval)
{
	(void)context;
	if (recorded.fails)
		return -ENOSPC;
	recorded.count++;
	recorded.last = approval->decision;
	recorded.witnesses = approval->witnesses && approval->witnesses[0];
	recorded.lines[0] = '\0';
	for (char *const *line = approval->witnesses; line && *line; line++) {
		size_t used = strlen(recorded.lines);

		snprintf(recorded.lines + used, sizeof(recorded.lines) - used, "%s\n", *line);
	}
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

/* What the errand of a grant has said. */
static struct {
	struct event_base *base;
	unsigned char identity[SHA256_SIZE];
	bool over;
	int result;
	char *lines;
	size_t size;
	unsigned int turns; /* that the loop took meanwhile */
} granted;

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
		cmocka_unit_test_setup_teardown(test_texts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
