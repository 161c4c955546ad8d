/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop's waits for a log's writer that hangs: one with a limit for a decision, none for an
 * expiry that a launch came upon.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "daemon/execution/approval_check.h"
#include "tests/unit/daemon/fake/waits.h"
#include "tests/unit/daemon/privsep/writer_fixture.h"

static char directory[] = "/tmp/cordon-approval-XXXXXX";
static struct daemon *of;

static void on_flush(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
}

static void busy(struct daemon *daemon)
{
	assert_ptr_equal(daemon, of);
}

static int setup(void **state)
{
	(void)state;
	of = calloc(1, sizeof(*of));
	if (!of || !mkdtemp(directory))
		return -1;
	of->busy = busy;
	of->base = event_base_new();
	of->flush_timer = evtimer_new(of->base, on_flush, of);
	return logs_new(NULL, of->base, &of->logs, NULL) < 0
		       ? -1
		       : logs_get(of->logs, directory, &of->log, NULL);
}

static int teardown(void **state)
{
	char command[80];

	(void)state;
	logs_free(of->logs);
	event_free(of->flush_timer);
	event_base_free(of->base);
	names_release(&of->names);
	free(of);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* Its only child is the log's writer. */
static void signal_writer(int number)
{
	_cleanup_(fclosep) FILE *children = NULL;
	char path[64];
	pid_t writer;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	children = fopen(path, "re");
	assert_non_null(children);
	assert_int_equal(fscanf(children, "%d", &writer), 1);
	assert_int_equal(kill(writer, number), 0);
}

static int record(enum audit_approval_decision decision)
{
	const struct audit_approval approval = {
		.decision = decision,
		.subject = "tight",
		.pid = (uint32_t)getpid(),
	};

	vain_waits = 0;
	return approval_record(of, &approval);
}

static void test_hanging_writer(void **state)
{
	(void)state;
	assert_int_equal(record(AUDIT_APPROVAL_GRANTED), 0);
	signal_writer(SIGSTOP);
	assert_int_equal(record(AUDIT_APPROVAL_EXPIRED), 0);
	assert_int_equal(vain_waits, 0);
	assert_int_equal(record(AUDIT_APPROVAL_GRANTED), -ETIMEDOUT);
	assert_true(vain_waits > 0);
	signal_writer(SIGCONT);
	/* It is on record once that goes on. */
	assert_int_equal(record(AUDIT_APPROVAL_GRANTED), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hanging_writer),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}
