/* SPDX-License-Identifier: Apache-2.0 */
/* A store of approvals, policies to ask it about, and what it recorded. */
#ifndef CORDON_TEST_APPROVAL_STORE_H
#define CORDON_TEST_APPROVAL_STORE_H

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

#endif
