/* SPDX-License-Identifier: Apache-2.0 */
/* Adds environment variables to a process that has not executed an instruction yet. */
#include "adopt/environment_room.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adopt/initial_stack.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/listed.h"

/* The kernel's limit for arguments and environment together. */
#define TEXT_MAX (8u << 20)

/* --- filling the room --------------------------------------------------------------------- */

static const char *string_at(const struct environment_room *room, size_t i)
{
	return room->text + (room->pointers[i] - room->start);
}

/* The pointers are ascending and point into the text, as the kernel creates them. */
static bool well_formed(const struct environment_room *room)
{
	for (size_t i = 0; i < room->count; i++)
		if (room->pointers[i] < room->start ||
		    room->pointers[i] - room->start >= room->size ||
		    (i > 0 && room->pointers[i] <= room->pointers[i - 1]))
			return false;
	return room->count == 0 || room->text[room->size - 1] == '\0';
}

static bool same_name(const char *one, const char *other)
{
	size_t length = strcspn(one, "=");

	return strncmp(one, other, length) == 0 && other[length] == '=';
}

static bool is_set(const char *string, char *const *variables)
{
	while (*variables && !same_name(*variables, string))
		variables++;
	return *variables != NULL;
}

/* Returns the end of the space of string `i`, where the next one begins. */
static size_t end_of(const struct environment_room *room, size_t i)
{
	return i + 1 < room->count ? room->pointers[i + 1] - room->start : room->size;
}

/* A run of unused strings, and its remaining space. */
struct gap {
	size_t at, end;
};

/* Finds the free space, with adjacent runs joined, and the indexes of the pointers to it. */
static size_t find_gaps(struct environment_room *room, char *const *variables, struct gap *gaps,
			size_t *pointers, size_t *ret_pointers)
{
	size_t count = 0, unused = 0;

	for (size_t i = 0; i < room->count; i++) {
		size_t at = room->pointers[i] - room->start, end = end_of(room, i);
		const char *string = string_at(room, i);

		if (*string && !is_set(string, variables))
			continue;
		memset(room->text + at, 0, end - at);
		pointers[unused++] = i;
		if (count > 0 && gaps[count - 1].end == at)
			gaps[count - 1].end = end;
		else
			gaps[count++] = (struct gap){at, end};
	}
	*ret_pointers = unused;
	return count;
}

static int place(struct environment_room *room, const char *variable, struct gap *gaps,
		 size_t count, size_t pointer)
{
	size_t size = strlen(variable) + 1;

	for (size_t i = 0; i < count; i++) {
		if (gaps[i].end - gaps[i].at < size)
			continue;
		memcpy(room->text + gaps[i].at, variable, size);
		room->pointers[pointer] = room->start + gaps[i].at;
		gaps[i].at += size;
		return 0;
	}
	return -ENOSPC;
}

int environment_room_fill(struct environment_room *room, char *const *variables, size_t *ret_left,
			  struct failure *failure)
{
	_cleanup_(freep) struct gap *gaps = calloc(room->count + 1, sizeof(*gaps));
	_cleanup_(freep) size_t *unused = calloc(room->count + 1, sizeof(*unused));
	size_t count, pointers, used = 0;

	if (!gaps || !unused)
		return failure_set(failure, ENOMEM, "%m");
	if (!well_formed(room))
		return failure_set(failure, EBADMSG,
				   "its environment is not as the kernel made it");
	count = find_gaps(room, variables, gaps, unused, &pointers);
	while (*variables && used < pointers &&
	       place(room, *variables, gaps, count, unused[used]) == 0) {
		variables++;
		used++;
	}
	for (*ret_left = 0; *variables; variables++)
		++*ret_left;
	/* Point the remaining pointers to an empty string: the final NUL. */
	for (; used < pointers; used++)
		room->pointers[unused[used]] = room->start + room->size - 1;
	return 0;
}

/* --- a process ---------------------------------------------------------------------------- */

/* Fields of /proc/PID/stat, see proc(5). */
enum {
	FIELD_STACK = 28,
	FIELD_ARGUMENTS = 48,
	FIELD_ENVIRONMENT = 50,
	FIELD_ENVIRONMENT_END = 51,
	FIELD_COUNT = 53,
};

static int read_fields(pid_t pid, uint64_t fields[FIELD_COUNT], struct failure *failure)
{
	_cleanup_(freep) char *text = NULL;
	char path[64], *at;
	size_t size;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	r = io_read_file(AT_FDCWD, path, 1u << 16, &text, &size);
	if (r < 0)
		return failure_set(failure, r == -ENOENT ? ESRCH : r, "cannot read %s: %m", path);
	at = strrchr(text, ')');
	/* The field after the name is the third, a letter. */
	at = at ? strchr(at + 2, ' ') : NULL;
	for (int i = 4; at && i < FIELD_COUNT; i++)
		fields[i] = strtoull(at, &at, 10);
	return at ? 0 : failure_set(failure, EBADMSG, "%s is too short", path);
}

static int read_memory(int fd, uint64_t at, void *to, size_t size)
{
	ssize_t n = pread(fd, to, size, (off_t)at);

	return n < 0 ? -errno : (size_t)n == size ? 0 : -EIO;
}

static int write_memory(int fd, uint64_t at, const void *from, size_t size)
{
	ssize_t n = pwrite(fd, from, size, (off_t)at);

	return n < 0 ? -errno : (size_t)n == size ? 0 : -EIO;
}

/* A process's environment as read, with its position. */
struct memory {
	int fd; /* of /proc/PID/mem */
	uint64_t stack;
	uint64_t *words; /* from `stack` up to the strings */
	struct initial_stack layout;
	struct environment_room room;
};

static int read_all(pid_t pid, struct memory *memory, struct failure *failure)
{
	struct environment_room *room = &memory->room;
	uint64_t fields[FIELD_COUNT] = {};
	size_t count;
	int r = read_fields(pid, fields, failure);

	if (r < 0)
		return r;
	memory->stack = fields[FIELD_STACK];
	count = (fields[FIELD_ARGUMENTS] - memory->stack) / sizeof(uint64_t);
	room->start = fields[FIELD_ENVIRONMENT];
	room->size = fields[FIELD_ENVIRONMENT_END] - room->start;
	if (count > TEXT_MAX || room->size > TEXT_MAX)
		return failure_set(failure, EBADMSG, "its stack is not as the kernel made it");
	memory->words = calloc(count + 1, sizeof(*memory->words));
	room->text = calloc(1, room->size + 1);
	if (!memory->words || !room->text)
		return failure_set(failure, ENOMEM, "%m");
	r = read_memory(memory->fd, memory->stack, memory->words, count * sizeof(uint64_t));
	if (r == 0)
		r = read_memory(memory->fd, room->start, room->text, room->size);
	if (r == 0)
		r = initial_stack_parse(memory->words, count, fields[FIELD_ARGUMENTS],
					&memory->layout);
	if (r < 0)
		return failure_set(failure, r, "its environment cannot be read: %m");
	room->pointers = memory->words + memory->layout.variable;
	room->count = memory->layout.variable_count;
	return 0;
}

static int fill(struct memory *memory, char *const *variables, size_t *ret_left,
		struct failure *failure)
{
	const struct environment_room *room = &memory->room;
	int r = environment_room_fill(&memory->room, variables, ret_left, failure);

	if (r < 0)
		return r;
	r = write_memory(memory->fd, room->start, room->text, room->size);
	if (r == 0)
		r = write_memory(memory->fd,
				 memory->stack + memory->layout.variable * sizeof(uint64_t),
				 room->pointers, room->count * sizeof(uint64_t));
	return r < 0 ? failure_set(failure, r, "its environment cannot be written: %m") : 0;
}

/* Keep the words at the old place, so that a repeated call has the same result. */
static int lengthen(pid_t pid, const struct memory *memory, char *const *variables)
{
	_cleanup_(freep) void *bytes = NULL;
	struct failure ignored = {};
	uint64_t address;
	size_t size;
	int r = initial_stack_lengthen(&memory->layout, memory->stack, variables, &bytes, &size,
				       &address);

	if (r == 0)
		r = write_memory(memory->fd, address, bytes, size);
	return r < 0 ? r : initial_stack_move(pid, memory->stack, address, &ignored);
}

static void memory_release(struct memory *memory)
{
	closep(&memory->fd);
	free(memory->words);
	free(memory->room.text);
}

int process_environment_set(pid_t pid, char *const *variables, size_t *ret_left,
			    struct failure *failure)
{
	_cleanup_(memory_release) struct memory memory = {.fd = -1};
	size_t count = list_length(variables), left;
	char path[64];
	int r;

	if (count == 0) {
		*ret_left = 0;
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory.fd = open(path, O_RDWR | O_CLOEXEC);
	if (memory.fd < 0)
		return failure_set(failure, errno == ENOENT ? ESRCH : errno, "cannot open %s: %m",
				   path);
	r = read_all(pid, &memory, failure);
	if (r == 0)
		r = fill(&memory, variables, &left, failure);
	if (r < 0)
		return r;
	if (left > 0 && lengthen(pid, &memory, variables + count - left) == 0)
		left = 0;
	*ret_left = left;
	return 0;
}
