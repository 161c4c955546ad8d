/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and descriptors over a socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "control/protocol.h"

static int pair[2];

static int setup(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
}

static int teardown(void **state)
{
	(void)state;
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static unsigned int open_descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void test_roundtrip(void **state)
{
	json_t *sent = json_pack("{s:s,s:i,s:[s,n]}", "op", "x", "n", 5, "list", "a");
	json_t *received = NULL;
	struct protocol_fds fds;

	(void)state;
	assert_int_equal(protocol_send(pair[0], sent, NULL, 0), 0);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, NULL), 0);
	assert_true(json_equal(sent, received));
	assert_int_equal(fds.count, 0);
	json_decref(sent);
	json_decref(received);
}

static void test_descriptors(void **state)
{
	json_t *message = protocol_ok(), *received;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), ends[2];
	struct protocol_fds fds;
	struct stat a, b;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(protocol_send(pair[0], message, (int[]){null, ends[0]}, 2), 0);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, NULL), 0);
	assert_int_equal(fds.count, 2);
	assert_int_equal(fcntl(fds.fd[0], F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(ends[0], &a), 0);
	assert_int_equal(fstat(fds.fd[1], &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	protocol_fds_close(&fds);
	assert_int_equal(fds.count, 0);
	json_decref(message);
	json_decref(received);
	close(null);
	close(ends[0]);
	close(ends[1]);
}

static void send_raw(const void *data, size_t size, const int *fds, size_t count)
{
	char control[CMSG_SPACE(sizeof(int) * 32)] = {};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
	struct msghdr packet = {.msg_iov = &iov, .msg_iovlen = 1};

	if (count > 0) {
		struct cmsghdr *header;

		packet.msg_control = control;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		header = CMSG_FIRSTHDR(&packet);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int) * count);
		memcpy(CMSG_DATA(header), fds, sizeof(int) * count);
	}
	assert_true(sendmsg(pair[0], &packet, 0) >= 0);
}

/* Each is refused, and whatever came along is closed again. */
static void test_refused(void **state)
{
	static char large[PROTOCOL_MAX_PACKET + 1];
	static const struct {
		const char *data;
		int error;
	} cases[] = {
		{"{", -EBADMSG},
		{"[1]", -EBADMSG},
		{"7", -EBADMSG},
		{"{\"a\":1}{\"b\":2}", -EBADMSG},
		{"{\"a\":1,\"a\":2}", -EBADMSG},
		{"{\"a\":\"\\u0000\"}", -EBADMSG},
		{"{\"a\":\"\xff\"}", -EBADMSG},
	};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct protocol_fds fds;
	struct failure failure;
	unsigned int before;
	json_t *received;

	(void)state;
	before = open_descriptors();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		failure.text[0] = '\0';
		send_raw(cases[i].data, strlen(cases[i].data), &null, 1);
		assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, &failure),
				 cases[i].error);
		assert_true(failure.text[0] != '\0');
	}
	memset(large, ' ', sizeof(large));
	send_raw(large, sizeof(large), &null, 1);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, NULL), -EMSGSIZE);
	assert_int_equal(open_descriptors(), before);
	close(null);
}

static void test_too_many_descriptors(void **state)
{
	int many[PROTOCOL_MAX_FDS + 4], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct protocol_fds fds;
	unsigned int before;
	json_t *received;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = null;
	before = open_descriptors();
	send_raw("{}", 2, many, ARRAY_SIZE(many));
	assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, NULL), -EMSGSIZE);
	assert_int_equal(open_descriptors(), before);
	close(null);
}

static void test_largest(void **state)
{
	static char text[PROTOCOL_MAX_PACKET - 8 + 2];
	json_t *message, *received;
	struct protocol_fds fds;

	(void)state;
	memset(text, 'x', sizeof(text) - 2);
	message = json_pack("{s:s}", "a", text);
	assert_int_equal(protocol_send(pair[0], message, NULL, 0), 0);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, NULL), 0);
	assert_true(json_equal(message, received));
	json_decref(message);
	json_decref(received);
	text[sizeof(text) - 2] = 'x';
	message = json_pack("{s:s}", "a", text);
	assert_int_equal(protocol_send(pair[0], message, NULL, 0), -EMSGSIZE);
	json_decref(message);
}

static void test_peer_gone(void **state)
{
	json_t *message = protocol_ok(), *received;
	struct protocol_fds fds;

	(void)state;
	assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, NULL), -EAGAIN);
	close(pair[0]);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, NULL), -ECONNRESET);
	assert_int_equal(protocol_send(pair[1], message, NULL, 0), -EPIPE);
	json_decref(message);
	pair[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void test_errno_names(void **state)
{
	(void)state;
	assert_string_equal(protocol_errno_name(-ENOENT), "ENOENT");
	assert_int_equal(protocol_errno("EBUSY"), EBUSY);
	assert_int_equal(protocol_errno("EHWPOISON"), EHWPOISON);
	assert_int_equal(protocol_errno("ENOTHING"), 0);
	for (int error = 1; error <= EHWPOISON; error++)
		if (strerrorname_np(error))
			assert_int_equal(protocol_errno(protocol_errno_name(error)), error);
}

static void test_error_text(void **state)
{
	static char text[200000];
	json_t *message, *received;
	struct protocol_fds fds;

	(void)state;
	memset(text, 0xff, sizeof(text) - 1);
	message = protocol_error(EINVAL, text);
	assert_non_null(message);
	assert_int_equal(protocol_send(pair[0], message, NULL, 0), 0);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, NULL, NULL), 0);
	json_decref(message);
	json_decref(received);
}

static void test_limits(void **state)
{
	const struct policy_limits limits = {
		.wall_nsec = 1, .memory_bytes = UINT64_MAX, .open_files = 3};
	struct policy_limits back;
	struct failure failure = {};
	json_t *object = protocol_limits(&limits, false);

	(void)state;
	assert_int_equal(json_object_size(object), 3);
	assert_int_equal(protocol_limits_of(object, &back, NULL), 0);
	assert_int_equal(back.wall_nsec, 1);
	assert_int_equal(back.memory_bytes, INT64_MAX);
	assert_int_equal(back.open_files, 3);
	assert_int_equal(back.pids, 0);
	json_object_set_new(object, "walls", json_integer(1));
	assert_int_equal(protocol_limits_of(object, &back, &failure), -EINVAL);
	assert_non_null(strstr(failure.text, "walls"));
	json_object_del(object, "walls");
	json_object_set_new(object, "pids", json_integer(-1));
	assert_int_equal(protocol_limits_of(object, &back, NULL), -EINVAL);
	json_object_set_new(object, "pids", json_string("1"));
	assert_int_equal(protocol_limits_of(object, &back, NULL), -EINVAL);
	json_decref(object);
}

static void test_strings(void **state)
{
	json_t *array = json_pack("[s,n,s]", "a", "b");
	char **strings;

	(void)state;
	assert_int_equal(protocol_strings_of(array, false, &strings), -EINVAL);
	assert_int_equal(protocol_strings_of(array, true, &strings), 0);
	assert_string_equal(strings[0], "a");
	assert_null(strings[1]);
	assert_string_equal(strings[2], "b");
	assert_null(strings[3]);
	free(strings[2]);
	strings[2] = NULL;
	protocol_strings_free(strings);
	json_decref(array);
	array = protocol_strings((char *[]){(char[]){"x"}, (char[]){"\xff"}, NULL});
	assert_int_equal(json_array_size(array), 2);
	assert_string_equal(json_string_value(json_array_get(array, 1)), "\xef\xbf\xbd");
	json_decref(array);
}

static void test_names(void **state)
{
	enum audit_code_source source;
	enum audit_end_cause cause;

	(void)state;
	for (int i = AUDIT_END_EXITED; i <= AUDIT_END_NOT_STARTED; i++) {
		assert_int_equal(
			protocol_cause(protocol_cause_name((enum audit_end_cause)i), &cause), 0);
		assert_int_equal(cause, i);
	}
	for (int i = AUDIT_CODE_NONE; i <= AUDIT_CODE_STDIN; i++) {
		assert_int_equal(
			protocol_code_source(protocol_code_source_name((enum audit_code_source)i),
					     &source),
			0);
		assert_int_equal(source, i);
	}
	assert_int_equal(protocol_cause("nothing", &cause), -EINVAL);
}

static void test_sender(void **state)
{
	json_t *message = protocol_ok(), *received = NULL;
	struct protocol_fds fds;
	struct ucred sender;
	const int on = 1;
	int copies[PROTOCOL_MAX_FDS];
	pid_t child;

	(void)state;
	/* Nobody is named where the socket was not told to. */
	assert_int_equal(protocol_send(pair[0], message, NULL, 0), 0);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, &sender, NULL), 0);
	assert_int_equal(sender.pid, -1);
	assert_int_equal(sender.uid, (uid_t)-1);
	json_decref(received);

	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	for (size_t i = 0; i < PROTOCOL_MAX_FDS; i++)
		copies[i] = pair[0];
	assert_int_equal(protocol_send(pair[0], message, copies, PROTOCOL_MAX_FDS), 0);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, &sender, NULL), 0);
	assert_int_equal(sender.pid, getpid());
	assert_int_equal(sender.uid, geteuid());
	assert_int_equal(fds.count, PROTOCOL_MAX_FDS);
	protocol_fds_close(&fds);
	json_decref(received);

	/* Whoever sends, not whoever made the socket. */
	child = fork();
	if (child == 0)
		_exit(protocol_send(pair[0], message, NULL, 0) < 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(protocol_receive(pair[1], &received, &fds, &sender, NULL), 0);
	assert_int_equal(sender.pid, child);
	json_decref(received);
	json_decref(message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_roundtrip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_largest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sender, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_gone, setup, teardown),
		cmocka_unit_test(test_errno_names),
		cmocka_unit_test_setup_teardown(test_error_text, setup, teardown),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
