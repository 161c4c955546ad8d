/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a user's files in a child process with only that user's rights. */
#include "launch/as_user.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

static bool change_user(const struct launch_identity *identity)
{
	return !identity->change || (setgroups(identity->group_count, identity->groups) == 0 &&
				     setresgid(identity->gid, identity->gid, identity->gid) == 0 &&
				     setresuid(identity->uid, identity->uid, identity->uid) == 0);
}

/* Keeps only the right to read the user's files: no file can grow, no process can be created. */
static bool give_up_rights(const struct launch_identity *identity)
{
	static const int limits[] = {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NPROC};
	static const struct rlimit nothing = {0, 0};
	cap_t none = cap_init();
	bool done = none && change_user(identity) && cap_set_proc(none) == 0 &&
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;

	for (size_t i = 0; done && i < ARRAY_SIZE(limits); i++)
		done = setrlimit((__rlimit_resource_t)limits[i], &nothing) == 0;
	if (none)
		cap_free(none);
	return done;
}

static _Noreturn void run(const struct launch_identity *identity, as_user_work *work,
			  const void *context, int fd, pid_t parent)
{
	FILE *to = fdopen(fd, "w");

	(void)signal(SIGPIPE, SIG_DFL);
	/* A change of user clears the parent-death signal, so set it after that. */
	if (!to || !give_up_rights(identity) || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    getppid() != parent)
		_exit(EXIT_FAILURE);
	work(context, to);
	_exit(fclose(to) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Reads until the child closes its end of the pipe. */
static int read_to_end(int fd, uint64_t deadline, size_t limit, char **ret_data, size_t *ret_size)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;

	for (;;) {
		uint64_t now = clock_nsec(CLOCK_MONOTONIC);
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		char *larger;
		ssize_t n;

		if (now >= deadline)
			return -ETIMEDOUT;
		n = poll(&poll_fd, 1, (int)((deadline - now) / NSEC_PER_MSEC) + 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		larger = realloc(data, size + 4096 + 1);
		if (!larger)
			return -ENOMEM;
		data = larger;
		n = read(fd, data + size, 4096);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		size += n > 0 ? (size_t)n : 0;
		if (size > limit)
			return -EFBIG;
	}
	if (data)
		data[size] = '\0';
	*ret_data = TAKE_PTR(data);
	*ret_size = size;
	return 0;
}

int as_user_read(const struct launch_identity *identity, unsigned int seconds, size_t limit,
		 as_user_work *work, const void *context, char **ret_data, size_t *ret_size)
{
	uint64_t deadline = clock_nsec(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC;
	_cleanup_(freep) char *data = NULL;
	pid_t parent = getpid(), child;
	int ends[2], status = 0, r;
	size_t size = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0)
		run(identity, work, context, ends[1], parent);
	r = child < 0 ? -errno : 0;
	close(ends[1]);
	if (r == 0)
		r = read_to_end(ends[0], deadline, limit, &data, &size);
	close(ends[0]);
	if (child < 0)
		return r;
	if (r < 0)
		(void)kill(child, SIGKILL);
	/* Do not wait for a killed child: it may be blocked in an unresponsive file system. */
	while (waitpid(child, &status, r < 0 ? WNOHANG : 0) < 0 && errno == EINTR)
		;
	if (r == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS))
		r = -EPROTO;
	if (r < 0)
		return r;
	*ret_data = TAKE_PTR(data);
	*ret_size = size;
	return 0;
}
