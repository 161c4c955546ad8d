/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of daemon/privsep/logs.h without a writer's process: what is appended is kept, and is in the
 * log's file at once. Whoever waits for that is told from the loop, as from the real one.
 */
#ifndef CORDON_TESTS_DAEMON_FAKE_LOGS_H
#define CORDON_TESTS_DAEMON_FAKE_LOGS_H

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/storage/policy_store.h"
#include "daemon/privsep/logs.h"
#include "tests/unit/daemon/fake/faults.h"

struct writer_wait {
	LIST_ENTRY(writer_wait) link;
	struct event *event;
	bool for_writable;
	int error; /* 0: as fake_logs says */
	writer_done *done;
	void *context;
};

struct log_use {
	LIST_ENTRY(log_use) link;
	char *directory;
	unsigned int users;
	bool never_began;
};

struct logs {
	struct event_base *base;
	LIST_HEAD(, log_use) all;
	LIST_HEAD(, writer_wait) waits;
	json_t *records; /* of all logs, in order */
	bool lenient;	 /* go_on_when_full */
	bool hold;	 /* nobody is told that what he waits for is written */
	bool enough;	 /* of each source waits to be written */
	bool restarts;	 /* its writer is about to be there again */
	int writable;	 /* what those are told who wait for that */
	int written;	 /* what they are told */
};

static struct logs *fake_logs;
static unsigned int logs_held; /* references and waits that were left when it was freed */

int logs_new(const struct logs_options *options, struct event_base *base, struct logs **ret_logs,
	     struct failure *failure)
{
	struct logs *logs = calloc(1, sizeof(*logs));

	(void)options;
	(void)failure;
	logs->base = base;
	logs->records = json_array();
	*ret_logs = fake_logs = logs;
	return 0;
}

void logs_free(struct logs *logs)
{
	struct log_use *use, *next;

	for (use = LIST_FIRST(&logs->all); use; use = next) {
		next = LIST_NEXT(use, link);
		logs_held += use->users;
		free(use->directory);
		free(use);
	}
	logs_held += !LIST_EMPTY(&logs->waits);
	json_decref(logs->records);
	free(logs);
	fake_logs = NULL;
}

int logs_get(struct logs *logs, const char *directory, struct log_use **ret_log,
	     struct failure *failure)
{
	int r = faults_next(__func__);
	struct log_use *use;

	if (r < 0)
		return failure_set(failure, r, "the log %s cannot be opened: %m", directory);
	LIST_FOREACH(use, &logs->all, link)
	if (strcmp(use->directory, directory) == 0)
		break;
	if (!use) {
		use = calloc(1, sizeof(*use));
		use->directory = strdup(directory);
		LIST_INSERT_HEAD(&logs->all, use, link);
		(void)mkdir(directory, 0700);
	}
	use->users++;
	*ret_log = use;
	return 0;
}

int logs_get_later(struct logs *logs, const char *directory, struct log_use **ret_log,
		   struct failure *failure)
{
	return logs_get(logs, directory, ret_log, failure);
}

int logs_get_within(struct logs *logs, const char *directory, unsigned int msec,
		    struct log_use **ret_log, bool *ret_begun, struct failure *failure)
{
	(void)msec;
	*ret_begun = true;
	return logs_get(logs, directory, ret_log, failure);
}

int logs_look(const struct logs *logs, const char *asked, FILE *to, int *ret_fd,
	      struct failure *failure)
{
	int r = faults_next(__func__);

	(void)logs;
	if (r < 0)
		return failure_set(failure, r, "the log %s cannot be opened: %m", asked);
	fputs(asked, to);
	*ret_fd = open("/", O_PATH | O_CLOEXEC);
	return 0;
}

int logs_open(struct logs *logs, const char *seen, size_t size, int fd, struct log_use **ret_log,
	      struct failure *failure)
{
	char directory[512];

	close(fd);
	snprintf(directory, sizeof(directory), "%.*s", (int)size, seen);
	return logs_get(logs, directory, ret_log, failure);
}

void logs_put(struct log_use *log)
{
	if (log && log->users-- == 0)
		abort();
}

struct log_use *logs_share(struct log_use *log)
{
	log->users++;
	return log;
}

int logs_unwritable(const struct log_use *log, int r, struct failure *failure)
{
	return failure_set(failure, r, "%s cannot be written: %m", log->directory);
}

void logs_where(const struct log_use *log, dev_t *ret_device, ino_t *ret_inode)
{
	struct stat found = {};

	(void)stat(log->directory, &found);
	*ret_device = found.st_dev;
	*ret_inode = found.st_ino;
}

bool logs_has_policy(const struct log_use *log, const struct compiled_policy *policy)
{
	(void)log;
	(void)policy;
	return false;
}

int logs_keep_policy(struct log_use *log, const struct compiled_policy *policy,
		     struct failure *failure)
{
	int r = faults_next(__func__);

	if (r < 0)
		return failure_set(failure, r, "no room for a policy: %m");
	return policy_store_put(logs_directory(log), policy, failure);
}

int logs_put_policy(const struct log_use *log, const struct compiled_policy *policy,
		    struct failure *failure)
{
	return policy_store_put(logs_directory(log), policy, failure);
}

void logs_note_policy(struct log_use *log, const struct compiled_policy *policy)
{
	(void)log;
	(void)policy;
}

int logs_writable(struct log_use *log, struct failure *failure)
{
	int r = faults_next(__func__);

	return r < 0 ? failure_set(failure, r, "%s cannot be written: %m", log->directory) : 0;
}

const char *logs_directory(const struct log_use *log)
{
	return log->directory;
}

static inline void logs_keep(struct log_use *log, json_t *record)
{
	_cleanup_(freep) char *text = json_dumps(record, JSON_COMPACT);
	char path[256];
	FILE *file;

	json_array_append_new(fake_logs->records, record);
	snprintf(path, sizeof(path), "%s/current.jsonl", log->directory);
	file = fopen(path, "ae");
	if (!file)
		return;
	fprintf(file, "%s\n", text);
	fclose(file);
}

int logs_append(struct log_use *log, json_t *record)
{
	int r = record ? faults_next(__func__) : -ENOMEM;

	if (r < 0) {
		json_decref(record);
		return r;
	}
	logs_keep(log, record);
	return 0;
}

int logs_append_text(struct log_use *log, struct writer_share *share, const char *record,
		     size_t size)
{
	(void)share;
	FAULT_HERE();
	logs_keep(log, json_loadb(record, size, 0, NULL));
	return 0;
}

static inline void logs_forget_wait(struct writer_wait *wait)
{
	LIST_REMOVE(wait, link);
	event_free(wait->event);
	free(wait);
}

static void logs_on_written(evutil_socket_t fd, short what, void *context)
{
	struct writer_wait wait = *(struct writer_wait *)context;

	(void)fd;
	(void)what;
	logs_forget_wait(context);
	if (wait.error)
		wait.done(wait.error, wait.context);
	else
		wait.done(wait.for_writable ? fake_logs->writable : fake_logs->written,
			  wait.context);
}

static inline void logs_add_wait(bool for_writable, writer_done *done, void *context,
				 struct writer_wait **ret_wait)
{
	struct writer_wait *wait = calloc(1, sizeof(*wait));

	wait->for_writable = for_writable;
	wait->done = done;
	wait->context = context;
	wait->event = evtimer_new(fake_logs->base, logs_on_written, wait);
	LIST_INSERT_HEAD(&fake_logs->waits, wait, link);
	if (!fake_logs->hold)
		event_active(wait->event, EV_TIMEOUT, 1);
	*ret_wait = wait;
}

int logs_when_written(struct log_use *log, writer_done *done, void *context,
		      struct writer_wait **ret_wait)
{
	(void)log;
	FAULT_HERE();
	logs_add_wait(false, done, context, ret_wait);
	return 0;
}

int logs_when_writable(struct log_use *log, writer_done *done, void *context,
		       struct writer_wait **ret_wait)
{
	(void)log;
	FAULT_HERE();
	if (!fake_logs->restarts || fake_logs->lenient)
		return 0;
	logs_add_wait(true, done, context, ret_wait);
	return 1;
}

/* One that cannot be opened never begins. */
int logs_when_begun(struct log_use *log, writer_done *done, void *context,
		    struct writer_wait **ret_wait)
{
	int r = faults_next(__func__);

	log->never_began = r < 0;
	if (r == 0 && !fake_logs->restarts)
		return 0;
	logs_add_wait(true, done, context, ret_wait);
	(*ret_wait)->error = r;
	return 1;
}

bool logs_has_begun(const struct log_use *log)
{
	return !log->never_began;
}

void logs_cancel(struct log_use *log, struct writer_wait *wait)
{
	(void)log;
	if (wait)
		logs_forget_wait(wait);
}

bool logs_must_write_start(const struct log_use *log)
{
	(void)log;
	return !fake_logs->lenient;
}

json_t *logs_figures_json(const struct log_use *log)
{
	(void)log;
	return json_pack("{s:b,s:I}", "failing", 0, "records",
			 (json_int_t)json_array_size(fake_logs->records));
}

int logs_flush(struct log_use *log)
{
	(void)log;
	FAULT_HERE();
	return 0;
}

bool logs_flush_all(struct logs *logs, bool sync)
{
	(void)logs;
	(void)sync;
	return false;
}

void logs_settle_all(struct logs *logs)
{
	(void)logs;
}

bool logs_have_enough(struct log_use *log, struct writer_share *share)
{
	(void)log;
	(void)share;
	return fake_logs->enough;
}

bool logs_are_behind(const struct logs *logs)
{
	(void)logs;
	return false;
}

bool logs_tick_all(struct logs *logs)
{
	(void)logs;
	return false;
}

bool logs_next_failing(struct logs *logs, struct log_use **log)
{
	(void)logs;
	(void)log;
	return false;
}

uint64_t logs_lost(const struct logs *logs)
{
	(void)logs;
	return 0;
}

/* How many records of this action there are; `last` gets the last one, borrowed. */
static inline size_t logs_count(const char *action, json_t **last)
{
	size_t count = 0, i;
	json_t *record;

	json_array_foreach(fake_logs->records, i, record) {
		const char *is = json_string_value(
			json_object_get(json_object_get(record, "event"), "action"));

		if (!is || strcmp(is, action) != 0)
			continue;
		count++;
		if (last)
			*last = record;
	}
	return count;
}

#endif
