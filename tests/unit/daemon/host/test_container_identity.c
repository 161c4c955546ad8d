/* SPDX-License-Identifier: Apache-2.0 */
/* Which container a process is in. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/host/container.h"
#include "daemon/host/container_identity.h"

#define ID    "51d71a35e83b201dc4f4430fdcb717c3fdead2c9e0921dae10cee19dd08b4429"
#define OTHER "0000000000000000000000000000000000000000000000000000000000000001"

static void of_cgroup(void **state)
{
	static const char *const with[] = {
		"/docker/" ID,
		"/system.slice/docker-" ID ".scope",
		"/machine.slice/libpod-" ID ".scope/container",
		"/libpod_parent/libpod-" ID,
		"/docker/" OTHER "/docker/" ID,
	};
	static const char *const without[] = {"/", "", "/user.slice/abc", "/docker/" ID "0",
					      "/docker/51d71a35e83b"};
	char id[65];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(with); i++) {
		assert_true(container_id_of_cgroup(with[i], id));
		assert_string_equal(id, ID);
	}
	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		assert_false(container_id_of_cgroup(without[i], id));
}

static void docker(void **state)
{
	static const char text[] = "{\"ID\":\"" ID "\",\"Name\":\"/box\",\"Image\":\"sha256:a3\","
				   "\"Config\":{\"Image\":\"python:3-slim\"}}";
	struct audit_container c = {.id = strdup(ID)};

	(void)state;
	assert_true(container_read_docker(text, &c));
	assert_string_equal(c.name, "box");
	assert_string_equal(c.image, "python:3-slim");
	assert_string_equal(c.image_id, "sha256:a3");
	/* What is there already gives way, and what is not a text is none. */
	assert_true(container_read_docker("{\"ID\":\"" ID "\",\"Name\":7}", &c));
	assert_null(c.name);
	assert_null(c.image);
	assert_false(container_read_docker("{\"ID\":\"" OTHER "\",\"Name\":\"/x\"}", &c));
	assert_false(container_read_docker("[]", &c));
	assert_false(container_read_docker("nonsense", &c));
	assert_null(c.name);
	audit_container_release(&c);
}

static void podman(void **state)
{
	static const char text[] = "[{\"id\":\"" OTHER "\",\"names\":[\"no\"],\"image\":\"b4\"},"
				   "{\"id\":\"" ID
				   "\",\"names\":[\"box\",\"more\"],\"image\":\"a3\"}]";
	struct audit_container c = {.id = strdup(ID)};

	(void)state;
	assert_true(container_read_podman(text, &c));
	assert_string_equal(c.name, "box");
	assert_string_equal(c.image_id, "a3");
	assert_true(container_read_podman("[{\"id\":\"" ID "\",\"names\":[]}]", &c));
	assert_null(c.name);
	assert_false(container_read_podman("[]", &c));
	assert_false(container_read_podman("{\"id\":\"" ID "\"}", &c));
	assert_false(container_read_podman("[{\"id\":", &c));
	audit_container_release(&c);
}

static void mounts(void **state)
{
	static const char host[] = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
				   "23 22 8:2 / /srv rw - ext4 /dev/sdb rw\n";
	static const char its[] =
		"90 80 0:40 / / rw - overlay overlay rw\n"
		"91 90 8:1 /old /etc/hostname rw - ext4 /dev/sda1 rw\n"
		"91 90 8:2 /docker/containers/x/hostname /etc/hostname rw - ext4 /dev/sdb rw\n"
		"92 90 0:50 /hosts /etc/hosts rw - tmpfs tmpfs rw\n";
	char path[2 * PATH_MAX];

	(void)state;
	assert_true(container_find_mount(host, its, "/etc/hostname", path));
	assert_string_equal(path, "/srv/docker/containers/x/hostname");
	assert_false(container_find_mount(host, its, "/etc/hosts", path));
	assert_false(container_find_mount(host, its, "/etc/resolv.conf", path));
	assert_false(container_find_mount("", its, "/etc/hostname", path));
}

static void first(void **state)
{
	(void)state;
	assert_true(container_status_of_first("Name:\tsh\nNSpid:\t4711\t1\nNSpgid:\t4711\t1\n"));
	assert_true(container_status_of_first("Name:\tsh\nNSpid:\t4711\t20\t1\n"));
	assert_false(container_status_of_first("Name:\tsh\nNSpid:\t4711\t21\n"));
	assert_false(container_status_of_first("Name:\tsh\nNSpid:\t4711\t1\t20\n"));
	/* The host's own first process. */
	assert_false(container_status_of_first("Name:\tinit\nNSpid:\t1\n"));
	assert_false(container_status_of_first("Name:\tNSpid:\t7\t1\n"));
	assert_false(container_is_first(getpid()));
	assert_false(container_is_first(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_cgroup), cmocka_unit_test(docker), cmocka_unit_test(podman),
		cmocka_unit_test(mounts),    cmocka_unit_test(first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
