/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon run`: signals, terminals, deadlines, a daemon that is lost, and the report at the end. */
#include "tests/unit/cli/run/fake_run.h"

static void wait_for_line(struct run *run, const char *line)
{
	char buffer[64] = "";
	size_t n = 0;

	while (n < strlen(line) && read(run->out, buffer + n, 1) == 1)
		n++;
	assert_string_equal(buffer, line);
}

static void assert_gone(pid_t pid)
{
	while (kill(pid, 0) == 0)
		usleep(10000);
}

/* --- signals ------------------------------------------------------------------------------ */

static void forwards(int signal, const char *name)
{
	char script[256];
	struct run run;

	snprintf(script, sizeof(script),
		 "trap 'exit 9' %s; echo ready; while :; do sleep 0.02; done", name);
	run = start_with(-1, NULL, WORDS("sh", "-c", script));
	wait_for_line(&run, "ready\n");
	kill(run.pid, signal);
	assert_int_equal(finish(&run), 9);
	release(&run);
}

static void test_signals_are_passed_on(void **state)
{
	(void)state;
	forwards(SIGTERM, "TERM");
	forwards(SIGINT, "INT");
	forwards(SIGHUP, "HUP");
	forwards(SIGQUIT, "QUIT");
	forwards(SIGUSR1, "USR1");
	forwards(SIGUSR2, "USR2");
	forwards(SIGALRM, "ALRM");
	forwards(SIGWINCH, "WINCH");
}

static void test_uncaught_signal(void **state)
{
	struct run run = start_with(-1, NULL, WORDS("sh", "-c", "echo ready; exec sleep 100"));

	(void)state;
	wait_for_line(&run, "ready\n");
	kill(run.pid, SIGTERM);
	assert_int_equal(finish(&run), 128 + SIGTERM);
	release(&run);
}

static void ignore_some(void)
{
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
}

/*
 * The C library keeps two signals (32, 33) for itself and lets nobody change them; posix_spawn(3)
 * starts programs with both ignored.
 */
static unsigned long long libc_ignored(void)
{
	_cleanup_(freep) char *text = NULL;
	unsigned long long ignored;
	const char *line;
	size_t size;

	assert_int_equal(io_read_file(AT_FDCWD, "/proc/self/status", 65536, &text, &size), 0);
	line = strstr(text, "\nSigIgn:");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "\nSigIgn: %llx", &ignored), 1);
	return ignored & 3ull << 31;
}

/* nohup: what the caller ignores, the command ignores; and its status is still known. */
static void test_ignored_signals(void **state)
{
	struct run run = start_with(-1, ignore_some,
				    WORDS("--policy", "p", "grep", "-E", "Sig(Ign|Blk)",
					  "/proc/self/status"));
	char expected[64];

	(void)state;
	assert_int_equal(finish(&run), 0);
	snprintf(expected, sizeof(expected), "SigBlk:\t%016x\nSigIgn:\t%016llx\n", 0,
		 libc_ignored() | 1ull << (SIGHUP - 1) | 1ull << (SIGCHLD - 1));
	assert_string_equal(run.output, expected);
	release(&run);
}

static void test_killed(void **state)
{
	struct run run = start_with(-1, NULL, WORDS("sh", "-c", "echo ready; exec sleep 100"));
	int status;

	(void)state;
	wait_for_line(&run, "ready\n");
	kill(run.pid, SIGKILL);
	assert_int_equal(waitpid(run.pid, &status, 0), run.pid);
	assert_true(WIFSIGNALED(status));
	assert_gone(fake->child);
	close(run.out);
	close(run.err);
}

/*
 * A shell with job control in small: its job stops by ^Z, is continued, and ends by ^C. Reports by
 * its exit status.
 */
static void play_shell(void)
{
	pid_t job;
	int status;

	job = fork();
	if (job == 0) {
		/* A shell in vfork(2) is not stopped while its child is. */
		const char *argv[] = {
			"run",	 "--workdir",
			workdir, "sh",
			"-c",	 "trap 'exit 5' INT; echo ready; while :; do read x; done",
			NULL};

		setpgid(0, 0);
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGTTOU, SIG_DFL);
		_exit(cmd_run(6, (char **)argv));
	}
	if (waitpid(job, &status, WUNTRACED) != job)
		_exit(100);
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTSTP)
		_exit(101);
	if (kill(fake->child, 0) != 0)
		_exit(102);
	kill(-job, SIGCONT);
	/* Tells the test to go on. */
	if (write(STDOUT_FILENO, "again\n", 6) != 6)
		_exit(103);
	if (waitpid(job, &status, WUNTRACED) != job || !WIFEXITED(status))
		_exit(104);
	_exit(WEXITSTATUS(status));
}

/* Reads from the terminal until `word` comes. */
static void terminal_until(int terminal, const char *word)
{
	char text[1024] = "";
	size_t n = 0;

	while (n + 1 < sizeof(text) && !strstr(text, word)) {
		assert_true(read(terminal, text + n, 1) == 1);
		text[++n] = '\0';
	}
}

static void test_terminal(void **state)
{
	int terminal, status;
	pid_t shell;

	(void)state;
	shell = forkpty(&terminal, NULL, NULL, NULL);
	assert_true(shell >= 0);
	if (shell == 0)
		play_shell();
	terminal_until(terminal, "ready");
	assert_int_equal(write(terminal, "\x1a", 1), 1); /* ^Z */
	terminal_until(terminal, "again");
	assert_int_equal(write(terminal, "\x03", 1), 1); /* ^C: once for each, not twice */
	assert_int_equal(waitpid(shell, &status, 0), shell);
	close(terminal);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
}

/* A job that stops itself: the shell is told, and nobody continues it. */
static void play_shell_of_stopped(void)
{
	const char *argv[] = {"run", "--workdir", workdir, "sh", "-c", "kill -STOP $$; sleep 100",
			      NULL};
	pid_t job = fork();
	int status;

	if (job == 0) {
		setpgid(0, 0);
		_exit(cmd_run(6, (char **)argv));
	}
	if (waitpid(job, &status, WUNTRACED) != job || !WIFSTOPPED(status))
		_exit(101);
	if (waitpid(job, &status, 0) != job || !WIFEXITED(status))
		_exit(102);
	_exit(WEXITSTATUS(status));
}

static void test_stop_does_not_outlast_deadline(void **state)
{
	int terminal, status;
	pid_t shell;

	(void)state;
	fake->timeout_nsec = 300 * NSEC_PER_MSEC;
	shell = forkpty(&terminal, NULL, NULL, NULL);
	assert_true(shell >= 0);
	if (shell == 0) {
		alarm(60);
		play_shell_of_stopped();
	}
	assert_int_equal(waitpid(shell, &status, 0), shell);
	close(terminal);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 124);
}

/* The terminal of a session that `cordon run` itself leads goes away. */
static void test_hangup(void **state)
{
	const char *argv[] = {"run", "--workdir", workdir, "sh", "-c", "echo ready; exec sleep 100",
			      NULL};
	int terminal, status;
	pid_t leader;

	(void)state;
	leader = forkpty(&terminal, NULL, NULL, NULL);
	assert_true(leader >= 0);
	if (leader == 0)
		_exit(cmd_run(6, (char **)argv));
	terminal_until(terminal, "ready");
	close(terminal);
	assert_int_equal(waitpid(leader, &status, 0), leader);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGHUP);
}

/* --- ends --------------------------------------------------------------------------------- */

static void test_deadline_without_daemon(void **state)
{
	uint64_t before = clock_nsec(CLOCK_BOOTTIME);

	(void)state;
	/* The daemon does not kill: the guard does, a second after the deadline. */
	fake->timeout_nsec = 200 * NSEC_PER_MSEC;
	expect(124, "", "", WORDS("sh", "-c", "trap '' TERM; exec sleep 100000"));
	assert_true(clock_nsec(CLOCK_BOOTTIME) - before >= 1200 * NSEC_PER_MSEC);
	assert_gone(fake->child);
}

static void test_timed_out(void **state)
{
	(void)state;
	fake->cause = AUDIT_END_TIMEOUT;
	expect(124, "", "", WORDS("sh", "-c", "kill -KILL $$"));
}

static void test_daemon_lost(void **state)
{
	(void)state;
	fake->dies = true;
	expect(6, "out\n", "cordon: the daemon went away during the run, which stayed confined\n",
	       WORDS("sh", "-c", "sleep 0.2; echo out; exit 6"));
	fake->dies = false;
	fake->dies_late = true;
	expect(6, "", "cordon: the daemon went away during the run, which stayed confined\n",
	       WORDS("sh", "-c", "exit 6"));
}

/* The next daemon is told the end, and has a report. */
static void test_daemon_comes_back(void **state)
{
	_cleanup_(freep) char *report = NULL;
	char path[128];
	size_t size;

	(void)state;
	fake->dies = true;
	fake->comes_back = true;
	fake->cause = AUDIT_END_RECOVERED;
	snprintf(path, sizeof(path), "%s/late.json", workdir);
	expect(6, "", "cordon: the daemon went away during the run, which stayed confined\n",
	       WORDS("--report", path, "sh", "-c", "sleep 0.2; exit 6"));
	assert_true(fake->ended);
	assert_string_equal(fake->end_id, "0192a3b4-0000-7000-8000-000000000000");
	assert_int_equal(fake->end.status, 6 << 8);
	assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &report, &size), 0);
	assert_string_equal(report, "{\"denied\":[]}\n");
	unlink(path);
}

static void test_end_refused(void **state)
{
	(void)state;
	fake->end_error = ETIMEDOUT;
	expect(6, "", "cordon: it does not end\n", WORDS("sh", "-c", "exit 6"));
}

static void test_report(void **state)
{
	_cleanup_(freep) char *report = NULL;
	char path[128], message[512];
	size_t size;

	(void)state;
	snprintf(path, sizeof(path), "%s/report.json", workdir);
	expect(0, "", "", WORDS("--report", path, "sh", "-c", "exit 0"));
	assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &report, &size), 0);
	assert_string_equal(report, "{\"denied\":[]}\n");
	/* Emptied before the run, and not taken away with it when nothing ran. */
	fake->prepare_error = EINVAL;
	expect(125, "", NULL, WORDS("--report", path, "sh", "-c", "exit 0"));
	free(report);
	report = NULL;
	assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &report, &size), 0);
	assert_int_equal(size, 0);
	unlink(path);
	expect(125, "", NULL, WORDS("--report", path, "sh", "-c", "exit 0"));
	assert_int_equal(access(path, F_OK), -1);
	fake->prepare_error = 0;

	expect(125, "",
	       "cordon: cannot write the report file /nowhere/r: No such file or directory\n",
	       WORDS("--report", "/nowhere/r", "sh", "-c", "echo ran"));
	/* The code may have left a link there, or one on the way. */
	assert_int_equal(symlink("/tmp/cordon-not-there", path), 0);
	snprintf(message, sizeof(message),
		 "cordon: the report file %s is or is reached by a symbolic link; name the file "
		 "itself\n",
		 path);
	expect(125, "", message, WORDS("--report", path, "sh", "-c", "echo ran"));
	assert_int_equal(access("/tmp/cordon-not-there", F_OK), -1);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sub", workdir);
	assert_int_equal(symlink("/tmp", path), 0);
	strcat(path, "/cordon-not-there");
	expect(125, "", NULL, WORDS("--report", path, "sh", "-c", "echo ran"));
	assert_int_equal(access("/tmp/cordon-not-there", F_OK), -1);
	snprintf(path, sizeof(path), "%s/sub", workdir);
	unlink(path);
}

/*
 * What the code may leave where the next run writes its report, and what it may put in its place
 * meanwhile.
 */
static void test_report_planted(void **state)
{
	_cleanup_(freep) char *report = NULL;
	char directory[128], path[192], message[512], script[512];
	size_t size;

	(void)state;
	snprintf(path, sizeof(path), "%s/report.json", workdir);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(message, sizeof(message),
		 "cordon: the report file %s is no regular file; for a pipe, name a descriptor "
		 "(/dev/fd/3)\n",
		 path);
	expect(125, "", message, WORDS("--report", path, "sh", "-c", "echo ran"));
	unlink(path);

	snprintf(directory, sizeof(directory), "%s/reports", workdir);
	snprintf(path, sizeof(path), "%s/report.json", directory);
	assert_int_equal(mkdir(directory, 0700), 0);
	snprintf(script, sizeof(script), "mv %s %s.old; mkdir %s; echo forged >%s", directory,
		 directory, directory, path);
	expect(0, "", "", WORDS("--report", path, "sh", "-c", script));
	assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &report, &size), 0);
	assert_string_equal(report, "{\"denied\":[]}\n");

	/* A link in its place is said, and not followed. */
	snprintf(script, sizeof(script), "rm -r %s.old; mv %s %s.old; ln -s %s.old %s", directory,
		 directory, directory, directory, directory);
	snprintf(message, sizeof(message),
		 "cordon: cannot write the report file %s: Too many levels of symbolic links; what "
		 "is there now is not this run's report\n",
		 path);
	expect(0, "", message, WORDS("--report", path, "sh", "-c", script));
	unlink(directory);
	snprintf(path, sizeof(path), "%s.old/report.json", directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s.old", directory);
	assert_int_equal(rmdir(path), 0);
}

static void test_denials_are_silent_without_terminal(void **state)
{
	(void)state;
	fake->denials = 3;
	expect(0, "", "", WORDS("sh", "-c", "exit 0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_signals_are_passed_on),
		TEST(test_uncaught_signal),
		TEST(test_ignored_signals),
		TEST(test_killed),
		TEST(test_terminal),
		TEST(test_stop_does_not_outlast_deadline),
		TEST(test_hangup),
		TEST(test_deadline_without_daemon),
		TEST(test_timed_out),
		TEST(test_daemon_lost),
		TEST(test_daemon_comes_back),
		TEST(test_end_refused),
		TEST(test_report),
		TEST(test_report_planted),
		TEST(test_denials_are_silent_without_terminal),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
