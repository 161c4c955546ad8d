// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: hangs up its terminal, for all who use it, by the 32-bit entry
 * Hook: capable
 * Errno: EPERM
 * Control: asks so for its number
 * Record: capable $ANYSYS_TTY_CONFIG$ANY
 * As: root
 * Needs: machine x86_64
 */
#include "tests/redteam/attack.h"

#define GETPID_32  20
#define VHANGUP_32 111

static int by_32_bits(int number)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result < 0 ? -(int)result : 0;
}

/* In a session without one: the call needs the same then. */
static int hang_up(void)
{
	NEED(setsid());
	return by_32_bits(VHANGUP_32);
}

static int attack(void)
{
	return in_child(hang_up);
}

static int control(void)
{
	return by_32_bits(GETPID_32);
}

REDTEAM(.attack = attack, .control = control)
