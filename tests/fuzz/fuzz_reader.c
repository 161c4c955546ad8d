/* SPDX-License-Identifier: Apache-2.0 */
/* A log of any bytes: read, verified, resumed by a writer, shown. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "audit/write/log.h"
#include "audit/read/reader.h"
#include "audit/record/record.h"
#include "audit/storage/segment.h"
#include "base/io.h"
#include "insight/story/line.h"
#include "insight/story/story.h"

/* In memory: the writer syncs what it writes. */
static char directory[] = "/dev/shm/cordon-fuzz-XXXXXX";
static char file[64], lock[64];

static void clean_up(void)
{
	unlink(file);
	unlink(lock);
	rmdir(directory);
}

static void prepare(void)
{
	static bool prepared;

	if (prepared)
		return;
	prepared = true;
	if (!mkdtemp(directory))
		abort();
	snprintf(file, sizeof(file), "%s/%s", directory, SEGMENT_NAME);
	snprintf(lock, sizeof(lock), "%s/%s", directory, SEGMENT_LOCK);
	atexit(clean_up);
}

static void count_problem(void *data, const char *text)
{
	uint64_t *count = data;

	if (!text[0])
		abort();
	(*count)++;
}

static struct audit_verification verify(void)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_verification result;
	uint64_t told = 0;

	if (audit_reader_open(directory, &reader, NULL) < 0 ||
	    audit_reader_verify(reader, count_problem, &told, &result, NULL) < 0 ||
	    told != result.problems)
		abort();
	return result;
}

/* A writer either refuses the log or goes on behind its last whole line. */
static void resume(void)
{
	_cleanup_(json_decrefp) json_t *record = json_pack("{s:s}", "x", "y");
	struct audit_verification before, after;
	struct audit_log *log = NULL;
	uint64_t repaired;

	before = verify();
	if (audit_log_open(directory, NULL, &log, &repaired, NULL) < 0)
		return;
	if (repaired != before.torn_bytes || audit_log_append(log, record) < 0)
		abort();
	audit_log_close(log);
	after = verify();
	if (after.records != before.records + 1 || after.torn_bytes != 0)
		abort();
}

/* Records that somebody else wrote. */
static void show(const char *data, size_t size)
{
	static const struct style style = {.width = 80};
	static FILE *nowhere;
	json_t *record = json_loadb(data, size, JSON_DISABLE_EOF_CHECK, NULL);

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!json_is_object(record)) {
		json_decref(record);
		return;
	}
	line_write(nowhere, &style, record);
	if (story_write(nowhere, &style, &record, 1) < 0)
		abort();
	json_decref(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;

	prepare();
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write_all(fd, data, size) < 0)
		abort();
	close(fd);
	resume();
	show((const char *)data, size);
	return 0;
}
