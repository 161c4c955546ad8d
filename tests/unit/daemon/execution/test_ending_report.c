/* SPDX-License-Identifier: Apache-2.0 */
/* Who makes an execution's report, who waits for it, and what happens where nobody can make it. */
#include "tests/unit/daemon/fake/world.h"

#include "daemon/execution/refused.h"
#include "tests/unit/daemon/fake/errands.h"

#define MANY 600

static struct execution *e;
static json_t *report; /* that the owner of the last that ended was handed */

static void keep_report(struct execution *finished)
{
	FILE *file = finished->ending.report_fd < 0
			     ? NULL
			     : fdopen(fcntl(finished->ending.report_fd, F_DUPFD_CLOEXEC, 3), "r");

	world_finished(finished);
	if (file) {
		assert_int_equal(fcntl(finished->ending.report_fd, F_GET_SEALS),
				 F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
		report = json_loadf(file, 0, NULL);
		assert_non_null(report);
		fclose(file);
	}
}

static int setup(void **state)
{
	(void)state;
	world_new();
	world->execution_finished = keep_report;
	e = world_live();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(report);
	report = NULL;
	world_end();
	return 0;
}

static void refuse(unsigned int count)
{
	struct cordon_denial_event event = {
		.operation = CORDON_OP_OPEN,
		.object_kind = CORDON_OBJECT_PATH,
		.rights = 1,
		.error = -EACCES,
		.rule = CORDON_NO_RULE,
	};
	char path[32];

	for (unsigned int i = 0; i < count; i++) {
		event.object_length = (unsigned int)snprintf(path, sizeof(path), "/srv/%u", i);
		event.object_total = event.object_length;
		kernel_emit_text(e->slot, &event, sizeof(event), path, CORDON_EVENT_DENIAL);
		if (kernel->event_count == FAKE_EVENTS / 2 || i == count - 1)
			events_drain(world, EVENTS_ALL);
	}
	assert_int_equal(e->reported.count, count);
}

static void end_it(void)
{
	const struct ended_request ended = {};

	ending_told(e, &ended);
	/* It is looked at again after a millisecond. */
	while (seen.finished == 0 && e->state != EXECUTION_FINISHED) {
		world_turn();
		usleep(1000);
	}
}

static size_t listed(void)
{
	return json_array_size(json_object_get(report, "denials"));
}

static void expect_end(void)
{
	assert_true(world_settle());
	assert_int_equal(seen.finished, 1);
	world_check_empty(NULL);
}

static void test_few_at_once(void **state)
{
	struct refused refused = {};

	(void)state;
	refuse(3);
	/* What each would have needed is found in its record as it is written. */
	assert_int_equal(refused_gather(&e->reported, &refused), 0);
	assert_int_equal(json_object_size(refused.rules), 3);
	refused_release(&refused);
	end_it();
	assert_null(errand);
	expect_end();
	assert_int_equal(listed(), 3);
}

/* The owner hears when both the record and the report are there, and the loop did neither. */
static void test_many_beside_the_loop(void **state)
{
	(void)state;
	refuse(MANY);
	end_it();
	assert_non_null(errand);
	assert_int_equal(errand->job.uid, e->owner.uid);
	for (int i = 0; i < 8; i++)
		world_turn();
	assert_null(e->writing);
	assert_int_equal(seen.finished, 0);
	errand_answers(0);
	assert_int_equal(seen.finished, 1);
	/* What they were is forgotten a part at a time. */
	assert_true(e->reported.count > 0 && e->reported.count < MANY);
	assert_int_equal(world->denials_kept, e->reported.count);
	expect_end();
	assert_int_equal(listed(), MANY);
}

static void test_before_the_record(void **state)
{
	(void)state;
	refuse(MANY);
	fake_logs->hold = true;
	end_it();
	errand_answers(0);
	assert_int_equal(seen.finished, 0);
	assert_true(e->ending.report_fd >= 0);
	ending_timer(-1, EV_TIMEOUT, e);
	expect_end();
	assert_int_equal(listed(), MANY);
}

/* A log that is slow is waited for no longer, but a report is. */
static void test_after_a_slow_log(void **state)
{
	(void)state;
	refuse(MANY);
	fake_logs->hold = true;
	end_it();
	ending_timer(-1, EV_TIMEOUT, e);
	assert_null(e->writing);
	assert_int_equal(seen.finished, 0);
	errand_answers(0);
	expect_end();
	assert_int_equal(listed(), MANY);
}

static void test_no_answer(void **state)
{
	(void)state;
	refuse(MANY);
	end_it();
	errand_answers(-ETIMEDOUT);
	expect_end();
	assert_null(report);
	assert_non_null(strstr(seen.said, "its report: it did not answer"));
}

static void test_no_process(void **state)
{
	(void)state;
	refuse(MANY);
	faults_set_for("errand_start", EAGAIN);
	end_it();
	expect_end();
	assert_null(report);
	assert_non_null(strstr(seen.said, "its report: no process"));
}

static void test_nobody_asked(void **state)
{
	(void)state;
	refuse(MANY);
	ending_owner_gone(e);
	expect_end();
	assert_null(errand);
	assert_null(report);
}

/* The daemon's memory goes while a report is made. */
static void test_dropped(void **state)
{
	char tmp[PATH_MAX];

	(void)state;
	refuse(MANY);
	snprintf(tmp, sizeof(tmp), "%s/%s", DAEMON_TMP_PARENT, e->name);
	end_it();
	assert_non_null(errand);
	world_crash();
	assert_null(errand);
	/* Left to recovery, which this test does not run. */
	assert_int_equal(rmdir(tmp), 0);
	world_start();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_few_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_beside_the_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_before_the_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_after_a_slow_log, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
