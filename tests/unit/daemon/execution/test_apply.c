/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another policy for executions that run: whom it reaches, what refuses it, and that a failure on
 * the way changes nothing.
 */
#include "tests/unit/daemon/fake/world.h"

#include "daemon/execution/apply.h"
#include "daemon/policy/approvals.h"

#define FILES "files:\n  - {allow: [read"
#define PLACE "], paths: [\"${workdir}/**\"]}\n"
#define LIMIT "on_denial: {limit: 3, action: kill}\n"

static int setup(void **state)
{
	(void)state;
	world_new();
	world_write("policies/narrow.yaml", "version: 1\nname: narrow\n" LIMIT FILES PLACE);
	world_write("policies/wide.yaml",
		    "version: 1\nname: wide\n" FILES ", write, create, delete" PLACE
		    "  - {allow: [read], paths: [/srv/**]}\n");
	world_write("policies/home.yaml",
		    "version: 1\nname: home\n" FILES "], paths: [\"${home}/**\"]}\n");
	world_write("policies/docs.yaml", "version: 1\nname: docs\nvariables: [docs]\n" FILES
					  "], paths: [\"${docs}/**\"]}\n");
	world_write("policies/bad.yaml", "version: 1\nname: bad\nfiles: 7\n");
	return 0;
}

static void end_all(void)
{
	faults_none();
	for (uint32_t slot = 0; slot < 64; slot++)
		if (world->by_slot[slot] && world->by_slot[slot]->state < EXECUTION_ENDING)
			ending_owner_gone(world->by_slot[slot]);
	assert_true(world_settle());
	world_check_empty(NULL);
}

static int teardown(void **state)
{
	(void)state;
	end_all();
	world_end();
	return 0;
}

static struct {
	size_t changed, unchanged, wider;
	char name[32], why[2048];
} applied;

static bool keep_previous;

static int apply(const struct apply_request *request)
{
	const struct ucred peer = {.pid = getpid()};
	struct apply_result result = {};
	struct failure failure = {};
	char *message = NULL;
	int r = apply_policy(world, request, &peer, &result, &message, &failure);

	memset(&applied, 0, sizeof(applied));
	snprintf(applied.why, sizeof(applied.why), "%s",
		 message && *message ? message : failure.text);
	free(message);
	if (r < 0) {
		/* Nothing is written on failure; and it is said why. */
		assert_null(result.name);
		assert_true(applied.why[0] != '\0');
		return r;
	}
	if (!keep_previous)
		events_drain(world, EVENTS_AT_A_TIME);
	applied.changed = result.changed;
	applied.unchanged = result.unchanged;
	while (result.wider && result.wider[applied.wider])
		applied.wider++;
	snprintf(applied.name, sizeof(applied.name), "%s", result.name);
	apply_result_release(&result);
	return 0;
}

static int apply_to(const struct execution *e, const char *policy, const char *reason)
{
	struct apply_request request = {.policy = (char *)policy, .reason = (char *)reason};

	strcpy(request.execution, e->id);
	return apply(&request);
}

static int apply_all(const char *of, const char *policy, const char *reason)
{
	const struct apply_request request = {
		.policy = (char *)policy,
		.all_of = (char *)of,
		.reason = (char *)reason,
	};

	return apply(&request);
}

/* It is under this policy, in memory, in the kernel and in its state file, which agree. */
static void expect_under(const struct execution *e, const char *policy)
{
	unsigned char digest[32];
	struct state saved = {};

	assert_string_equal(e->policy->policy->name, policy);
	assert_ptr_equal(e->record.policy, e->policy->policy);
	assert_int_equal(e->view->policy, e->policy->ref);
	assert_null(e->changing);
	assert_null(e->previous);
	assert_int_equal(kernel_find_policy(e->view->policy) >= 0, 1);
	memcpy(digest, kernel->policies[kernel_find_policy(e->view->policy)].digest, 32);
	assert_memory_equal(digest, e->policy->policy->digest, 32);
	assert_int_equal(state_load(world->state_fd, e->id, &saved, NULL), 0);
	assert_string_equal(saved.policy_name, policy);
	assert_false(saved.changing);
	state_release(&saved);
}

static void test_narrower(void **state)
{
	struct execution *e = world_live();

	(void)state;
	assert_int_equal(apply_to(e, "narrow", NULL), 0);
	assert_int_equal(applied.changed, 1);
	assert_int_equal(applied.wider, 0);
	assert_string_equal(applied.name, "narrow");
	expect_under(e, "narrow");
	assert_int_equal(kernel->settled, 1);
	/* Sockets that others made. */
	assert_int_equal(kernel->watched_sockets, 1);
	assert_int_equal(logs_count("policy-change", NULL), 1);
	/* A second time there is nothing to change. */
	assert_int_equal(apply_to(e, "narrow", NULL), 0);
	assert_int_equal(applied.changed, 0);
	assert_int_equal(applied.unchanged, 1);
	assert_int_equal(logs_count("policy-change", NULL), 1);
}

static void test_wider(void **state)
{
	struct execution *e = world_live();
	json_t *last = NULL;
	char *text;

	(void)state;
	assert_int_equal(apply_to(e, "wide", NULL), -EPERM);
	assert_non_null(strstr(applied.why, "--allow-wider"));
	assert_non_null(strstr(applied.why, "/srv/"));
	expect_under(e, "p");
	assert_int_equal(logs_count("policy-change", NULL), 0);
	assert_int_equal(apply_to(e, "wide", "a reason"), 0);
	assert_true(applied.wider > 0);
	expect_under(e, "wide");
	assert_int_equal(logs_count("policy-change", &last), 1);
	text = json_dumps(last, JSON_COMPACT);
	assert_non_null(strstr(text, "a reason"));
	free(text);
}

static void test_none_live(void **state)
{
	struct execution *e;

	(void)state;
	assert_int_equal(apply_all("p", "narrow", NULL), -ESRCH);
	e = world_live();
	assert_int_equal(apply_all("other", "narrow", NULL), -ESRCH);
	ending_begin(e, AUDIT_END_KILLED);
	e->owner.connection = NULL;
	assert_int_equal(apply_all("p", "narrow", NULL), -ESRCH);
	assert_int_equal(kernel->settled, 0);
}

static void test_whom(void **state)
{
	struct execution *first = world_live(), *second = world_live(), *third = world_live();
	struct apply_request request = {.policy = "narrow", .session = "s-1"};

	(void)state;
	free(third->record.session);
	third->record.session = strdup("s-2");
	assert_int_equal(apply(&request), 0);
	assert_int_equal(applied.changed, 2);
	expect_under(first, "narrow");
	expect_under(second, "narrow");
	expect_under(third, "p");
	/* By the name in the policy as by that which was asked for. */
	assert_int_equal(apply_all("narrow", "p", "back"), 0);
	assert_int_equal(applied.changed, 2);
	assert_int_equal(apply_all("p", "narrow", NULL), 0);
	assert_int_equal(applied.changed, 3);
}

static void test_many(void **state)
{
	(void)state;
	for (int i = 0; i < 70; i++)
		(void)world_live();
	assert_int_equal(apply_all("p", "narrow", NULL), 0);
	assert_int_equal(applied.changed, 70);
	for (uint32_t slot = 0; slot < 70; slot++) {
		expect_under(world->by_slot[slot], "narrow");
		ending_owner_gone(world->by_slot[slot]);
	}
}

static struct apply *begin_all(const struct apply_request *request)
{
	const struct ucred peer = {.pid = getpid()};
	struct apply *a = NULL;
	struct failure failure = {};
	char *message = NULL;

	assert_int_equal(apply_begin(world, request, &peer, &a, &message, &failure), 0);
	return a;
}

static int go_on(struct apply *a, size_t targets)
{
	struct apply_result result = {};
	struct failure failure = {};
	int r = apply_go_on(a, targets, &result, &failure);

	snprintf(applied.why, sizeof(applied.why), "%s", failure.text);
	applied.changed = result.changed;
	apply_result_release(&result);
	return r;
}

/* Until its slot is free. */
static void end_one(struct execution *e)
{
	const struct timespec pause = {.tv_nsec = 200000};
	uint32_t slot = e->slot;

	ending_owner_gone(e);
	for (int i = 0; world->by_slot[slot] == e && i < 10000; i++) {
		world_turn();
		nanosleep(&pause, NULL);
	}
	assert_ptr_not_equal(world->by_slot[slot], e);
}

/* Between two turns an execution that was announced ends, one that was not, and one begins. */
static void test_in_turns(void **state)
{
	const struct apply_request request = {.policy = "narrow", .all_of = "p"};
	struct execution *first = world_live(), *fresh;
	uint64_t before = first->view->policy;
	struct apply *a;
	int r;

	(void)state;
	for (int i = 1; i < 40; i++)
		(void)world_live();
	a = begin_all(&request);
	assert_int_equal(go_on(a, 16), 1);
	assert_int_equal(logs_count("policy-change", NULL), 16);
	end_one(world->by_slot[3]);
	assert_int_equal(logs_count("agent-policy-unchanged", NULL), 1);
	end_one(world->by_slot[30]);
	fresh = world_live();
	/* In the kernel it is made for all at once. */
	for (uint32_t slot = 0; slot < 40; slot++)
		if (world->by_slot[slot])
			assert_int_equal(world->by_slot[slot]->view->policy, before);
	assert_int_equal(apply_to(first, "wide", "why"), -EBUSY);
	assert_non_null(strstr(applied.why, "narrow"));
	while ((r = go_on(a, 16)) > 0)
		;
	assert_int_equal(r, 0);
	assert_int_equal(applied.changed, 39);
	apply_free(a);
	events_drain(world, EVENTS_AT_A_TIME);
	expect_under(first, "narrow");
	expect_under(fresh, "narrow");
	assert_int_equal(logs_count("agent-policy-unchanged", NULL), 1);
	for (uint32_t slot = 0; slot < 41; slot++)
		if (world->by_slot[slot])
			expect_under(world->by_slot[slot], "narrow");
}

/* One cannot be told of: those that were are told that nothing has changed. */
static void test_taken_back_in_turns(void **state)
{
	const struct apply_request request = {.policy = "narrow", .all_of = "p"};
	struct apply *a;
	int r, fd;

	(void)state;
	for (int i = 0; i < 20; i++)
		(void)world_live();
	a = begin_all(&request);
	assert_int_equal(go_on(a, 16), 1);
	fd = world->state_fd;
	world->state_fd = -1;
	assert_int_equal(go_on(a, 1), 1);
	world->state_fd = fd;
	while ((r = go_on(a, 4)) > 0)
		;
	assert_int_equal(r, -EBADF);
	assert_true(applied.why[0] != '\0');
	apply_free(a);
	assert_int_equal(logs_count("agent-policy-unchanged", NULL), 17);
	for (uint32_t slot = 0; slot < 20; slot++)
		expect_under(world->by_slot[slot], "p");
}

/* The daemon leaves meanwhile: nothing was changed, and the state files tell the next one of it. */
static void test_left(void **state)
{
	const struct apply_request request = {.policy = "narrow", .all_of = "p"};
	struct execution *e = world_live();
	struct state saved = {};
	struct apply *a;

	(void)state;
	(void)world_live();
	a = begin_all(&request);
	assert_int_equal(go_on(a, 1), 1);
	apply_free(a);
	assert_null(e->changing);
	assert_string_equal(e->policy->policy->name, "p");
	assert_int_equal(state_load(world->state_fd, e->id, &saved, NULL), 0);
	assert_true(saved.changing);
	state_release(&saved);
	assert_int_equal(apply_all("p", "narrow", NULL), 0);
	assert_int_equal(applied.changed, 2);
}

/* What was asked to be only observed goes on so. */
static void test_observing(void **state)
{
	struct execution *observed = world_prepare_as(getpid(), "p", true), *other = world_live();

	(void)state;
	assert_int_equal(world_try_label(observed, 4194001), 0);
	assert_int_equal(apply_all("p", "narrow", NULL), 0);
	assert_int_equal(applied.changed, 2);
	assert_true(observed->record.observe);
	assert_false(other->record.observe);
	assert_true(observed->policy->ref != other->policy->ref);
}

static void emit_denial(struct execution *e)
{
	const struct cordon_denial_event event = {
		.operation = CORDON_OP_OPEN,
		.object_kind = CORDON_OBJECT_PATH,
		.rights = 1,
		.error = -EACCES,
		.rule = CORDON_NO_RULE,
		.object_length = 11,
		.object_total = 11,
	};

	kernel_emit_text(e->slot, &event, sizeof(event), "/etc/shadow", CORDON_EVENT_DENIAL);
	((struct cordon_event *)kernel
		 ->events[(kernel->event_first + kernel->event_count - 1) % FAKE_EVENTS]
		 .data)
		->policy = e->policy->ref;
}

static int denials_under(const char *policy)
{
	json_t *record;
	size_t i;
	int count = 0;

	json_array_foreach(fake_logs->records, i, record) {
		const char *action = "", *name = "";

		(void)json_unpack(record, "{s:{s:s},s:{s:{s:s}}}", "event", "action", &action,
				  "cordon", "policy", "name", &name);
		count += strcmp(action, "denial") == 0 && strcmp(name, policy) == 0;
	}
	return count;
}

/* What the earlier policy refused is put on record under its name, in as many turns as needed. */
static void test_previous_stays(void **state)
{
	struct execution *e = world_live();
	unsigned int turns = 1;

	(void)state;
	keep_previous = true;
	for (int i = 0; i < 200; i++)
		emit_denial(e);
	assert_int_equal(apply_to(e, "narrow", NULL), 0);
	assert_int_equal(denials_under("p"), 0);
	emit_denial(e);
	assert_non_null(e->previous);
	assert_int_equal(world->with_previous, 1);
	for (; e->previous && turns < 100; turns++)
		events_drain(world, EVENTS_AT_A_TIME);
	assert_in_range(turns, 3, 10);
	assert_int_equal(world->with_previous, 0);
	assert_int_equal(denials_under("p"), 200);
	assert_int_equal(denials_under("narrow"), 1);
	expect_under(e, "narrow");
	/* Two changes in a row: an event is of one of two. */
	emit_denial(e);
	assert_int_equal(apply_to(e, "p", "back"), 0);
	emit_denial(e);
	assert_int_equal(apply_to(e, "narrow", NULL), 0);
	emit_denial(e);
	events_drain(world, EVENTS_AT_A_TIME);
	assert_int_equal(denials_under("p"), 201);
	assert_int_equal(denials_under("narrow"), 3);
	expect_under(e, "narrow");
	/* Nor does it keep an execution that ends meanwhile. */
	assert_int_equal(apply_to(e, "p", "back"), 0);
	assert_non_null(e->previous);
	keep_previous = false;
	e->owner.connection = NULL;
	ending_begin(e, AUDIT_END_KILLED);
	assert_true(world_settle());
	assert_int_equal(world->with_previous, 0);
}

static void test_variables(void **state)
{
	struct execution *e = world_live();

	(void)state;
	/* Nothing was bound to it. */
	assert_int_equal(apply_to(e, "home", "why"), -EINVAL);
	assert_non_null(strstr(applied.why, "home"));
	assert_int_equal(apply_to(e, "docs", "why"), -EINVAL);
	assert_non_null(strstr(applied.why, "docs"));
	expect_under(e, "p");
}

static void test_bad_policy(void **state)
{
	struct execution *e = world_live();

	(void)state;
	assert_int_equal(apply_to(e, "bad", NULL), -EINVAL);
	assert_int_equal(apply_to(e, "nowhere", NULL), -ENOENT);
	expect_under(e, "p");
}

static void test_waits_for_approval(void **state)
{
	struct execution *e = world_live();
	struct failure failure = {};

	(void)state;
	assert_int_equal(approvals_open(world_path("notes"), &world->approvals, &failure), 0);
	assert_int_equal(apply_to(e, "narrow", NULL), -EPERM);
	assert_non_null(strstr(applied.why, "cordon approve"));
	expect_under(e, "p");
	approvals_free(world->approvals);
	world->approvals = NULL;
}

/* The swap is made: that the old one could not be waited for is said. */
static void test_not_settled(void **state)
{
	struct execution *e = world_live();

	(void)state;
	faults_set_for("enforcement_policy_settle", EIO);
	assert_int_equal(apply_to(e, "narrow", NULL), 0);
	faults_none();
	expect_under(e, "narrow");
	assert_non_null(strstr(seen.said, "waiting for verdicts"));
}

/*
 * All that were asked for, or none: and where it was none, each log that has the change says that
 * it was not made.
 */
static void test_faults(void **state)
{
	(void)state;
	for (unsigned int n = 1;; n++) {
		struct execution *first = world_live(), *second = world_live();
		size_t changes, unchanged;
		int r;

		faults_set(n, EIO);
		r = apply_all("p", "narrow", NULL);
		if (!faults.failed) {
			assert_int_equal(r, 0);
			assert_true(n > 5);
			break;
		}
		changes = logs_count("policy-change", NULL);
		unchanged = logs_count("agent-policy-unchanged", NULL);
		if (r < 0) {
			expect_under(first, "p");
			expect_under(second, "p");
			assert_true(unchanged >= changes);
		} else {
			expect_under(first, "narrow");
			expect_under(second, "narrow");
			assert_int_equal(changes, 2);
		}
		end_all();
		world_end();
		(void)setup(NULL);
	}
}

/* The state file cannot be written: the change is not made. */
static void test_no_state(void **state)
{
	struct execution *e = world_live();
	int fd = world->state_fd;

	(void)state;
	world->state_fd = -1;
	assert_int_equal(apply_to(e, "narrow", NULL), -EBADF);
	world->state_fd = fd;
	assert_string_equal(e->policy->policy->name, "p");
	assert_int_equal(e->view->policy, e->policy->ref);
	assert_null(e->changing);
	assert_int_equal(logs_count("agent-policy-unchanged", NULL), 1);
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_narrower),
		ONE(test_wider),
		ONE(test_none_live),
		ONE(test_whom),
		ONE(test_many),
		ONE(test_observing),
		ONE(test_in_turns),
		ONE(test_taken_back_in_turns),
		ONE(test_left),
		ONE(test_previous_stays),
		ONE(test_variables),
		ONE(test_bad_policy),
		ONE(test_waits_for_approval),
		ONE(test_not_settled),
		ONE(test_faults),
		ONE(test_no_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
