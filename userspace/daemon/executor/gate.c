/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the host owner's command about an execution whose process is held. */
#include "daemon/executor/gate.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/hex.h"
#include "base/io.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "daemon/host/pid_event.h"
#include "daemon/host/turn.h"

#define REAP_MSEC    100
#define PATIENCE_SEC 30
#define SAID_MAX     4096 /* bytes that it may write */
#define NOBODY	     65534
/* What it is shown is kept in memory while it looks. */
#define CODE_MAX (64u << 20)
/* As execve(2) fails for a shell; and where there is nothing to show. */
#define STATUS_NOT_CONFINED 126
#define STATUS_NOT_RUN	    127
#define STATUS_NOT_SHOWN    125

struct gate {
	struct execution *execution;
	gate_answer *answer; /* NULL: nobody waits for it; it only is to be reaped */
	struct event *ended, *late;
	pid_t pid;
	int said;
};

/* --- what it is asked about --------------------------------------------------------------- */

static int open_below(const char *root_of, pid_t pid, const char *path)
{
	const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
				     .resolve = RESOLVE_IN_ROOT};
	_cleanup_(closep) int root = proc_open(pid, root_of, O_PATH | O_DIRECTORY);

	return root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* The very bytes that were hashed: the file may belong to others who run. */
static int copy_code(const struct audit_code *code, int from, int to)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	unsigned char digest[SHA256_SIZE];
	char buffer[16384];
	size_t size = 0;
	ssize_t n;
	int r = hash ? 0 : -ENOMEM;

	while (r == 0 && (n = read(from, buffer, sizeof(buffer))) != 0) {
		size += n > 0 ? (size_t)n : 0;
		r = n < 0	      ? -errno
		    : size > CODE_MAX ? -EFBIG
				      : sha256_update(hash, buffer, (size_t)n);
		if (r == 0)
			r = io_write_all(to, buffer, (size_t)n);
	}
	if (r == 0)
		r = sha256_finish(hash, digest);
	if (r == 0 && code->have_digest && memcmp(digest, code->digest, sizeof(digest)) != 0)
		r = -ESTALE;
	return r;
}

static int copy_arguments(pid_t pid, int to)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r = proc_read(pid, "cmdline", 8u << 20, &text, &size);

	return r < 0 ? r : io_write_all(to, text, size);
}

static int make_question(const struct execution *e, int *ret_fd, struct failure *failure)
{
	const struct audit_code *code = &e->record.code;
	_cleanup_(closep) int to = memfd_create("cordon-gate", MFD_CLOEXEC);
	int r = to < 0 ? -errno : 0;

	if (r == 0 && code->source == AUDIT_CODE_FILE && code->have_digest) {
		_cleanup_(closep) int from = open_below("root", e->leader, code->path);

		r = from < 0 ? -errno : copy_code(code, from, to);
	} else if (r == 0) {
		r = copy_arguments(e->leader, to);
	}
	if (r == 0 && lseek(to, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0)
		return failure_set(failure, r, "the gate cannot be shown the code: %m");
	*ret_fd = TAKE_FD(to);
	return 0;
}

/* --- the process -------------------------------------------------------------------------- */

static void set_variables(const struct execution *e)
{
	const struct audit_execution *x = &e->record;
	char digest[2 * SHA256_SIZE + 1] = "";

	if (x->code.have_digest)
		hex_encode(x->code.digest, SHA256_SIZE, digest);
	(void)clearenv();
	(void)setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	(void)setenv("CORDON_EXECUTION", e->id, 1);
	(void)setenv("CORDON_EXECUTOR", x->executor, 1);
	(void)setenv("CORDON_POLICY", x->policy->name, 1);
	(void)setenv("CORDON_WORKDIR", x->workdir, 1);
	(void)setenv("CORDON_AGENT", x->agent ? x->agent : "", 1);
	(void)setenv("CORDON_LANGUAGE", x->language ? x->language : "", 1);
	(void)setenv("CORDON_CODE_SOURCE", protocol_code_source_name(x->code.source), 1);
	(void)setenv("CORDON_CODE_SHA256", digest, 1);
}

static bool become_nobody(void)
{
	return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	       setresuid(NOBODY, NOBODY, NOBODY) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* A change of user clears it. */
static bool dies_with(pid_t daemon)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == daemon;
}

/* Reads the code itself, too: a file system that does not answer keeps nobody waiting but this. */
static _Noreturn void run(const struct execution *e, const char *const *command, int said,
			  pid_t daemon)
{
	const struct rlimit most = {SAID_MAX, SAID_MAX};
	struct failure failure = {};
	int question = -1;
	sigset_t none;

	(void)setsid();
	if (!dies_with(daemon))
		_exit(STATUS_NOT_CONFINED);
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		(void)signal(signal_number, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (make_question(e, &question, &failure) < 0) {
		(void)io_write_all(said, failure.text, strlen(failure.text));
		_exit(STATUS_NOT_SHOWN);
	}
	set_variables(e);
	if (dup2(question, 0) < 0 || dup2(said, 1) < 0 || dup2(said, 2) < 0 ||
	    close_range(3, ~0u, 0) < 0 || chdir("/") < 0 || setrlimit(RLIMIT_FSIZE, &most) < 0 ||
	    !become_nobody() || !dies_with(daemon))
		_exit(STATUS_NOT_CONFINED);
	execv(command[0], (char **)(uintptr_t)command);
	_exit(STATUS_NOT_RUN);
}

/* --- its answer --------------------------------------------------------------------------- */

/* The first line of what it said, as far as it is text. */
static void first_line(int fd, char text[200])
{
	ssize_t n = pread(fd, text, 199, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
			*at = '?';
}

static void finish(struct gate *gate, const char *refusal)
{
	struct execution *e = gate->execution;
	gate_answer *answer = gate->answer;

	gate_free(gate);
	answer(e, refusal);
}

static void release(struct gate *gate)
{
	pid_event_free(&gate->ended);
	if (gate->late)
		event_free(gate->late);
	if (gate->said >= 0)
		close(gate->said);
	free(gate);
}

static void on_end(evutil_socket_t fd, short what, void *context)
{
	TURN("gate");
	struct gate *gate = context;
	char said[200], text[320];
	int status = 0;

	(void)fd;
	(void)what;
	/* What it has started goes with it; until it is waited for, the number is its own. */
	(void)kill(-gate->pid, SIGKILL);
	if (waitpid(gate->pid, &status, WNOHANG) != gate->pid)
		return;
	gate->pid = 0;
	if (!gate->answer) {
		release(gate);
		return;
	}
	first_line(gate->said, said);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		finish(gate, NULL);
		return;
	}
	snprintf(text, sizeof(text), "the gate refused it (%s %d)%s%s",
		 WIFEXITED(status) ? "status" : "signal",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), *said ? ": " : "",
		 said);
	finish(gate, text);
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
	TURN("gate");
	struct gate *gate = context;

	(void)fd;
	(void)what;
	/* It was freed, and has no event for its end. */
	if (!gate->answer)
		gate_free(gate);
	else
		finish(gate, "the gate did not answer in time");
}

/* ------------------------------------------------------------------------------------------ */

static int watch(struct gate *gate)
{
	const struct timeval patience = {.tv_sec = PATIENCE_SEC};
	struct event_base *base = gate->execution->daemon->base;
	_cleanup_(closep) int pidfd = pidfd_open(gate->pid, 0);
	int error = pidfd < 0 ? errno : 0;

	gate->late = evtimer_new(base, on_late, gate);
	if (!gate->late || evtimer_add(gate->late, &patience) < 0)
		return -ENOMEM;
	if (pidfd < 0)
		return -error;
	return pid_event_new(base, &pidfd, on_end, gate, &gate->ended);
}

int gate_start(struct execution *e, const char *const *command, gate_answer *answer,
	       struct gate **ret_gate, struct failure *failure)
{
	struct gate *gate = calloc(1, sizeof(*gate));
	pid_t daemon = getpid();
	int r;

	if (!gate)
		return failure_set(failure, ENOMEM, "%m");
	gate->execution = e;
	gate->answer = answer;
	gate->said = memfd_create("cordon-gate-said", MFD_CLOEXEC);
	gate->pid = gate->said < 0 ? -1 : fork();
	if (gate->pid == 0)
		run(e, command, gate->said, daemon);
	r = gate->pid < 0 ? -errno : watch(gate);
	if (r < 0) {
		gate_free(gate);
		return failure_set(failure, r, "the gate %s cannot be started: %m", command[0]);
	}
	*ret_gate = gate;
	return 0;
}

/* It takes its time to die, in the kernel perhaps. */
static bool look_again(struct gate *gate)
{
	const struct timeval after = {.tv_usec = REAP_MSEC * 1000};

	/* Its end is an event, unless there was no room for a pidfd. */
	if (gate->ended)
		return evtimer_del(gate->late) == 0;
	return gate->late && evtimer_add(gate->late, &after) == 0;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	if (gate->pid > 0) {
		/* By its own number, too: it may not have a group yet. */
		(void)kill(gate->pid, SIGKILL);
		(void)kill(-gate->pid, SIGKILL);
		if (waitpid(gate->pid, NULL, WNOHANG) == 0 && look_again(gate)) {
			gate->answer = NULL;
			return;
		}
	}
	release(gate);
}
