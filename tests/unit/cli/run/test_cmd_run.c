/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon run` as its caller sees it, with real processes. The daemon's client is replaced here by
 * functions that answer as a daemon would, so that it runs on any host; nothing is confined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/uuid.h"
#include "base/sha256.h"
#include "cli/term/commands.h"
#include "control/client.h"
#include "control/connect.h"

/* --- the daemon that is not there --------------------------------------------------------- */

/* Shared with the process that runs cmd_run(). */
struct fake {
	/* what it is to do */
	uint64_t timeout_nsec; /* deadline after the label; 0: none */
	int prepare_error, label_error;
	bool dies;	 /* closes the connection after the label */
	bool dies_late;	 /* ... at the end */
	bool comes_back; /* then the next one takes the end */
	int end_error;	 /* it does not take it */
	enum audit_end_cause cause;
	uint64_t denials;
	/* what it was told */
	char policy[256], workdir[256], language[32], argument[256], removed[64];
	struct policy_limits limits;
	struct audit_code code;
	bool labelled, ended, aborted;
	struct client_ended end;
	char end_id[UUID_TEXT_SIZE];
	int abort_error;
	pid_t child;
};

static struct fake *fake;
static int fake_peer = -1;
static char tmp_text[] = "/tmp/cordon-fake";

int client_connect_or_start(embedded_step *step, void *data, int *ret_socket,
			    struct failure *failure)
{
	int fds[2];

	(void)step;
	(void)data;
	(void)failure;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	*ret_socket = fds[0];
	fake_peer = fds[1];
	return 0;
}

static void keep_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "(none)");
}

int client_prepare(int socket, const struct client_prepare *prepare,
		   struct client_prepared *ret_prepared, char **ret_message,
		   struct failure *failure)
{
	(void)socket;
	keep_text(fake->policy, sizeof(fake->policy), prepare->policy);
	keep_text(fake->workdir, sizeof(fake->workdir), prepare->workdir);
	keep_text(fake->language, sizeof(fake->language), prepare->language);
	keep_text(fake->argument, sizeof(fake->argument),
		  prepare->arguments && prepare->argument_count > 1
			  ? prepare->arguments[prepare->argument_count - 1]
			  : NULL);
	fake->limits = prepare->limits;
	fake->code = *prepare->code;
	if (fake->prepare_error) {
		*ret_message = strdup("a.yaml:1:1: error: line one\nhint: line two");
		return failure_set(failure, fake->prepare_error, "%s", *ret_message);
	}
	*ret_prepared = (struct client_prepared){
		.id = "0192a3b4-0000-7000-8000-000000000000",
		.cgroup_fd = -1,
		.filter_fd = -1,
		.environment = {.keep = calloc(2, sizeof(char *)),
				.set_names = calloc(1, sizeof(char *)),
				.set_values = calloc(1, sizeof(char *))},
		.limits = prepare->limits,
		.tmp = tmp_text,
	};
	ret_prepared->environment.keep[0] = strdup("PATH");
	return 0;
}

void client_prepared_release(struct client_prepared *prepared)
{
	free(prepared->environment.keep[0]);
	free(prepared->environment.keep);
	free(prepared->environment.set_names);
	free(prepared->environment.set_values);
}

static pid_t pid_of(int pidfd)
{
	char path[64];
	_cleanup_(freep) char *info = NULL;
	size_t size;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &info, &size), 0);
	return (pid_t)atoi(strstr(info, "\nPid:") + 5);
}

int client_label(int socket, int pidfd, char *const *environment_kept,
		 char *const *environment_removed, uint64_t *ret_deadline, struct failure *failure)
{
	(void)socket;
	(void)environment_kept;
	keep_text(fake->removed, sizeof(fake->removed), environment_removed[0]);
	if (fake->label_error)
		return failure_set(failure, fake->label_error, "the label does not stick");
	fake->child = pid_of(pidfd);
	fake->labelled = true;
	*ret_deadline = fake->timeout_nsec ? clock_nsec(CLOCK_BOOTTIME) + fake->timeout_nsec : 0;
	if (fake->dies)
		closep(&fake_peer);
	return 0;
}

static int outcome(struct client_outcome *ret_outcome)
{
	int fd = memfd_create("report", MFD_CLOEXEC);

	assert_int_equal(write(fd, "{\"denied\":[]}\n", 14), 14);
	lseek(fd, 0, SEEK_SET);
	*ret_outcome = (struct client_outcome){
		.cause = fake->cause, .denials = fake->denials, .report_fd = fd};
	return 0;
}

int client_ended(int socket, const struct client_ended *ended, struct client_outcome *ret_outcome,
		 struct failure *failure)
{
	(void)socket;
	if (fake->end_error)
		return failure_set(failure, fake->end_error, "it does not end");
	if ((fake->dies || fake->dies_late) && !(fake->comes_back && ended->id))
		return failure_set(failure, ECONNRESET, "the daemon has gone away");
	fake->ended = true;
	fake->end = *ended;
	keep_text(fake->end_id, sizeof(fake->end_id), ended->id);
	return outcome(ret_outcome);
}

int client_abort(int socket, int error, const char *message, struct client_outcome *ret_outcome,
		 struct failure *failure)
{
	(void)socket;
	(void)failure;
	fake->aborted = true;
	fake->abort_error = error;
	assert_true(message[0] != '\0' || error == ENOENT);
	fake->cause = AUDIT_END_NOT_STARTED;
	return outcome(ret_outcome);
}

/* --- running it --------------------------------------------------------------------------- */

static char workdir[] = "/tmp/cordon-cmd-run-XXXXXX";

struct run {
	pid_t pid;
	int out, err; /* read ends */
	char *output, *errors;
};

#define MAX_ARGUMENTS 24

/* The words after "run --workdir DIR"; the caller's hook runs in the new process first. */
static struct run start_with(int stdin_fd, void (*hook)(void), const char *const *words)
{
	const char *argv[MAX_ARGUMENTS] = {"run", "--workdir", workdir};
	struct run run = {};
	int out[2], err[2], argc = 3;

	while (*words)
		argv[argc++] = *words++;
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	run.pid = fork();
	assert_true(run.pid >= 0);
	if (run.pid == 0) {
		if (stdin_fd >= 0)
			dup2(stdin_fd, STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		/* As an exec would: the test's end of a pipe would hold it open. */
		close_range(3, ~0U, 0);
		if (hook)
			hook();
		_exit(cmd_run(argc, (char **)argv));
	}
	close(out[1]);
	close(err[1]);
	run.out = out[0];
	run.err = err[0];
	return run;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static int finish(struct run *run)
{
	size_t size;
	int status;

	assert_int_equal(io_read_all(run->out, 1 << 20, &run->output, &size), 0);
	assert_int_equal(io_read_all(run->err, 1 << 20, &run->errors, &size), 0);
	assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
	close(run->out);
	close(run->err);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void release(struct run *run)
{
	free(run->output);
	free(run->errors);
}

/* Runs to its end: status, and exactly that output and those errors (NULL: any). */
static void expect(int status, const char *output, const char *errors, const char *const *words)
{
	struct run run = start_with(-1, NULL, words);
	int found = finish(&run);

	if (found != status)
		print_error("stderr: %s\n", run.errors);
	assert_int_equal(found, status);
	assert_string_equal(run.output, output);
	if (errors)
		assert_string_equal(run.errors, errors);
	release(&run);
}

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
	for (int i = 0; i < 200 && kill(pid, 0) == 0; i++)
		usleep(10000);
	assert_int_equal(kill(pid, 0), -1);
}

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
	       "cordon: which policy? There is no default for this command: say --policy NAME or "
	       "--policy FILE\n",
	       WORDS("true"));
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
		const char *argv[] = {"run",
				      "--workdir",
				      workdir,
				      "sh",
				      "-c",
				      "trap 'exit 5' INT; echo ready; "
				      "while :; do sleep 0.02; done",
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
	usleep(100000);
	assert_int_equal(write(terminal, "\x1a", 1), 1); /* ^Z */
	terminal_until(terminal, "again");
	usleep(100000);
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
	uint64_t before = clock_nsec(CLOCK_BOOTTIME), took;

	(void)state;
	/* The daemon does not kill: the guard does, a second after the deadline. */
	fake->timeout_nsec = 200 * NSEC_PER_MSEC;
	expect(124, "", "", WORDS("sh", "-c", "trap '' TERM; exec sleep 100"));
	took = clock_nsec(CLOCK_BOOTTIME) - before;
	assert_in_range(took, 1200 * NSEC_PER_MSEC, 20 * NSEC_PER_SEC);
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

/* ------------------------------------------------------------------------------------------ */

static int reset(void **state)
{
	(void)state;
	memset(fake, 0, sizeof(*fake));
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_error("these tests drop privileges, which takes root\n");
		return -1;
	}
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return fake != MAP_FAILED && mkdtemp(workdir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	munmap(fake, sizeof(*fake));
	return rmdir(workdir);
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_status),
		TEST(test_not_started),
		TEST(test_refused),
		TEST(test_bad_command_lines),
		TEST(test_bad_workdirs),
		TEST(test_options_arrive),
		TEST(test_code_from_pipe),
		TEST(test_much_code_from_pipe),
		TEST(test_code_from_file_as_stdin),
		TEST(test_data_on_stdin),
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
