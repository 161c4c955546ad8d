/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits in a process of its own for the daemon's end, or for its silence, and releases what it had
 * held.
 */
#include "daemon/executor/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "kernel/adoption.h"

/* Between looks; and what the daemon has for each deadline, its own, too, so that it says why. */
#define LOOK_MSEC  1000
#define GRACE_NSEC (2 * NSEC_PER_SEC)

static void let_go(struct enforcement *e, uint32_t slot, pid_t leader)
{
	_cleanup_(closep) int pidfd = pidfd_open(leader, 0);

	/* From here on it cannot be held again, so that the process is still the one. */
	if (enforcement_go_on(e, slot) && pidfd >= 0)
		(void)pidfd_send_signal(pidfd, SIGCONT, NULL, 0);
}

static void see_to(struct enforcement *e, struct adoption *a, uint32_t slot)
{
	const struct cordon_execution *view = enforcement_execution(e, slot);
	const struct cordon_executor *executor = adoption_entry(a, view->executor - 1);
	struct enforcement_killed killed;

	if (executor && !(executor->flags & CORDON_EXECUTOR_DENY_AWAY) &&
	    (view->begun & CORDON_BEGUN_CLEAN)) {
		let_go(e, slot, (pid_t)view->leader);
		return;
	}
	enforcement_set_ending(e, slot);
	(void)enforcement_kill(e, slot, &killed);
}

/*
 * A daemon that has come since looks after its own, and what it holds is held after it has said its
 * number.
 */
static void see_to_all(struct enforcement *e, struct adoption *a, uint32_t dead)
{
	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++) {
		const struct cordon_execution *view = enforcement_execution(e, slot);

		if (view->executor &&
		    __atomic_load_n(&view->state, __ATOMIC_ACQUIRE) == CORDON_EXECUTION_HELD &&
		    adoption_state(a)->daemon == dead)
			see_to(e, a, slot);
	}
}

/* The daemon ends what is past its deadline; where it is stopped or busy, this does. */
static void end_overdue(struct enforcement *e)
{
	uint64_t now = clock_nsec(CLOCK_BOOTTIME);

	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++) {
		const struct cordon_execution *view = enforcement_execution(e, slot);
		uint64_t ends_by = enforcement_ends_by(view);
		uint32_t state = __atomic_load_n(&view->state, __ATOMIC_ACQUIRE);

		if (ends_by == 0 || now < ends_by + GRACE_NSEC || view->tasks == 0 ||
		    (state != CORDON_EXECUTION_LIVE && state != CORDON_EXECUTION_ENDING))
			continue;
		enforcement_set_ending(e, slot);
		(void)enforcement_kill(e, slot, &(struct enforcement_killed){});
	}
}

/*
 * A daemon that is stopped or busy for longer than it said it would be there counts as gone for
 * whoever begins (bpf/core/begin.bpf.h), and for whoever waits for it.
 */
static bool is_silent(const struct adoption *a, uint32_t daemon)
{
	const struct cordon_adoption *state = adoption_state(a);
	uint64_t lease = __atomic_load_n(&state->lease, __ATOMIC_ACQUIRE);

	return state->daemon == daemon && lease && clock_nsec(CLOCK_BOOTTIME) > lease + GRACE_NSEC;
}

/* True: the daemon is gone. */
static bool wait_for_end(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};

	return poll(&end, 1, LOOK_MSEC) > 0;
}

static void run(int fd, uint32_t dead)
{
	struct enforcement *e = NULL;
	struct adoption *a = NULL;

	(void)setsid();
	(void)prctl(PR_SET_NAME, "cordon-guard");
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		(void)signal(signal_number, signal_number == SIGTERM ? SIG_IGN : SIG_DFL);
	/* The daemon's lock among them, which must go with the daemon. */
	if (fd > 3)
		(void)close_range(3, (unsigned int)fd - 1, 0);
	(void)close_range((unsigned int)fd + 1, ~0u, 0);
	if (enforcement_join(&e, NULL) < 0 || adoption_open(&a, NULL) < 0)
		_exit(1);
	while (!wait_for_end(fd)) {
		end_overdue(e);
		if (is_silent(a, dead))
			see_to_all(e, a, dead);
	}
	/* An exec in flight may be stopped after this pass: repeat it for a second. */
	for (int i = 0; i < 20; i++) {
		const struct timespec pause = {.tv_nsec = 50000000};

		see_to_all(e, a, dead);
		(void)nanosleep(&pause, NULL);
	}
	_exit(0);
}

int guard_start(int *ret_fd, struct failure *failure)
{
	pid_t pid, daemon = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return failure_set(failure, errno, "cannot make a pipe: %m");
	pid = fork();
	if (pid < 0) {
		int r = -errno;

		close(fds[0]);
		close(fds[1]);
		return failure_set(failure, r, "cannot start a guard: %m");
	}
	if (pid == 0) {
		close(fds[1]);
		run(fds[0], (uint32_t)daemon);
	}
	close(fds[0]);
	*ret_fd = fds[1];
	return 0;
}
