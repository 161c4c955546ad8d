/* SPDX-License-Identifier: Apache-2.0 */
/* What a client that is not root may ask for, and what its child must be like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "daemon/peer/member.h"
#include "tests/unit/control/request_fixture.h"

#define STATUS(uids, capabilities, privs)                                                          \
	"Name:\tx\nPPid:\t1\nUid:\t" uids "\nGid:\t7\t7\t7\t7\nCapInh:\t0000000000000000\n"        \
	"CapPrm:\t" capabilities "\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n"        \
	"CapAmb:\t0000000000000000\nNoNewPrivs:\t" privs "\nSeccomp:\t2\n"
#define NONE "0000000000000000"
#define OWN  "1000\t1000\t1000\t1000"

static void test_child(void **state)
{
	static const char *const bad[] = {
		STATUS("0\t0\t0\t0", NONE, "1"),
		STATUS("1000\t0\t0\t0", NONE, "1"),
		STATUS("1000\t1000\t0\t1000", NONE, "1"),
		STATUS("1001\t1001\t1001\t1001", NONE, "1"),
		STATUS("10001000\t1000\t1000\t1000", NONE, "1"),
		STATUS(OWN, "0000000000000001", "1"),
		STATUS(OWN, NONE, "0"),
		STATUS(OWN, NONE, "10"),
		"",
		"Name:\tUid:\t1000\t1000\t1000\t1000\n",
	};
	struct failure failure = {};

	(void)state;
	assert_int_equal(member_check_status(STATUS(OWN, NONE, "1"), 1000, &failure), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		failure.text[0] = '\0';
		assert_int_equal(member_check_status(bad[i], 1000, &failure), -EPERM);
		assert_true(failure.text[0]);
	}
}

static void test_mounts(void **state)
{
	static const char mountinfo[] =
		"22 1 0:21 / /sys rw,relatime shared:7 - sysfs sysfs rw\n"
		"31 22 0:27 / /home/a\\040-\\040b rw - fuse.sshfs x:/ rw\n"
		"131 22 0:27 / /mnt rw shared:1 master:2 - ext4 /dev/vda rw\n";
	char type[64];

	(void)state;
	assert_int_equal(member_mount_type(mountinfo, 22, type), 0);
	assert_string_equal(type, "sysfs");
	assert_int_equal(member_mount_type(mountinfo, 31, type), 0);
	assert_string_equal(type, "fuse.sshfs");
	assert_int_equal(member_mount_type(mountinfo, 131, type), 0);
	assert_string_equal(type, "ext4");
	assert_int_equal(member_mount_type(mountinfo, 1, type), -ENOENT);
	assert_int_equal(member_mount_type("", 1, type), -ENOENT);
	assert_int_equal(member_mount_type("22 1 0:21 / /sys\n- ext4", 22, type), -EBADMSG);
}

/* A change to a request in which everything is right, but for its log. */
static int ask(const char *key, json_t *value)
{
	static gid_t groups[] = {1001, 2000};
	const struct peer peer = {
		.ucred = {.pid = 1, .uid = 1000, .gid = 1000},
		.groups = groups,
		.group_count = ARRAY_SIZE(groups),
	};
	json_t *message = good_prepare();
	struct prepare_request request;
	struct failure failure = {};
	int r;

	if (key)
		json_object_set_new(message, key, value);
	assert_int_equal(prepare_request_parse(message, &request, &failure), 0);
	r = member_check_request(&peer, &request, &failure);
	assert_true((r < 0) == (failure.text[0] != '\0'));
	prepare_request_release(&request);
	json_decref(message);
	return r;
}

static void test_request(void **state)
{
	(void)state;
	assert_int_equal(ask(NULL, NULL), 0);
	assert_int_equal(ask("gid", json_integer(1000)), 0);
	assert_int_equal(ask("gid", json_integer(2000)), 0);
	assert_int_equal(ask("gid", json_integer(0)), -EPERM);
	assert_int_equal(ask("uid", json_integer(0)), -EPERM);
	assert_int_equal(ask("uid", json_integer(1001)), -EPERM);
	assert_int_equal(ask("observe", json_true()), -EPERM);
	assert_int_equal(ask("log", json_string("/tmp/mine")), -EPERM);
	assert_int_equal(ask("policy", json_string("/home/a/wide.yaml")), -EPERM);
	assert_int_equal(ask("policy", json_string("wide.yaml")), -EPERM);
	assert_int_equal(ask("policy", json_string("/etc/shadow")), -EPERM);
	assert_int_equal(ask("policy", json_string("..")), -EPERM);
	assert_int_equal(ask("policy", json_string("tight")), 0);
}

/* As the daemon has it asked by a process of its own. */
static void ask_host(struct names *names, char *const *questions)
{
	_cleanup_(freep) char *data = NULL;
	size_t size;
	FILE *to = open_memstream(&data, &size);

	assert_non_null(to);
	names_look_up(questions, to);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(names_learn(names, questions, data, size, 0), 0);
}

/* A directory that came along as somebody's home is that of his account, or none. */
static void test_home(void **state)
{
	char *const account[] = {(char *)"#0", NULL};
	_cleanup_(names_release) struct names names = {};
	const struct peer peer = {.ucred = {.pid = 1}, .names = &names};
	const struct prepare_request request = {.home = true};
	struct failure failure = {};
	int fds[2] = {open("/", O_PATH | O_DIRECTORY), open("/root", O_PATH | O_DIRECTORY)};

	(void)state;
	assert_true(fds[0] >= 0 && fds[1] >= 0);
	assert_int_equal(member_check_directories(&peer, &request, fds, 2, &failure), -EPERM);
	ask_host(&names, account);
	assert_int_equal(member_check_directories(&peer, &request, fds, 2, &failure), 0);
	assert_int_equal(dup3(fds[0], fds[1], 0), fds[1]);
	assert_int_equal(member_check_directories(&peer, &request, fds, 2, &failure), -EPERM);
	close(fds[0]);
	close(fds[1]);
}

static void test_who_may(void **state)
{
	char *const nobody[] = {NULL};
	char *const daemons[] = {(char *)"no-such-user", (char *)"daemon", NULL};
	char *const groups[] = {(char *)"@no-such-group", (char *)"@daemon", NULL};
	_cleanup_(names_release) struct names names = {};
	struct peer peer = {.ucred = {.pid = 1, .uid = 54321, .gid = 54321}, .names = &names};
	gid_t one = 1;

	(void)state;
	ask_host(&names, daemons);
	ask_host(&names, groups);
	assert_false(peer_is_one_of(&peer, NULL));
	assert_false(peer_is_one_of(&peer, nobody));
	assert_false(peer_is_one_of(&peer, daemons));
	peer.ucred.uid = 1;
	assert_true(peer_is_one_of(&peer, daemons));
	assert_false(peer_is_one_of(&peer, groups));
	peer.groups = &one;
	peer.group_count = 1;
	assert_true(peer_is_one_of(&peer, groups));
	peer.names = NULL;
	assert_false(peer_is_one_of(&peer, groups));
	assert_false(peer_is_one_of(&peer, daemons));
	peer = (struct peer){.root = true};
	assert_true(peer_is_one_of(&peer, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child),	cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_request), cmocka_unit_test(test_home),
		cmocka_unit_test(test_who_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
