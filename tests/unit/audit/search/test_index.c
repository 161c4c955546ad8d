// SPDX-License-Identifier: Apache-2.0
/* An index finds what reading all of the log finds, and is never believed against the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <zlib.h>

#include "audit/search/index.h"
#include "audit/write/log.h"
#include "audit/search/search.h"
#include "audit/storage/chain.h"
#include "audit/storage/segment.h"
#include "audit/storage/segments.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "base/io.h"

#define RECORDS	   1000
#define EXECUTIONS 7

struct place {
	char directory[64], log[96], index[96], lock[96];
	uint32_t random;
	unsigned int written;
	uint64_t segment_bytes; /* 0: one segment */
};

#define LONGEST_TEXT 150000u

static uint32_t draw(struct place *p, uint32_t below)
{
	p->random = p->random * 1664525u + 1013904223u;
	return (p->random >> 8) % below;
}

static const char *const actions[] = {"denial", "would-deny", "open", "connect", "process-exec"};
static const char *const paths[] = {"/etc/shadow", "/etc/ssh/key", "/srv/w/\xc3\xa9\"\\{",
				    "/tmp/a b\n", "/usr/bin/python3"};
static const char *const addresses[] = {"203.0.113.7", "203.0.113.200", "2001:db8::1"};

static json_t *make_record(struct place *p)
{
	const char *action = actions[draw(p, ARRAY_SIZE(actions))];
	const char *path = paths[draw(p, ARRAY_SIZE(paths))];
	char time[CLOCK_TEXT_SIZE], id[40], session[8];
	json_t *record;

	clock_format(1795000000ull * NSEC_PER_SEC + p->written++ * NSEC_PER_MSEC, time);
	snprintf(id, sizeof(id), "01a2013c-0000-7000-8000-%012u", draw(p, EXECUTIONS));
	snprintf(session, sizeof(session), "s%u", draw(p, 3));
	record = json_pack("{s:s, s:{s:s}, s:{s:{s:s, s:s, s:s?}, s:{s:s, s:s}, s:s}}",
			   "@timestamp", time, "event", "action", action, "cordon", "execution",
			   "id", id, "session", session, "agent", draw(p, 2) ? "coder" : NULL,
			   "policy", "name", draw(p, 2) ? "one" : "two", "digest", "b471e8faf4ea",
			   "operation", draw(p, 2) ? "open" : "unlink");
	if (strcmp(action, "process-exec") == 0)
		json_object_set_new(record, "process", json_pack("{s:s}", "executable", path));
	else if (strcmp(action, "connect") == 0)
		json_object_set_new(record, "destination",
				    json_pack("{s:s, s:i}", "ip",
					      addresses[draw(p, ARRAY_SIZE(addresses))], "port",
					      draw(p, 2) ? 443 : 80));
	else
		json_object_set_new(record, "file", json_pack("{s:s}", "path", path));
	/* Some longer than what is read for one place, or for several. */
	if (draw(p, 200) == 0) {
		_cleanup_(freep) char *text = calloc(1, LONGEST_TEXT + 1);

		memset(text, 'x', draw(p, LONGEST_TEXT));
		json_object_set_new(record, "message", json_string(text));
	}
	assert_non_null(record);
	return record;
}

static void write_records(struct place *p, unsigned int count)
{
	_cleanup_(audit_log_closep) struct audit_log *log = NULL;
	struct audit_log_options options = AUDIT_LOG_DEFAULTS;
	uint64_t repaired;

	options.segment_bytes = p->segment_bytes;
	assert_int_equal(audit_log_open(p->directory, &options, &log, &repaired, NULL), 0);
	for (unsigned int i = 0; i < count; i++) {
		json_t *record = make_record(p);

		assert_int_equal(audit_log_append(log, record), 0);
		json_decref(record);
		if (p->segment_bytes && i % 50 == 0)
			assert_int_equal(audit_log_flush(log, false), 0);
	}
	assert_int_equal(audit_log_flush(log, false), 0);
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->directory, "/tmp/cordon-index-XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	snprintf(p->log, sizeof(p->log), "%s/%s", p->directory, SEGMENT_NAME);
	snprintf(p->lock, sizeof(p->lock), "%s/%s", p->directory, SEGMENT_LOCK);
	snprintf(p->index, sizeof(p->index), "%s/%s", p->directory, INDEX_NAME);
	p->random = 1;
	write_records(p, RECORDS);
	*state = p;
	return 0;
}

static void clear(const struct place *p)
{
	_cleanup_(closedirp) DIR *directory = opendir(p->directory);
	struct dirent *entry;

	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(directory), entry->d_name, 0);
}

static int teardown(void **state)
{
	struct place *p = *state;

	clear(p);
	assert_int_equal(rmdir(p->directory), 0);
	free(p);
	return 0;
}

static struct index_result update(const struct place *p, bool rebuild, bool check)
{
	struct index_result result;
	struct failure failure = {0};

	if (index_update(p->directory, rebuild, check, NULL, &result, &failure) < 0)
		fail_msg("%s", failure.text);
	return result;
}

static unsigned int marked;

static int note(void *data, json_t *record)
{
	marked += json_object_get(json_object_get(record, "cordon"), "damaged") != NULL;
	fprintf(data, "%lld ", (long long)json_integer_value(json_object_get(record, "seq")));
	return 0;
}

/* Takes every other line, so that lines and records have to come in one order. */
static bool note_line(void *data, const char *line, size_t size)
{
	uint64_t sequence;

	assert_int_equal(chain_sequence(line, size, &sequence), 0);
	if (sequence % 2)
		fprintf(data, "%llu ", (unsigned long long)sequence);
	return sequence % 2;
}

static void at_most_all(void *data, uint64_t done, uint64_t all)
{
	*(bool *)data = true;
	assert_true(done <= all);
}

/* The sequence numbers of what is found. */
static char *find(const struct place *p, const struct audit_query *query, bool no_index,
		  uint64_t limit, struct search_result *result)
{
	bool told = false;
	const struct search_options options = {.no_index = no_index,
					       .limit = limit,
					       .visit_line = note_line,
					       .progress = at_most_all,
					       .progress_data = &told};
	struct failure failure = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (audit_search(p->directory, query, &options, note, out, result, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_true(told || result->looked_at == 0);
	fclose(out);
	return text;
}

/* With the index and without it: the same, and the index was of use. */
static void assert_found_alike(const struct place *p, const struct audit_query *query)
{
	struct search_result with, without;
	_cleanup_(freep) char *fast = find(p, query, false, 0, &with);
	_cleanup_(freep) char *slow = find(p, query, true, 0, &without);
	_cleanup_(freep) char *last = find(p, query, false, 3, &with);
	size_t length = strlen(slow), spaces = 0;

	assert_string_equal(fast, slow);
	assert_true(with.used_index);
	assert_false(with.stale);
	assert_false(without.used_index);
	/* The last three of them. */
	while (length > 0 && spaces < 4)
		spaces += slow[--length] == ' ';
	assert_string_equal(last, slow + length + (spaces == 4));
}

static void ask_everything(struct place *p)
{
	struct audit_glob *globs[3] = {0};
	static const char *const patterns[] = {"/etc/**", "python3", "{/tmp/*,/srv/**}"};
	static const char *const networks[] = {"203.0.113.0/25", "203.0.113.0/24:443",
					       "2001:db8::1"};
	char since[CLOCK_TEXT_SIZE], until[CLOCK_TEXT_SIZE], id[40];
	struct audit_network network;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		assert_int_equal(audit_glob_new(patterns[i], &globs[i]), 0);
	for (unsigned int i = 0; i < 25; i++) {
		struct audit_query q = {0};
		uint64_t from = 1795000000ull * NSEC_PER_SEC + draw(p, RECORDS) * NSEC_PER_MSEC;

		snprintf(id, sizeof(id), "01a2013c-0000-7000-8000-%012u", draw(p, EXECUTIONS));
		clock_format(from, since);
		clock_format(from + draw(p, 1000) * NSEC_PER_MSEC, until);
		assert_int_equal(audit_network_parse(networks[draw(p, 3)], &network), 0);
		q.execution = draw(p, 3)   ? NULL
			      : draw(p, 2) ? id
			      : draw(p, 2) ? uuid_end(id)
					   : "01a2013c";
		q.session = draw(p, 3) ? NULL : "s1";
		q.agent = draw(p, 3) ? NULL : "coder";
		q.policy = draw(p, 3) ? NULL : draw(p, 2) ? "one" : "b471e8fa";
		q.operation = draw(p, 3) ? NULL : "unlink";
		q.action = draw(p, 5) ? NULL : actions[draw(p, ARRAY_SIZE(actions))];
		q.verdict = draw(p, 3) ? AUDIT_VERDICT_ANY : 1 + draw(p, 3);
		q.path = draw(p, 3) ? NULL : globs[draw(p, 3)];
		q.address = draw(p, 4) ? NULL : &network;
		q.since = draw(p, 3) ? NULL : since;
		q.until = draw(p, 3) ? NULL : until;
		q.text = draw(p, 4) ? NULL : draw(p, 2) ? "shadow" : "\xc3\xa9";
		assert_found_alike(p, &q);
	}
	for (size_t i = 0; i < ARRAY_SIZE(globs); i++)
		audit_glob_free(TAKE_PTR(globs[i]));
}

static void test_finds_the_same(void **state)
{
	struct index_result result = update(*state, false, false);

	assert_true(result.built);
	assert_int_equal(result.records, RECORDS);
	ask_everything(*state);
}

static void test_grows(void **state)
{
	struct audit_query all = {.text = "coder"};
	struct place *p = *state;
	struct search_result found;
	struct index_result result;

	update(p, false, false);
	write_records(p, 100);
	/* What is not in the index yet is found all the same. */
	free(find(p, &all, false, 0, &found));
	assert_true(found.used_index);
	assert_found_alike(p, &all);
	result = update(p, false, true);
	assert_false(result.built);
	assert_int_equal(result.added, 100);
	assert_int_equal(result.records, RECORDS + 100);
	result = update(p, false, false);
	assert_int_equal(result.added, 0);
	ask_everything(p);
}

static void test_leaves_a_torn_line_out(void **state)
{
	struct place *p = *state;
	struct index_result result;
	int fd = open(p->log, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "{\"seq\":1001,\"@time", 18), 0);
	close(fd);
	result = update(p, false, false);
	assert_int_equal(result.records, RECORDS);
	assert_int_equal(result.skipped, 0);
	/* The writer cuts it off and goes on. */
	write_records(p, 5);
	result = update(p, false, false);
	assert_false(result.built);
	assert_int_equal(result.added, 5);
	ask_everything(p);
}

static void edit(const char *path, long offset, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat status;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	if (offset < 0)
		offset += status.st_size;
	assert_int_equal(pwrite(fd, bytes, size, offset), size);
	close(fd);
}

static void test_notices_another_log(void **state)
{
	struct place *p = *state;
	struct search_result found;
	struct index_result result;

	update(p, false, false);
	/* Another log takes its place; its index stays behind. */
	assert_int_equal(unlink(p->log), 0);
	p->random = 99;
	p->written = 0;
	write_records(p, 50);
	free(find(p, &(struct audit_query){.agent = "coder"}, false, 0, &found));
	assert_true(found.found > 0);
	result = update(p, false, false);
	assert_int_equal(result.records, 50);
	ask_everything(p);
}

static void test_notices_a_shorter_log(void **state)
{
	struct place *p = *state;
	struct search_result found;
	struct index_result result;
	struct stat status;

	update(p, false, false);
	assert_int_equal(stat(p->log, &status), 0);
	assert_int_equal(truncate(p->log, status.st_size / 2), 0);
	free(find(p, &(struct audit_query){.agent = "coder"}, false, 0, &found));
	assert_true(found.stale);
	result = update(p, false, false);
	assert_true(result.built);
	assert_string_equal(result.why, "it did not agree with the log");
	write_records(p, 3);
	ask_everything(p);
}

/* The last records come from the log's end: what lies before is not even read. */
static void test_last_reads_the_end(void **state)
{
	static const struct audit_query everything = {.session = NULL};
	struct place *p = *state;
	struct search_result all, last, none;
	_cleanup_(freep) char *whole = find(p, &everything, true, 0, &all);

	for (uint64_t limit = 1; limit < 2 * RECORDS; limit *= 3) {
		_cleanup_(freep) char *text = find(p, &everything, true, limit, &last);
		size_t size = strlen(text);

		assert_int_equal(last.found, limit < RECORDS ? limit : RECORDS);
		assert_string_equal(whole + strlen(whole) - size, text);
	}
	free(find(p, &everything, true, 10, &last));
	assert_true(last.looked_at < RECORDS / 3);
	/* And on to the beginning where there are none. */
	free(find(p, &(struct audit_query){.session = "none"}, true, 10, &none));
	assert_int_equal(none.found, 0);
	assert_int_equal(none.looked_at, RECORDS);
}

static int note_action(void *data, json_t *record)
{
	const char *action =
		json_string_value(json_object_get(json_object_get(record, "event"), "action"));

	fprintf(data, "%s%s ", action,
		json_object_get(json_object_get(record, "cordon"), "damaged") ? "!" : "");
	return 0;
}

/* The last so many that are not passed over; one that was altered is not. */
static void test_passes_over(void **state)
{
	struct place *p = *state;
	const struct search_options options = {
		.no_index = true, .limit = 3, .but_action = "denial"};
	static const struct audit_query everything = {.session = NULL};
	struct search_result result;
	struct failure failure = {0};
	char *text = NULL;
	const char *at;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(audit_search(p->directory, &everything, &options, note_action, out,
				      &result, &failure),
			 0);
	fclose(out);
	assert_int_equal(result.found, 3);
	assert_null(strstr(text, "denial"));
	free(text);

	/* One gets another session. */
	assert_int_equal(io_read_file(AT_FDCWD, p->log, 64 << 20, &text, &size), 0);
	at = strstr(text + size / 2, "\"action\":\"denial\"");
	assert_non_null(at);
	at = strstr(at, "\"session\":\"");
	assert_non_null(at);
	edit(p->log, at + 11 - text, "X", 1);
	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	assert_int_equal(
		audit_search(p->directory, &everything,
			     &(struct search_options){.no_index = true, .but_action = "denial"},
			     note_action, out, &result, &failure),
		0);
	fclose(out);
	assert_non_null(strstr(text, "denial! "));
	assert_null(strstr(text, "denial "));
	free(text);
}

static void test_marks_what_was_altered(void **state)
{
	static const struct audit_query everything = {.session = "s1"};
	struct place *p = *state;
	struct search_result before, after;
	char *text, *at;
	size_t size;

	update(p, false, false);
	free(find(p, &everything, false, 0, &before));
	assert_int_equal(before.damaged, 0);
	assert_int_equal(io_read_file(AT_FDCWD, p->log, 64 << 20, &text, &size), 0);
	at = strstr(text + size / 2, "\"session\":\"s1\"");
	assert_non_null(at);
	/* In the same record: another operation. */
	at = strstr(at, "\"name\":\"");
	edit(p->log, at + 8 - text, "X", 1);
	free(text);
	assert_int_equal(marked, 0);
	free(find(p, &everything, false, 0, &after));
	assert_int_equal(marked, 1);
	assert_int_equal(after.damaged, 1);
	assert_int_equal(after.found, before.found);
	free(find(p, &everything, true, 0, &after));
	assert_int_equal(after.damaged, 1);
	free(find(p, &(struct audit_query){.session = NULL}, true, 0, &after));
	assert_int_equal(after.damaged, 1);
	assert_int_equal(after.found, RECORDS);
	assert_int_equal(marked, 3);
}

/* Any byte of the index: what is found stays right, or the damage is noticed. */
static void test_survives_damage(void **state)
{
	static const struct audit_query q = {.session = "s1", .operation = "unlink"};
	struct place *p = *state;
	struct search_result found;
	_cleanup_(freep) char *right = find(p, &q, true, 0, &found);
	_cleanup_(freep) char *clean = NULL;
	size_t size, noticed = 0;

	update(p, false, false);
	assert_int_equal(io_read_file(AT_FDCWD, p->index, 64 << 20, &clean, &size), 0);
	for (size_t at = 0; at < size; at += 1 + size / 40) {
		_cleanup_(freep) char *text = NULL;
		char changed = (char)(clean[at] ^ 0x55);
		struct index_result result;

		edit(p->index, (long)at, &changed, 1);
		result = update(p, false, true);
		noticed += result.built;
		text = find(p, &q, false, 0, &found);
		assert_string_equal(text, right);
		/* Back to what it was, for the next byte. */
		assert_int_equal(truncate(p->index, 0), 0);
		edit(p->index, 0, clean, size);
	}
	assert_true(noticed > 0);
}

static void test_replaces_what_is_no_index(void **state)
{
	static const char *const contents[] = {"", "no database at all", "SQLite format 3"};
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
		int fd = open(p->index, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		struct search_result found;

		assert_int_equal(io_write_all(fd, contents[i], strlen(contents[i])), 0);
		close(fd);
		free(find(p, &(struct audit_query){.agent = "coder"}, false, 0, &found));
		assert_true(found.stale);
		assert_true(found.found > 0);
		assert_true(update(p, false, false).built);
	}
	ask_everything(p);
}

static void stop_at_once(void *data, uint64_t done, uint64_t all)
{
	(void)done;
	(void)all;
	*(volatile sig_atomic_t *)data = 1;
}

/* Stopped halfway: nothing new lies there, and the index that was there is as it was. */
static void test_can_be_stopped(void **state)
{
	volatile sig_atomic_t stop = 0;
	const struct index_progress progress = {stop_at_once, (void *)&stop, &stop};
	struct failure failure = {0};
	struct place *p = *state;
	struct index_result result;
	char fresh[PATH_MAX];

	update(p, false, false);
	snprintf(fresh, sizeof(fresh), "%s/%s.new", p->directory, INDEX_NAME);
	assert_int_equal(index_update(p->directory, true, false, &progress, &result, &failure),
			 -ECANCELED);
	assert_int_equal(access(fresh, F_OK), -1);
	assert_int_equal(update(p, false, true).added, 0);
	stop = 0;
	write_records(p, RECORDS);
	assert_int_equal(index_update(p->directory, false, false, &progress, &result, &failure),
			 -ECANCELED);
	assert_false(update(p, false, true).built);
}

static void test_refuses_what_is_no_log(void **state)
{
	struct place *p = *state;
	struct index_result result;
	struct failure failure = {0};

	assert_int_equal(index_update("/tmp/no-such-log", false, false, NULL, &result, &failure),
			 -ENOENT);
	assert_non_null(strstr(failure.text, "--log"));
	/* A link where the index should be is replaced, not followed. */
	assert_int_equal(symlink(p->log, p->index), 0);
	assert_true(index_update(p->directory, false, false, NULL, &result, NULL) < 0 ||
		    result.built);
	unlink(p->index);
}

/* Replaces a closed segment by its compressed self. */
static void compress_segment(const struct place *p, const struct segments_entry *entry)
{
	char name[SEGMENTS_NAME_SIZE], plain[PATH_MAX], packed[PATH_MAX];
	_cleanup_(freep) char *text = NULL;
	size_t size;
	gzFile out;

	segments_name(entry->first, false, name);
	snprintf(plain, sizeof(plain), "%s/%s", p->directory, name);
	segments_name(entry->first, true, name);
	snprintf(packed, sizeof(packed), "%s/%s", p->directory, name);
	assert_int_equal(io_read_file(AT_FDCWD, plain, 64 << 20, &text, &size), 0);
	out = gzopen(packed, "wb");
	assert_int_equal(gzwrite(out, text, (unsigned int)size), size);
	assert_int_equal(gzclose(out), Z_OK);
	assert_int_equal(unlink(plain), 0);
}

/* Segments are closed, compressed and deleted under the index. */
static void test_follows_segments(void **state)
{
	_cleanup_(segments_free) struct segments segments = {0};
	struct place *p = *state;
	struct index_result result;
	struct search_result found;
	char name[SEGMENTS_NAME_SIZE], path[PATH_MAX];

	update(p, false, false);
	p->segment_bytes = 64 << 10;
	write_records(p, RECORDS);
	assert_int_equal(segments_list(p->directory, &segments), 0);
	assert_true(segments.count >= 4);
	result = update(p, false, false);
	assert_false(result.built);
	assert_true(result.records >= 2 * RECORDS);
	ask_everything(p);
	for (size_t i = 0; i < segments.count; i += 2)
		compress_segment(p, &segments.entries[i]);
	result = update(p, false, false);
	assert_false(result.built);
	assert_int_equal(result.added, 0);
	ask_everything(p);
	/* Nothing that is compressed and known is read again. */
	result = update(p, false, false);
	assert_int_equal(result.bytes, 0);
	/* The oldest go. */
	segments_name(segments.entries[0].first, true, name);
	snprintf(path, sizeof(path), "%s/%s", p->directory, name);
	assert_int_equal(unlink(path), 0);
	ask_everything(p);
	result = update(p, false, false);
	assert_false(result.built);
	/* Compressed ones that the index does not know. */
	result = update(p, true, false);
	assert_true(result.built);
	ask_everything(p);
	unlink(p->index);
	free(find(p, &(struct audit_query){.session = "s1"}, false, 0, &found));
	assert_true(found.found > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_finds_the_same),	   TEST(test_grows),
		TEST(test_leaves_a_torn_line_out), TEST(test_notices_another_log),
		TEST(test_notices_a_shorter_log),  TEST(test_marks_what_was_altered),
		TEST(test_last_reads_the_end),	   TEST(test_passes_over),
		TEST(test_survives_damage),	   TEST(test_replaces_what_is_no_index),
		TEST(test_refuses_what_is_no_log), TEST(test_follows_segments),
		TEST(test_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
