/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables of indexes, with linear probing. The owner keeps the elements in an array, where
 * their positions do not change. A slot contains 1 + an index, or 0. A lookup compares the elements
 * of consecutive slots from the hash's slot on, up to the first free slot.
 */
#ifndef CORDON_POLICY_SLOTS_H
#define CORDON_POLICY_SLOTS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct slots {
	uint32_t *at;
	size_t count; /* a power of two, or 0 */
};

/* Hashes memory that consists of whole 32-bit words of any type. */
static inline uint32_t slots_hash(const void *memory, size_t size)
{
	uint64_t h = 0x9e3779b97f4a7c15ull ^ size;

	for (size_t i = 0; i + sizeof(uint32_t) <= size; i += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, (const unsigned char *)memory + i, sizeof(word));
		h = (h ^ word) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

/* The first slot to look at for a hash, and the next slot after a mismatch. */
static inline size_t slots_first(const struct slots *s, uint32_t hash)
{
	return hash & (s->count - 1);
}

static inline size_t slots_next(const struct slots *s, size_t slot)
{
	return (slot + 1) & (s->count - 1);
}

/*
 * Makes room for one element more than `used`. `hash` computes the hash of an existing element.
 * -ENOMEM.
 */
static inline int slots_reserve(struct slots *s, size_t used,
				uint32_t (*hash)(const void *owner, uint32_t index),
				const void *owner)
{
	struct slots larger = {.count = s->count ? s->count * 2 : 256};

	if (used * 2 < s->count)
		return 0;
	larger.at = calloc(larger.count, sizeof(*larger.at));
	if (!larger.at)
		return -ENOMEM;
	for (uint32_t i = 0; i < used; i++) {
		size_t slot = slots_first(&larger, hash(owner, i));

		while (larger.at[slot])
			slot = slots_next(&larger, slot);
		larger.at[slot] = i + 1;
	}
	free(s->at);
	*s = larger;
	return 0;
}

#endif
