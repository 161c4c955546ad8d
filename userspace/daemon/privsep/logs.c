/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/privsep/logs.h"

#include <sys/queue.h>
#include <sys/stat.h>

#include "audit/text/buffer.h"
#include "audit/record/record.h"
#include "base/clock.h"
#include "daemon/privsep/writer.h"
#include "daemon/privsep/writer_directory.h"

struct log_use {
	LIST_ENTRY(log_use) link;
	struct logs *logs;
	struct writer *writer;
	unsigned int references;
	bool dirty;    /* holds records that are not written */
	bool unsynced; /* wrote records that are not on disk */
	bool failing;  /* the last try to write did */
};

struct logs {
	LIST_HEAD(, log_use) uses;
	struct logs_options options;
	uid_t uid;
	gid_t gid;
	struct buffer text;   /* of one record */
	uint64_t lost_before; /* of logs that are closed, and what had no memory */
};

int logs_new(const struct logs_options *options, struct logs **ret_logs, struct failure *failure)
{
	static const struct logs_options defaults = {.log = AUDIT_LOG_DEFAULTS};
	struct logs *logs = calloc(1, sizeof(*logs));
	int r;

	if (!logs)
		return failure_set(failure, ENOMEM, "%m");
	LIST_INIT(&logs->uses);
	logs->options = options ? *options : defaults;
	r = writer_user_find(logs->options.user, &logs->uid, &logs->gid, failure);
	if (r < 0) {
		free(logs);
		return r;
	}
	*ret_logs = logs;
	return 0;
}

/* Flushes, and loses what it cannot write. */
static void use_free(struct log_use *use)
{
	use->logs->lost_before += writer_lost(use->writer);
	writer_close(use->writer);
	LIST_REMOVE(use, link);
	free(use);
}

void logs_free(struct logs *logs)
{
	while (!LIST_EMPTY(&logs->uses))
		use_free(LIST_FIRST(&logs->uses));
	buffer_free(&logs->text);
	free(logs);
}

static struct log_use *find(struct logs *logs, const char *directory)
{
	struct log_use *use;
	struct stat found;

	if (stat(directory, &found) < 0)
		return NULL;
	LIST_FOREACH(use, &logs->uses, link)
	if (writer_is_in(use->writer, found.st_dev, found.st_ino))
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

static void on_restart(const char *why, void *context)
{
	json_t *details = json_pack("{s:s}", "why", why);

	(void)logs_append(context, audit_record_agent("writer-restart", details,
						      clock_nsec(CLOCK_REALTIME)));
	json_decref(details);
}

static int use_new(struct logs *logs, const char *directory, struct log_use **ret_use,
		   struct failure *failure)
{
	struct log_use *use = calloc(1, sizeof(*use));
	const struct writer_settings settings = {
		.log = logs->options.log,
		.uid = logs->uid,
		.gid = logs->gid,
		.restarted = on_restart,
		.context = use,
	};
	uint64_t repaired;
	int r;

	if (!use)
		return failure_set(failure, ENOMEM, "%m");
	r = writer_open(directory, &settings, &use->writer, &repaired, failure);
	if (r < 0) {
		free(use);
		return failure_set(failure, r, "cannot open the audit log in %s: %m", directory);
	}
	use->logs = logs;
	use->references = 1;
	LIST_INSERT_HEAD(&logs->uses, use, link);
	if (repaired > 0)
		record_repair(use, repaired);
	*ret_use = use;
	return 0;
}

int logs_get(struct logs *logs, const char *directory, struct log_use **ret_log,
	     struct failure *failure)
{
	struct log_use *use = find(logs, directory);

	if (!use)
		return use_new(logs, directory, ret_log, failure);
	use->references++;
	*ret_log = use;
	return 0;
}

/* One that cannot be written keeps its records, and its place, until it can. */
static bool settle(struct log_use *use)
{
	use->failing = writer_flush(use->writer, true) < 0;
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
	int r = writer_writable(log->writer);

	if (r < 0 && !log->logs->options.go_on_when_full)
		return failure_set(failure, r,
				   "the audit log in %s cannot be written (%m), and nothing runs "
				   "without a record; make room there or name another with --log",
				   writer_directory(log->writer));
	return 0;
}

const char *logs_directory(const struct log_use *log)
{
	return writer_directory(log->writer);
}

static int dump_piece(const char *data, size_t size, void *to)
{
	buffer_add(to, data, size);
	return ((struct buffer *)to)->failed ? -1 : 0;
}

/* ASCII only, so that a log can be shown on a terminal without harm. */
static int append_json(struct log_use *log, json_t *record)
{
	struct buffer *text = &log->logs->text;

	text->size = 0;
	text->failed = false;
	if (!record ||
	    json_dump_callback(record, dump_piece, text, JSON_COMPACT | JSON_ENSURE_ASCII) < 0) {
		log->logs->lost_before++;
		return -ENOMEM;
	}
	return logs_append_text(log, text->data, text->size);
}

int logs_append(struct log_use *log, json_t *record)
{
	int r = append_json(log, record);

	json_decref(record);
	return r;
}

int logs_append_text(struct log_use *log, const char *record, size_t size)
{
	log->dirty = true;
	return writer_append(log->writer, record, size);
}

int logs_flush_start(struct log_use *log)
{
	int r = logs_flush(log);

	/* It waits in memory, and is counted if it has to go. */
	return log->logs->options.go_on_when_full ? 0 : r;
}

int logs_flush(struct log_use *log)
{
	int r = writer_flush(log->writer, false);

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
		use->failing = writer_flush(use->writer, sync) < 0;
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
	more |= writer_tick(use->writer);
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
	const struct log_use *use;
	uint64_t lost = logs->lost_before;

	LIST_FOREACH(use, &logs->uses, link)
	lost += writer_lost(use->writer);
	return lost;
}
