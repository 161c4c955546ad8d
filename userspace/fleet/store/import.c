/* SPDX-License-Identifier: Apache-2.0 */
/* Splits lines into deliveries as a shipper does, and stores them. */
#include "fleet/store/import.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/read/lines.h"
#include "audit/storage/policy_store.h"
#include "base/clock.h"
#include "base/io.h"
#include "fleet/store/policy_copy.h"

/* Maximum size of a message's payload. */
#define IMPORT_SIZE (512u << 10)
/* Deliveries per transaction. */
#define IMPORT_GROUP	32
#define POLICY_SIZE_MAX (64u << 20)

struct run {
	struct intake *intake;
	struct delivery delivery;
	struct buffer lines;
	unsigned int group;
	uint64_t *counts;
};

static int commit(struct run *run, bool again, struct failure *failure)
{
	int r = intake_commit(run->intake, failure);

	run->group = 0;
	return r == 0 && again ? intake_begin(run->intake, failure) : r;
}

static int deliver(struct run *run, struct failure *failure)
{
	enum intake_result result;
	int r;

	if (run->lines.failed)
		return failure_set(failure, ENOMEM, "out of memory");
	if (run->lines.size == 0)
		return 0;
	run->delivery.data = run->lines.data;
	run->delivery.size = run->lines.size;
	run->delivery.now = clock_nsec(CLOCK_REALTIME);
	r = intake_take(run->intake, &run->delivery, &result, failure);
	/* *failure names the quota that is exceeded. */
	if (r == -EAGAIN)
		return -ENOBUFS;
	if (r < 0)
		return r;
	run->counts[result]++;
	run->lines.size = 0;
	return ++run->group >= IMPORT_GROUP ? commit(run, true, failure) : 0;
}

static int add_line(struct run *run, const char *line, size_t size, bool whole,
		    struct failure *failure)
{
	if (run->lines.size > 0 && run->lines.size + size > IMPORT_SIZE) {
		int r = deliver(run, failure);

		if (r < 0)
			return r;
	}
	buffer_add(&run->lines, line, size);
	if (whole)
		buffer_literal(&run->lines, "\n");
	return 0;
}

static int read_file(struct run *run, FILE *file, struct failure *failure)
{
	_cleanup_(freep) char *line = NULL;
	size_t capacity = 0;
	ssize_t size;
	int r = 0;

	while (r == 0 && (size = getline(&line, &capacity, file)) > 0)
		r = add_line(run, line, (size_t)size, false, failure);
	if (r == 0 && ferror(file))
		return failure_set(failure, EIO, "cannot read: %m");
	return r;
}

static int read_folder(struct run *run, const char *folder, struct failure *failure)
{
	_cleanup_(lines_closep) struct lines *lines = NULL;
	const char *line;
	size_t size;
	int r = lines_open(folder, false, &lines, failure);

	while (r == 0) {
		r = lines_next(lines, &line, &size, failure);
		if (r == 0)
			r = add_line(run, line, size, true, failure);
	}
	return r == -ENODATA ? 0 : r;
}

/* A log's folder also contains its policies. */
static int read_policies(struct run *run, const char *folder, struct failure *failure)
{
	_cleanup_(closedirp) DIR *policies = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	int r = 0;

	if (snprintf(path, sizeof(path), "%s/" POLICY_STORE_NAME, folder) >= (int)sizeof(path) ||
	    io_open_directory(AT_FDCWD, path, &policies) < 0)
		return 0;
	while (r == 0 && (entry = readdir(policies)) != NULL) {
		struct delivery delivery = run->delivery;
		_cleanup_(freep) char *data = NULL;

		if (!policy_copy_is_digest(entry->d_name))
			continue;
		r = io_read_file(dirfd(policies), entry->d_name, POLICY_SIZE_MAX, &data,
				 &delivery.size);
		if (r < 0)
			return failure_set(failure, r, "cannot read %s/%s: %m", path,
					   entry->d_name);
		delivery.data = data;
		delivery.now = clock_nsec(CLOCK_REALTIME);
		r = intake_policy(run->intake, &delivery, entry->d_name, failure);
	}
	return r;
}

static int read_from_folder(struct run *run, const char *folder, struct failure *failure)
{
	int r = read_folder(run, folder, failure);

	return r == 0 ? read_policies(run, folder, failure) : r;
}

static int read_all(struct run *run, const struct import *import, struct failure *failure)
{
	_cleanup_(fclosep) FILE *file = NULL;
	struct stat status;

	if (strcmp(import->from, "-") == 0)
		return read_file(run, stdin, failure);
	if (stat(import->from, &status) == 0 && S_ISDIR(status.st_mode))
		return read_from_folder(run, import->from, failure);
	file = fopen(import->from, "re");
	if (!file)
		return failure_set(failure, errno, "cannot open %s: %m", import->from);
	return read_file(run, file, failure);
}

int import_run(struct intake *intake, const struct import *import,
	       uint64_t ret_counts[INTAKE_RESULT_COUNT], struct failure *failure)
{
	struct run run = {.intake = intake, .counts = ret_counts};
	char subject[2 * DELIVERY_ID_SIZE + 32];
	int r, committed;

	memset(ret_counts, 0, sizeof(ret_counts[0]) * INTAKE_RESULT_COUNT);
	if (snprintf(subject, sizeof(subject), "cordon.log.%s.%s.%s", import->host, import->log,
		     import->first_lane ? "first" : "bulk") >= (int)sizeof(subject) ||
	    delivery_read_subject(subject, &run.delivery, NULL) < 0)
		return failure_set(
			failure, EINVAL,
			"a host id is up to 64 digits 0-9 and a-f, and a log id those and '-', not \"%s\" and \"%s\"",
			import->host, import->log);
	r = intake_begin(intake, failure);
	if (r < 0)
		return r;
	r = read_all(&run, import, failure);
	if (r == 0)
		r = deliver(&run, failure);
	buffer_free(&run.lines);
	if (r == -EIO || r == -ENOSPC)
		return r;
	committed = commit(&run, false, failure);
	return r < 0 ? r : committed;
}
