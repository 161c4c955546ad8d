/* SPDX-License-Identifier: Apache-2.0 */
/* Records appended: chained, rotated, flushed, and what failing writes leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "audit/storage/chain.h"
#include "audit/write/log.h"
#include "audit/read/reader.h"
#include "audit/record/record.h"
#include "audit/storage/segment.h"
#include "audit/storage/segments.h"
#include "base/io.h"

#define SIZE_LIMIT (1u << 20)

struct place {
	char parent[64];
	char directory[96];
	char file[128];
	char lock[128];
};

/* Records of these tests are older than a segment may get. */
static const struct audit_log_options never_closed = {};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	strcpy(place->parent, "/tmp/cordon-log-XXXXXX");
	assert_non_null(mkdtemp(place->parent));
	snprintf(place->directory, sizeof(place->directory), "%s/log", place->parent);
	snprintf(place->file, sizeof(place->file), "%s/%s", place->directory, SEGMENT_NAME);
	snprintf(place->lock, sizeof(place->lock), "%s/%s", place->directory, SEGMENT_LOCK);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	_cleanup_(closedirp) DIR *dir = opendir(place->directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	rmdir(place->directory);
	rmdir(place->parent);
	free(place);
	return 0;
}

static struct audit_log *open_log(const struct place *place, uint64_t expected_repair)
{
	struct failure failure = {0};
	struct audit_log *log = NULL;
	uint64_t repaired = 12345;

	if (audit_log_open(place->directory, &never_closed, &log, &repaired, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_int_equal(repaired, expected_repair);
	return log;
}

static void format_time(int number, char *time, size_t size)
{
	snprintf(time, size, "2026-11-21T00:00:%02d.000000000Z", number % 60);
}

static int append(struct audit_log *log, int number)
{
	_cleanup_(json_decrefp) json_t *record = NULL;
	char time[40];

	format_time(number, time, sizeof(time));
	record = json_pack("{s:s, s:{s:i, s:s}}", "@timestamp", time, "cordon", "number", number,
			   "text", "a \"quoted\" \xe2\x80\xae text,\"chain\":\"x\"}");
	assert_non_null(record);
	return audit_log_append(log, record);
}

static void append_good(struct audit_log *log, int number)
{
	assert_int_equal(append(log, number), 0);
}

/* Reads all; returns how many records were well chained, and counts what was not. */
static size_t read_back(const struct place *place, size_t *ret_problems, json_t *into)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct failure failure = {0};
	size_t records = 0, problems = 0;
	json_int_t first = 0;

	assert_int_equal(audit_reader_open(place->directory, &reader, &failure), 0);
	for (;;) {
		_cleanup_(json_decrefp) json_t *record = NULL;
		int r;

		failure.text[0] = '\0';
		r = audit_reader_next(reader, &record, &failure);
		if (r == -ENODATA)
			break;
		if (r < 0) {
			problems++;
			assert_true(failure.text[0]);
			continue;
		}
		records++;
		if (first == 0)
			first = json_integer_value(json_object_get(record, "seq"));
		assert_int_equal(json_integer_value(json_object_get(record, "seq")),
				 first + (json_int_t)records - 1);
		if (into)
			json_array_append(into, record);
	}
	*ret_problems = problems;
	return records;
}

static size_t read_good(const struct place *place)
{
	size_t problems, records = read_back(place, &problems, NULL);

	assert_int_equal(problems, 0);
	return records;
}

static void note_problem(void *data, const char *text)
{
	snprintf(data, 256, "%s", text);
}

/* The one problem: how many records are missing at the beginning; 0: none. */
static unsigned long missing_at_the_beginning(const struct place *place)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_verification result;
	unsigned long first, missing = 0;
	char text[256] = "";

	assert_int_equal(audit_reader_open(place->directory, &reader, NULL), 0);
	assert_int_equal(audit_reader_verify(reader, note_problem, text, &result, NULL), 0);
	if (result.problems > 0)
		assert_int_equal(sscanf(text, "the log begins with seq %lu: %lu missing", &first,
					&missing),
				 2);
	assert_true(result.problems <= 1);
	return missing;
}

static void test_append_and_resume(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place, 0);
	struct stat status;

	for (int i = 0; i < 10; i++)
		append_good(log, i);
	assert_string_equal(audit_log_directory(log), place->directory);
	audit_log_close(log);
	assert_int_equal(read_good(place), 10);
	log = open_log(place, 0);
	append_good(log, 10);
	assert_int_equal(audit_log_flush(log, true), 0);
	assert_int_equal(read_good(place), 11);
	audit_log_close(log);
	assert_int_equal(stat(place->directory, &status), 0);
	assert_int_equal(status.st_mode & 07777 & ~0750, 0);
	assert_int_equal(stat(place->file, &status), 0);
	assert_int_equal(status.st_mode & 07777 & ~0640, 0);
}

static void test_refuses_forged_members(void **state)
{
	struct place *place = *state;
	_cleanup_(audit_log_closep) struct audit_log *log = open_log(place, 0);
	_cleanup_(json_decrefp) json_t *record = json_pack("{s:i}", "seq", 7);
	_cleanup_(json_decrefp) json_t *empty = json_object();

	assert_int_equal(audit_log_append(log, record), -EINVAL);
	assert_int_equal(audit_log_append(log, empty), -EINVAL);
}

static void test_one_writer(void **state)
{
	struct place *place = *state;
	_cleanup_(audit_log_closep) struct audit_log *log = open_log(place, 0);
	struct audit_log *second = NULL;
	struct failure failure = {0};
	uint64_t repaired;

	assert_true(segment_has_writer(place->directory));
	assert_int_equal(audit_log_open(place->directory, NULL, &second, &repaired, &failure),
			 -EWOULDBLOCK);
	assert_non_null(strstr(failure.text, "another cordon"));
	assert_null(second);
	audit_log_close(TAKE_PTR(log));
	assert_false(segment_has_writer(place->directory));
	log = open_log(place, 0);
}

/* Whatever part of the last line a crash leaves: it is cut off, and the log goes on. */
static void test_torn_tail(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place, 0);
	_cleanup_(freep) char *data = NULL;
	size_t size, last;

	for (int i = 0; i < 3; i++)
		append_good(log, i);
	audit_log_close(log);
	assert_int_equal(io_read_file(AT_FDCWD, place->file, SIZE_LIMIT, &data, &size), 0);
	last = (size_t)((char *)memrchr(data, '\n', size - 1) + 1 - data);
	for (size_t cut = last; cut < size; cut++) {
		assert_int_equal(truncate(place->file, (off_t)cut), 0);
		/* A reader takes the torn line for one being written. */
		assert_int_equal(read_good(place), 2);
		log = open_log(place, cut - last);
		append_good(log, 2);
		audit_log_close(log);
		assert_int_equal(read_good(place), 3);
	}
}

/* Also where the torn line is the only one, and where it is longer than what is read at first. */
static void test_torn_first_line(void **state)
{
	struct place *place = *state;
	_cleanup_(freep) char *garbage = malloc(300000);
	struct audit_log *log;
	int fd;

	assert_non_null(garbage);
	memset(garbage, 'x', 300000);
	audit_log_close(open_log(place, 0));
	for (size_t size = 1; size <= 300000; size = size * 5 + 1) {
		fd = open(place->file, O_WRONLY | O_TRUNC);
		assert_int_equal(io_write_all(fd, garbage, size), 0);
		close(fd);
		log = open_log(place, size);
		append_good(log, 1);
		audit_log_close(log);
		assert_int_equal(read_good(place), 1);
	}
}

/* Looks like a record of a log, but its chain value is none. */
#define UNCHAINED                                                                                  \
	"{\"seq\":1,\"a\":1,\"chain\":"                                                            \
	"\"0000000000000000000000000000000000000000000000000000000000000000\"}\n"

static void test_foreign_last_line(void **state)
{
	static const char *const lines[] = {
		"\n",
		"{}\n",
		"hello\n",
		UNCHAINED,
	};
	struct place *place = *state;

	audit_log_close(open_log(place, 0));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct failure failure = {0};
		struct audit_log *log = NULL;
		uint64_t repaired;
		struct stat status;
		int fd = open(place->file, O_WRONLY | O_TRUNC);

		assert_int_equal(io_write_all(fd, lines[i], strlen(lines[i])), 0);
		close(fd);
		assert_int_equal(audit_log_open(place->directory, NULL, &log, &repaired, &failure),
				 -EBADMSG);
		assert_non_null(strstr(failure.text, "cordon log verify"));
		/* Nothing is changed in what is not understood. */
		assert_int_equal(stat(place->file, &status), 0);
		assert_int_equal(status.st_size, strlen(lines[i]));
	}
}

/* Lines whose digest is right, but whose number is not the next. */
static void test_foreign_number(void **state)
{
	static const char body[] = "{\"seq\":5,\"a\":1", again[] = "{\"seq\":5,\"a\":2";
	static const unsigned char zeros[SHA256_SIZE];
	struct place *place = *state;
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	unsigned char digest[SHA256_SIZE], next[SHA256_SIZE];
	char tail[CHAIN_TAIL_SIZE];
	struct audit_log *log = NULL;
	uint64_t repaired;
	size_t problems;
	int fd;

	audit_log_close(open_log(place, 0));
	assert_int_equal(chain_digest(hash, zeros, body, sizeof(body) - 1, digest), 0);
	chain_write_tail(digest, tail);
	fd = open(place->file, O_WRONLY | O_APPEND);
	assert_int_equal(io_write_all(fd, body, sizeof(body) - 1), 0);
	assert_int_equal(io_write_all(fd, tail, sizeof(tail)), 0);
	/* What came before may have been deleted with older segments: only verifying can tell. */
	audit_log_close(open_log(place, 0));
	assert_int_equal(missing_at_the_beginning(place), 4);
	assert_int_equal(chain_digest(hash, digest, again, sizeof(again) - 1, next), 0);
	chain_write_tail(next, tail);
	assert_int_equal(io_write_all(fd, again, sizeof(again) - 1), 0);
	assert_int_equal(io_write_all(fd, tail, sizeof(tail)), 0);
	close(fd);
	assert_int_equal(audit_log_open(place->directory, &never_closed, &log, &repaired, NULL),
			 -EBADMSG);
	read_back(place, &problems, NULL);
	assert_int_equal(problems, 1);
}

static void test_symbolic_link(void **state)
{
	struct place *place = *state;
	struct failure failure = {0};
	struct audit_log *log = NULL;
	uint64_t repaired;

	assert_int_equal(mkdir(place->directory, 0700), 0);
	assert_int_equal(symlink("/dev/null", place->file), 0);
	assert_int_equal(audit_log_open(place->directory, NULL, &log, &repaired, &failure), -ELOOP);
	assert_non_null(strstr(failure.text, "symbolic link"));
	unlink(place->file);
	assert_int_equal(mkfifo(place->file, 0600), 0);
	failure.text[0] = '\0';
	assert_int_equal(audit_log_open(place->directory, NULL, &log, &repaired, &failure),
			 -EBADMSG);
}

static void test_no_directory(void **state)
{
	struct place *place = *state;
	struct failure failure = {0};
	struct audit_log *log = NULL;
	char path[128];
	uint64_t repaired;

	snprintf(path, sizeof(path), "%s/missing/log", place->parent);
	assert_int_equal(audit_log_open(path, NULL, &log, &repaired, &failure), -ENOENT);
	assert_non_null(strstr(failure.text, path));
	failure.text[0] = '\0';
	assert_int_equal(audit_log_open("/dev/null", NULL, &log, &repaired, &failure), -ENOTDIR);
	/* Read-only for root, too. */
	failure.text[0] = '\0';
	assert_true(audit_log_open("/proc/self", NULL, &log, &repaired, &failure) < 0);
	assert_null(log);
}

static void limit_file_size(rlim_t size)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A disk that takes no more (here: a file size limit), then does again. */
static void test_full_and_recovered(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place, 0);
	_cleanup_(json_decrefp) json_t *records = json_array();
	const int lost = 5;
	char from[40], to[40];
	size_t problems;
	const json_t *gap;
	int kept = 10;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(audit_log_writable(log), 0);
	append_good(log, 0);
	assert_int_equal(audit_log_flush(log, true), 0);
	limit_file_size(1000);
	for (int i = 1; i < kept; i++)
		append_good(log, i);
	assert_int_equal(audit_log_flush(log, false), -EFBIG);
	assert_int_equal(audit_log_writable(log), -EFBIG);
	/* Kept for as long as there is room in the buffer. */
	while (append(log, kept) == 0)
		kept++;
	assert_in_range(kept, 1000, 100000);
	for (int i = 1; i < lost; i++)
		assert_int_equal(append(log, kept + i), -EFBIG);
	assert_int_equal(audit_log_lost(log), lost);
	assert_int_equal(audit_log_flush(log, true), -EFBIG);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(audit_log_writable(log), 0);
	assert_int_equal(audit_log_lost(log), 0);
	append_good(log, 15);
	audit_log_close(log);
	assert_int_equal(read_back(place, &problems, records), kept + 2);
	assert_int_equal(problems, 0);
	gap = json_object_get(json_object_get(json_array_get(records, (size_t)kept), "cordon"),
			      "gap");
	assert_string_equal(json_string_value(json_object_get(gap, "of")), "records");
	assert_int_equal(json_integer_value(json_object_get(gap, "missing")), lost);
	assert_string_equal(json_string_value(json_object_get(gap, "error")), "EFBIG");
	format_time(kept, from, sizeof(from));
	format_time(kept + lost - 1, to, sizeof(to));
	assert_string_equal(json_string_value(json_object_get(gap, "from")), from);
	assert_string_equal(json_string_value(json_object_get(gap, "to")), to);
}

/* A crash while the disk is full leaves a torn line, not a broken log. */
static void test_full_at_any_byte(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place, 0);
	struct stat status;

	signal(SIGXFSZ, SIG_IGN);
	append_good(log, 1);
	audit_log_close(log);
	assert_int_equal(stat(place->file, &status), 0);
	for (off_t room = 1; room < status.st_size; room += 7) {
		assert_int_equal(truncate(place->file, status.st_size), 0);
		log = open_log(place, 0);
		append_good(log, 2);
		append_good(log, 3);
		limit_file_size((rlim_t)(status.st_size + room));
		audit_log_close(log);
		limit_file_size(RLIM_INFINITY);
		log = open_log(place, (uint64_t)room);
		append_good(log, 4);
		audit_log_close(log);
		/* The first, the gap that the crash left, and the last. */
		assert_int_equal(read_good(place), 3);
	}
}

static void test_too_long(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place, 0);
	_cleanup_(freep) char *text = calloc(1, 5u << 20);
	_cleanup_(json_decrefp) json_t *record = NULL;

	memset(text, 'a', (5u << 20) - 1);
	record = json_pack("{s:s}", "text", text);
	assert_int_equal(audit_log_append(log, record), -EMSGSIZE);
	append_good(log, 1);
	audit_log_close(log);
	/* The good one, and the gap that counts the other. */
	assert_int_equal(read_good(place), 2);
}

/* The file is moved away: what was not written goes on in a new log, which names the old one. */
static void test_moved_away(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place, 0);
	_cleanup_(json_decrefp) json_t *records = json_array();
	char moved[160];
	size_t problems;
	const json_t *gap;

	append_good(log, 1);
	append_good(log, 2);
	assert_int_equal(audit_log_flush(log, false), 0);
	append_good(log, 3);
	snprintf(moved, sizeof(moved), "%s.moved", place->file);
	assert_int_equal(rename(place->file, moved), 0);
	assert_int_equal(audit_log_writable(log), 0);
	append_good(log, 4);
	audit_log_close(log);
	assert_int_equal(read_back(place, &problems, records), 3);
	assert_int_equal(problems, 0);
	gap = json_object_get(json_object_get(json_array_get(records, 0), "cordon"), "gap");
	assert_string_equal(json_string_value(json_object_get(gap, "of")), "log");
	gap = json_object_get(gap, "previous");
	assert_int_equal(json_integer_value(json_object_get(gap, "seq")), 2);
	/* That the records before it are gone is for all to see. */
	assert_int_equal(missing_at_the_beginning(place), 2);
}

/* A crash is told by the log, however it left the end. */
static void test_crash(void **state)
{
	struct place *place = *state;
	_cleanup_(json_decrefp) json_t *records = json_array();
	struct audit_log *log = open_log(place, 0);
	static const char hole[5000];
	size_t problems;
	const json_t *gap;
	int fd;

	append_good(log, 1);
	append_good(log, 2);
	audit_log_close(log);
	fd = open(place->lock, O_WRONLY);
	assert_int_equal(io_write_all(fd, "at work\n", 8), 0);
	close(fd);
	/* Space that was allotted and never written, and a line that came behind it. */
	fd = open(place->file, O_WRONLY | O_APPEND);
	assert_int_equal(io_write_all(fd, hole, sizeof(hole)), 0);
	assert_int_equal(io_write_all(fd, UNCHAINED, sizeof(UNCHAINED) - 1), 0);
	close(fd);
	log = open_log(place, sizeof(hole) + sizeof(UNCHAINED) - 1);
	append_good(log, 3);
	audit_log_close(log);
	assert_int_equal(read_back(place, &problems, records), 4);
	assert_int_equal(problems, 0);
	gap = json_object_get(json_object_get(json_array_get(records, 2), "cordon"), "gap");
	assert_string_equal(json_string_value(json_object_get(gap, "of")), "crash");
	assert_int_equal(json_integer_value(json_object_get(gap, "torn_bytes")),
			 sizeof(hole) + sizeof(UNCHAINED) - 1);
}

static uint64_t pretended_time;

static uint64_t pretended_clock(clockid_t clock)
{
	(void)clock;
	return pretended_time;
}

static size_t closed_segments(const struct place *place)
{
	struct segments segments;
	size_t count;

	assert_int_equal(segments_list(place->directory, &segments), 0);
	count = segments.count;
	segments_free(&segments);
	return count;
}

static void test_closed_by_size(void **state)
{
	static const struct audit_log_options small = {.segment_bytes = 2000};
	struct place *place = *state;
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	uint64_t repaired;
	int seen = 0;

	for (int i = 0; i < 100; i++) {
		struct audit_log *log;

		/* Also where a writer begins behind a closed segment, and in the middle of one. */
		assert_int_equal(audit_log_open(place->directory, &small, &log, &repaired, NULL),
				 0);
		append_good(log, i);
		assert_int_equal(audit_log_flush(log, false), 0);
		append_good(log, i);
		audit_log_close(log);
		if (!reader)
			assert_int_equal(audit_reader_open(place->directory, &reader, NULL), 0);
		/* One that follows sees each once. */
		for (int k = 0; k < 2; k++) {
			json_t *record = NULL;

			assert_int_equal(audit_reader_next(reader, &record, NULL), 0);
			assert_int_equal(json_integer_value(json_object_get(record, "seq")),
					 ++seen);
			json_decref(record);
		}
	}
	assert_in_range(closed_segments(place), 10, 30);
	assert_int_equal(read_good(place), 200);
	assert_int_equal(missing_at_the_beginning(place), 0);
}

static void test_closed_by_age(void **state)
{
	static const struct audit_log_options hourly = {
		.clock = pretended_clock,
		.segment_nsec = 3600 * NSEC_PER_SEC,
	};
	struct place *place = *state;
	struct audit_log *log;
	uint64_t repaired;

	assert_int_equal(clock_parse("2026-11-21T00:00:00.000000000Z", &pretended_time), 0);
	assert_int_equal(audit_log_open(place->directory, &hourly, &log, &repaired, NULL), 0);
	append_good(log, 0);
	assert_int_equal(audit_log_flush(log, false), 0);
	pretended_time += 3599 * NSEC_PER_SEC;
	audit_log_tick(log);
	assert_int_equal(closed_segments(place), 0);
	/* The age is that of the first record, whoever wrote it. */
	audit_log_close(log);
	assert_int_equal(audit_log_open(place->directory, &hourly, &log, &repaired, NULL), 0);
	pretended_time += NSEC_PER_SEC;
	audit_log_tick(log);
	assert_int_equal(closed_segments(place), 1);
	/* An empty one is not closed. */
	pretended_time += 7200 * NSEC_PER_SEC;
	audit_log_tick(log);
	assert_int_equal(closed_segments(place), 1);
	append_good(log, 1);
	audit_log_close(log);
	assert_int_equal(read_good(place), 2);
}

/* A crash between closing a segment and beginning the next. */
static void test_no_current_segment(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place, 0);
	char closed[160];

	append_good(log, 1);
	append_good(log, 2);
	audit_log_close(log);
	snprintf(closed, sizeof(closed), "%s/00000000000000000001.jsonl", place->directory);
	assert_int_equal(rename(place->file, closed), 0);
	assert_int_equal(read_good(place), 2);
	log = open_log(place, 0);
	append_good(log, 3);
	audit_log_close(log);
	assert_int_equal(read_good(place), 3);
	/* The only record of a segment follows from the one before. */
	log = open_log(place, 0);
	append_good(log, 4);
	audit_log_close(log);
	assert_int_equal(read_good(place), 4);
	assert_int_equal(missing_at_the_beginning(place), 0);
}

static void test_directory_removed(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place, 0);
	char elsewhere[96];

	append_good(log, 1);
	assert_int_equal(audit_log_flush(log, false), 0);
	unlink(place->file);
	unlink(place->lock);
	rmdir(place->directory);
	/* The parent is gone, too: nothing can be written. */
	snprintf(elsewhere, sizeof(elsewhere), "%s.away", place->parent);
	assert_int_equal(rename(place->parent, elsewhere), 0);
	assert_int_equal(audit_log_writable(log), -ENOENT);
	append_good(log, 2);
	assert_int_equal(audit_log_flush(log, false), -ENOENT);
	assert_int_equal(rename(elsewhere, place->parent), 0);
	assert_int_equal(audit_log_writable(log), 0);
	append_good(log, 3);
	audit_log_close(log);
	/* takeover, what was kept, and what came then */
	assert_int_equal(read_good(place), 3);
}

static void test_big_buffer_writes_itself(void **state)
{
	struct place *place = *state;
	_cleanup_(audit_log_closep) struct audit_log *log = open_log(place, 0);
	struct stat status;

	for (int i = 0; i < 8000; i++)
		append_good(log, i);
	assert_int_equal(stat(place->file, &status), 0);
	assert_true(status.st_size > 1 << 20);
	assert_int_equal(audit_log_flush(log, false), 0);
	assert_int_equal(read_good(place), 8000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_append_and_resume),
		TEST(test_refuses_forged_members),
		TEST(test_one_writer),
		TEST(test_torn_tail),
		TEST(test_torn_first_line),
		TEST(test_foreign_last_line),
		TEST(test_foreign_number),
		TEST(test_symbolic_link),
		TEST(test_no_directory),
		TEST(test_full_and_recovered),
		TEST(test_full_at_any_byte),
		TEST(test_too_long),
		TEST(test_moved_away),
		TEST(test_crash),
		TEST(test_closed_by_size),
		TEST(test_closed_by_age),
		TEST(test_no_current_segment),
		TEST(test_directory_removed),
		TEST(test_big_buffer_writes_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
