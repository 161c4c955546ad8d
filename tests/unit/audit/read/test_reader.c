/* SPDX-License-Identifier: Apache-2.0 */
/* Logs read back: chains that break, torn ends, segments that are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <zlib.h>

#include "audit/storage/chain.h"
#include "audit/write/log.h"
#include "audit/read/reader.h"
#include "audit/record/record.h"
#include "audit/storage/segment.h"
#include "base/io.h"

#define RECORDS 12

struct place {
	char directory[64];
	char file[96];
	char lock[96];
	char *clean;
	size_t clean_size;
};

static void append(struct audit_log *log, int number)
{
	_cleanup_(json_decrefp) json_t *record = json_pack("{s:s, s:{s:i}}", "@timestamp",
							   "2026-11-21T00:00:00.000000000Z",
							   "cordon", "number", number);

	assert_int_equal(audit_log_append(log, record), 0);
}

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	struct audit_log *log;
	uint64_t repaired;

	assert_non_null(place);
	strcpy(place->directory, "/tmp/cordon-reader-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->file, sizeof(place->file), "%s/%s", place->directory, SEGMENT_NAME);
	snprintf(place->lock, sizeof(place->lock), "%s/%s", place->directory, SEGMENT_LOCK);
	assert_int_equal(audit_log_open(place->directory, NULL, &log, &repaired, NULL), 0);
	for (int i = 0; i < RECORDS; i++)
		append(log, i);
	audit_log_close(log);
	assert_int_equal(
		io_read_file(AT_FDCWD, place->file, 1 << 20, &place->clean, &place->clean_size), 0);
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
	free(place->clean);
	free(place);
	return 0;
}

static void rewrite(const struct place *place, const char *data, size_t size)
{
	int fd = open(place->file, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, size), 0);
	close(fd);
}

static void count_problem(void *data, const char *text)
{
	unsigned int *count = data;

	assert_true(text[0]);
	(*count)++;
}

static struct audit_verification verify(const struct place *place)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_verification result;
	unsigned int told = 0;

	assert_int_equal(audit_reader_open(place->directory, &reader, NULL), 0);
	assert_int_equal(audit_reader_verify(reader, count_problem, &told, &result, NULL), 0);
	assert_int_equal(told, result.problems);
	return result;
}

static size_t line_begin(const struct place *place, int number)
{
	const char *at = place->clean;

	for (int i = 0; i < number; i++)
		at = strchr(at, '\n') + 1;
	return (size_t)(at - place->clean);
}

static void test_clean(void **state)
{
	struct audit_verification result = verify(*state);

	assert_int_equal(result.records, RECORDS);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.sequence, RECORDS);
	assert_int_equal(result.segments, 1);
}

/* Any byte changed to any of a few others. */
static void test_every_edit(void **state)
{
	static const char values[] = {'\0', '0', 'A', '"', '\n', '}', '\xff'};
	struct place *place = *state;
	_cleanup_(freep) char *copy = malloc(place->clean_size);
	size_t from = line_begin(place, 4), to = line_begin(place, 6);

	for (size_t at = from; at < to; at++) {
		for (size_t v = 0; v < sizeof(values); v++) {
			if (place->clean[at] == values[v])
				continue;
			memcpy(copy, place->clean, place->clean_size);
			copy[at] = values[v];
			rewrite(place, copy, place->clean_size);
			assert_true(verify(place).problems > 0);
		}
	}
}

/* Lines as a list of numbers: what is not 0, 1, 2, ... is found. */
static void rewrite_lines(const struct place *place, const int *lines, size_t count)
{
	_cleanup_(freep) char *copy = malloc(place->clean_size * 2);
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		size_t begin = line_begin(place, lines[i]), end = line_begin(place, lines[i] + 1);

		memcpy(copy + size, place->clean + begin, end - begin);
		size += end - begin;
	}
	rewrite(place, copy, size);
}

static void test_lines_moved(void **state)
{
	static const struct {
		int lines[8];
		size_t count;
		uint64_t problems;
	} cases[] = {
		{{0, 1, 2, 3}, 4, 0},	 {{1, 2, 3}, 3, 1}, /* the beginning cut off */
		{{0, 1, 3, 4}, 4, 1},			    /* dropped */
		{{0, 1, 1, 2}, 4, 1},			    /* duplicated */
		{{0, 2, 1, 3}, 4, 3},			    /* reordered */
		{{0, 1, 2, 0, 1}, 5, 1},		    /* replayed */
	};
	struct place *place = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		rewrite_lines(place, cases[i].lines, cases[i].count);
		assert_int_equal(verify(place).problems, cases[i].problems);
	}
}

/* Foreign lines, whatever they are, cost themselves and no other record. */
static void test_garbage_between(void **state)
{
	static const char *const garbage[] = {
		"\n",
		"{}\n",
		"\xff\xfe\n",
		"{\"seq\":7,\"chain\":\"\"}\n",
		"{\"seq\":99999999999999999999,\"x\":1}\n",
	};
	struct place *place = *state;
	size_t middle = line_begin(place, 5);

	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		_cleanup_(freep) char *copy = malloc(place->clean_size + 100);
		size_t size = strlen(garbage[i]);
		struct audit_verification result;

		memcpy(copy, place->clean, middle);
		memcpy(copy + middle, garbage[i], size);
		memcpy(copy + middle + size, place->clean + middle, place->clean_size - middle);
		rewrite(place, copy, place->clean_size + size);
		result = verify(place);
		assert_int_equal(result.problems, 1);
		assert_int_equal(result.records, RECORDS);
	}
}

static void test_line_without_end(void **state)
{
	struct place *place = *state;
	size_t size = (CHAIN_LINE_MAX + (1u << 20)) + place->clean_size;
	_cleanup_(freep) char *copy = malloc(size);
	struct audit_verification result;

	memset(copy, 'x', size);
	copy[size - place->clean_size - 1] = '\n';
	memcpy(copy + size - place->clean_size, place->clean, place->clean_size);
	rewrite(place, copy, size);
	result = verify(place);
	assert_int_equal(result.problems, 1);
	assert_int_equal(result.records, RECORDS);
}

/* Torn is no problem as long as somebody writes. */
static void test_torn_end(void **state)
{
	struct place *place = *state;
	struct audit_log *log;
	uint64_t repaired;
	int fd;

	rewrite(place, place->clean, place->clean_size - 5);
	assert_int_equal(verify(place).problems, 1);
	assert_int_equal(audit_log_open(place->directory, NULL, &log, &repaired, NULL), 0);
	fd = open(place->file, O_WRONLY | O_APPEND);
	assert_int_equal(io_write_all(fd, "{\"seq\":", 7), 0);
	close(fd);
	assert_int_equal(verify(place).torn_bytes, 7);
	assert_int_equal(verify(place).problems, 0);
	audit_log_close(log);
}

static json_t *next(struct audit_reader *reader, int expected)
{
	struct failure failure = {0};
	json_t *record = NULL;
	int r = audit_reader_next(reader, &record, &failure);

	if (r != expected)
		fail_msg("%d instead of %d: %s", r, expected, failure.text);
	return record;
}

static void assert_next(struct audit_reader *reader, int sequence)
{
	json_t *record = next(reader, 0);

	assert_int_equal(json_integer_value(json_object_get(record, "seq")), sequence);
	json_decref(record);
}

/* A changed record is read all the same, and says that it is damaged; what follows is as it was. */
static void test_damaged_record(void **state)
{
	struct place *place = *state;
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	const char *mark;
	json_t *record;
	char *at;

	at = strchr(strstr(place->clean + line_begin(place, 2), "\"@timestamp\":\""), 'Z');
	at[-1] = at[-1] == '1' ? '2' : '1';
	rewrite(place, place->clean, place->clean_size);
	assert_int_equal(audit_reader_open(place->directory, &reader, NULL), 0);
	assert_next(reader, 1);
	assert_next(reader, 2);
	record = next(reader, -EBADMSG);
	assert_int_equal(json_integer_value(json_object_get(record, "seq")), 3);
	mark = json_string_value(json_object_get(json_object_get(record, "cordon"), "damaged"));
	assert_non_null(mark);
	assert_non_null(strstr(mark, "the chain is broken"));
	json_decref(record);
	assert_next(reader, 4);
}

/* A log that grows byte by byte gives each record once, when it is whole. */
static void test_follow(void **state)
{
	struct place *place = *state;
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	size_t end = line_begin(place, 3), size = 0;
	int seen = 0, fd;

	rewrite(place, "", 0);
	assert_int_equal(audit_reader_open(place->directory, &reader, NULL), 0);
	fd = open(place->file, O_WRONLY | O_APPEND);
	for (; size < end; size++) {
		next(reader, -ENODATA);
		assert_int_equal(io_write_all(fd, place->clean + size, 1), 0);
		if (place->clean[size] == '\n')
			assert_next(reader, ++seen);
	}
	assert_int_equal(seen, 3);
	/* A torn line that a starting writer cuts off leaves no trace. */
	assert_int_equal(io_write_all(fd, "{\"seq\":4", 8), 0);
	next(reader, -ENODATA);
	assert_int_equal(ftruncate(fd, (off_t)end), 0);
	next(reader, -ENODATA);
	assert_int_equal(io_write_all(fd, place->clean + end, line_begin(place, 4) - end), 0);
	assert_next(reader, 4);
	/* But whole records do. */
	assert_int_equal(ftruncate(fd, 10), 0);
	next(reader, -EBADMSG);
	next(reader, -ENODATA);
	close(fd);
}

static void test_follow_into_a_new_file(void **state)
{
	struct place *place = *state;
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;

	assert_int_equal(audit_reader_open(place->directory, &reader, NULL), 0);
	for (int i = 1; i <= RECORDS; i++)
		assert_next(reader, i);
	next(reader, -ENODATA);
	unlink(place->file);
	next(reader, -ENODATA);
	rewrite(place, place->clean, line_begin(place, 2));
	assert_next(reader, 1);
	assert_next(reader, 2);
	next(reader, -ENODATA);
}

/* --- segments --- */

static void compress_to(const struct place *place, uint64_t first, const char *data, size_t size)
{
	char path[128];
	gzFile file;

	snprintf(path, sizeof(path), "%s/%020llu.jsonl.gz", place->directory,
		 (unsigned long long)first);
	file = gzopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(gzwrite(file, data, (unsigned int)size), (int)size);
	assert_int_equal(gzclose(file), Z_OK);
}

static void write_to(const struct place *place, uint64_t first, const char *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%020llu.jsonl", place->directory,
		 (unsigned long long)first);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, size), 0);
	close(fd);
}

/* 1 to 4 compressed, 5 to 8 not, the rest in the one that grows. */
static void cut_into_segments(const struct place *place)
{
	size_t second = line_begin(place, 4), third = line_begin(place, 8);

	compress_to(place, 1, place->clean, second);
	write_to(place, 5, place->clean + second, third - second);
	rewrite(place, place->clean + third, place->clean_size - third);
}

static void test_segments(void **state)
{
	struct place *place = *state;
	struct audit_verification result;

	cut_into_segments(place);
	result = verify(place);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.records, RECORDS);
	assert_int_equal(result.segments, 3);
	/* One that was compressed and not yet removed is read once. */
	write_to(place, 1, place->clean, line_begin(place, 4));
	result = verify(place);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.records, RECORDS);
	assert_int_equal(result.segments, 3);
}

static void remove_segment(const struct place *place, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", place->directory, name);
	assert_int_equal(unlink(path), 0);
}

static void test_segment_missing(void **state)
{
	struct place *place = *state;

	cut_into_segments(place);
	remove_segment(place, "00000000000000000005.jsonl");
	assert_int_equal(verify(place).problems, 1);
	cut_into_segments(place);
	remove_segment(place, "00000000000000000001.jsonl.gz");
	assert_int_equal(verify(place).problems, 1);
}

static void test_segments_swapped(void **state)
{
	struct place *place = *state;
	size_t second = line_begin(place, 4), third = line_begin(place, 8);

	cut_into_segments(place);
	compress_to(place, 1, place->clean + second, third - second);
	write_to(place, 5, place->clean, second);
	assert_true(verify(place).problems > 0);
}

/* Any byte of the compressed file may change: all before is read, what cannot be read is told. */
static void test_compressed_damaged(void **state)
{
	struct place *place = *state;
	char path[128];
	_cleanup_(freep) char *data = NULL;
	size_t size;

	cut_into_segments(place);
	snprintf(path, sizeof(path), "%s/00000000000000000001.jsonl.gz", place->directory);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &data, &size), 0);
	for (size_t cut = 0; cut < size; cut++) {
		assert_int_equal(truncate(path, (off_t)cut), 0);
		assert_true(verify(place).problems > 0);
		compress_to(place, 1, place->clean, line_begin(place, 4));
	}
	for (size_t at = 10; at < size; at++) {
		int fd = open(path, O_WRONLY);
		char changed = (char)(data[at] ^ 0x10);

		assert_int_equal(pwrite(fd, &changed, 1, (off_t)at), 1);
		assert_true(verify(place).problems > 0);
		assert_int_equal(pwrite(fd, &data[at], 1, (off_t)at), 1);
		close(fd);
	}
	assert_int_equal(verify(place).problems, 0);
	/* And nothing may come behind its end. */
	for (int behind = 0; behind < 2; behind++) {
		int fd = open(path, O_WRONLY | O_APPEND);

		assert_int_equal(io_write_all(fd, behind ? "x" : data, behind ? 1 : size), 0);
		close(fd);
		assert_true(verify(place).problems > 0);
		compress_to(place, 1, place->clean, line_begin(place, 4));
	}
}

/* A reader sees each record once while segments are closed, compressed and deleted under it. */
static void test_follow_segments(void **state)
{
	struct place *place = *state;
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	size_t second = line_begin(place, 4), third = line_begin(place, 8);
	char closed[128];

	rewrite(place, place->clean, line_begin(place, 2));
	assert_int_equal(audit_reader_open(place->directory, &reader, NULL), 0);
	assert_next(reader, 1);
	assert_next(reader, 2);
	next(reader, -ENODATA);
	rewrite(place, place->clean, second);
	snprintf(closed, sizeof(closed), "%s/00000000000000000001.jsonl", place->directory);
	assert_int_equal(rename(place->file, closed), 0);
	/* Between two segments there may be none that grows. */
	assert_next(reader, 3);
	assert_next(reader, 4);
	next(reader, -ENODATA);
	rewrite(place, place->clean + second, third - second);
	assert_next(reader, 5);
	compress_to(place, 1, place->clean, second);
	unlink(closed);
	compress_to(place, 5, place->clean + second, third - second);
	unlink(place->file);
	rewrite(place, place->clean + third, place->clean_size - third);
	for (int i = 6; i <= RECORDS; i++)
		assert_next(reader, i);
	next(reader, -ENODATA);
}

static void test_no_log(void **state)
{
	struct audit_reader *reader = NULL;
	struct failure failure = {0};

	(void)state;
	assert_int_equal(audit_reader_open("/nonexistent/log", &reader, &failure), -ENOENT);
	assert_non_null(strstr(failure.text, "--log"));
	failure.text[0] = '\0';
	assert_int_equal(audit_reader_open("/dev/null", &reader, &failure), -ENOTDIR);
	assert_null(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_clean),
		TEST(test_every_edit),
		TEST(test_lines_moved),
		TEST(test_garbage_between),
		TEST(test_line_without_end),
		TEST(test_torn_end),
		TEST(test_damaged_record),
		TEST(test_follow),
		TEST(test_follow_into_a_new_file),
		TEST(test_segments),
		TEST(test_segment_missing),
		TEST(test_segments_swapped),
		TEST(test_compressed_damaged),
		TEST(test_follow_segments),
		cmocka_unit_test(test_no_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
