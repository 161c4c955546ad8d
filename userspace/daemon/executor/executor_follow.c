/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the names of active entries: a worker process for each entry watches the directories that
 * its names depend on, and reports when one leads elsewhere. A new program is added to the kernel's
 * table at once, beside the earlier ones. If another value has changed, the entry is made again
 * from what the worker has found. The loop looks no name up.
 */
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "adopt/lookup.h"
#include "adopt/name_watch.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/privsep/errand.h"

/* EXECUTOR_FOLLOW_NSEC, and what a look may take. */
#define ANSWER_SECONDS 90
/* Between two looks: where no event is reported (network file systems), and where many are. */
#define LOOK_MSEC	15000
#define LOOK_PAUSE_NSEC (10 * NSEC_PER_MSEC)
/* Workers that one entry may start without waiting for the timer, refilled by one a second. */
#define QUICK_MAX 20u

#define ANCHORS CORDON_MAX_ANCHORS
_Static_assert(ERRAND_FDS == 2 * CORDON_MAX_ANCHORS, "an entry's directories, and its other one's");

/* --- in the worker ------------------------------------------------------------------------- */

struct follower {
	const struct executor_entry *entry, *itself; /* itself: NULL: it has none */
	struct name_visitor visitor;
	struct lookup found, found_itself;
};

static int look_at(const struct executor_entry *entry, const struct name_visitor *visitor,
		   struct lookup *found)
{
	int r = 0;

	lookup_begin(found);
	found->visitor = visitor;
	if (entry->policy)
		r = lookup_policy(found, entry->is, entry->policy->policy,
				  entry->executors->daemon->gaps);
	return r < 0 ? r : lookup_names(found, entry->is);
}

static bool has_new_target(const struct executor_entry *entry, const struct lookup *found)
{
	for (char **target = found->targets; target && *target; target++)
		if (!executor_entry_runs(entry, *target))
			return true;
	return false;
}

/* The first line of `text` that `before` lacks. NULL: there is none. */
static char *find_changed(const char *text, const char *before)
{
	while (*text) {
		int length = (int)strcspn(text, "\n");
		char *line;

		if (asprintf(&line, "%.*s", length + 1, text) < 0)
			return NULL;
		if (!strstr(before, line)) {
			line[length] = '\0';
			return line;
		}
		free(line);
		text += length + 1;
	}
	return NULL;
}

static char *changed_in(const struct executor_entry *entry, const struct lookup *found)
{
	_cleanup_(freep) char *text = lookup_text(found, entry->is);

	return text ? find_changed(text, entry->names) : NULL;
}

/* What is missing for a while is no change: what was found before stays active. */
static bool is_complete(const struct executor_entry *entry, const struct lookup *found)
{
	return found->problem_count == 0 && !entry->why && entry->names;
}

static void pass_on(struct lookup *found, FILE *to, int *fds)
{
	lookup_put(found, to);
	for (size_t i = 0; i < ANCHORS; i++)
		fds[i] = TAKE_FD(found->directories[i]);
}

/* 1: a change is reported. */
static int look(struct follower *f, FILE *to, struct errand_fds *fds)
{
	_cleanup_(freep) char *changed = NULL;
	size_t count = 0;
	int r = look_at(f->entry, &f->visitor, &f->found);

	if (r == 0 && f->itself)
		r = look_at(f->itself, &f->visitor, &f->found_itself);
	if (r < 0)
		return r;
	if (is_complete(f->entry, &f->found) &&
	    (!f->itself || is_complete(f->itself, &f->found_itself))) {
		changed = changed_in(f->entry, &f->found);
		if (!changed && f->itself)
			changed = changed_in(f->itself, &f->found_itself);
	}
	if (!changed && !has_new_target(f->entry, &f->found))
		return 0;
	while (f->found.targets && f->found.targets[count])
		count++;
	parcel_put_list(to, f->found.targets, count);
	parcel_put_text(to, changed);
	if (changed)
		pass_on(&f->found, to, fds->fd);
	if (changed && f->itself)
		pass_on(&f->found_itself, to, fds->fd + ANCHORS);
	return 1;
}

/* In a process of its own. Nothing is written if nothing has changed. */
static int follow(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct executor_entry *entry = context;
	const uint64_t end = clock_nsec(CLOCK_MONOTONIC) + entry->executors->follow_nsec;
	const struct timespec pause = {.tv_nsec = LOOK_PAUSE_NSEC};
	_cleanup_(name_watch_close) struct name_watch watch = {.fd = -1, .mounts = -1};
	struct follower f = {
		.entry = entry,
		.itself = executor_itself_of(entry->executors, entry),
		.visitor = {name_watch_add, &watch},
	};
	int r = name_watch_open(&watch);

	(void)prctl(PR_SET_NAME, "cordon-follow");
	while (r == 0) {
		uint64_t now;

		r = look(&f, to, fds);
		lookup_release(&f.found);
		lookup_release(&f.found_itself);
		now = clock_nsec(CLOCK_MONOTONIC);
		if (r != 0 || now >= end)
			break;
		/* Whoever changes names all the time gets a look each 10 ms. */
		(void)nanosleep(&pause, NULL);
		r = name_watch_wait(&watch, LOOK_MSEC);
		r = r < 0 ? r : 0;
	}
	return r < 0 ? failure_set(failure, r, "its names cannot be followed: %m") : 0;
}

/* --- in the loop ---------------------------------------------------------------------------- */

static void start(struct executor_entry *entry);

static void tell_moved(const struct executor_entry *entry, const char *name, const char *target)
{
	const struct executors *x = entry->executors;
	const struct config_executor *is = entry->is;

	daemon_say(x->daemon, "executor %s: %s is %s now", is->name, name, target);
	daemon_alert(x->daemon, "executor-moved",
		     json_pack("{s:s,s:s,s:i,s:s,s:s}", "executor", is->name, "file", x->path,
			       "line", (int)is->line, "name", name, "target", target));
}

static void add_target(struct executor_entry *entry, const char *target)
{
	struct failure failure = {};

	if (executor_entry_runs(entry, target))
		return;
	if (executor_add_target(entry, target, &failure) < 0) {
		/* The next worker finds it again. */
		daemon_say(entry->executors->daemon, "%s", failure.text);
		return;
	}
	tell_moved(entry, entry->is->executable, target);
}

/* "NAME is VALUE" */
static void tell_changed(const struct executor_entry *entry, char *changed)
{
	char *is = strstr(changed, " is ");

	if (!is)
		return;
	*is = '\0';
	tell_moved(entry, changed, is + 4);
}

static int take_lookup(struct parcel *from, int *fds, struct lookup **ret_found)
{
	struct lookup *found = malloc(sizeof(*found));
	int r;

	if (!found)
		return -ENOMEM;
	lookup_begin(found);
	r = lookup_take(found, from);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		found->directories[i] = TAKE_FD(fds[i]);
	*ret_found = found;
	return r;
}

/* Makes the entry, and the one for the executor itself, again from what the worker has found. */
static int renew(struct executor_entry *entry, struct parcel *from, struct errand_fds *fds,
		 struct failure *failure)
{
	struct executors *x = entry->executors;
	struct executor_entry *itself = executor_itself_of(x, entry);
	int r = take_lookup(from, fds->fd, &entry->found);

	if (r == 0 && itself)
		r = take_lookup(from, fds->fd + CORDON_MAX_ANCHORS, &itself->found);
	if (r < 0)
		failure_set(failure, r, "executor %s: what its names are now: %m", entry->is->name);
	else
		r = executors_put_into_force(x, x->config, failure);
	/* Otherwise both are gone. */
	if (r < 0)
		executor_entry_forget_found(entry);
	if (r < 0 && itself)
		executor_entry_forget_found(itself);
	return r;
}

/* A process that was started by the new name before it was known here is found by what it runs. */
static int take_report(struct executor_entry *entry, const char *data, size_t size,
		       struct errand_fds *fds, struct failure *failure)
{
	struct parcel from = {data, size};
	_cleanup_(freep) char *changed = NULL;
	char **targets = NULL;
	size_t count = 0;
	int r = parcel_take_list(&from, &targets, &count);

	for (size_t i = 0; r == 0 && i < count; i++)
		add_target(entry, targets[i]);
	compiled_strings_free(targets);
	if (r == 0)
		r = parcel_take_text(&from, &changed);
	if (r < 0)
		return failure_set(failure, r, "executor %s: its worker's report: %m",
				   entry->is->name);
	executor_before_look(entry->executors);
	if (!changed || entry->executors->reading)
		return 0;
	tell_changed(entry, changed);
	return renew(entry, &from, fds, failure);
}

static void on_followed(void *context, int result, const char *data, size_t size,
			struct errand_fds *fds, const struct failure *why)
{
	struct executor_entry *entry = context;
	struct executors *x = entry->executors;
	struct failure failure = {};
	uint32_t index = entry->index;

	entry->following = NULL;
	if (result < 0) {
		if (!entry->unfollowed)
			daemon_say(x->daemon, "executor %s: %s", entry->is->name, why->text);
		entry->unfollowed = true;
		return;
	}
	entry->unfollowed = false;
	if (size > 0 && take_report(entry, data, size, fds, &failure) < 0)
		daemon_say(x->daemon, "%s", failure.text);
	/* It may have been replaced. */
	entry = x->entries[index];
	if (entry && entry->quick > 0) {
		entry->quick--;
		start(entry);
	}
}

static void start(struct executor_entry *entry)
{
	struct executors *x = entry->executors;
	const struct errand_job job = {
		.what = EXECUTOR_FOLLOWER,
		/* A line of its own: one path that blocks keeps no other entry's worker waiting. */
		.uid = (uid_t)-2 - entry->index,
		.seconds = ANSWER_SECONDS,
		.work = follow,
		.done = on_followed,
		.context = entry,
	};
	struct failure ignored = {};

	if (entry->following || entry->is->is_itself || x->daemon->leaving)
		return;
	(void)errand_start(x->daemon->base, &job, &entry->following, &ignored);
}

void executor_follow(struct executors *x)
{
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		struct executor_entry *entry = x->entries[i];

		if (!entry)
			continue;
		if (entry->quick < QUICK_MAX)
			entry->quick++;
		start(entry);
	}
}
