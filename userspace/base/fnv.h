/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FNV-1a with 64 bits, for hash tables where collisions give no advantage to an attacker. To hash
 * several values, pass each result as the next start value.
 */
#ifndef CORDON_BASE_FNV_H
#define CORDON_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV1A_START 0xcbf29ce484222325ull

static inline uint64_t fnv1a(uint64_t hash, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3ull;
	return hash;
}

#endif
