/* SPDX-License-Identifier: Apache-2.0 */
/* A child process reads a policy and sends it back, as parcel. */
#include "audit/storage/policy_apart.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "audit/storage/policy_store.h"
#include "base/call_filter.h"
#include "base/clock.h"
#include "base/io.h"
#include "policy/ask/evaluate.h"
#include "policy/core/compiled_parcel.h"

/* Beside what the process has when it begins. */
#define MEMORY_BYTES (256ull << 20)
#define CPU_SECONDS  5
#define WAIT_MSEC    10000
/* What it sends back. */
#define PARCEL_MAX (192u << 20)

/* Nothing that opens, starts or sends anything. sigaltstack: of the sanitizers. */
static const char *const allowed[] = {
	"read",		  "write",	  "lseek",
	"close",	  "dup",	  "fstat",
	"newfstatat",	  "munmap",	  "mremap",
	"madvise",	  "brk",	  "futex",
	"getrandom",	  "getpid",	  "gettid",
	"clock_gettime",  "gettimeofday", "sched_yield",
	"rt_sigprocmask", "rt_sigreturn", "sigaltstack",
	"exit",		  "exit_group",	  NULL,
};

static uint64_t memory_now(void)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	if (io_read_file(AT_FDCWD, "/proc/self/statm", 4096, &text, &size) < 0)
		return 0;
	return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int set_limit(int which, uint64_t value)
{
	const struct rlimit limit = {.rlim_cur = value, .rlim_max = value};

	return setrlimit((__rlimit_resource_t)which, &limit) < 0 ? -errno : 0;
}

/* Nothing stays open but the file and where the answer goes, as 0 and 1. */
static int keep_two(int fd, int out)
{
	int high_fd = fcntl(fd, F_DUPFD, 2), high_out = fcntl(out, F_DUPFD, 2);

	if (high_fd < 0 || high_out < 0 || dup2(high_fd, 0) < 0 || dup2(high_out, 1) < 0 ||
	    close_range(2, ~0u, 0) < 0)
		return -errno;
	return 0;
}

static int confine(void)
{
	_cleanup_(call_filter_freep) scmp_filter_ctx filter = NULL;
	uint64_t memory = memory_now();
	int r = memory > 0 ? set_limit(RLIMIT_AS, memory + MEMORY_BYTES) : -EIO;

	if (r == 0)
		r = set_limit(RLIMIT_CPU, CPU_SECONDS);
	if (r == 0)
		r = set_limit(RLIMIT_CORE, 0);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	if (r == 0)
		r = call_filter_new(allowed, &filter);
	return r < 0 ? r : seccomp_load(filter);
}

/* Its result first, then the policy. */
static void answer(const char *digest)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;
	FILE *parcel;
	int r = confine();

	/* Without the bounds nothing is read. */
	r = r < 0 ? -EAGAIN : policy_store_read(STDIN_FILENO, digest, &policy);
	/* What it may not take is more than a policy needs. */
	if (r == -ENOMEM)
		r = -EBADMSG;
	parcel = r == 0 ? open_memstream(&data, &size) : NULL;
	if (parcel) {
		compiled_policy_put(parcel, policy);
		if (ferror(parcel) | fclose(parcel))
			r = -EBADMSG;
	} else if (r == 0) {
		r = -EBADMSG;
	}
	if (io_write_all(STDOUT_FILENO, &r, sizeof(r)) == 0 && r == 0)
		(void)io_write_all(STDOUT_FILENO, data, size);
}

/* All that the child sends; caller frees *ret_data. */
static int hear(int fd, char **ret_data, size_t *ret_size)
{
	uint64_t until = clock_nsec(CLOCK_MONOTONIC) + WAIT_MSEC * NSEC_PER_MSEC;
	_cleanup_(freep) char *data = NULL;
	size_t size = 0, capacity = 0;

	for (;;) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		uint64_t now = clock_nsec(CLOCK_MONOTONIC);
		ssize_t n;

		if (capacity - size < 1u << 16) {
			char *grown = capacity < PARCEL_MAX
					      ? realloc(data, capacity * 2 + (1u << 17))
					      : NULL;

			if (!grown)
				return capacity < PARCEL_MAX ? -ENOMEM : -EBADMSG;
			data = grown;
			capacity = capacity * 2 + (1u << 17);
		}
		if (now >= until || poll(&ready, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) == 0)
			return -EAGAIN;
		n = read(fd, data + size, capacity - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
	}
	*ret_data = TAKE_PTR(data);
	*ret_size = size;
	return 0;
}

/* What it sent may be anybody's word: the tables prove themselves. */
static int take(const char *data, size_t size, const char *digest,
		struct compiled_policy **ret_policy)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	struct parcel parcel;
	int result, r;

	/* It died before it could answer: of the bounds. */
	if (size < sizeof(result))
		return -EBADMSG;
	memcpy(&result, data, sizeof(result));
	if (result != 0)
		return result == -EAGAIN ? -EAGAIN : -EBADMSG;
	parcel = (struct parcel){data + sizeof(result), size - sizeof(result)};
	r = compiled_policy_take(&parcel, &policy);
	if (r < 0)
		return r == -ENOMEM ? r : -EBADMSG;
	if (strcmp(policy->digest_text, digest) != 0 ||
	    policy_tables_check(policy->tables, policy->tables_size) < 0 ||
	    memcmp(policy->digest, ((const struct cordon_policy_header *)policy->tables)->digest,
		   sizeof(policy->digest)) != 0)
		return -EBADMSG;
	*ret_policy = TAKE_PTR(policy);
	return 0;
}

static int read_apart(int fd, const char *digest, struct compiled_policy **ret_policy)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;
	int ends[2], r;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -EAGAIN;
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (keep_two(fd, ends[1]) == 0)
			answer(digest);
		_exit(0);
	}
	(void)close(ends[1]);
	r = child < 0 ? -EAGAIN : hear(ends[0], &data, &size);
	(void)close(ends[0]);
	if (child > 0) {
		(void)kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return r < 0 ? r : take(data, size, digest, ret_policy);
}

int policy_store_get_apart(const char *directory, const char *digest,
			   struct compiled_policy **ret_policy, struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	int r = policy_store_open(directory, digest, &fd, failure);

	if (r < 0)
		return r;
	r = read_apart(fd, digest, ret_policy);
	return r < 0 ? failure_set(failure, r,
				   r == -EAGAIN ? "cannot read %s/" POLICY_STORE_NAME "/%s: %m"
						: "%s/" POLICY_STORE_NAME
						  "/%s is not the policy that its name says",
				   directory, digest)
		     : 0;
}
