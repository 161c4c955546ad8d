// SPDX-License-Identifier: Apache-2.0
/*
 * For attacks that start a set-id program: says whether it runs as root. become_root 0 wants that,
 * become_root 1 is content without.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 2)
		return EINVAL;
	return geteuid() == 0 || atoi(argv[1]) ? 0 : EPERM;
}
