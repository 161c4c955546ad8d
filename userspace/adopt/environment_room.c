/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a process that has not run an instruction yet variables that it was not started with. */
#include "adopt/environment_room.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"

/* The kernel's own limit for arguments and environment together. */
#define TEXT_MAX (8u << 20)

/* --- filling the room --------------------------------------------------------------------- */

static const char *string_at(const struct environment_room *room, size_t i)
{
	return room->text + (room->pointers[i] - room->start);
}

/* Each points into the text, behind the one before: as the kernel laid them. */
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

/* Where the room of string `i` ends: where the next one begins. */
static size_t end_of(const struct environment_room *room, size_t i)
{
	return i + 1 < room->count ? room->pointers[i + 1] - room->start : room->size;
}

/* A run of strings that nobody needs, and what of it is left. */
struct gap {
	size_t at, end;
};

/* What is free, neighbours joined, and the numbers of the pointers to it. */
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
	/* Those that are left over lead to an empty string: the NUL behind the last one. */
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
	/* The field behind the name is the third, a letter. */
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

/*
 * The words that the stack begins with: the number of arguments, pointers to them, 0, those to
 * variables, 0.
 */
static int find_pointers(const uint64_t *words, size_t count, uint64_t arguments,
			 struct environment_room *room, size_t *ret_index)
{
	size_t first = count > 2 && words[0] < count - 2 ? (size_t)words[0] + 2 : 0;

	if (first == 0 || words[first - 1] != 0 || (words[0] > 0 && words[1] != arguments))
		return -EOPNOTSUPP;
	while (first + room->count < count && words[first + room->count])
		room->count++;
	if (first + room->count == count)
		return -EOPNOTSUPP;
	*ret_index = first;
	return 0;
}

static int fill(int fd, const uint64_t *fields, char *const *variables, size_t *ret_left,
		struct failure *failure)
{
	uint64_t stack = fields[FIELD_STACK];
	size_t count = (fields[FIELD_ARGUMENTS] - stack) / sizeof(uint64_t), first = 0;
	struct environment_room room = {
		.start = fields[FIELD_ENVIRONMENT],
		.size = fields[FIELD_ENVIRONMENT_END] - fields[FIELD_ENVIRONMENT],
	};
	_cleanup_(freep) uint64_t *words = NULL;
	_cleanup_(freep) char *text = NULL;
	int r;

	if (count > TEXT_MAX || room.size > TEXT_MAX)
		return failure_set(failure, EBADMSG, "its stack is not as the kernel made it");
	words = calloc(count + 1, sizeof(*words));
	text = calloc(1, room.size + 1);
	if (!words || !text)
		return failure_set(failure, ENOMEM, "%m");
	r = read_memory(fd, stack, words, count * sizeof(*words));
	if (r == 0)
		r = read_memory(fd, room.start, text, room.size);
	if (r == 0)
		r = find_pointers(words, count, fields[FIELD_ARGUMENTS], &room, &first);
	if (r < 0)
		return failure_set(failure, r, "its environment cannot be read: %m");
	room.text = text;
	room.pointers = words + first;
	r = environment_room_fill(&room, variables, ret_left, failure);
	if (r < 0)
		return r;
	r = write_memory(fd, room.start, text, room.size);
	if (r == 0)
		r = write_memory(fd, stack + first * sizeof(*words), room.pointers,
				 room.count * sizeof(*words));
	return r < 0 ? failure_set(failure, r, "its environment cannot be written: %m") : 0;
}

int process_environment_set(pid_t pid, char *const *variables, size_t *ret_left,
			    struct failure *failure)
{
	uint64_t fields[FIELD_COUNT] = {};
	_cleanup_(closep) int fd = -1;
	char path[64];
	int r;

	*ret_left = 0;
	if (!variables[0])
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return failure_set(failure, errno == ENOENT ? ESRCH : errno, "cannot open %s: %m",
				   path);
	r = read_fields(pid, fields, failure);
	return r < 0 ? r : fill(fd, fields, variables, ret_left, failure);
}
