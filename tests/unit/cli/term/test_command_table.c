/* SPDX-License-Identifier: Apache-2.0 */
/* --help, --version and the choice of a command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/term/command_table.h"
#include "cli/term/exit_status.h"

static char asked[32];

static int note(int argc, char **argv)
{
	snprintf(asked, sizeof(asked), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	return 7;
}

static const struct command commands[] = {
	{"events", note, "what was done"},
	{"pages", NULL, NULL},
	{"report", note, "the same as a page"},
};

static const struct command_table table = {
	.program = "cordon",
	.about = "cordon confines.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
};

/* Returns command_choose()'s status for `cordon FIRST SECOND`, and what it wrote to `stream`. */
static int choose(char *first, char *second, int stream, char **ret_text)
{
	char name[] = "cordon", *argv[] = {name, first, second, NULL};
	const struct command *command = NULL;
	int fds[2], kept = dup(stream), status;
	size_t size;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	fflush(NULL);
	dup2(fds[1], stream);
	status = command_choose(&table, second ? 3 : first ? 2 : 1, argv, &command);
	fflush(NULL);
	dup2(kept, stream);
	close(kept);
	close(fds[1]);
	assert_int_equal(io_read_all(fds[0], 1 << 16, ret_text, &size), 0);
	close(fds[0]);
	assert_true((status == -1) == (command != NULL));
	return status;
}

static void expect(int status, const char *text, char *first, char *second, int stream)
{
	_cleanup_(freep) char *said = NULL;

	assert_int_equal(choose(first, second, stream, &said), status);
	if (!strstr(said, text))
		fail_msg("'%s' is not in '%s'", text, said);
}

static void test_usage(void **state)
{
	(void)state;
	expect(EXIT_USAGE, "usage: cordon COMMAND", NULL, NULL, STDERR_FILENO);
	expect(EXIT_USAGE, "'evnets' is not a command; did you mean 'cordon events'?", "evnets",
	       NULL, STDERR_FILENO);
	expect(EXIT_USAGE, "'zzz' is not a command; 'cordon --help' lists them", "zzz", NULL,
	       STDERR_FILENO);
	expect(EXIT_USAGE, "did you mean 'cordon report'", "help", "reprot", STDERR_FILENO);
	expect(EXIT_USAGE, "did you mean 'cordon --version'", "verison", NULL, STDERR_FILENO);
	expect(EXIT_USAGE, "did you mean 'cordon --version'", "--verison", NULL, STDERR_FILENO);
	expect(EXIT_USAGE, "did you mean 'cordon --version'", "-v", NULL, STDERR_FILENO);
	/* A title is no command. */
	expect(EXIT_USAGE, "'pages' is not a command", "pages", NULL, STDERR_FILENO);
}

static void test_help(void **state)
{
	static const char list[] = "\ncommands:\n"
				   "  events    what was done\n"
				   "\npages:\n"
				   "  report    the same as a page\n"
				   "\n  cordon COMMAND --help   show the options of COMMAND\n";

	(void)state;
	expect(0, list, "--help", NULL, STDOUT_FILENO);
	expect(0, list, "help", NULL, STDOUT_FILENO);
	expect(0, "cordon " CORDON_VERSION "\n", "-V", NULL, STDOUT_FILENO);
	expect(7, "", "help", "report", STDOUT_FILENO);
	assert_string_equal(asked, "report --help");
}

static void test_chosen(void **state)
{
	(void)state;
	expect(-1, "", "events", NULL, STDOUT_FILENO);
	assert_ptr_equal(command_find(&table, "report"), &commands[2]);
	assert_null(command_find(&table, "repor"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
