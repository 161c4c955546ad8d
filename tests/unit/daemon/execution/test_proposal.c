/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From refusals to a policy that amends another: who may ask, for whom it counts, and until what.
 * The kernel is left out: policies are taken over as if an earlier daemon had put them there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ftw.h>

#include "base/clock.h"
#include "daemon/execution/approved.h"
#include "daemon/execution/proposal.h"
#include "daemon/execution/refused.h"
#include "daemon/policy/approvals.h"
#include "tests/unit/daemon/execution/reported_denial.h"

#define ID   "01a200d6-0593-7d12-b4c9-af794e74c0c0"
#define RULE "files:\n  - {allow: [read], paths: [\"/srv/more\"]}"
#define BASE "version: 1\nname: base\nfiles:\n  - {allow: [read], paths: [/srv/a]}\n"

/* In the place of the daemon's, which have a log. */
void daemon_say(struct daemon *daemon, const char *format, ...)
{
	(void)daemon;
	(void)format;
}

void daemon_record(struct daemon *daemon, const char *action, json_t *details)
{
	(void)daemon;
	assert_string_equal(action, "proposal");
	assert_non_null(details);
	json_decref(details);
}

void daemon_flush_soon(struct daemon *daemon)
{
	(void)daemon;
}

struct fixture {
	struct daemon daemon;
	struct execution execution;
	char directory[64], base[96], session[8];
	uint64_t references;
	const struct policy_use *use; /* of the base */
};

static const struct peer alice = {.ucred = {.uid = 7}}, bob = {.ucred = {.uid = 8}},
			 root = {.root = true};

static void write_base(const struct fixture *f, const char *text)
{
	FILE *file = fopen(f->base, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static const struct policy_use *resident(struct fixture *f, const char *file)
{
	struct compiled_policy *policy;
	const struct policy_use *use;

	assert_int_equal(policies_compile(f->daemon.policies, file, false, &policy), 0);
	assert_int_equal(policies_resume(f->daemon.policies, policy, ++f->references, &use), 0);
	return use;
}

static int set_up(void **state)
{
	static const char *const none[] = {NULL};
	struct fixture *f = calloc(1, sizeof(*f));
	struct failure failure = {};

	strcpy(f->directory, "/tmp/cordon-proposal-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->base, sizeof(f->base), "%s/base.yaml", f->directory);
	write_base(f, BASE);
	assert_int_equal(approvals_open(f->directory, &f->daemon.approvals, &failure), 0);
	assert_int_equal(policies_new(NULL, none, -1, &f->daemon.policies), 0);
	f->use = resident(f, f->base);
	strcpy(f->session, "s");
	f->execution = (struct execution){
		.daemon = &f->daemon,
		.state = EXECUTION_LIVE,
		.id = ID,
		.policy = f->use,
		.record = {.session = f->session},
		.owner.uid = 7,
		.owner.member = true,
	};
	reported_denial(&f->execution.reported, RULE);
	f->daemon.by_slot[5] = &f->execution;
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	int r = nftw(f->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	/* Those that were taken over stay in use. */
	policies_free(f->daemon.policies);
	approvals_free(f->daemon.approvals);
	refused_list_free(f->daemon.refused);
	reported_release(&f->execution.reported);
	free(f);
	return r;
}

static int ask_for(struct fixture *f, const struct peer *peer, enum propose_scope scope,
		   uint64_t seconds, json_t **ret_entry)
{
	struct propose_request request = {
		.execution = "01a200d6",
		.scope = scope,
		.expires = clock_nsec(CLOCK_REALTIME) + seconds * NSEC_PER_SEC,
	};
	struct failure failure = {};
	_cleanup_(freep) char *data = NULL;
	struct proposal proposal;
	uint64_t left;
	size_t size;
	int r = proposal_begin(&f->daemon, &request, peer, &proposal, &failure);
	FILE *to;

	if (r < 0)
		return r;
	to = open_memstream(&data, &size);
	assert_non_null(to);
	assert_int_equal(proposal_work(&f->daemon, &proposal, to, &failure), 0);
	assert_int_equal(fclose(to), 0);
	/* Whatever is not what was written. */
	assert_int_equal(proposal_put(&f->daemon, &proposal, data, size - 1, ret_entry, &left,
				      &failure),
			 -EPROTO);
	r = proposal_put(&f->daemon, &proposal, data, size, ret_entry, &left, &failure);
	proposal_release(&f->daemon, &proposal);
	return r;
}

static int refuse_ask(struct fixture *f, const struct peer *peer, enum propose_scope scope,
		      uint64_t seconds)
{
	json_t *none = NULL;
	int r = ask_for(f, peer, scope, seconds, &none);

	assert_null(none);
	return r;
}

static int record(void *context, const struct audit_approval *approval)
{
	(void)context;
	(void)approval;
	return 0;
}

/* Of this user's: what that says. */
static int approve_as(struct fixture *f, const json_t *entry, uid_t uid, bool own_allowed)
{
	const struct approval_decision decision = {
		.decision = AUDIT_APPROVAL_GRANTED,
		.digest = json_string_value(json_object_get(entry, "digest")),
		.reason = "because",
		.who = {.pid = getpid(), .uid = uid},
		.own_allowed = own_allowed,
	};
	struct failure failure = {};
	json_t *after = NULL;
	int r = approvals_decide(f->daemon.approvals, &decision, clock_nsec(CLOCK_REALTIME), record,
				 NULL, &after, &failure);

	json_decref(after);
	return r;
}

static void approve(struct fixture *f, const json_t *entry)
{
	const struct approval_decision decision = {
		.decision = AUDIT_APPROVAL_GRANTED,
		.digest = json_string_value(json_object_get(entry, "digest")),
		.reason = "because",
	};
	struct failure failure = {};
	json_t *after = NULL;

	assert_int_equal(approvals_decide(f->daemon.approvals, &decision,
					  clock_nsec(CLOCK_REALTIME), record, NULL, &after,
					  &failure),
			 0);
	json_decref(after);
}

/* Does whoever begins under it now get another one? */
static bool is_amended(struct fixture *f, const struct policy_use *base, const char *session,
		       uid_t uid)
{
	const struct policy_use *use = base;

	policies_share(f->daemon.policies, base);
	approved_amend(&f->daemon, session, uid, &use);
	policies_put(f->daemon.policies, use);
	return use != base;
}

static void test_session(void **state)
{
	struct fixture *f = *state;
	json_t *entry = NULL;

	assert_int_equal(ask_for(f, &alice, PROPOSE_SESSION, 60, &entry), 0);
	assert_string_equal(json_string_value(json_object_get(entry, "policy")), "base");
	assert_string_equal(json_string_value(json_object_get(entry, "state")), "waiting");
	/* Read, and listed if it is a directory. */
	assert_int_equal(json_array_size(json_object_get(entry, "witnesses")), 2);
	assert_non_null(
		strstr(json_string_value(json_array_get(json_object_get(entry, "witnesses"), 0)),
		       "files read /srv/more"));
	resident(f, json_string_value(json_object_get(entry, "file")));
	assert_false(is_amended(f, f->use, "s", 7));
	approve(f, entry);
	assert_true(is_amended(f, f->use, "s", 7));
	assert_false(is_amended(f, f->use, "s", 8));
	assert_false(is_amended(f, f->use, "t", 7));
	assert_false(is_amended(f, f->use, NULL, 7));
	/* The policy is another one now than what was amended. */
	write_base(f, BASE "  - {allow: [read], paths: [/srv/b]}\n");
	assert_false(is_amended(f, resident(f, f->base), "s", 7));
	json_decref(entry);
}

/* From all of them together: patterns, and rights that go together. */
static void test_together(void **state)
{
	struct fixture *f = *state;
	const json_t *witness;
	json_t *entry = NULL;
	bool random = false, map = false;
	size_t i;

	reported_path_denial(&f->execution.reported, "create", "/srv/data/tmpab12cd34", "create",
			     "files:\n  - {allow: [create], paths: [\"/srv/data/tmpab12cd34\"]}");
	reported_path_denial(&f->execution.reported, "exec", "/opt/tool", "run",
			     "exec:\n  - {allow: [run], paths: [\"/opt/tool\"]}");
	assert_int_equal(ask_for(f, &alice, PROPOSE_SESSION, 60, &entry), 0);
	json_array_foreach(json_object_get(entry, "witnesses"), i, witness) {
		const char *text = json_string_value(witness);

		random |= strstr(text, "tmpab12cd34") != NULL;
		map |= strstr(text, "map") && strstr(text, "/opt/tool");
	}
	assert_false(random);
	assert_true(map);
	resident(f, json_string_value(json_object_get(entry, "file")));
	approve(f, entry);
	assert_true(is_amended(f, f->use, "s", 7));
	json_decref(entry);
}

static void test_policy(void **state)
{
	struct fixture *f = *state;
	json_t *entry = NULL;

	assert_int_equal(ask_for(f, &root, PROPOSE_POLICY, 60, &entry), 0);
	resident(f, json_string_value(json_object_get(entry, "file")));
	approve(f, entry);
	assert_true(is_amended(f, f->use, "t", 8));
	assert_true(is_amended(f, f->use, NULL, 0));
	json_decref(entry);
}

/* Who proposed it does not approve it, unless that is allowed; another user, and root, do. */
static void test_own(void **state)
{
	static const struct {
		uid_t uid;
		bool allowed;
		int expected;
	} tries[] = {{7, false, -EPERM}, {8, false, 0}, {7, true, 0}, {0, false, 0}};
	struct fixture *f = *state;
	json_t *entry = NULL;

	assert_int_equal(ask_for(f, &alice, PROPOSE_SESSION, 60, &entry), 0);
	for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
		assert_int_equal(approve_as(f, entry, tries[i].uid, tries[i].allowed),
				 tries[i].expected);
	json_decref(entry);
}

/* For itself alone, and while it lives. */
static void test_execution(void **state)
{
	struct fixture *f = *state;
	json_t *entry = NULL;

	assert_int_equal(ask_for(f, &alice, PROPOSE_EXECUTION, 60, &entry), 0);
	assert_string_equal(json_string_value(json_object_get(entry, "use")),
			    "{\"execution\":\"" ID "\"}");
	approve(f, entry);
	assert_false(is_amended(f, f->use, "s", 7));
	json_decref(entry);
	refused_keep(&f->execution);
	f->daemon.by_slot[5] = NULL;
	assert_int_equal(refuse_ask(f, &alice, PROPOSE_EXECUTION, 60), -ESRCH);
	entry = NULL;
	assert_int_equal(ask_for(f, &alice, PROPOSE_SESSION, 60, &entry), 0);
	json_decref(entry);
	assert_int_equal(refuse_ask(f, &bob, PROPOSE_SESSION, 60), -ENOENT);
}

static void test_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(refuse_ask(f, &bob, PROPOSE_SESSION, 60), -ENOENT);
	assert_int_equal(refuse_ask(f, &alice, PROPOSE_SESSION, 0), -EINVAL);
	assert_int_equal(refuse_ask(f, &alice, PROPOSE_SESSION, (PROPOSAL_DAYS_MAX + 1) * 86400),
			 -EINVAL);
	f->execution.record.session = NULL;
	assert_int_equal(refuse_ask(f, &alice, PROPOSE_SESSION, 60), -EINVAL);
	f->execution.reported.count = 0;
	assert_int_equal(refuse_ask(f, &alice, PROPOSE_EXECUTION, 60), -ENODATA);
	/* What root ran is root's to ask for. */
	f->execution.reported.count = 1;
	f->execution.owner.member = false;
	assert_int_equal(refuse_ask(f, &alice, PROPOSE_EXECUTION, 60), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_session, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_policy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_together, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_execution, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
