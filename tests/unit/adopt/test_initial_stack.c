/* SPDX-License-Identifier: Apache-2.0 */
/* The words that a stack begins with, and a process that begins with more of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt/environment_room.h"
#include "adopt/initial_stack.h"
#include "tests/unit/adopt/stopped_process.h"

#define STACK	  0x7ffffffde008ull
#define ARGUMENTS 0x7ffffffdf000ull

/* Two arguments, two variables, AT_PAGESZ (6) and AT_NULL. */
static const uint64_t usual[] = {
	2, ARGUMENTS, ARGUMENTS + 4, 0, ARGUMENTS + 8, ARGUMENTS + 16, 0, 6, 4096, 0, 0, 99,
};

static int parse(const uint64_t *words, size_t count, struct initial_stack *ret_stack)
{
	return initial_stack_parse(words, count, ARGUMENTS, ret_stack);
}

static void test_parse(void **state)
{
	struct initial_stack stack;

	(void)state;
	assert_int_equal(parse(usual, 12, &stack), 0);
	assert_int_equal(stack.variable, 4);
	assert_int_equal(stack.variable_count, 2);
	assert_int_equal(stack.count, 11);
	/* Neither arguments nor variables. */
	assert_int_equal(parse((const uint64_t[]){0, 0, 0, 0, 0}, 5, &stack), 0);
	assert_int_equal(stack.variable, 2);
	assert_int_equal(stack.variable_count, 0);
	assert_int_equal(stack.count, 5);
}

static void test_laid_otherwise(void **state)
{
	struct initial_stack stack;
	uint64_t words[12];

	(void)state;
	/* Each end that is missing, and no word behind the last one is looked at. */
	for (size_t count = 0; count < 11; count++) {
		memcpy(words, usual, sizeof(words));
		assert_int_equal(parse(words, count, &stack), -EOPNOTSUPP);
	}
	memcpy(words, usual, sizeof(words));
	words[1]++;
	assert_int_equal(parse(words, 12, &stack), -EOPNOTSUPP);
	memcpy(words, usual, sizeof(words));
	words[0] = UINT64_MAX;
	assert_int_equal(parse(words, 12, &stack), -EOPNOTSUPP);
	words[0] = 1;
	assert_int_equal(parse(words, 12, &stack), -EOPNOTSUPP);
}

static void test_lengthen(void **state)
{
	char *variables[] = {"A=1", "BC=22", NULL};
	_Alignas(8) char copy[256];
	const uint64_t *words = (const uint64_t *)copy;
	struct initial_stack stack;
	uint64_t address;
	size_t size;
	void *bytes;

	(void)state;
	assert_int_equal(parse(usual, 12, &stack), 0);
	assert_int_equal(initial_stack_lengthen(&stack, STACK, variables, &bytes, &size, &address),
			 0);
	assert_int_equal(address % 16, 0);
	assert_true(address + size <= STACK && STACK - (address + size) < 16);
	assert_true(size <= sizeof(copy));
	memcpy(copy, bytes, size);
	free(bytes);
	assert_memory_equal(words, usual, 6 * sizeof(*words));
	assert_string_equal(copy + (words[6] - address), "A=1");
	assert_string_equal(copy + (words[7] - address), "BC=22");
	assert_memory_equal(words + 8, usual + 6, 5 * sizeof(*words));
	assert_true(words[6] - address == 13 * sizeof(*words));
}

/* --- a process that a signal stops at its exec ---------------------------------------------- */

static pid_t start(int out, bool stop)
{
	char *const environment[] = {"PATH=/bin", NULL};
	pid_t pid = traced_process_start(environment, out);

	if (stop)
		assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, SIGSTOP), 0);
	return pid;
}

/* As an errand does it: whoever traces ends. The variables that were not set. */
static int set_elsewhere(pid_t pid, char *const *variables)
{
	struct failure failure = {};
	pid_t helper = fork();
	int status;

	assert_true(helper >= 0);
	if (helper == 0) {
		size_t left = 0;
		int r = process_environment_set(pid, variables, &left, &failure);

		_exit(r < 0 ? 100 : (int)left);
	}
	assert_int_equal(waitpid(helper, &status, 0), helper);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void finish(pid_t pid, int out, const char *expected)
{
	char text[512];
	size_t used = 0;
	ssize_t n;
	int status;

	assert_int_equal(kill(pid, SIGCONT), 0);
	while ((n = read(out, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal(text, expected);
}

static void test_no_room(void **state)
{
	char *variables[] = {"TMPDIR=/tmp/cordon-1", "B=2", NULL}, *none[] = {NULL};
	int fds[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = start(fds[1], true);
	close(fds[1]);
	assert_int_equal(set_elsewhere(pid, none), 0);
	assert_int_equal(set_elsewhere(pid, variables), 0);
	/* By whoever takes over from one that died after that. */
	assert_int_equal(set_elsewhere(pid, variables), 0);
	finish(pid, fds[0], "PATH=/bin\nTMPDIR=/tmp/cordon-1\nB=2\n");
	close(fds[0]);
}

static void test_who_cannot_trace(void **state)
{
	char *variables[] = {"B=2", NULL};
	struct failure failure = {};
	int fds[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	/* Traced by this one, and so not stopped by a signal. */
	pid = start(fds[1], false);
	close(fds[1]);
	assert_int_equal(set_elsewhere(pid, variables), 1);
	assert_int_equal(initial_stack_move(pid, 0, 16, &failure), -ETIMEDOUT);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, SIGSTOP), 0);
	assert_int_equal(set_elsewhere(pid, (char *[]){NULL}), 0);
	finish(pid, fds[0], "PATH=/bin\n");
	close(fds[0]);
	assert_int_equal(initial_stack_move(pid, 0, 16, &failure), -ESRCH);
}

static void test_not_at_its_beginning(void **state)
{
	struct failure failure = {};
	pid_t pid = fork(), helper;
	int status;

	(void)state;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	helper = fork();
	if (helper == 0)
		_exit(initial_stack_move(pid, 16, 32, &failure) == -EOPNOTSUPP ? 0 : 1);
	assert_int_equal(waitpid(helper, &status, 0), helper);
	assert_int_equal(status, 0);
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_laid_otherwise),
		cmocka_unit_test(test_lengthen),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_who_cannot_trace),
		cmocka_unit_test(test_not_at_its_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
