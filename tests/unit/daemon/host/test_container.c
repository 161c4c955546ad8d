/* SPDX-License-Identifier: Apache-2.0 */
/* What a container has of its host. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "daemon/host/container.h"

static const char host[] =
	"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"23 22 0:5 / /proc rw - proc proc rw\n"
	"24 22 0:6 / /sys rw - sysfs sysfs rw\n"
	"25 22 0:7 / /run rw - tmpfs tmpfs rw\n"
	"28 22 0:8 / /dev rw - devtmpfs devtmpfs rw\n"
	"26 22 8:2 /@data /srv/my\\040data rw - btrfs /dev/sdb rw\n"
	"27 22 0:40 / /var/lib/containers/storage/overlay/aa/merged rw - overlay overlay rw\n";

static const char *const volumes[] = {"/srv/data", "/srv/my data", "/opt/root", NULL};

static int judge(const char *mount)
{
	struct failure failure = {};

	return container_judge_mounts(host, mount, volumes, &failure);
}

static void allowed(void **state)
{
	static const char *const mounts[] = {
		"90 80 0:40 / / rw - overlay overlay rw\n",
		"90 80 8:1 /opt/root / rw - ext4 /dev/sda1 rw\n",
		"91 90 0:50 / /proc rw - proc proc rw\n",
		"92 90 0:6 / /sys ro - sysfs sysfs ro\n",
		"93 90 0:51 / /dev rw master:3 - tmpfs tmpfs rw\n",
		"94 90 8:1 /srv/data/x /vol rw - ext4 /dev/sda1 rw\n",
		"94 90 8:1 /srv/data /vol rw - ext4 /dev/sda1 rw\n",
		"95 90 8:2 /@data/deep /vol rw - btrfs /dev/sdb rw\n",
		"96 90 8:1 /var/lib/containers/storage/aa/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n",
		"98 90 0:8 /null /proc/kcore rw - devtmpfs devtmpfs rw\n",
		"96 90 8:1 /usr/bin/tini-static /sbin/docker-init ro - ext4 /dev/sda1 rw\n",
		"96 90 8:1 /usr/bin/docker-init /usr/sbin/docker-init ro - ext4 /dev/sda1 rw\n",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++)
		if (judge(mounts[i]) != 0)
			fail_msg("refused: %s", mounts[i]);
}

static void refused(void **state)
{
	static const char *const mounts[] = {
		"90 80 8:1 / / rw - ext4 /dev/sda1 rw\n",
		"90 80 8:1 / /host rw - ext4 /dev/sda1 rw\n",
		"94 90 8:1 /srv/database /vol rw - ext4 /dev/sda1 rw\n",
		"94 90 8:1 /srv /vol rw - ext4 /dev/sda1 rw\n",
		"94 90 8:1 /etc/shadow /etc/hosts rw - ext4 /dev/sda1 rw\n",
		"96 90 8:1 /etc/shadow /sbin/docker-init ro - ext4 /dev/sda1 rw\n",
		"96 90 8:1 /usr/bin/tini-static /usr/bin/sh ro - ext4 /dev/sda1 rw\n",
		"95 90 8:1 /var/lib/containers/storage/overlay/bb/merged /other rw - ext4 /dev/sda1 rw\n",
		"95 90 8:2 /@other /vol rw - btrfs /dev/sdb rw\n",
		"95 90 8:2 /@database /vol rw - btrfs /dev/sdb rw\n",
		"97 90 0:7 /docker.sock /run/docker.sock rw - tmpfs tmpfs rw\n",
		"98 90 0:8 / /dev rw - devtmpfs devtmpfs rw\n",
		"98 90 0:8 /sda1 /disk rw - devtmpfs devtmpfs rw\n",
		"97 90 0:5 / /hostproc rw - proc proc rw\n",
		"91 90 0:50 / /proc rw - proc proc rw\n94 90 8:1 /etc /vol rw - ext4 /dev/sda1 rw\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++)
		if (judge(mounts[i]) != -EPERM)
			fail_msg("not refused: %s", mounts[i]);
	assert_int_equal(judge("nonsense\n"), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allowed),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
