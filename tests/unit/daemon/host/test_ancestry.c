/* SPDX-License-Identifier: Apache-2.0 */
/* Who started a process, as /proc says, and the same once it has come from another process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "daemon/host/ancestry.h"
#include "daemon/host/process.h"

/* Seconds of the clocks while they stand still, and from the boot to the epoch. */
#define REALTIME  2000000000
#define BOOTTIME  1000
#define BOOT_NSEC ((uint64_t)(REALTIME - BOOTTIME) * NSEC_PER_SEC)

static bool clocks_stand_still;

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!clocks_stand_still)
		return (int)syscall(SYS_clock_gettime, clock, ret);
	*ret = (struct timespec){.tv_sec = clock == CLOCK_BOOTTIME ? BOOTTIME : REALTIME};
	return 0;
}

static uint64_t start_of(pid_t pid)
{
	struct process_status status;

	assert_int_equal(process_status(pid, &status), 0);
	return status.start_nsec;
}

static void test_self(void **state)
{
	struct audit_starter *starters = NULL;
	unsigned char digest[SHA256_SIZE];
	char program[PATH_MAX], *text;
	size_t size;
	int count;

	(void)state;
	clocks_stand_still = true;
	count = ancestry_read(getpid(), true, &starters);
	clocks_stand_still = false;
	assert_in_range(count, 2, AUDIT_STARTERS_MAX);
	assert_int_equal(starters[0].pid, getpid());
	assert_int_equal(starters[1].pid, getppid());
	assert_string_equal(starters[0].name, "test_ancestry");
	assert_int_equal(proc_readlink(getpid(), "exe", program), 0);
	assert_string_equal(starters[0].program, program);
	assert_int_equal(proc_read(getpid(), "cmdline", 1u << 20, &text, &size), 0);
	assert_int_equal(sha256_of(text, size, digest), 0);
	assert_true(starters[0].have_arguments);
	assert_memory_equal(starters[0].arguments_digest, digest, sizeof(digest));
	assert_int_equal(starters[0].started, BOOT_NSEC + start_of(getpid()));
	assert_int_equal(starters[1].started, BOOT_NSEC + start_of(getppid()));
	free(text);
	audit_starters_free(starters);
}

static void test_without_arguments(void **state)
{
	struct audit_starter *starters = NULL;

	(void)state;
	assert_true(ancestry_read(getpid(), false, &starters) >= 1);
	assert_false(starters[0].have_arguments);
	audit_starters_free(starters);
}

static void test_gone(void **state)
{
	struct audit_starter *starters = NULL;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(ancestry_read(pid, true, &starters), 0);
	audit_starters_free(starters);
	assert_int_equal(ancestry_read(0, true, &starters), 0);
	audit_starters_free(starters);
}

static void test_parcel(void **state)
{
	struct audit_starter *starters = NULL, *taken = NULL;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int count = ancestry_read(getpid(), true, &starters);

	(void)state;
	ancestry_put(to, starters, (size_t)count);
	fclose(to);
	/* No beginning of it is taken for the whole. */
	for (size_t cut = 0; cut < size; cut++) {
		struct parcel part = {text, cut};

		assert_int_equal(ancestry_take(&part, &taken), -EPROTO);
	}
	assert_int_equal(ancestry_take(&(struct parcel){text, size}, &taken), count);
	for (int i = 0; i < count; i++) {
		assert_int_equal(taken[i].pid, starters[i].pid);
		assert_string_equal(taken[i].name, starters[i].name);
	}
	audit_starters_free(taken);
	/* More than there can be. */
	memset(text, 0xff, sizeof(size_t));
	assert_int_equal(ancestry_take(&(struct parcel){text, size}, &taken), -EPROTO);
	free(text);
	audit_starters_free(starters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_without_arguments),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_parcel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
