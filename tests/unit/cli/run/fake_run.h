/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon run` with functions in the place of the daemon's client, and how it ended. */
#ifndef CORDON_TEST_FAKE_RUN_H
#define CORDON_TEST_FAKE_RUN_H

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
	unsigned int lost_prepares, lost_labels; /* so many of them lose the daemon */
	unsigned int prepares;
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

/* The next one is there at once, and knows nothing of what was prepared. */
int client_connect(int *ret_socket, struct failure *failure)
{
	int fds[2];

	(void)failure;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	*ret_socket = fds[0];
	close(fds[1]);
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
	fake->prepares++;
	if (fake->lost_prepares > 0) {
		fake->lost_prepares--;
		return failure_set(failure, ECONNRESET, "the daemon has gone away");
	}
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
	if (fake->lost_labels > 0) {
		fake->lost_labels--;
		return failure_set(failure, ECONNRESET, "the daemon has gone away");
	}
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

#endif
