/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy`: what each command's exit status tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/policy/policy_command.h"

static const char *const directories[] = {"policies", NULL};
static const struct policy_search search = {.directories = directories};

typedef int command(const struct policy_search *search, int argc, char **argv);

/* The words behind the command, up to a NULL. */
static int run(command *c, ...)
{
	char *argv[16] = {"command"};
	int argc = 1;
	va_list arguments;

	va_start(arguments, c);
	while ((argv[argc] = va_arg(arguments, char *)))
		argc++;
	va_end(arguments);
	optind = 0;
	return c(&search, argc, argv);
}

static void test_check(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_check, "python-sandbox", "policies/runtime/linux.yaml",
			     NULL),
			 0);
	assert_int_equal(run(policy_command_check, "--json", "python-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_check, "tests/unit/policy/bad/rule-both.yaml", NULL),
			 1);
	assert_int_equal(run(policy_command_check, NULL), 2);
}

static void test_show(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_show, "shell-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_show, "--json", "policies/runtime/git.yaml", NULL), 0);
	assert_int_equal(run(policy_command_show, "no-such-policy", NULL), 1);
	assert_int_equal(run(policy_command_show, NULL), 2);
	assert_int_equal(run(policy_command_show, "--help", NULL), 0);
}

static void test_explain(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_explain, "python-sandbox", "read", "/usr/lib/x", NULL),
			 0);
	assert_int_equal(run(policy_command_explain, "python-sandbox", "read", "/root/x", NULL), 1);
	assert_int_equal(run(policy_command_explain, "--json", "--workdir", "/root",
			     "python-sandbox", "read", "/root/x", NULL),
			 0);
	assert_int_equal(run(policy_command_explain, "--bind", "tmp=/var/t", "python-sandbox",
			     "write", "/var/t/x", NULL),
			 0);
	assert_int_equal(run(policy_command_explain, "--bind", "data=/x", "python-sandbox", "read",
			     "/x/y", NULL),
			 2);
	assert_int_equal(run(policy_command_explain, "--workdir", "here", "python-sandbox", "read",
			     "/x", NULL),
			 2);
	/* The rule names the address, so that it leads to the host itself, too. */
	assert_int_equal(run(policy_command_explain, "pip-install", "host", "127.0.0.1:3141", NULL),
			 0);
	assert_int_equal(run(policy_command_explain, "pip-install", "host", "127.0.0.2:3141", NULL),
			 1);
	assert_int_equal(run(policy_command_explain, "python-sandbox", "read", "x", NULL), 2);
	assert_int_equal(run(policy_command_explain, "no-such-policy", "read", "/x", NULL), 2);
	assert_int_equal(run(policy_command_explain, "python-sandbox", "read", NULL), 2);
}

static void test_test(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_test, "policies/tests/python-sandbox.yaml",
			     "policies/tests/observe.yaml", NULL),
			 0);
	assert_int_equal(run(policy_command_test, "--json", "policies/tests/observe.yaml", NULL),
			 0);
	assert_int_equal(run(policy_command_test, "policies/python-sandbox.yaml", NULL), 2);
	assert_int_equal(run(policy_command_test, "no-such-table", NULL), 2);
	assert_int_equal(run(policy_command_test, NULL), 2);
}

static void test_diff(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_diff, "python-sandbox", "python-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_diff, "shell-sandbox", "shell-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_diff, "python-sandbox", "shell-sandbox", NULL), 1);
	assert_int_equal(run(policy_command_diff, "--json", "python-sandbox", "observe", NULL), 1);
	assert_int_equal(run(policy_command_diff, "python-sandbox", "no-such-policy", NULL), 2);
	/* By itself: it allows something. */
	assert_int_equal(run(policy_command_diff, "lockdown", NULL), 1);
	assert_int_equal(run(policy_command_diff, "--json", "observe", NULL), 0);
	assert_int_equal(run(policy_command_diff, NULL), 2);
	assert_int_equal(run(policy_command_diff, "lockdown", "lockdown", "lockdown", NULL), 2);
}

/* The block of docs/policies.md that begins so, up to its fence, as a string; caller frees. */
static char *find_block(const char *docs, const char *beginning)
{
	const char *at = strstr(docs, beginning), *end = at ? strstr(at, "```") : NULL;

	if (!end)
		fail_msg("no block in docs/policies.md begins with %s", beginning);
	return strndup(at, (size_t)(end - at));
}

static void write_block(const char *docs, const char *beginning, const char *file)
{
	_cleanup_(freep) char *text = find_block(docs, beginning);
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* What a command prints. `option` and `third` may be NULL. Caller frees. */
static char *printed_by(command *c, char *option, char *first, char *second, char *third,
			int expected_status)
{
	_cleanup_(closep) int before = dup(STDOUT_FILENO), fd = memfd_create("printed", 0);
	char *text;
	size_t size;
	int status;

	assert_true(fflush(stdout) == 0 && dup2(fd, STDOUT_FILENO) >= 0);
	status = option ? run(c, option, first, second, third, NULL)
			: run(c, first, second, third, NULL);
	assert_true(fflush(stdout) == 0 && dup2(before, STDOUT_FILENO) >= 0);
	assert_int_equal(status, expected_status);
	size = (size_t)lseek(fd, 0, SEEK_CUR);
	text = calloc(1, size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, size, 0), size);
	return text;
}

static void test_documented_diff(void **state)
{
	_cleanup_(closep) int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(freep) char *docs = NULL, *expected = NULL, *printed = NULL;
	char directory[] = "/tmp/cordon-diff-XXXXXX";
	size_t size;

	(void)state;
	assert_int_equal(io_read_file(AT_FDCWD, "docs/policies.md", 1 << 20, &docs, &size), 0);
	expected = find_block(docs, "wider.yaml allows what report.yaml does not");
	assert_true(mkdtemp(directory) && chdir(directory) == 0);
	write_block(docs, "# report.yaml\n", "report.yaml");
	write_block(docs, "# wider.yaml\n", "wider.yaml");
	printed = printed_by(policy_command_diff, NULL, "report.yaml", "wider.yaml", NULL, 1);
	assert_true(unlink("report.yaml") == 0 && unlink("wider.yaml") == 0);
	assert_true(fchdir(home) == 0 && rmdir(directory) == 0);
	assert_string_equal(printed, expected);
}

/* A name that leads through a link is of no object: so says `check`, and so does this. */
static void test_explain_tells_of_dead_patterns(void **state)
{
	static const char warning[] =
		"warning  dead.yaml:1: on this host %s/link is a symbolic link to %s: nothing "
		"is called \"%s/link/x\"; write \"%s/x\"";
	_cleanup_(closep) int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(freep) char *text = NULL, *json = NULL, *expected = NULL;
	char directory[] = "/tmp/cordon-dead-XXXXXX";
	FILE *file;

	(void)state;
	assert_true(mkdtemp(directory) && chdir(directory) == 0);
	assert_int_equal(symlink(directory, "link"), 0);
	file = fopen("dead.yaml", "w");
	assert_non_null(file);
	fprintf(file, "{version: 1, files: [{allow: [read], paths: [%s/link/x]}]}\n", directory);
	assert_int_equal(fclose(file), 0);
	text = printed_by(policy_command_explain, NULL, "./dead.yaml", "read", "/etc/hosts", 1);
	json = printed_by(policy_command_explain, "--json", "./dead.yaml", "read", "/etc/hosts", 1);
	assert_true(unlink("dead.yaml") == 0 && unlink("link") == 0);
	assert_true(fchdir(home) == 0 && rmdir(directory) == 0);
	assert_true(asprintf(&expected, warning, directory, directory, directory, directory) > 0);
	if (!strstr(text, expected + strlen("warning  dead.yaml:1:")))
		fail_msg("%s", text);
	assert_non_null(strstr(json, "\"warnings\":[{\"file\":"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_test),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_documented_diff),
		cmocka_unit_test(test_explain_tells_of_dead_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
