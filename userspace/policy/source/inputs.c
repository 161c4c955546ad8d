/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/source/inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"
#include "policy/source/source.h"

enum kind {
	ABSENT, /* no such name */
	PRESENT,
	CONTENT, /* read: device, inode and digest count */
};

struct input {
	enum kind kind;
	const char *path;
	dev_t device;
	ino_t inode;
	unsigned char digest[SHA256_SIZE];
};

struct policy_inputs {
	struct arena *arena;
	struct input *list;
	size_t count;
};

struct policy_inputs *policy_inputs_new(void)
{
	struct policy_inputs *inputs = calloc(1, sizeof(*inputs));

	if (!inputs)
		return NULL;
	inputs->arena = arena_new();
	if (!inputs->arena) {
		free(inputs);
		return NULL;
	}
	return inputs;
}

void policy_inputs_free(struct policy_inputs *inputs)
{
	if (!inputs)
		return;
	arena_free(inputs->arena);
	free(inputs);
}

static int add(struct policy_inputs *inputs, const char *path, const struct input *input)
{
	struct input *list =
		arena_grow(inputs->arena, inputs->list, inputs->count, sizeof(*inputs->list));
	const char *copy = arena_copy(inputs->arena, path, strlen(path));

	if (!list || !copy)
		return -ENOMEM;
	inputs->list = list;
	list[inputs->count] = *input;
	list[inputs->count++].path = copy;
	return 0;
}

int policy_inputs_add_name(struct policy_inputs *inputs, const char *path, bool found)
{
	const struct input input = {.kind = found ? PRESENT : ABSENT};

	return inputs ? add(inputs, path, &input) : 0;
}

int policy_inputs_add_file(struct policy_inputs *inputs, const struct source *source)
{
	struct input input = {.kind = CONTENT, .device = source->device, .inode = source->inode};
	int r;

	if (!inputs)
		return 0;
	r = sha256_of(source->text, source->size, input.digest);
	return r < 0 ? r : add(inputs, source->path, &input);
}

static bool same_content(const struct input *input)
{
	_cleanup_(arena_freep) struct arena *a = arena_new();
	unsigned char digest[SHA256_SIZE];
	struct source *s;

	return a && source_read(a, input->path, input->path, &s) == 0 &&
	       s->device == input->device && s->inode == input->inode &&
	       sha256_of(s->text, s->size, digest) == 0 &&
	       memcmp(digest, input->digest, sizeof(digest)) == 0;
}

static bool is_unchanged(const struct input *input)
{
	if (input->kind == CONTENT)
		return same_content(input);
	return (access(input->path, F_OK) == 0) == (input->kind == PRESENT);
}

bool policy_inputs_unchanged(const struct policy_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		if (!is_unchanged(&inputs->list[i]))
			return false;
	return inputs->count > 0;
}
