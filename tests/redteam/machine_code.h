/* SPDX-License-Identifier: Apache-2.0 */
/* What attacks put where it is to be run. */
#ifndef CORDON_TESTS_REDTEAM_MACHINE_CODE_H
#define CORDON_TESTS_REDTEAM_MACHINE_CODE_H

#include <string.h>

#ifdef __aarch64__
static const unsigned char machine_return[] = {0xc0, 0x03, 0x5f, 0xd6}; /* ret */
static const unsigned char machine_answer[] = {0x40, 0x05, 0x80, 0x52,	/* mov w0, #42 */
					       0xc0, 0x03, 0x5f, 0xd6}; /* ret */
#else
static const unsigned char machine_return[] = {0xc3};		    /* ret */
static const unsigned char machine_answer[] = {0xb8, 0x2a, 0, 0, 0, /* mov $42, %eax */
					       0xc3};		    /* ret */
#endif
#define MACHINE_ANSWER 42

/* An instruction that was fetched before may be remembered. */
static inline void put_machine_code(void *at, const unsigned char *code, size_t length)
{
	memcpy(at, code, length);
	__builtin___clear_cache(at, (char *)at + length);
}

#endif
