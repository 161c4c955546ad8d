/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what /proc says about another process. */
#include "daemon/host/process.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/proc.h"

#define PROC_FILE_MAX 65536

int process_of_pidfd(int pidfd, pid_t *ret_pid)
{
	_cleanup_(freep) char *text = NULL;
	char path[64];
	const char *line;
	size_t size;
	int pid, r;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	r = io_read_file(AT_FDCWD, path, PROC_FILE_MAX, &text, &size);
	if (r < 0)
		return r == -ENOENT ? -EBADF : r;
	line = strstr(text, "\nPid:");
	if (!line || sscanf(line, "\nPid: %d", &pid) != 1)
		return -EBADF;
	/* -1: reaped; 0: not in our pid namespace. */
	if (pid <= 0)
		return -ESRCH;
	*ret_pid = pid;
	return 0;
}

/*
 * Each launch reads a dozen of these lines, of which four fields count: scanf(3) would convert all.
 * `from` is field `number`. NULL: the line ends before field `wanted`.
 */
static const char *field(const char *from, unsigned int number, unsigned int wanted)
{
	for (; from && number < wanted; number++) {
		from = strchr(from, ' ');
		if (from)
			from++;
	}
	return from;
}

/* False: it is none. */
static bool take_number(const char *text, uint64_t *ret_number)
{
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	*ret_number = strtoull(text, &end, 10);
	return *end == ' ' || *end == '\n' || *end == '\0';
}

int process_status_parse(const char *stat, struct process_status *ret_status)
{
	/* The name in parentheses may itself hold ')' and blanks. */
	const char *name = strchr(stat, '('), *name_end = strrchr(stat, ')');
	const char *state = field(name_end, 2, 3), *start_field = field(state, 3, 22);
	uint64_t parent, start, environment_end = 0;
	long ticks = sysconf(_SC_CLK_TCK);

	/* proc_pid_stat(5): fields 3, 4, 22 and 51. */
	if (!name || name_end < name || !state || !take_number(field(state, 3, 4), &parent) ||
	    parent > INT_MAX || !take_number(start_field, &start))
		return -EBADMSG;
	(void)take_number(field(start_field, 22, 51), &environment_end);
	*ret_status = (struct process_status){
		.state = *state,
		.parent = (pid_t)parent,
		.in_place = environment_end != 0,
		.start_nsec = start * (NSEC_PER_SEC / (uint64_t)ticks),
	};
	snprintf(ret_status->name, sizeof(ret_status->name), "%.*s", (int)(name_end - name - 1),
		 name + 1);
	return 0;
}

int process_status(pid_t pid, struct process_status *ret_status)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	r = proc_read(pid, "stat", PROC_FILE_MAX, &text, &size);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	return process_status_parse(text, ret_status);
}

int process_login(pid_t pid, uint32_t *ret_uid)
{
	_cleanup_(freep) char *text = NULL;
	uint32_t uid;
	size_t size;
	int r;

	r = proc_read(pid, "loginuid", PROC_FILE_MAX, &text, &size);
	if (r < 0)
		return r;
	if (sscanf(text, "%" SCNu32, &uid) != 1)
		return -EBADMSG;
	if (uid == UINT32_MAX)
		return -ENODATA;
	*ret_uid = uid;
	return 0;
}

int process_uid(pid_t pid, uid_t *ret_uid)
{
	_cleanup_(freep) char *text = NULL;
	const char *line;
	size_t size;
	int r;

	r = proc_read(pid, "status", PROC_FILE_MAX, &text, &size);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	/* The name above it has no line of its own: its newlines are escaped. */
	line = strstr(text, "\nUid:");
	return line && sscanf(line, "\nUid: %u", ret_uid) == 1 ? 0 : -EBADMSG;
}

bool process_alive(pid_t pid, uint64_t start_nsec)
{
	struct process_status status;

	return process_status(pid, &status) == 0 && status.start_nsec == start_nsec &&
	       status.state != 'Z' && status.state != 'X';
}

int process_in_cgroup(pid_t pid, const char *suffix)
{
	_cleanup_(freep) char *path = NULL;
	size_t length, wanted = strlen(suffix);
	int r = proc_cgroup(pid, &path);

	if (r < 0)
		return r == -ENOENT ? -ESRCH : r == -ENODATA ? 0 : r;
	length = strlen(path);
	return length >= wanted && strcmp(path + length - wanted, suffix) == 0;
}

bool process_alive_since(pid_t pid, uint64_t start_nsec)
{
	const uint64_t tick = 10 * NSEC_PER_MSEC;
	struct process_status status;

	return process_status(pid, &status) == 0 && status.state != 'Z' && status.state != 'X' &&
	       status.start_nsec / tick == start_nsec / tick;
}
