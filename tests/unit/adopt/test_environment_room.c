/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that are put into a process which has not run an instruction yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt/environment_room.h"
#include "tests/unit/adopt/stopped_process.h"

#define START 0x7f0000001000ull

/* Strings that each end with a NUL, and pointers to them. */
struct fixture {
	char text[256];
	uint64_t pointers[8];
	struct environment_room room;
};

static void lay(struct fixture *f, const char *text, size_t size)
{
	*f = (struct fixture){.room = {.start = START, .text = f->text, .size = size}};
	memcpy(f->text, text, size);
	f->room.pointers = f->pointers;
}

static const char *string(const struct fixture *f, size_t i)
{
	return f->text + (f->pointers[i] - START);
}

/* How many found no room, or an error. */
static int fill(struct fixture *f, char *const *variables)
{
	struct failure failure = {};
	size_t left = 0;
	int r = environment_room_fill(&f->room, variables, &left, &failure);

	assert_true(r == 0 || failure.text[0]);
	return r < 0 ? r : (int)left;
}

/* PATH=a, two that were overwritten (9 and 3 bytes), TERM=b. */
static void lay_usual(struct fixture *f)
{
	static const char text[] = "PATH=a\0\0\0\0\0\0\0\0\0\0\0\0\0TERM=b";
	static const uint64_t offsets[] = {0, 7, 16, 19};

	lay(f, text, sizeof(text));
	for (size_t i = 0; i < 4; i++)
		f->pointers[i] = START + offsets[i];
	f->room.count = 4;
}

static void test_room_is_joined(void **state)
{
	char *variables[] = {"IPYDIR=abcd", NULL};
	struct fixture f;

	(void)state;
	lay_usual(&f);
	assert_int_equal(fill(&f, variables), 0);
	assert_string_equal(string(&f, 0), "PATH=a");
	assert_string_equal(string(&f, 1), "IPYDIR=abcd");
	/* Not into the middle of the new one. */
	assert_string_equal(string(&f, 2), "");
	assert_string_equal(string(&f, 3), "TERM=b");
}

static void test_same_name_is_replaced(void **state)
{
	char *variables[] = {"TERM=c", "A=1", NULL};
	struct fixture f;

	(void)state;
	lay_usual(&f);
	assert_int_equal(fill(&f, variables), 0);
	assert_string_equal(string(&f, 0), "PATH=a");
	assert_string_equal(string(&f, 1), "TERM=c");
	assert_string_equal(string(&f, 2), "A=1");
	assert_string_equal(string(&f, 3), "");
}

static void test_too_little_room(void **state)
{
	char *long_one[] = {"A=345678901", "B=", NULL}, *many[] = {"A=1", "B=2", "C=3", NULL};
	struct fixture f;

	(void)state;
	lay_usual(&f);
	assert_int_equal(fill(&f, long_one), 1);
	assert_string_equal(string(&f, 1), "A=345678901");
	lay_usual(&f);
	assert_int_equal(fill(&f, many), 1);
	assert_string_equal(string(&f, 2), "B=2");
	lay(&f, "", 1);
	assert_int_equal(fill(&f, many), 3);
}

static void test_pointers_elsewhere(void **state)
{
	char *variables[] = {"A=1", NULL};
	struct fixture f;

	(void)state;
	lay_usual(&f);
	f.pointers[3] = START + 26;
	assert_int_equal(fill(&f, variables), -EBADMSG);
	lay_usual(&f);
	f.pointers[0] = START - 1;
	assert_int_equal(fill(&f, variables), -EBADMSG);
	lay_usual(&f);
	f.pointers[2] = START + 7;
	assert_int_equal(fill(&f, variables), -EBADMSG);
	lay_usual(&f);
	f.text[25] = 'x';
	assert_int_equal(fill(&f, variables), -EBADMSG);
}

/* --- a process that stops at its exec ------------------------------------------------------ */

static void run(char *const *environment, char *const *variables, size_t expected, char *ret_text,
		size_t size)
{
	struct failure failure = {};
	int fds[2], status;
	size_t used = 0, left;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = traced_process_start(environment, fds[1]);
	close(fds[1]);
	assert_int_equal(process_environment_set(pid, variables, &left, &failure), 0);
	assert_int_equal(left, expected);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	while ((n = read(fds[0], ret_text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	ret_text[used] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_process(void **state)
{
	char *environment[] = {"PATH=/bin", "HOME=/root", "GONE=something", "LANG=C", NULL};
	char *variables[] = {"HOME=/job", NULL}, *none[] = {NULL};
	char *room[] = {"PATH=/bin", "HOME=/root/of/somebody", "LANG=C", NULL};
	char *two[] = {"HOME=/job", "NEW=1", NULL};
	char text[512];

	(void)state;
	run(environment, variables, 0, text, sizeof(text));
	assert_string_equal(text, "PATH=/bin\nHOME=/job\nGONE=something\nLANG=C\n");
	run(environment, none, 0, text, sizeof(text));
	assert_non_null(strstr(text, "HOME=/root\n"));
	/* One pointer is not enough for two. */
	run(room, two, 1, text, sizeof(text));
	assert_string_equal(text, "PATH=/bin\nHOME=/job\nLANG=C\n");
}

static void test_process_is_gone(void **state)
{
	char *variables[] = {"A=1", NULL};
	struct failure failure = {};
	pid_t pid = fork();
	size_t left;

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_environment_set(pid, variables, &left, &failure), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_is_joined),
		cmocka_unit_test(test_same_name_is_replaced),
		cmocka_unit_test(test_too_little_room),
		cmocka_unit_test(test_pointers_elsewhere),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_process_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
