/* SPDX-License-Identifier: Apache-2.0 */
/* How far long work is stands on a terminal's standard error, and nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/term/progress.h"

/* What is said at so many of `all`, and after it, as if the last was said long ago. */
static char *said(int error, int from, const char *unit, uint64_t done, uint64_t all)
{
	_cleanup_(closep) int before = dup(STDERR_FILENO);
	struct progress progress;
	static char text[512];
	ssize_t n;

	assert_true(dup2(error, STDERR_FILENO) >= 0);
	if (unit)
		progress_begin_counting(&progress, "loading", unit);
	else
		progress_begin(&progress, "reading", false);
	progress.told = 0;
	progress_step(&progress, done, all);
	progress_end(&progress);
	(void)fflush(stderr);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	n = read(from, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void test_on_a_terminal(void **state)
{
	_cleanup_(closep) int terminal = -1, other = -1;

	(void)state;
	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	assert_int_equal(openpty(&other, &terminal, NULL, NULL, NULL), 0);
	assert_int_equal(fcntl(other, F_SETFL, O_NONBLOCK), 0);
	assert_non_null(strstr(said(terminal, other, NULL, 30, 100), "\rreading:  30 %, "));
	assert_non_null(strstr(said(terminal, other, "programs", 57, 116),
			       "\rloading: 57 of 116 programs, "));
	/* The first tell nothing of the others. */
	assert_string_equal(said(terminal, other, "programs", 2, 116),
			    "\rloading: 2 of 116 programs\033[K\r\033[K");
	/* Nothing is known yet: nothing is said. */
	assert_string_equal(said(terminal, other, "programs", 0, 116), "");
	assert_int_equal(setenv("TERM", "dumb", 1), 0);
	assert_string_equal(said(terminal, other, "programs", 57, 116), "");
}

static void test_elsewhere(void **state)
{
	_cleanup_(closep) int from = -1, to = -1;
	int ends[2];

	(void)state;
	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	from = ends[0];
	to = ends[1];
	assert_string_equal(said(to, from, "programs", 57, 116), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_a_terminal),
		cmocka_unit_test(test_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
