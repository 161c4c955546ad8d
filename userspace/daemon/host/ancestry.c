/* SPDX-License-Identifier: Apache-2.0 */
/* Who started a process: it and those above it, as /proc shows them now. */
#include "daemon/host/ancestry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "daemon/host/process.h"

#define ARGUMENTS_MAX (8u << 20) /* the kernel's own limit, with the environment */

static void read_arguments(pid_t pid, struct audit_starter *starter)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	/* The kernel's own threads have none. */
	if (proc_read(pid, "cmdline", ARGUMENTS_MAX, &text, &size) < 0 || size == 0)
		return;
	starter->have_arguments = sha256_of(text, size, starter->arguments_digest) == 0;
}

static int read_one(pid_t pid, bool arguments, struct audit_starter *ret, pid_t *ret_parent)
{
	struct process_status status, again;
	struct audit_starter starter = {.pid = (uint32_t)pid};
	char program[PATH_MAX];

	if (process_status(pid, &status) < 0)
		return -ESRCH;
	starter.started =
		status.start_nsec + clock_nsec(CLOCK_REALTIME) - clock_nsec(CLOCK_BOOTTIME);
	starter.name = strdup(status.name);
	if (proc_readlink(pid, "exe", program) == 0)
		starter.program = strdup(program);
	if (arguments)
		read_arguments(pid, &starter);
	/* The number may have passed to another meanwhile. */
	if (!starter.name || process_status(pid, &again) < 0 ||
	    again.start_nsec != status.start_nsec) {
		free(starter.name);
		free(starter.program);
		return -ESRCH;
	}
	*ret = starter;
	*ret_parent = status.parent;
	return 0;
}

int ancestry_read(pid_t pid, bool arguments, struct audit_starter **ret_starters)
{
	struct audit_starter *starters = calloc(AUDIT_STARTERS_MAX, sizeof(*starters));
	int count = 0;

	if (!starters)
		return -ENOMEM;
	while (pid > 0 && count < (int)AUDIT_STARTERS_MAX &&
	       read_one(pid, arguments, &starters[count], &pid) == 0)
		count++;
	*ret_starters = starters;
	return count;
}

void ancestry_put(FILE *to, const struct audit_starter *starters, size_t count)
{
	(void)fwrite(&count, sizeof(count), 1, to);
	for (size_t i = 0; i < count; i++) {
		(void)fwrite(&starters[i], sizeof(starters[i]), 1, to);
		parcel_put_text(to, starters[i].name);
		parcel_put_text(to, starters[i].program);
	}
}

static int take_one(struct parcel *from, struct audit_starter *to)
{
	const void *at = parcel_take(from, sizeof(*to));
	int r;

	if (!at)
		return -EPROTO;
	memcpy(to, at, sizeof(*to));
	/* Of the other process. */
	to->name = to->program = NULL;
	r = parcel_take_text(from, &to->name);
	return r < 0 ? r : parcel_take_text(from, &to->program);
}

int ancestry_take(struct parcel *from, struct audit_starter **ret_starters)
{
	const void *at = parcel_take(from, sizeof(size_t));
	struct audit_starter *starters;
	size_t count;
	int r = 0;

	if (!at)
		return -EPROTO;
	memcpy(&count, at, sizeof(count));
	if (count > AUDIT_STARTERS_MAX)
		return -EPROTO;
	starters = calloc(AUDIT_STARTERS_MAX, sizeof(*starters));
	if (!starters)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = take_one(from, &starters[i]);
	if (r < 0) {
		audit_starters_free(starters);
		return r;
	}
	*ret_starters = starters;
	return (int)count;
}
