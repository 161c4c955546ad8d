/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up, in workers, the user and the groups that the daemon's start needs. */
#include "daemon/start_names.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/peer/peer.h"
#include "daemon/privsep/errand.h"

#define SILENCE_NSEC  (1500 * NSEC_PER_MSEC)
#define REPLY_SECONDS 60
#define UID_NAMES     ((uid_t) - 126)
/* A user, three groups, and the end of the list. */
#define QUESTIONS 5

struct start_names {
	struct daemon *daemon;
	char *questions[QUESTIONS];
	struct errand *errand;
	bool in_files; /* the worker reads the files of /etc only */
	bool started;  /* the start is over: a reply is late */
	start_names_late *late;
	void *context;
};

static int look_up(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct start_names *names = context;

	(void)fds;
	(void)failure;
	if (names->in_files)
		names_look_up_files(names->questions, to);
	else
		names_look_up(names->questions, to);
	return 0;
}

static int start(struct start_names *names, struct failure *failure);

/* Only names that the files lack are looked up elsewhere. */
static void drop_known(struct start_names *names)
{
	size_t kept = 0;

	for (size_t i = 0; names->questions[i]; i++) {
		if (names_find(&names->daemon->names, names->questions[i]))
			free(names->questions[i]);
		else
			names->questions[kept++] = names->questions[i];
	}
	names->questions[kept] = NULL;
}

static void on_reply(void *context, int result, const char *data, size_t size,
		     struct errand_fds *fds, const struct failure *why)
{
	struct start_names *names = context;
	struct failure failure = {};

	(void)fds;
	(void)why;
	names->errand = NULL;
	if (result == 0)
		result = names_learn(&names->daemon->names, names->questions, data, size,
				     clock_nsec(CLOCK_MONOTONIC));
	if (!names->started)
		return;
	/* The databases are as unresponsive as they were, or it was the files that replied late. */
	if (result == -ETIMEDOUT) {
		result = start(names, &failure);
	} else if (result == 0 && names->in_files) {
		names->in_files = false;
		drop_known(names);
		result = names->questions[0] ? start(names, &failure) : 0;
	}
	if (names->late)
		names->late(names->context);
	if (result < 0)
		daemon_say(names->daemon, "groups are not looked up: %s", strerror(-result));
}

static int start(struct start_names *names, struct failure *failure)
{
	const struct errand_job job = {
		.what = "the worker that looks up the daemon's user and groups",
		.uid = UID_NAMES,
		.seconds = REPLY_SECONDS,
		.work = look_up,
		.done = on_reply,
		.context = names,
	};

	return errand_start(names->daemon->base, &job, &names->errand, failure);
}

static int find_in(struct start_names *names, bool files, struct failure *failure)
{
	int r;

	names->in_files = files;
	r = start(names, failure);
	if (r == 0)
		r = errand_wait(names->daemon->base, &names->errand, SILENCE_NSEC);
	return r == -ETIMEDOUT ? 0 : r;
}

int start_names_find(struct daemon *daemon, const char *user, start_names_late *late, void *context,
		     struct start_names **ret_names, struct failure *failure)
{
	const char *const wanted[] = {user, "@" PEER_GROUP, "@" PEER_STATUS_GROUP,
				      "@" PEER_WHO_GROUP};
	struct start_names *names = calloc(1, sizeof(*names));
	int r = names ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(wanted); i++)
		if (!(names->questions[i] = strdup(wanted[i])))
			r = -ENOMEM;
	if (r == 0) {
		names->daemon = daemon;
		names->late = late;
		names->context = context;
		r = find_in(names, true, failure);
	}
	if (r == 0 && !names->errand)
		drop_known(names);
	if (r == 0 && !names->errand && names->questions[0])
		r = find_in(names, false, failure);
	if (r < 0) {
		start_names_free(names);
		return failure_set(failure, r, "cannot look up the daemon's user and groups: %m");
	}
	names->started = true;
	*ret_names = names;
	return 0;
}

bool start_names_wait(const struct start_names *names)
{
	return names->errand;
}

void start_names_free(struct start_names *names)
{
	if (!names)
		return;
	errand_cancel(names->errand);
	for (size_t i = 0; names->questions[i]; i++)
		free(names->questions[i]);
	free(names);
}
