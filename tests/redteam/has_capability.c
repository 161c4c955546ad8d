// SPDX-License-Identifier: Apache-2.0
/*
 * For attacks that gain capabilities by exec: has_capability N ends with 0 if N is effective, else
 * with EPERM.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};
	int number = argc == 2 ? atoi(argv[1]) : -1;

	if (number < 0 || number > 63 || syscall(SYS_capget, &header, data) < 0)
		return EINVAL;
	return data[number / 32].effective >> (number % 32) & 1 ? 0 : EPERM;
}
