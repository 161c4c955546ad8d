/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces equal parts of many records by one object. */
#include "insight/text/share.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One value per hash: recent values are found, and memory is bounded. */
#define SLOTS	  (1u << 14)
#define FNV_START 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

struct share {
	json_t *slots[SLOTS];
};

struct share *share_new(void)
{
	return calloc(1, sizeof(struct share));
}

void share_free(struct share *share)
{
	for (size_t i = 0; i < SLOTS; i++)
		json_decref(share->slots[i]);
	free(share);
}

static uint64_t mix(uint64_t hash, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * FNV_PRIME;
	return hash;
}

static uint64_t mix_value(uint64_t hash, uint64_t value)
{
	return mix(hash, (const char *)&value, sizeof(value));
}

/* Members are already shared, so that their addresses identify them. */
static uint64_t hash_of(const json_t *value)
{
	uint64_t hash = mix_value(FNV_START, json_typeof(value));
	const json_t *member;
	const char *key;
	size_t i;

	switch (json_typeof(value)) {
	case JSON_STRING:
		return mix(hash, json_string_value(value), json_string_length(value));
	case JSON_INTEGER:
		return mix_value(hash, (uint64_t)json_integer_value(value));
	case JSON_OBJECT:
		json_object_foreach((json_t *)value, key, member)
			hash = mix_value(mix(hash, key, strlen(key)), (uintptr_t)member);
		return hash;
	case JSON_ARRAY:
		json_array_foreach(value, i, member)
			hash = mix_value(hash, (uintptr_t)member);
		return hash;
	default:
		return hash;
	}
}

static void share_members(struct share *share, json_t *value);

/* Returns a new reference to an equal value, or to this one. */
static json_t *find_equal(struct share *share, json_t *value)
{
	json_t **slot;

	share_members(share, value);
	slot = &share->slots[hash_of(value) % SLOTS];
	if (!*slot || !json_equal(*slot, value)) {
		json_decref(*slot);
		*slot = json_incref(value);
	}
	return json_incref(*slot);
}

static void share_members(struct share *share, json_t *value)
{
	if (json_is_object(value))
		for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at))
			json_object_iter_set_new(value, at,
						 find_equal(share, json_object_iter_value(at)));
	for (size_t i = 0; i < json_array_size(value); i++)
		json_array_set_new(value, i, find_equal(share, json_array_get(value, i)));
}

void share_record(struct share *share, json_t *record)
{
	share_members(share, record);
}
