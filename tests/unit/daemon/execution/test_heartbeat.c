/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon says of itself now and then. */
#include "tests/unit/daemon/fake/world.h"

#include "daemon/execution/heartbeat.h"
#include "insight/text/view.h"
#include "tests/unit/audit/schema_check.h"

static int setup(void **state)
{
	(void)state;
	world_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	world_end();
	return 0;
}

/* The last one, borrowed, of `count` in the log: as the schema has it. */
static const json_t *beat(size_t count)
{
	json_t *schema = json_load_file("docs/audit.schema.json", 0, NULL), *last = NULL, *line;
	struct schema_check check = {.root = schema};

	assert_non_null(schema);
	heartbeat_record(world, 60);
	assert_int_equal(logs_count("agent-heartbeat", &last), count);
	/* What the log adds to each record. */
	line = json_copy(last);
	json_object_set_new(line, "seq", json_integer(1));
	json_object_set_new(line, "chain", json_string(WORLD_DIGEST));
	if (!schema_valid(&check, schema, line, "record"))
		fail_msg("%s", check.error);
	json_decref(line);
	json_decref(schema);
	return last;
}

static void test_idle(void **state)
{
	const json_t *record = beat(1);

	(void)state;
	assert_int_equal(view_number(record, "cordon.agent.interval"), 60);
	assert_int_equal(view_number(record, "cordon.agent.executions"), 0);
	assert_int_equal(json_array_size(view_field(record, "cordon.agent.policies")), 0);
	assert_true(view_has_number(record, "cordon.agent.uptime_nsec"));
}

/* A policy is in force while anything is under it, and once however many are. */
static void test_live(void **state)
{
	struct execution *one = world_live(), *two = world_live();
	const json_t *record, *policy;

	(void)state;
	kernel->slots[one->slot].denials = 2;
	record = beat(1);
	policy = json_array_get(view_field(record, "cordon.agent.policies"), 0);
	assert_int_equal(view_number(record, "cordon.agent.executions"), 2);
	assert_int_equal(view_number(record, "cordon.agent.totals.denials"), 2);
	assert_int_equal(json_array_size(view_field(record, "cordon.agent.policies")), 1);
	assert_string_equal(view_text(policy, "name"), "p");
	assert_int_equal(strlen(view_text(policy, "digest")), 64);
	ending_begin(one, AUDIT_END_KILLED);
	ending_begin(two, AUDIT_END_KILLED);
	cgroups.populated = false;
	assert_true(world_settle());
	record = beat(2);
	assert_int_equal(view_number(record, "cordon.agent.executions"), 0);
	assert_int_equal(view_number(record, "cordon.agent.totals.denials"), 2);
	assert_int_equal(view_number(record, "cordon.agent.totals.ended.killed"), 2);
	assert_int_equal(json_array_size(view_field(record, "cordon.agent.policies")), 0);
}

/* Those that were asked for last are named, and the others counted. */
static void test_many_policies(void **state)
{
	const struct policy_use *uses[3];
	char name[40], *message;
	struct failure failure = {};
	size_t omitted;
	json_t *list;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		char text[160];

		snprintf(name, sizeof(name), "p%zu", i);
		snprintf(
			text, sizeof(text),
			"version: 1\nname: %s\nfiles:\n  - {allow: [read], paths: [\"/opt/%zu/**\"]}\n",
			name, i);
		snprintf(name, sizeof(name), "policies/p%zu.yaml", i);
		world_write(name, text);
		snprintf(name, sizeof(name), "p%zu", i);
		assert_int_equal(policies_get(world->policies, name, false, &uses[i], &message,
					      &failure),
				 0);
	}
	list = policies_in_use(world->policies, 2, &omitted);
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(omitted, 1);
	assert_string_equal(view_text(json_array_get(list, 0), "name"), "p2");
	assert_string_equal(view_text(json_array_get(list, 1), "name"), "p1");
	json_decref(list);
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
		policies_put(world->policies, uses[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_live, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_policies, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
