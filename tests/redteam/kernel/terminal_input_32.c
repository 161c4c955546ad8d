// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: types into the terminal of whoever started it by the 32-bit entry
 * Hook: file_ioctl_compat
 * Errno: EPERM
 * Control: asks for the terminal's size so
 * Record: ioctl $ANY
 * As: root
 * Needs: machine x86_64
 */
#include <sys/ioctl.h>

#include "tests/redteam/attack.h"

#define IOCTL_32 54

static int by_32_bits(unsigned int command)
{
	void *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;

	if (low == MAP_FAILED)
		broken("mmap");
	memset(low, ' ', 16);
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(IOCTL_32), "b"(STDIN_FILENO), "c"(command), "d"(low)
			 : "memory", "r8", "r9", "r10", "r11");
	munmap(low, 4096);
	return (int)result < 0 ? -(int)result : 0;
}

static int attack(void)
{
	return by_32_bits(TIOCSTI);
}

static int control(void)
{
	return by_32_bits(TIOCGWINSZ);
}

REDTEAM(.attack = attack, .control = control)
