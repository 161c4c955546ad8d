/* SPDX-License-Identifier: Apache-2.0 */
/* What a service manager gets to hear. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "daemon/host/notify.h"

static int manager(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));

	memcpy(address.sun_path, name, strlen(name) + 1);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	return fd;
}

static void hears(const char *name)
{
	_cleanup_(closep) int fd = manager(name);
	char text[64] = "";

	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify("READY=1\nSTATUS=x"), 0);
	assert_int_equal(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT), 16);
	assert_string_equal(text, "READY=1\nSTATUS=x");
}

static void test_sockets(void **state)
{
	char path[] = "/tmp/cordon-notify-XXXXXX", name[64];

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(name, sizeof(name), "%s/socket", path);
	hears(name);
	unlink(name);
	rmdir(path);
	snprintf(name, sizeof(name), "@cordon-test-%d", getpid());
	hears(name);
}

static void test_nobody(void **state)
{
	char longest[200];

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "", 1);
	assert_int_equal(notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "relative", 1);
	assert_int_equal(notify("READY=1"), -EINVAL);
	setenv("NOTIFY_SOCKET", "/nowhere/socket", 1);
	assert_int_equal(notify("READY=1"), -ENOENT);
	memset(longest, 'x', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	setenv("NOTIFY_SOCKET", longest, 1);
	assert_int_equal(notify("READY=1"), -EINVAL);
}

static void test_watchdog(void **state)
{
	char pid[16];

	(void)state;
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
	assert_int_equal(notify_watchdog_nsec(), 0);
	setenv("WATCHDOG_USEC", "3000000", 1);
	assert_int_equal(notify_watchdog_nsec(), 1500000000);
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_watchdog_nsec(), 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(notify_watchdog_nsec(), 1500000000);
	setenv("WATCHDOG_USEC", "-1", 1);
	assert_int_equal(notify_watchdog_nsec(), 0);
	setenv("WATCHDOG_USEC", "x", 1);
	assert_int_equal(notify_watchdog_nsec(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
