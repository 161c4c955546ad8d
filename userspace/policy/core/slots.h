/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables of indexes: the elements lie in an array of their owner, in which they keep their
 * places; a slot holds 1 + an index, or 0. Whoever looks for an element compares what the slots
 * from its hash on stand for, up to the first free one.
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

/* Of memory that holds whole 32-bit words, whatever type it has. */
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

/* Where the elements of this hash begin, and where to go on from a slot that was another's. */
static inline size_t slots_first(const struct slots *s, uint32_t hash)
{
	return hash & (s->count - 1);
}

static inline size_t slots_next(const struct slots *s, size_t slot)
{
	return (slot + 1) & (s->count - 1);
}

/* Room for one element more than the `used` ones; `hash` tells theirs again. -ENOMEM. */
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
