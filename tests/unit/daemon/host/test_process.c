/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says about processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "daemon/host/process.h"

#define NOBODY 65534

static void test_parse(void **state)
{
	struct process_status status;

	(void)state;
	assert_int_equal(
		process_status_parse("12 (a) b) R 7 12 12 0 -1 4194304 1 0 0 0 2 3 0 0 20 0 1 0 "
				     "4567 1000 20 18446744073709551615",
				     &status),
		0);
	assert_int_equal(status.parent, 7);
	assert_int_equal(status.state, 'R');
	assert_string_equal(status.name, "a) b");
	assert_int_equal(status.start_nsec, 4567 * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_false(status.in_place);
	assert_int_equal(
		process_status_parse("12 (a) T 7 12 12 0 -1 4194304 1 0 0 0 2 3 0 0 20 0 1 0 "
				     "4567 1000 20 18446744073709551615 1 2 3 0 0 0 0 0 0 "
				     "0 0 0 17 1 0 0 0 0 0 4 5 6 7 8 9 10 0",
				     &status),
		0);
	assert_true(status.in_place);
	assert_int_equal(
		process_status_parse("12 (a) T 7 12 12 0 -1 4194304 1 0 0 0 2 3 0 0 20 0 1 0 "
				     "4567 1000 20 18446744073709551615 1 2 3 0 0 0 0 0 0 "
				     "0 0 0 17 1 0 0 0 0 0 4 5 6 7 8 9 0 0",
				     &status),
		0);
	assert_false(status.in_place);
	assert_int_equal(process_status_parse("12 (a", &status), -EBADMSG);
	assert_int_equal(process_status_parse("12 (a) R 7", &status), -EBADMSG);
	assert_int_equal(process_status_parse(
				 "12 a) (R 7 1 1 0 -1 4 1 0 0 0 2 3 0 0 20 0 1 0 4567 1", &status),
			 -EBADMSG);
	assert_int_equal(process_status_parse(
				 "12 (a) R -7 1 1 0 -1 4 1 0 0 0 2 3 0 0 20 0 1 0 4567 1", &status),
			 -EBADMSG);
	assert_int_equal(process_status_parse(
				 "12 (a) R 7 1 1 0 -1 4 1 0 0 0 2 3 0 0 20 0 1 0 45x 1", &status),
			 -EBADMSG);
}

/* Its directory in /proc is root's then. */
static void test_user(void **state)
{
	int ready[2], status;
	uid_t uid = 0;
	pid_t child;
	char byte;

	(void)state;
	assert_int_equal(process_uid(getpid(), &uid), 0);
	assert_int_equal(uid, getuid());
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		(void)(setresuid(NOBODY, NOBODY, NOBODY) == 0 &&
		       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && write(ready[1], "", 1));
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(process_uid(child, &uid), 0);
	assert_int_equal(uid, geteuid() == 0 ? NOBODY : getuid());
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(process_uid(child, &uid), -ESRCH);
	close(ready[0]);
	close(ready[1]);
}

static void test_child(void **state)
{
	struct process_status status;
	int pidfd, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid_t child = fork(), found;

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	pidfd = pidfd_open(child, 0);
	assert_true(pidfd >= 0);
	assert_int_equal(process_of_pidfd(pidfd, &found), 0);
	assert_int_equal(found, child);
	assert_int_equal(process_status(child, &status), 0);
	assert_int_equal(status.parent, getpid());
	assert_true(process_alive(child, status.start_nsec));
	assert_false(process_alive(child, status.start_nsec + NSEC_PER_SEC));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(process_of_pidfd(pidfd, &found), -ESRCH);
	assert_int_equal(process_status(child, &status), -ESRCH);
	assert_int_equal(process_of_pidfd(null, &found), -EBADF);
	assert_int_equal(process_of_pidfd(-1, &found), -EBADF);
	close(pidfd);
	close(null);
}

static void test_zombie(void **state)
{
	struct process_status status = {};
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){}, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_status(child, &status), 0);
	assert_false(process_alive(child, status.start_nsec));
	waitpid(child, NULL, 0);
}

static void test_cgroup(void **state)
{
	(void)state;
	assert_int_equal(process_in_cgroup(getpid(), "/cordon/no-such-execution"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),  cmocka_unit_test(test_user),
		cmocka_unit_test(test_child),  cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
