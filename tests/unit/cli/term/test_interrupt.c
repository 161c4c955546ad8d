/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C amid work that tidies up first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "cli/term/interrupt.h"

static int status_of(void (*child)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		child();
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void interrupted(void)
{
	const volatile sig_atomic_t *came = interrupt_hold();

	if (*came)
		_exit(1);
	(void)raise(SIGINT);
	if (*came != SIGINT)
		_exit(2);
	interrupt_release();
}

/* The work goes on until it has tidied up; then it is the signal that ends the process. */
static void test_ends_by_the_signal(void **state)
{
	int status = status_of(interrupted);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

static void not_interrupted(void)
{
	(void)interrupt_hold();
	interrupt_release();
}

static void ignoring(void)
{
	const volatile sig_atomic_t *came;

	(void)signal(SIGINT, SIG_IGN);
	came = interrupt_hold();
	(void)raise(SIGINT);
	if (*came)
		_exit(1);
	interrupt_release();
}

static void test_nothing_came(void **state)
{
	(void)state;
	assert_int_equal(status_of(not_interrupted), 7 << 8);
	/* As with nohup, or in the background of a script. */
	assert_int_equal(status_of(ignoring), 7 << 8);
}

static void again(void)
{
	not_interrupted();
	(void)raise(SIGINT);
}

static void test_as_before(void **state)
{
	(void)state;
	assert_true(WIFSIGNALED(status_of(again)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_by_the_signal),
		cmocka_unit_test(test_nothing_came),
		cmocka_unit_test(test_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
