/* SPDX-License-Identifier: Apache-2.0 */
/* What answers, what dies, what never ends, and who waits in line behind that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/privsep/errand.h"

static struct event_base *base;

struct asked {
	unsigned int answers;
	int result;
	char data[64];
	size_t size;
	int fd;
	char text[256];
};

static int setup(void **state)
{
	(void)state;
	base = event_base_new();
	return base ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	errands_forget();
	event_base_free(base);
	/* Killed, all of them. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}

static void on_done(void *context, int result, const char *data, size_t size,
		    struct errand_fds *fds, const struct failure *failure)
{
	struct asked *asked = context;

	asked->answers++;
	asked->result = result;
	asked->size = size;
	memcpy(asked->data, data ? data : "",
	       size < sizeof(asked->data) ? size : sizeof(asked->data));
	asked->fd = TAKE_FD(fds->fd[1]);
	snprintf(asked->text, sizeof(asked->text), "%s", failure->text);
}

static struct errand *start(struct asked *asked, uid_t uid, time_t seconds, errand_work *work)
{
	const struct errand_job job = {"what is tried", uid, seconds, work, on_done, asked};
	struct failure failure = {};
	struct errand *errand = NULL;

	*asked = (struct asked){.fd = -1};
	assert_int_equal(errand_start(base, &job, &errand, &failure), 0);
	return errand;
}

static void wait_for(const struct asked *asked)
{
	while (asked->answers == 0)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
	assert_int_equal(asked->answers, 1);
}

/* --- the work ----------------------------------------------------------------------------- */

static int work_well(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	(void)context;
	(void)failure;
	(void)fprintf(to, "seen");
	fds->fd[1] = open("/", O_PATH | O_CLOEXEC);
	/*
	 * None of the daemon's descriptors is here: the socket and the memory file, and what was
	 * just opened.
	 */
	for (int fd = 3; fd < 1024; fd++)
		if (fd != 3 && fd != fileno(to) && fd != fds->fd[1] && fcntl(fd, F_GETFD) >= 0)
			return -EBADF;
	return 0;
}

/* The process has "/dev/null" and "/" as kept descriptors, and no further one. */
static int work_with_kept(const void *context, FILE *to, struct errand_fds *fds,
			  struct failure *failure)
{
	struct stat null, first, root, second;

	(void)context;
	(void)fds;
	(void)failure;
	if (stat("/dev/null", &null) < 0 || stat("/", &root) < 0 ||
	    fstat(ERRAND_KEPT_FD, &first) < 0 || fstat(ERRAND_KEPT_FD + 1, &second) < 0 ||
	    first.st_ino != null.st_ino || second.st_ino != root.st_ino)
		return -EBADF;
	for (int fd = ERRAND_KEPT_FD + 2; fd < 1024; fd++)
		if (fd != fileno(to) && fcntl(fd, F_GETFD) >= 0)
			return -EMFILE;
	return 0;
}

static int work_badly(const void *context, FILE *to, struct errand_fds *fds,
		      struct failure *failure)
{
	(void)context;
	fds->fd[0] = -1;
	(void)fprintf(to, "half");
	return failure_set(failure, ENXIO, "no such thing");
}

static int work_and_die(const void *context, FILE *to, struct errand_fds *fds,
			struct failure *failure)
{
	(void)context;
	(void)to;
	fds->fd[0] = -1;
	(void)failure;
	(void)raise(SIGKILL);
	return 0;
}

static int work_for_ever(const void *context, FILE *to, struct errand_fds *fds,
			 struct failure *failure)
{
	(void)context;
	(void)to;
	fds->fd[0] = -1;
	(void)failure;
	for (;;)
		(void)pause();
}

static int work_too_much(const void *context, FILE *to, struct errand_fds *fds,
			 struct failure *failure)
{
	(void)context;
	(void)failure;
	fds->fd[0] = -1;
	return ftruncate(fileno(to), (off_t)ERRAND_DATA_MAX + 1) < 0 ? -errno : 0;
}

/* ------------------------------------------------------------------------------------------ */

static void answers(void **state)
{
	struct asked asked = {};
	struct stat root, st;

	(void)state;
	(void)start(&asked, 1, 600, work_well);
	wait_for(&asked);
	assert_int_equal(asked.result, 0);
	assert_int_equal(asked.size, 4);
	assert_memory_equal(asked.data, "seen", 4);
	assert_true(asked.fd >= 0);
	assert_int_equal(stat("/", &root), 0);
	assert_int_equal(fstat(asked.fd, &st), 0);
	assert_int_equal(st.st_ino, root.st_ino);
	close(asked.fd);
}

/* Their numbers in the daemon may be any, even numbers of the worker's own descriptors. */
static void keeps(void **state)
{
	struct asked asked = {.fd = -1};
	struct errand_job job = {.what = "the worker",
				 .seconds = 60,
				 .work = work_with_kept,
				 .done = on_done,
				 .context = &asked,
				 .kept_count = 2};
	struct failure failure = {};
	struct errand *errand = NULL;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), root = open("/", O_PATH | O_CLOEXEC);

	(void)state;
	for (int at = 3; at < 8; at++) {
		int moved = fcntl(root, F_DUPFD_CLOEXEC, at);

		asked = (struct asked){.fd = -1};
		job.kept[0] = null;
		job.kept[1] = moved;
		assert_int_equal(errand_start(base, &job, &errand, &failure), 0);
		wait_for(&asked);
		assert_int_equal(asked.result, 0);
		close(moved);
	}
	close(null);
	close(root);
}

/* What it has found before it failed is there, too. */
static void fails(void **state)
{
	struct asked asked = {};

	(void)state;
	(void)start(&asked, 1, 600, work_badly);
	wait_for(&asked);
	assert_int_equal(asked.result, -ENXIO);
	assert_string_equal(asked.text, "no such thing");
	assert_int_equal(asked.size, 4);
	assert_int_equal(asked.fd, -1);
}

static void dies(void **state)
{
	struct asked asked = {};

	(void)state;
	(void)start(&asked, 1, 600, work_and_die);
	wait_for(&asked);
	assert_int_equal(asked.result, -EPROTO);
	assert_string_equal(asked.text, "what is tried has failed");
}

static void says_too_much(void **state)
{
	struct asked asked = {};

	(void)state;
	(void)start(&asked, 1, 600, work_too_much);
	wait_for(&asked);
	assert_int_equal(asked.result, -EFBIG);
}

static void never_ends(void **state)
{
	struct asked asked = {};

	(void)state;
	(void)start(&asked, 1, 1, work_for_ever);
	wait_for(&asked);
	assert_int_equal(asked.result, -ETIMEDOUT);
	assert_string_equal(asked.text, "what is tried did not answer in time");
}

static void cancelled(void **state)
{
	struct asked asked = {};

	(void)state;
	errand_cancel(start(&asked, 1, 600, work_for_ever));
	errand_cancel(NULL);
	/* Until it is reaped. */
	while (event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED) > 0)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
	assert_int_equal(asked.answers, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/*
 * One user's that hang are in the way of nobody else's, and the next of his own has its turn when
 * one of them is gone.
 */
static void in_line(void **state)
{
	struct asked hang[ERRANDS_AT_A_TIME] = {}, next = {}, other = {};
	struct errand *errands[ERRANDS_AT_A_TIME];

	(void)state;
	for (size_t i = 0; i < ERRANDS_AT_A_TIME; i++)
		errands[i] = start(&hang[i], 1, 600, work_for_ever);
	(void)start(&next, 1, 600, work_well);
	(void)start(&other, 2, 600, work_well);
	wait_for(&other);
	assert_int_equal(other.result, 0);
	assert_int_equal(next.answers, 0);
	errand_cancel(errands[0]);
	wait_for(&next);
	assert_int_equal(next.result, 0);
	for (size_t i = 1; i < ERRANDS_AT_A_TIME; i++)
		errand_cancel(errands[i]);
	for (size_t i = 0; i < ERRANDS_AT_A_TIME; i++)
		assert_int_equal(hang[i].answers, 0);
	close(next.fd);
	close(other.fd);
}

/* One that waits in line is told, too, when its time is up. */
static void in_line_for_ever(void **state)
{
	struct asked hang[ERRANDS_AT_A_TIME] = {}, next = {};
	struct errand *errands[ERRANDS_AT_A_TIME];

	(void)state;
	for (size_t i = 0; i < ERRANDS_AT_A_TIME; i++)
		errands[i] = start(&hang[i], 1, 600, work_for_ever);
	(void)start(&next, 1, 1, work_well);
	wait_for(&next);
	assert_int_equal(next.result, -ETIMEDOUT);
	for (size_t i = 0; i < ERRANDS_AT_A_TIME; i++)
		errand_cancel(errands[i]);
}

/* Descriptors for its socket, and for nothing that tells of its end: it is reaped all the same. */
static void without_pidfd(void **state)
{
	struct asked asked = {};
	const struct errand_job job = {"what is tried", 1, 600, work_for_ever, on_done, &asked};
	struct failure failure = {};
	struct errand *errand = NULL;
	struct rlimit limit, low;
	siginfo_t left;
	int next = dup(STDIN_FILENO);

	(void)state;
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){(rlim_t)next + 2, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(errand_start(base, &job, &errand, &failure), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (unsigned int i = 0; i < 3000; i++) {
		event_base_loop(base, EVLOOP_NONBLOCK);
		if (waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT) < 0)
			break;
		usleep(10000);
	}
	assert_int_equal(waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(asked.answers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers, setup, teardown),
		cmocka_unit_test_setup_teardown(keeps, setup, teardown),
		cmocka_unit_test_setup_teardown(fails, setup, teardown),
		cmocka_unit_test_setup_teardown(dies, setup, teardown),
		cmocka_unit_test_setup_teardown(says_too_much, setup, teardown),
		cmocka_unit_test_setup_teardown(never_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled, setup, teardown),
		cmocka_unit_test_setup_teardown(in_line, setup, teardown),
		cmocka_unit_test_setup_teardown(in_line_for_ever, setup, teardown),
		cmocka_unit_test_setup_teardown(without_pidfd, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
