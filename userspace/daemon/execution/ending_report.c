/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an execution's report: of few refusals at once, of many in a process of its own. */
#include "daemon/execution/ending_report.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/io.h"
#include "daemon/privsep/errand.h"
#include "insight/export/report.h"

/* Refusals whose report takes less than a process does. */
#define REPORT_IN_LOOP 16u
/* The longest report takes a second where machines are emulated. */
#define REPORT_SECONDS 20

struct reporting {
	struct execution *e;
	struct errand *errand;
	void (*done)(struct execution *e);
};

static json_t *build(const struct execution *e)
{
	_cleanup_(freep) json_t **records = calloc(e->reported.count + 1, sizeof(*records));
	json_t *report = NULL;
	size_t count = 0;

	if (!records)
		return NULL;
	while (count < e->reported.count &&
	       (records[count] = reported_record(&e->reported, count)) != NULL)
		count++;
	if (count == e->reported.count)
		report = report_build(&e->record, &e->end, records, count);
	while (count > 0)
		json_decref(records[--count]);
	return report;
}

static int make(const struct execution *e, int *ret_fd)
{
	_cleanup_(json_decrefp) json_t *report = build(e);
	_cleanup_(freep) char *text = report ? json_dumps(report, JSON_INDENT(2)) : NULL;
	_cleanup_(closep) int fd = memfd_create("cordon-report", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (!text || fd < 0 || io_write_all(fd, text, strlen(text)) < 0 ||
	    io_write_all(fd, "\n", 1) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -ENOMEM;
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* In a process of its own. */
static int make_apart(const void *context, FILE *to, struct errand_fds *fds,
		      struct failure *failure)
{
	const struct reporting *reporting = context;
	int r = make(reporting->e, &fds->fd[0]);

	(void)to;
	return r < 0 ? failure_set(failure, r, "%m") : 0;
}

static void on_made(void *context, int result, const char *data, size_t size,
		    struct errand_fds *fds, const struct failure *failure)
{
	struct reporting *reporting = context;
	struct execution *e = reporting->e;
	void (*done)(struct execution *e) = reporting->done;

	(void)data;
	(void)size;
	free(TAKE_PTR(e->ending.reporting));
	if (result == 0)
		e->ending.report_fd = TAKE_FD(fds->fd[0]);
	else
		daemon_say(e->daemon, "execution %s: its report: %s", e->id, failure->text);
	done(e);
}

static int begin_apart(struct execution *e, void (*done)(struct execution *e))
{
	const struct errand_job job = {
		.what = "what makes a report",
		.uid = e->owner.uid,
		.seconds = REPORT_SECONDS,
		.work = make_apart,
		.done = on_made,
		.context = calloc(1, sizeof(struct reporting)),
	};
	struct reporting *reporting = job.context;
	struct failure failure = {};
	int r;

	if (!reporting)
		return -ENOMEM;
	*reporting = (struct reporting){.e = e, .done = done};
	r = errand_start(e->daemon->base, &job, &reporting->errand, &failure);
	if (r < 0) {
		daemon_say(e->daemon, "execution %s: its report: %s", e->id, failure.text);
		free(reporting);
		return r;
	}
	e->ending.reporting = reporting;
	return 0;
}

void ending_report_begin(struct execution *e, void (*done)(struct execution *e))
{
	if (!e->owner.connection)
		return;
	if (e->reported.count <= REPORT_IN_LOOP)
		(void)make(e, &e->ending.report_fd);
	else
		(void)begin_apart(e, done);
}

void ending_report_cancel(struct execution *e)
{
	if (!e->ending.reporting)
		return;
	errand_cancel(e->ending.reporting->errand);
	free(TAKE_PTR(e->ending.reporting));
}
