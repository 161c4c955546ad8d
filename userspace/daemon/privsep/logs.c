/* SPDX-License-Identifier: Apache-2.0 */
/* Opens each log once, for all executions that log there. */
#include "daemon/privsep/logs.h"

#include <event2/event.h>
#include <fcntl.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "audit/text/buffer.h"
#include "audit/record/record.h"
#include "audit/storage/policy_store.h"
#include "base/clock.h"
#include "daemon/privsep/kept_policies.h"
#include "daemon/privsep/log_place.h"
#include "daemon/privsep/shipped.h"
#include "daemon/privsep/writer.h"
#include "daemon/privsep/writer_directory.h"

/*
 * What the loop waits for a decision, or a change of policy, to be on record, where the writer is
 * not slow already.
 */
#define FLUSH_MSEC 1000
/* What the end of the daemon waits for all logs: a service manager kills one that takes longer. */
#define SETTLE_NSEC (20 * NSEC_PER_SEC)
/* How often it is looked how far a log is shipped. Whoever ships it notes that each 5 s. */
#define SHIPPED_NSEC (10 * NSEC_PER_SEC)

struct log_use {
	LIST_ENTRY(log_use) link;
	struct logs *logs;
	struct writer *writer;
	struct kept_policies kept; /* as long as the writer is where it was then: */
	dev_t kept_device;
	ino_t kept_inode;
	unsigned int references;
	bool owed; /* by executions that ran: what waits is written, whenever that can be done */
	struct writer_wait *last; /* once nobody uses it: for what it has to be written */
};

struct logs {
	LIST_HEAD(, log_use) uses, leaving;
	struct event_base *base;
	struct logs_options options;
	struct shipped_text shipped;
	uint64_t shipped_time; /* when that was looked at; 0: never */
	uid_t uid;
	gid_t gid;
	struct buffer text;   /* of one record */
	uint64_t lost_before; /* of logs that are closed, and what had no memory */
};

int logs_new(const struct logs_options *options, struct event_base *base, struct logs **ret_logs,
	     struct failure *failure)
{
	static const struct logs_options defaults = {.log = AUDIT_LOG_DEFAULTS};
	struct logs *logs = calloc(1, sizeof(*logs));
	int r;

	if (!logs)
		return failure_set(failure, ENOMEM, "%m");
	LIST_INIT(&logs->uses);
	LIST_INIT(&logs->leaving);
	logs->base = base;
	logs->options = options ? *options : defaults;
	logs->uid = logs->options.uid;
	logs->gid = logs->options.gid;
	r = logs->options.user_known
		    ? 0
		    : writer_user_find(logs->options.user, &logs->uid, &logs->gid, failure);
	if (r < 0) {
		free(logs);
		return r;
	}
	*ret_logs = logs;
	return 0;
}

/*
 * Flushes, and loses what it cannot write. Of one that never began nothing waits to be written, and
 * what does not answer is not waited for.
 */
static void use_free(struct log_use *use)
{
	use->logs->lost_before += writer_lost(use->writer);
	writer_wait_cancel(use->writer, use->last);
	if (writer_has_begun(use->writer))
		writer_close(use->writer);
	else
		writer_abandon(use->writer);
	kept_policies_release(&use->kept);
	LIST_REMOVE(use, link);
	free(use);
}

void logs_free(struct logs *logs)
{
	while (!LIST_EMPTY(&logs->uses))
		use_free(LIST_FIRST(&logs->uses));
	while (!LIST_EMPTY(&logs->leaving))
		use_free(LIST_FIRST(&logs->leaving));
	buffer_free(&logs->text);
	free(logs);
}

static struct log_use *find_in(struct logs *logs, dev_t device, ino_t inode)
{
	struct log_use *use;

	LIST_FOREACH(use, &logs->uses, link)
	if (writer_is_in(use->writer, device, inode))
		return use;
	return NULL;
}

static struct log_use *find(struct logs *logs, const char *directory)
{
	struct stat found;

	return stat(directory, &found) < 0 ? NULL : find_in(logs, found.st_dev, found.st_ino);
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

static void on_begun(uint64_t repaired, void *context)
{
	if (repaired > 0)
		record_repair(context, repaired);
}

static void on_left(struct writer *writer, void *context)
{
	(void)writer;
	use_free(context);
}

/*
 * `place`: where it is found already; NULL: it is looked for, and waited for unless that is to be
 * done later.
 */
static int use_new(struct logs *logs, const char *directory, struct writer_place *place, bool later,
		   struct log_use **ret_use, struct failure *failure)
{
	struct log_use *use = calloc(1, sizeof(*use));
	const struct writer_settings settings = {
		.log = logs->options.log,
		.uid = logs->uid,
		.gid = logs->gid,
		.base = logs->base,
		.begun = place || later ? on_begun : NULL,
		.restarted = on_restart,
		.left = on_left,
		.context = use,
	};
	uint64_t repaired = 0;
	int r;

	if (!use)
		return failure_set(failure, ENOMEM, "%m");
	if (later)
		r = writer_open_later(directory, &settings, &use->writer, failure);
	else if (place)
		r = writer_open_at(directory, place, &settings, &use->writer, failure);
	else
		r = writer_open(directory, &settings, &use->writer, &repaired, failure);
	if (r < 0) {
		free(use);
		return failure_set(failure, r, "cannot open the audit log in %s: %m", directory);
	}
	use->logs = logs;
	use->references = 1;
	use->owed = later;
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
		return use_new(logs, directory, NULL, false, ret_log, failure);
	use->references++;
	*ret_log = use;
	return 0;
}

/* By what it was called, or by what the kernel has in its caches. */
static struct log_use *find_cached(struct logs *logs, const char *directory)
{
	struct log_use *use;

	LIST_FOREACH(use, &logs->uses, link)
	if (strcmp(writer_directory(use->writer), directory) == 0)
		return use;
	LIST_FOREACH(use, &logs->uses, link)
	{
		struct writer_place place = WRITER_PLACE_NONE;

		writer_where(use->writer, &place.device, &place.inode);
		if (place.inode && writer_place_is(&place, directory) == 1)
			return use;
	}
	return NULL;
}

int logs_get_later(struct logs *logs, const char *directory, struct log_use **ret_log,
		   struct failure *failure)
{
	struct log_use *use = find_cached(logs, directory);

	if (!use)
		return use_new(logs, directory, NULL, true, ret_log, failure);
	use->references++;
	*ret_log = use;
	return 0;
}

struct beginning {
	bool done;
	int result;
};

static void on_beginning(int result, void *context)
{
	*(struct beginning *)context = (struct beginning){true, result};
}

static void on_time(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
}

static int wait_for(struct log_use *use, unsigned int msec, struct beginning *beginning)
{
	const struct timeval patience = {msec / 1000, (suseconds_t)(msec % 1000) * 1000};
	struct event_base *base = use->logs->base;
	struct event *late = evtimer_new(base, on_time, NULL);
	struct writer_wait *wait = NULL;
	int r = late && evtimer_add(late, &patience) == 0 ? 0 : -ENOMEM;

	if (r == 0)
		r = writer_when_ready(use->writer, on_beginning, beginning, &wait);
	beginning->done = r == 0;
	while (r > 0 && !beginning->done && evtimer_pending(late, NULL))
		(void)event_base_loop(base, EVLOOP_ONCE);
	if (r > 0 && !beginning->done)
		writer_wait_cancel(use->writer, wait);
	if (late)
		event_free(late);
	return r < 0 ? r : 0;
}

int logs_get_within(struct logs *logs, const char *directory, unsigned int msec,
		    struct log_use **ret_log, bool *ret_begun, struct failure *failure)
{
	struct beginning beginning = {};
	struct log_use *use = NULL;
	int r = logs_get_later(logs, directory, &use, failure);

	if (r < 0)
		return r;
	r = wait_for(use, msec, &beginning);
	if (r < 0)
		failure_set(failure, r, "%m");
	/* That there is no room says no more than that nothing can start now. */
	else if (beginning.done && beginning.result < 0 && beginning.result != -ETIMEDOUT &&
		 !writer_has_begun(use->writer))
		r = logs_unwritable(use, beginning.result, failure);
	if (r < 0) {
		use_free(use);
		return r;
	}
	*ret_begun = writer_has_begun(use->writer);
	*ret_log = use;
	return 0;
}

int logs_look(const struct logs *logs, const char *asked, FILE *to, int *ret_fd,
	      struct failure *failure)
{
	_cleanup_(freep) char *directory = NULL;
	struct writer_place place = WRITER_PLACE_NONE;
	int r = log_place(asked, &directory, failure);

	if (r == 0)
		r = writer_place_find(directory, logs->uid, logs->gid, &place, failure);
	if (r < 0)
		return r;
	writer_place_write(&place, directory, to);
	*ret_fd = place.fd;
	return 0;
}

int logs_open(struct logs *logs, const char *seen, size_t size, int fd, struct log_use **ret_log,
	      struct failure *failure)
{
	_cleanup_(writer_place_release) struct writer_place place = WRITER_PLACE_NONE;
	_cleanup_(freep) char *directory = NULL;
	struct log_use *use;
	int r = writer_place_parse(seen, size, &place, &directory);

	place.fd = fd;
	if (r < 0 || fd < 0)
		return failure_set(failure, r < 0 ? r : -EPROTO,
				   "what looks at the log's directory makes no sense");
	use = find_in(logs, place.device, place.inode);
	if (!use)
		return use_new(logs, directory, &place, false, ret_log, failure);
	use->references++;
	*ret_log = use;
	return 0;
}

static void leave(struct log_use *use)
{
	LIST_REMOVE(use, link);
	LIST_INSERT_HEAD(&use->logs->leaving, use, link);
	writer_leave(use->writer);
}

/* One that cannot be written keeps its records, and its place, until it can. */
static void on_last_written(int result, void *context)
{
	struct log_use *use = context;

	use->last = NULL;
	if (result == 0 && use->references == 0)
		leave(use);
}

static void write_last(struct log_use *use)
{
	if (!use->last)
		(void)writer_when_flushed(use->writer, true, on_last_written, use, &use->last);
}

void logs_put(struct log_use *log)
{
	if (!log || --log->references > 0)
		return;
	if (!writer_has_begun(log->writer) && !(log->owed && writer_is_dirty(log->writer)))
		use_free(log);
	else if (log->logs->base)
		write_last(log);
	else if (writer_flush(log->writer, true) == 0)
		use_free(log);
}

struct log_use *logs_share(struct log_use *log)
{
	log->references++;
	return log;
}

int logs_when_writable(struct log_use *log, writer_done *done, void *context,
		       struct writer_wait **ret_wait)
{
	return log->logs->options.go_on_when_full
		       ? 0
		       : writer_when_ready(log->writer, done, context, ret_wait);
}

bool logs_has_begun(const struct log_use *log)
{
	return writer_has_begun(log->writer);
}

int logs_when_begun(struct log_use *log, writer_done *done, void *context,
		    struct writer_wait **ret_wait)
{
	return writer_when_ready(log->writer, done, context, ret_wait);
}

int logs_unwritable(const struct log_use *log, int r, struct failure *failure)
{
	if (!writer_has_begun(log->writer) && *writer_why_not_begun(log->writer))
		return failure_set(failure, r, "cannot open the audit log in %s: %s",
				   writer_directory(log->writer),
				   writer_why_not_begun(log->writer));
	return failure_set(failure, r,
			   "the audit log in %s cannot be written (%m), and nothing runs "
			   "without a record; make room there or name another with --log",
			   writer_directory(log->writer));
}

int logs_writable(struct log_use *log, struct failure *failure)
{
	int r = writer_writable(log->writer);

	return r < 0 && !log->logs->options.go_on_when_full ? logs_unwritable(log, r, failure) : 0;
}

const char *logs_directory(const struct log_use *log)
{
	return writer_directory(log->writer);
}

void logs_where(const struct log_use *log, dev_t *ret_device, ino_t *ret_inode)
{
	writer_where(log->writer, ret_device, ret_inode);
}

bool logs_has_policy(const struct log_use *log, const struct compiled_policy *policy)
{
	return writer_is_in(log->writer, log->kept_device, log->kept_inode) &&
	       kept_policies_has(&log->kept, policy->digest);
}

void logs_note_policy(struct log_use *log, const struct compiled_policy *policy)
{
	if (!writer_is_in(log->writer, log->kept_device, log->kept_inode))
		kept_policies_release(&log->kept);
	writer_where(log->writer, &log->kept_device, &log->kept_inode);
	kept_policies_add(&log->kept, policy->digest);
}

int logs_put_policy(const struct log_use *log, const struct compiled_policy *policy,
		    struct failure *failure)
{
	const char *directory = logs_directory(log);
	_cleanup_(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat found;

	if (fd < 0 || fstat(fd, &found) < 0)
		return failure_set(failure, errno, "cannot open %s: %m", directory);
	if (!writer_is_in(log->writer, found.st_dev, found.st_ino))
		return failure_set(failure, ESTALE, "%s is not the directory of its log any more",
				   directory);
	return policy_store_put_at(fd, directory, policy, failure);
}

int logs_keep_policy(struct log_use *log, const struct compiled_policy *policy,
		     struct failure *failure)
{
	int r;

	if (logs_has_policy(log, policy))
		return 0;
	r = policy_store_put(logs_directory(log), policy, failure);
	if (r < 0)
		return r;
	logs_note_policy(log, policy);
	return 0;
}

static json_t *number_or_null(uint64_t number, bool known)
{
	return known ? json_integer((json_int_t)number) : json_null();
}

json_t *logs_figures_json(const struct log_use *log)
{
	struct audit_log_figures f;
	uint64_t now = clock_nsec(CLOCK_BOOTTIME);

	writer_figures(log->writer, &f);
	return json_pack("{s:b,s:I,s:I,s:o,s:b,s:I,s:o}", "failing", writer_is_failing(log->writer),
			 "records", (json_int_t)f.sequence, "written_bytes", (json_int_t)f.written,
			 "free_bytes", number_or_null(f.free, f.free != UINT64_MAX), "sealing",
			 f.sealing, "sealed", (json_int_t)f.sealed, "seal_age_nsec",
			 number_or_null(now - f.sealed_at, f.sealed_at > 0 && now >= f.sealed_at));
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
	return logs_append_text(log, NULL, text->data, text->size);
}

int logs_append(struct log_use *log, json_t *record)
{
	int r = append_json(log, record);

	json_decref(record);
	return r;
}

int logs_append_text(struct log_use *log, struct writer_share *share, const char *record,
		     size_t size)
{
	return writer_append(log->writer, share, record, size);
}

int logs_when_written(struct log_use *log, writer_done *done, void *context,
		      struct writer_wait **ret_wait)
{
	return writer_when_flushed(log->writer, false, done, context, ret_wait);
}

void logs_cancel(struct log_use *log, struct writer_wait *wait)
{
	writer_wait_cancel(log->writer, wait);
}

bool logs_must_write_start(const struct log_use *log)
{
	return !log->logs->options.go_on_when_full;
}

int logs_flush(struct log_use *log)
{
	if (log->logs->base && writer_is_slow(log->writer))
		return -ETIMEDOUT;
	return log->logs->base ? writer_flush_within(log->writer, false, FLUSH_MSEC)
			       : writer_flush(log->writer, false);
}

static void flush_one(struct log_use *use, bool sync)
{
	if (!use->logs->base) {
		if (writer_flush(use->writer, sync) == 0 && use->references == 0)
			use_free(use);
	} else if (use->references == 0) {
		write_last(use);
	} else {
		writer_flush_soon(use->writer, sync);
	}
}

bool logs_flush_all(struct logs *logs, bool sync)
{
	struct log_use *use, *next;
	bool any = !LIST_EMPTY(&logs->leaving);

	for (use = LIST_FIRST(&logs->uses); use; use = next) {
		next = LIST_NEXT(use, link);
		if (!writer_is_dirty(use->writer) && !(sync && writer_is_unsynced(use->writer)) &&
		    use->references > 0)
			continue;
		any = true;
		flush_one(use, sync);
	}
	return any;
}

void logs_settle_all(struct logs *logs)
{
	uint64_t now, end = clock_nsec(CLOCK_MONOTONIC) + SETTLE_NSEC;
	struct log_use *use;

	LIST_FOREACH(use, &logs->uses, link)
	{
		now = clock_nsec(CLOCK_MONOTONIC);
		(void)writer_flush_within(use->writer, true,
					  now < end ? (end - now) / NSEC_PER_MSEC : 0);
	}
}

bool logs_are_behind(const struct logs *logs)
{
	const struct log_use *use;

	LIST_FOREACH(use, &logs->uses, link)
	if (writer_is_behind(use->writer))
		return true;
	return false;
}

bool logs_have_enough(struct log_use *log, struct writer_share *share)
{
	if (!writer_has_enough(log->writer, share))
		return false;
	writer_flush_soon(log->writer, false);
	return true;
}

/* Only retention asks for it. */
static void look_at_shipped(struct logs *logs)
{
	const struct audit_log_options *log = &logs->options.log;
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);

	if (!logs->options.ship_state || log->keep_unshipped == 0 ||
	    (log->keep_segments == 0 && log->keep_bytes == 0 && log->keep_nsec == 0) ||
	    (logs->shipped_time > 0 && now - logs->shipped_time < SHIPPED_NSEC))
		return;
	logs->shipped_time = now;
	shipped_take(logs->options.ship_state, &logs->shipped);
}

bool logs_tick_all(struct logs *logs)
{
	struct log_use *use;
	bool more = false;

	look_at_shipped(logs);
	LIST_FOREACH(use, &logs->uses, link)
	{
		writer_note_shipped(use->writer, &logs->shipped);
		more |= writer_tick(use->writer);
	}
	return more;
}

bool logs_next_failing(struct logs *logs, struct log_use **log)
{
	struct log_use *use = *log ? LIST_NEXT(*log, link) : LIST_FIRST(&logs->uses);

	while (use && !writer_is_failing(use->writer))
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
