/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon run` as its caller sees it, with real processes. The daemon's client is replaced here by
 * functions that answer as a daemon would, so that it runs on any host; nothing is confined.
 */
#include "tests/unit/cli/run/fake_run.h"

/* --- status and output -------------------------------------------------------------------- */

static void test_status(void **state)
{
	(void)state;
	expect(0, "out\n", "err\n", WORDS("--", "sh", "-c", "echo out; echo err >&2"));
	assert_true(fake->ended);
	assert_string_equal(fake->policy, "shell-sandbox");
	assert_string_equal(fake->workdir, workdir);
	expect(7, "", "", WORDS("sh", "-c", "exit 7"));
	assert_true(WIFEXITED(fake->end.status));
	expect(128 + SIGTERM, "", "", WORDS("sh", "-c", "kill -TERM $$"));
	assert_true(WIFSIGNALED(fake->end.status));
	expect(128 + SIGINT, "", "", WORDS("sh", "-c", "kill -INT $$"));
	expect(128 + SIGKILL, "", "", WORDS("sh", "-c", "kill -KILL $$"));
}

static void test_not_started(void **state)
{
	(void)state;
	expect(127, "", "cordon: cordon-nothing: not found\n",
	       WORDS("--policy", "p", "--", "cordon-nothing"));
	assert_true(fake->aborted);
	assert_false(fake->ended);
	assert_int_equal(fake->abort_error, ENOENT);
	expect(126, "", "cordon: /etc/passwd: Permission denied\n",
	       WORDS("--policy", "p", "--", "/etc/passwd"));
	assert_int_equal(fake->abort_error, EACCES);
}

static void test_refused(void **state)
{
	(void)state;
	fake->prepare_error = EINVAL;
	expect(125, "", "cordon: a.yaml:1:1: error: line one\nhint: line two\n",
	       WORDS("sh", "-c", "echo ran"));
	fake->prepare_error = 0;
	fake->label_error = ENOSPC;
	expect(125, "", "cordon: the label does not stick\n", WORDS("sh", "-c", "echo ran"));
	assert_true(fake->aborted);
	assert_false(fake->ended);
}

/* Nothing has run while the daemon was restarted: the next one is asked, but not for ever. */
static void test_launched_again(void **state)
{
	(void)state;
	fake->lost_prepares = 1;
	fake->lost_labels = 2;
	expect(0, "ran\n", "", WORDS("sh", "-c", "echo ran"));
	assert_int_equal(fake->prepares, 4);
	fake->prepares = 0;
	fake->lost_prepares = 100;
	expect(125, "", "cordon: the daemon has gone away\n", WORDS("sh", "-c", "echo ran"));
	assert_int_equal(fake->prepares, 10);
}

static void test_bad_command_lines(void **state)
{
	(void)state;
	expect(125, "", NULL, WORDS("--"));
	expect(125, "", "cordon: run: '--polcy' is not an option; did you mean '--policy'?\n",
	       WORDS("--polcy", "x", "true"));
	expect(125, "", NULL, WORDS("--timeout", "soon", "true"));
	expect(125, "", NULL, WORDS("--bind", "workdir=/tmp", "true"));
	expect(125, "", NULL, WORDS("--user", "cordon-nobody", "true"));
	expect(125, "",
	       "cordon: which policy? There is no default for this command: add --policy NAME "
	       "(`cordon policy list` shows which there are) or --policy FILE\n",
	       WORDS("true"));
	expect(125, "",
	       "cordon: which policy? There is no default for /usr/bin/make; build-c is made for "
	       "it: add --policy build-c\n",
	       WORDS("/usr/bin/make"));
	expect(125, "",
	       "cordon: which policy? Language \"cobol\" has no default, only python, shell, bash "
	       "and sh; add --policy NAME (`cordon policy list`) or FILE\n",
	       WORDS("--language", "cobol", "true"));
	assert_false(fake->labelled);
}

static void test_bad_workdirs(void **state)
{
	char link[128], file[128], message[512];

	(void)state;
	snprintf(link, sizeof(link), "%s/link", workdir);
	snprintf(file, sizeof(file), "%s/file", workdir);
	assert_int_equal(symlink("/etc", link), 0);
	close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	snprintf(message, sizeof(message),
		 "cordon: the work directory %s is a symbolic link to '/etc'; name the directory "
		 "itself\n",
		 link);
	expect(125, "", message, WORDS("--workdir", link, "sh", "-c", "echo ran"));
	snprintf(message, sizeof(message), "cordon: the work directory %s is not a directory\n",
		 file);
	expect(125, "", message, WORDS("--workdir", file, "sh", "-c", "echo ran"));
	/* In the middle, and what is below is a directory like any other. */
	snprintf(
		message, sizeof(message),
		"cordon: the work directory %s/cron.d leads through %s, which is a symbolic link to "
		"'/etc' and may have been put there by code that ran before; name the directory "
		"itself\n",
		link, link);
	strcat(link, "/cron.d");
	expect(125, "", message, WORDS("--workdir", link, "sh", "-c", "echo ran"));
	link[strlen(link) - strlen("/cron.d")] = '\0';
	expect(125, "", "cordon: the work directory /nowhere does not exist; create it first\n",
	       WORDS("--workdir", "/nowhere", "sh", "-c", "echo ran"));
	strcat(link, "/");
	expect(125, "", NULL, WORDS("--workdir", link, "sh", "-c", "echo ran"));
	assert_false(fake->labelled);
	link[strlen(link) - 1] = '\0';
	unlink(link);
	unlink(file);
}

static void test_options_arrive(void **state)
{
	(void)state;
	expect(0, "", "",
	       WORDS("--timeout", "5s", "--memory", "64M", "--language", "klingon", "--policy",
		     "sub/p.yaml", "--", "sh", "-c", "exit 0", "secret\ncode"));
	assert_int_equal(fake->limits.wall_nsec, 5 * NSEC_PER_SEC);
	assert_int_equal(fake->limits.memory_bytes, 64 << 20);
	assert_string_equal(fake->language, "klingon");
	assert_int_equal(fake->policy[0], '/');
	assert_non_null(strstr(fake->policy, "/sub/p.yaml"));
	assert_string_equal(fake->argument, "(none)"); /* an argument with code goes unrecorded */
	assert_string_not_equal(fake->removed, "(none)");
}

/* --- code --------------------------------------------------------------------------------- */

static void assert_digest(const unsigned char *digest, const char *text)
{
	unsigned char expected[SHA256_SIZE];

	assert_int_equal(sha256_of(text, strlen(text), expected), 0);
	assert_memory_equal(digest, expected, sizeof(expected));
}

static void test_code_from_pipe(void **state)
{
	static const char code[] = "echo hello\nexit 3\n";
	struct run run;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	run = start_with(fds[0], NULL, WORDS("sh"));
	close(fds[0]);
	assert_int_equal(write(fds[1], code, strlen(code)), strlen(code));
	close(fds[1]);
	assert_int_equal(finish(&run), 3);
	assert_string_equal(run.output, "hello\n");
	assert_int_equal(fake->code.source, AUDIT_CODE_STDIN);
	assert_false(fake->code.have_digest);
	assert_true(fake->end.have_code);
	assert_int_equal(fake->end.code_length, strlen(code));
	assert_digest(fake->end.code_digest, code);
	release(&run);
}

/* More than any pipe holds, to a reader that takes its time, and none of it lost. */
static void test_much_code_from_pipe(void **state)
{
	char line[1024];
	struct run run;
	int fds[2];
	pid_t writer;

	(void)state;
	memset(line, '#', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	run = start_with(fds[0], NULL, WORDS("sh"));
	close(fds[0]);
	writer = fork();
	if (writer == 0) {
		for (int i = 0; i < 1000; i++)
			io_write_all(fds[1], line, sizeof(line));
		io_write_all(fds[1], "echo end\n", 9);
		_exit(0);
	}
	close(fds[1]);
	waitpid(writer, NULL, 0);
	assert_int_equal(finish(&run), 0);
	assert_string_equal(run.output, "end\n");
	assert_int_equal(fake->end.code_length, 1024 * 1000 + 9);
	release(&run);
}

static void test_code_from_file_as_stdin(void **state)
{
	_cleanup_(closep) int fd = open(workdir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	struct run run;

	(void)state;
	assert_int_equal(write(fd, "skipped\necho hi\n", 16), 16);
	lseek(fd, 8, SEEK_SET);
	run = start_with(fd, NULL, WORDS("sh"));
	assert_int_equal(finish(&run), 0);
	assert_string_equal(run.output, "hi\n");
	assert_true(fake->code.have_digest);
	assert_digest(fake->code.digest, "echo hi\n");
	assert_false(fake->end.have_code);
	release(&run);
}

/* Standard input that is data goes to the command untouched: the very same open file. */
static void test_data_on_stdin(void **state)
{
	_cleanup_(closep) int fd = open(workdir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	struct run run;

	(void)state;
	assert_int_equal(write(fd, "data", 4), 4);
	lseek(fd, 0, SEEK_SET);
	run = start_with(fd, NULL, WORDS("--policy", "p", "cat"));
	assert_int_equal(finish(&run), 0);
	assert_string_equal(run.output, "data");
	assert_int_equal(fake->code.source, AUDIT_CODE_NONE);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 4);
	release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_status),
		TEST(test_not_started),
		TEST(test_refused),
		TEST(test_launched_again),
		TEST(test_bad_command_lines),
		TEST(test_bad_workdirs),
		TEST(test_options_arrive),
		TEST(test_code_from_pipe),
		TEST(test_much_code_from_pipe),
		TEST(test_code_from_file_as_stdin),
		TEST(test_data_on_stdin),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
