/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/logs.h"

#include <sys/queue.h>
#include <sys/stat.h>

#include "audit/record.h"
#include "base/clock.h"

struct log_use {
	LIST_ENTRY(log_use) link;
	struct logs *logs;
	struct audit_log *log;
	dev_t device; /* of the directory: one log may be named in several ways */
	ino_t inode;
	unsigned int references;
	bool dirty;    /* holds records that are not written */
	bool unsynced; /* wrote records that are not on disk */
	bool failing;  /* the last try to write did */
};

struct logs {
	LIST_HEAD(, log_use) uses;
	struct logs_options options;
	uint64_t lost;
};

struct logs *logs_new(const struct logs_options *options)
{
	static const struct logs_options defaults = {.log = AUDIT_LOG_DEFAULTS};
	struct logs *logs = calloc(1, sizeof(*logs));

	if (!logs)
		return NULL;
	LIST_INIT(&logs->uses);
	logs->options = options ? *options : defaults;
	return logs;
}

/* Flushes, and loses what it cannot write. */
static void use_free(struct log_use *use)
{
	audit_log_close(use->log);
	LIST_REMOVE(use, link);
	free(use);
}

void logs_free(struct logs *logs)
{
	while (!LIST_EMPTY(&logs->uses))
		use_free(LIST_FIRST(&logs->uses));
	free(logs);
}

static struct log_use *find(struct logs *logs, const char *directory)
{
	struct log_use *use;
	struct stat found;

	if (stat(directory, &found) < 0)
		return NULL;
	LIST_FOREACH(use, &logs->uses, link)
	if (use->device == found.st_dev && use->inode == found.st_ino)
		return use;
	return NULL;
}

/* A crash tore the last line: what is gone is told by the log itself. */
static void record_repair(struct log_use *use, uint64_t torn_bytes)
{
	json_t *details = json_pack("{s:I}", "torn_bytes", (json_int_t)torn_bytes);

	(void)logs_append(use, audit_record_agent("recover", details, clock_nsec(CLOCK_REALTIME)));
	json_decref(details);
}

int logs_get(struct logs *logs, const char *directory, struct log_use **ret_log,
	     struct failure *failure)
{
	struct log_use *use = find(logs, directory);
	uint64_t repaired;
	struct stat opened = {};
	int r;

	if (use) {
		use->references++;
		*ret_log = use;
		return 0;
	}
	use = calloc(1, sizeof(*use));
	if (!use)
		return failure_set(failure, ENOMEM, "%m");
	r = audit_log_open(directory, &logs->options.log, &use->log, &repaired, failure);
	if (r == 0 && stat(directory, &opened) < 0) {
		r = failure_set(failure, errno, "cannot examine %s: %m", directory);
		audit_log_close(use->log);
	}
	if (r < 0) {
		free(use);
		return failure_set(failure, r, "cannot open the audit log in %s: %m", directory);
	}
	use->logs = logs;
	use->device = opened.st_dev;
	use->inode = opened.st_ino;
	use->references = 1;
	LIST_INSERT_HEAD(&logs->uses, use, link);
	if (repaired > 0)
		record_repair(use, repaired);
	*ret_log = use;
	return 0;
}

/* One that cannot be written keeps its records, and its place, until it can. */
static bool settle(struct log_use *use)
{
	use->failing = audit_log_flush(use->log, true) < 0;
	if (!use->failing)
		use->dirty = use->unsynced = false;
	return !use->failing;
}

void logs_put(struct log_use *log)
{
	if (!log || --log->references > 0)
		return;
	log->dirty = true;
	if (settle(log))
		use_free(log);
}

int logs_writable(struct log_use *log, struct failure *failure)
{
	int r = audit_log_writable(log->log);

	if (r < 0 && !log->logs->options.go_on_when_full)
		return failure_set(failure, r,
				   "the audit log in %s cannot be written (%m), and nothing runs "
				   "without a record; make room there or name another with --log",
				   audit_log_directory(log->log));
	return 0;
}

const char *logs_directory(const struct log_use *log)
{
	return audit_log_directory(log->log);
}

int logs_append(struct log_use *log, json_t *record)
{
	int r = record ? audit_log_append(log->log, record) : -ENOMEM;

	json_decref(record);
	if (r < 0)
		log->logs->lost++;
	log->dirty = true;
	return r;
}

int logs_append_text(struct log_use *log, const char *record, size_t size)
{
	int r = audit_log_append_text(log->log, record, size);

	if (r < 0)
		log->logs->lost++;
	log->dirty = true;
	return r;
}

int logs_flush_start(struct log_use *log)
{
	int r = logs_flush(log);

	/* It waits in memory, and is counted if it has to go. */
	return log->logs->options.go_on_when_full ? 0 : r;
}

int logs_flush(struct log_use *log)
{
	int r = audit_log_flush(log->log, false);

	if (r == 0 && log->dirty) {
		log->dirty = false;
		log->unsynced = true;
	}
	return r;
}

bool logs_flush_all(struct logs *logs, bool sync)
{
	struct log_use *use, *next;
	bool any = false;

	for (use = LIST_FIRST(&logs->uses); use; use = next) {
		next = LIST_NEXT(use, link);
		if (!use->dirty && !(sync && use->unsynced))
			continue;
		any = true;
		use->failing = audit_log_flush(use->log, sync) < 0;
		if (use->failing)
			continue;
		use->unsynced = !sync;
		use->dirty = false;
		if (use->references == 0)
			use_free(use);
	}
	return any;
}

bool logs_tick_all(struct logs *logs)
{
	struct log_use *use;
	bool more = false;

	LIST_FOREACH(use, &logs->uses, link)
	more |= audit_log_tick(use->log);
	return more;
}

bool logs_next_failing(struct logs *logs, struct log_use **log)
{
	struct log_use *use = *log ? LIST_NEXT(*log, link) : LIST_FIRST(&logs->uses);

	while (use && !use->failing)
		use = LIST_NEXT(use, link);
	*log = use;
	return use != NULL;
}

uint64_t logs_lost(const struct logs *logs)
{
	return logs->lost;
}
