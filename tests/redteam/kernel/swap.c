// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel move memory of all processes to a file of its own
 * Hook: capable
 * Errno: EPERM
 * Control: uses its own file
 * Record: capable $ANY
 * As: root
 * Where: ext4
 */
#include <sys/swap.h>

#include "tests/redteam/attack.h"

#define PAGES 64

static int attack(void)
{
	static char page[4096];
	unsigned int header[] = {1, PAGES - 1, 0};
	int fd = NEED(open("swap", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));

	for (int i = 0; i < PAGES; i++)
		NEED(write(fd, page, sizeof(page)));
	memcpy(page + 1024, header, sizeof(header));
	memcpy(page + sizeof(page) - 10, "SWAPSPACE2", 10);
	NEED(pwrite(fd, page, sizeof(page), 0));
	NEED(fsync(fd));
	close(fd);
	if (swapon("swap", 0) < 0)
		return errno;
	NEED(swapoff("swap"));
	return 0;
}

REDTEAM(.attack = attack)
