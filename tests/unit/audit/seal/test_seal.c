/* SPDX-License-Identifier: Apache-2.0 */
/* Sealed logs, and all that may be done to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "audit/storage/chain.h"
#include "audit/write/log.h"
#include "audit/seal/seal.h"
#include "audit/storage/segment.h"
#include "audit/storage/segments.h"
#include "audit/seal/verify.h"
#include "base/io.h"

#define MUTATIONS  10000
#define CLEAN_LOGS 1000

static uint64_t seed = 0x243f6a8885a308d3ull;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % below;
}

/* --- a log, in memory ---------------------------------------------------------------------- */

/* That of the log, and those that take its place. */
#define KEYS 4
static const unsigned char verification[KEYS][SEAL_KEY_SIZE] = {{1, 2, 3}, {4, 5, 6}, {7, 8}, {9}};
static size_t key_count = 1;
static uint64_t now = 1763683200000000000ull;

static uint64_t pretended_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? now : now - 1763683000000000000ull;
}

static struct audit_log_options options = {
	.clock = pretended_clock,
	.segment_bytes = 1500,
	.seal_nsec = 10 * NSEC_PER_SEC,
};

static char directory[] = "/dev/shm/cordon-seal-XXXXXX";

static void empty(void)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
}

static void begin_with(const unsigned char key_text[SEAL_KEY_SIZE])
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key;

	assert_int_equal(seal_key_first(key_text, &key), 0);
	assert_int_equal(seal_file_create(fd, &key, &file), 0);
	seal_file_close(&file);
	assert_int_equal(seal_file_create(fd, &key, &file), -EEXIST);
	close(fd);
}

static void set_up_keys(void)
{
	key_count = 1;
	begin_with(verification[0]);
}

/* As `cordon log renew-keys` does. */
static void renew_keys(void)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key;

	assert_true(key_count < KEYS);
	assert_int_equal(seal_key_first(verification[key_count], &key), 0);
	assert_int_equal(seal_next_draft(fd, &key, &file), 0);
	seal_file_close(&file);
	if (seal_next_offer(fd) == 0)
		key_count++;
	close(fd);
}

static uint64_t stepped;

static struct audit_log *open_log(void)
{
	struct audit_log *log = NULL;
	uint64_t repaired;

	assert_int_equal(audit_log_open(directory, &options, &log, &repaired, NULL), 0);
	return log;
}

static void append(struct audit_log *log, int number)
{
	_cleanup_(json_decrefp) json_t *record = NULL;
	char time[CLOCK_TEXT_SIZE];

	clock_format(now + stepped, time);
	record = json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i, s:{s:i}}}", "@timestamp", time,
			   "event", "kind", "event", "action", "agent-test", "outcome", "success",
			   "cordon", "schema", 1, "agent", "number", number);
	assert_int_equal(audit_log_append(log, record), 0);
}

/* As a daemon's: several writers one after the other, seals and segments between. */
static void make_log(unsigned int records)
{
	struct audit_log *log = NULL;

	empty();
	set_up_keys();
	options.compress = any(2);
	options.keep_segments = any(3) == 0 ? 2 + any(3) : 0;
	for (unsigned int i = 0; i < records; i++) {
		if (!log)
			log = open_log();
		append(log, (int)i);
		now += any(3000) * NSEC_PER_MSEC;
		if (any(4) == 0)
			assert_int_equal(audit_log_flush(log, any(2)), 0);
		if (key_count < KEYS && any(60) == 0)
			renew_keys();
		if (any(3) == 0)
			(void)audit_log_tick(log);
		if (any(20) == 0) {
			audit_log_close(log);
			log = NULL;
		}
	}
	if (log)
		audit_log_close(log);
}

/* Its files, to be put back. */
struct file {
	char name[64];
	char *data;
	size_t size;
};

#define FILES_MAX 64

struct image {
	struct file files[FILES_MAX];
	size_t count;
};

static void write_file(const char *name, const char *data, size_t size)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, size), 0);
	close(fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

/* Segments first, in order; *ret_segments: how many, the one that grows included. */
static void take_image(struct image *image, size_t *ret_segments)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *entry;
	size_t segments = 0;

	image->count = 0;
	while ((entry = readdir(dir)) != NULL) {
		struct file *file = &image->files[image->count];

		if (entry->d_name[0] == '.')
			continue;
		assert_true(image->count < FILES_MAX);
		snprintf(file->name, sizeof(file->name), "%s", entry->d_name);
		assert_int_equal(
			io_read_file(dirfd(dir), file->name, 1 << 20, &file->data, &file->size), 0);
		image->count++;
		segments += strstr(file->name, ".jsonl") != NULL;
	}
	/* Digits, then current.jsonl, then lock and seal.key. */
	qsort(image->files, image->count, sizeof(image->files[0]), by_name);
	*ret_segments = segments;
}

static void restore(const struct image *image)
{
	for (size_t i = 0; i < image->count; i++)
		write_file(image->files[i].name, image->files[i].data, image->files[i].size);
}

static void free_image(struct image *image)
{
	for (size_t i = 0; i < image->count; i++)
		free(image->files[i].data);
	image->count = 0;
}

/* --- verifying ----------------------------------------------------------------------------- */

static char last_text[1024];

static void keep_text(void *data, const char *text)
{
	(void)data;
	snprintf(last_text, sizeof(last_text), "%s", text);
}

struct told {
	unsigned int times;
	uint64_t done, all;
};

static void keep_progress(void *data, uint64_t done, uint64_t all)
{
	struct told *told = data;

	assert_true(done >= told->done && done <= all);
	assert_true(told->times == 0 || all == told->all);
	*told = (struct told){told->times + 1, done, all};
}

static bool any_compressed(void)
{
	struct segments segments;
	bool any = false;

	if (segments_list(directory, &segments) < 0)
		return false;
	for (size_t i = 0; i < segments.count; i++)
		any = any || segments.entries[i].compressed;
	segments_free(&segments);
	return any;
}

static struct verify_result verify(bool with_key)
{
	struct told told = {};
	const struct verify_options verify_options = {
		.keys = verification,
		.key_count = with_key ? key_count : 0,
		.problem = keep_text,
		.progress = keep_progress,
		.progress_data = &told,
	};
	struct verify_result result = {};
	struct failure failure = {};

	last_text[0] = '\0';
	if (verify_log(directory, &verify_options, &result, &failure) < 0)
		fail_msg("%s", failure.text);
	/* What is to be read is what was: of compressed segments, more or less. */
	if (result.bytes > 0)
		assert_true(told.times > 0);
	if (told.times > 0 && !any_compressed())
		assert_int_equal(told.all, result.bytes + result.torn_bytes);
	return result;
}

static void test_clean_logs(void **state)
{
	unsigned int compressed = 0, deleted = 0, renewed = 0;

	(void)state;
	for (int i = 0; i < CLEAN_LOGS; i++) {
		unsigned int records = 1 + any(60);
		struct verify_result result;

		make_log(records);
		for (int with_key = 0; with_key < 2; with_key++) {
			result = verify(with_key);
			if (result.problems > 0)
				fail_msg("false alarm: %s", last_text);
			assert_int_equal(result.records, result.sequence - result.first + 1);
			if (options.keep_segments == 0)
				assert_int_equal(result.first, 1);
			if (options.keep_segments == 0 && !options.compress)
				assert_int_equal(result.records, records + result.seals);
			compressed += options.compress && result.segments > 3;
			deleted += result.first > 1;
			renewed += key_count > 1;
		}
		assert_int_equal(result.sealed, result.sequence);
	}
	/* All that a log may be was among them. */
	assert_true(compressed > CLEAN_LOGS / 20 && deleted > CLEAN_LOGS / 20 &&
		    renewed > CLEAN_LOGS / 20);
}

/* One file of the image, changed. */
static void put_changed(const struct file *file, char *data, size_t size)
{
	write_file(file->name, data, size);
	free(data);
}

static size_t line_end(const struct file *file, size_t at)
{
	const char *newline = memchr(file->data + at, '\n', file->size - at);

	return newline ? (size_t)(newline + 1 - file->data) : file->size;
}

static size_t some_line(const struct file *file)
{
	size_t at = any((uint32_t)file->size);
	const char *newline = memrchr(file->data, '\n', at);

	return newline ? (size_t)(newline + 1 - file->data) : 0;
}

/* Without the bytes from `from` to `to`, and with `extra` in their place. */
static void put_spliced(const struct file *file, size_t from, size_t to, const char *extra,
			size_t size)
{
	char *data = malloc(file->size - (to - from) + size + 1);

	memcpy(data, file->data, from);
	memcpy(data + from, extra, size);
	memcpy(data + from + size, file->data + to, file->size - to);
	put_changed(file, data, file->size - (to - from) + size);
}

static void remove_file(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	assert_int_equal(unlink(path), 0);
}

/* Changes the log in one of many ways; false: what came out is the same. */
static bool mutate(const struct image *image, size_t segments, char *what, size_t what_size)
{
	const struct file *file = &image->files[any((uint32_t)segments)];
	const struct file *other = &image->files[any((uint32_t)segments)];
	unsigned int kind = any(12);
	size_t line, end, at;
	char byte;

	snprintf(what, what_size, "kind %u of %s", kind, file->name);
	if (file->size == 0)
		return false;
	line = some_line(file);
	end = line_end(file, line);
	at = any((uint32_t)file->size);
	switch (kind) {
	case 0: /* a bit */
		byte = (char)(file->data[at] ^ (1 << any(8)));
		put_spliced(file, at, at + 1, &byte, 1);
		return true;
	case 1: /* a byte */
		byte = (char)any(256);
		put_spliced(file, at, at + 1, &byte, 1);
		return byte != file->data[at];
	case 2: /* bytes gone */
		put_spliced(file, at, at + 1 + any((uint32_t)(file->size - at)), "", 0);
		return true;
	case 3: /* bytes more */
		put_spliced(file, at, at, &"0123456789{}\",\n"[any(10)], 1 + any(5));
		return true;
	case 4: /* a record gone */
		put_spliced(file, line, end, "", 0);
		return true;
	case 5: /* twice */
		put_spliced(file, end, end, file->data + line, end - line);
		return true;
	case 6: { /* two in the other order */
		size_t next = line_end(file, end < file->size ? end : line);
		char *swapped;

		if (end >= file->size)
			return false;
		swapped = malloc(next - line);
		memcpy(swapped, file->data + end, next - end);
		memcpy(swapped + (next - end), file->data + line, end - line);
		put_spliced(file, line, next, swapped, next - line);
		free(swapped);
		return true;
	}
	case 7: /* one of another place */
		if (other->size == 0)
			return false;
		at = some_line(other);
		put_spliced(file, line, line, other->data + at, line_end(other, at) - at);
		return true;
	case 8: /* the end cut off, at a record or anywhere */
		put_spliced(file, any(2) ? line : at, file->size, "", 0);
		return true;
	case 9: /* a segment gone */
		remove_file(file->name);
		return true;
	case 10: /* two exchanged */
		if (file == other)
			return false;
		write_file(file->name, other->data, other->size);
		write_file(other->name, file->data, file->size);
		return true;
	default: /* all behind a segment gone */
		for (const struct file *each = file; each < image->files + segments; each++)
			remove_file(each->name);
		return file->size > 0;
	}
}

static bool is_found(bool with_key)
{
	const struct verify_options verify_options = {
		.keys = verification,
		.key_count = with_key ? key_count : 0,
		.problem = keep_text,
	};
	struct verify_result result = {};
	int r = verify_log(directory, &verify_options, &result, NULL);

	/* A log that is all gone cannot be read. */
	return r < 0 || result.problems > 0;
}

static void test_mutations(void **state)
{
	unsigned int done = 0, found = 0, found_without_key = 0;
	struct image image = {};
	size_t segments = 0;
	char what[128];

	(void)state;
	while (done < MUTATIONS) {
		if (done % 200 == 0) {
			free_image(&image);
			make_log(20 + any(60));
			take_image(&image, &segments);
		}
		if (mutate(&image, segments, what, sizeof(what))) {
			done++;
			found_without_key += is_found(false);
			if (is_found(true))
				found++;
			else
				print_error("not found: %s\n", what);
		}
		restore(&image);
	}
	print_message("%u mutations, %u found; %u without the key\n", done, found,
		      found_without_key);
	assert_int_equal(found, done);
	free_image(&image);
}

/* --- an attacker who is root, and knows all that is on the host --------------------------- */

/* Writes the chain anew over all lines of the segment that grows. */
static void rechain(void)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	unsigned char chain[SHA256_SIZE] = {}, digest[SHA256_SIZE];
	char path[160], tail[CHAIN_TAIL_SIZE];
	_cleanup_(freep) char *data = NULL;
	size_t size;
	uint64_t sequence;

	snprintf(path, sizeof(path), "%s/" SEGMENT_NAME, directory);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &data, &size), 0);
	for (char *line = data; line < data + size;) {
		char *newline = memchr(line, '\n', (size_t)(data + size - line));
		size_t body;

		assert_int_equal(
			chain_split(line, (size_t)(newline - line), &body, &sequence, digest), 0);
		assert_int_equal(chain_digest(hash, chain, line, body, chain), 0);
		chain_write_tail(chain, tail);
		memcpy(line + body, tail, sizeof(tail));
		line = newline + 1;
	}
	write_file(SEGMENT_NAME, data, size);
}

static const struct audit_log_options one_segment = {
	.clock = pretended_clock,
	.seal_nsec = 10 * NSEC_PER_SEC,
};

static struct audit_log *open_one_segment(void)
{
	struct audit_log *log = NULL;
	uint64_t repaired;

	assert_int_equal(audit_log_open(directory, &one_segment, &log, &repaired, NULL), 0);
	return log;
}

static void append_sealed(struct audit_log *log, int count)
{
	for (int i = 0; i < count; i++)
		append(log, i);
	now += 11 * NSEC_PER_SEC;
	(void)audit_log_tick(log);
}

static void test_rewritten(void **state)
{
	struct audit_log *log;
	_cleanup_(freep) char *data = NULL;
	char path[160], *number;
	size_t size;

	(void)state;
	empty();
	set_up_keys();
	log = open_one_segment();
	append_sealed(log, 5);
	append_sealed(log, 5);
	audit_log_close(log);
	assert_int_equal(verify(true).problems, 0);
	assert_int_equal(verify(true).seals, 2);
	snprintf(path, sizeof(path), "%s/" SEGMENT_NAME, directory);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &data, &size), 0);
	number = strstr(data, "\"number\":3}");
	assert_non_null(number);
	number[strlen("\"number\":")] = '4';
	write_file(SEGMENT_NAME, data, size);
	rechain();
	/* The chain alone is deceived, the seal is not. */
	assert_int_equal(verify(false).problems, 0);
	assert_int_equal(verify(true).problems, 1);
	assert_non_null(strstr(last_text, "seal 1 is forged"));
	assert_int_equal(verify(true).sealed, 0);
}

/* What is proven ends before the first damage, however good the seals behind it are. */
static void test_proof_ends_at_damage(void **state)
{
	static const struct {
		const char *changed;
		uint64_t sealed, proven;
	} cases[] = {{"\"number\":1}", 0, 0}, {"\"number\":11}", 4, 1}, {"\"number\":21}", 8, 2}};
	struct audit_log *log;
	_cleanup_(freep) char *data = NULL;
	char path[160];
	size_t size;

	(void)state;
	empty();
	set_up_keys();
	log = open_one_segment();
	for (int i = 0; i < 3; i++) {
		append(log, 10 * i);
		append(log, 10 * i + 1);
		append_sealed(log, 1);
	}
	audit_log_close(log);
	assert_int_equal(verify(true).sealed, 12);
	assert_int_equal(verify(true).proven, 3);
	assert_int_equal(verify(true).behind, 0);
	snprintf(path, sizeof(path), "%s/" SEGMENT_NAME, directory);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &data, &size), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *at = strstr(data, cases[i].changed);
		struct verify_result result;

		assert_non_null(at);
		at[strlen("\"number\":")] = '7';
		write_file(SEGMENT_NAME, data, size);
		at[strlen("\"number\":")] = cases[i].changed[strlen("\"number\":")];
		result = verify(true);
		assert_true(result.problems > 0);
		assert_int_equal(result.sealed, cases[i].sealed);
		assert_int_equal(result.proven, cases[i].proven);
		assert_int_equal(result.behind, 12);
	}
}

/* Cut off behind a seal, the log looks whole; the key on the host tells how many there were. */
static void test_cut_at_a_seal(void **state)
{
	struct audit_log *log;
	_cleanup_(freep) char *data = NULL;
	char path[160], *second;
	size_t size;

	(void)state;
	empty();
	set_up_keys();
	log = open_one_segment();
	append_sealed(log, 2);
	snprintf(path, sizeof(path), "%s/" SEGMENT_NAME, directory);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &data, &size), 0);
	append_sealed(log, 2);
	audit_log_close(log);
	write_file(SEGMENT_NAME, data, size);
	assert_int_equal(verify(true).problems, 1);
	assert_non_null(strstr(last_text, "the end was cut off"));
	/* Going on from there with the key at hand shows, too. */
	log = open_one_segment();
	append_sealed(log, 2);
	audit_log_close(log);
	assert_int_equal(verify(true).problems, 1);
	second = strstr(last_text, "seal 3 follows seal 1");
	assert_non_null(second);
	/* Nor does it help to take the key away, or to begin with another. */
	remove_file(SEAL_FILE);
	assert_true(verify(true).problems > 1);
	write_file(SEAL_FILE, "", 0);
	assert_true(verify(true).problems > 1);
}

/* --- keys ---------------------------------------------------------------------------------- */

static void read_key_file(char **ret_data, size_t *ret_size)
{
	char path[160];
	struct stat status;

	snprintf(path, sizeof(path), "%s/" SEAL_FILE, directory);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, ret_data, ret_size), 0);
}

/* A key that has sealed is nowhere on disk. */
static void test_keys_are_erased(void **state)
{
	struct seal_key key;
	struct audit_log *log;

	(void)state;
	empty();
	set_up_keys();
	assert_int_equal(seal_key_first(verification[0], &key), 0);
	log = open_one_segment();
	for (int i = 0; i < 20; i++) {
		_cleanup_(freep) char *data = NULL;
		size_t size;

		read_key_file(&data, &size);
		assert_null(memmem(data, size, verification[0], SEAL_KEY_SIZE));
		assert_non_null(memmem(data, size, key.key, sizeof(key.key)));
		append_sealed(log, 1);
		free(TAKE_PTR(data));
		read_key_file(&data, &size);
		assert_null(memmem(data, size, key.key, sizeof(key.key)));
		assert_int_equal(seal_key_advance(&key), 0);
		assert_int_equal(key.number, i + 2);
		assert_non_null(memmem(data, size, key.key, sizeof(key.key)));
	}
	audit_log_close(log);
	assert_int_equal(verify(true).problems, 0);
}

/* Whatever a crash leaves of the file, while the next key is written or the old one erased. */
static void test_key_file_torn(void **state)
{
	_cleanup_(freep) char *before = NULL, *after = NULL;
	size_t before_size, after_size, place = 4096, stored = 96;
	char torn[8192] = {};
	struct audit_log *log;

	(void)state;
	empty();
	set_up_keys();
	log = open_one_segment();
	append_sealed(log, 1);
	read_key_file(&before, &before_size);
	append_sealed(log, 1);
	audit_log_close(log);
	read_key_file(&after, &after_size);
	assert_int_equal(before_size, place + stored);
	for (size_t cut = 0; cut <= 2 * stored; cut++) {
		struct verify_result result;

		/* The key of seal 3 is in the first place, that of seal 2 was in the second. */
		memcpy(torn, before, before_size);
		memcpy(torn, after, cut < stored ? cut : stored);
		if (cut > stored)
			memset(torn + place, 0, cut - stored);
		write_file(SEAL_FILE, torn, before_size);
		audit_log_close(open_one_segment());
		result = verify(true);
		if (result.problems > 0)
			fail_msg("cut %zu: %s", cut, last_text);
		assert_int_equal(result.seals, 2);
		{
			_cleanup_(freep) char *data = NULL;
			size_t size;

			read_key_file(&data, &size);
			assert_null(memmem(data, size, before + place + 32, SEAL_KEY_SIZE));
		}
	}
}

/* Sealing begins while a writer is at work. */
static void test_begun_later(void **state)
{
	struct audit_log *log;
	struct verify_result result;

	(void)state;
	empty();
	log = open_one_segment();
	append_sealed(log, 3);
	assert_int_equal(verify(false).seals, 0);
	assert_int_equal(verify(true).problems, 1);
	set_up_keys();
	append_sealed(log, 3);
	append(log, 1);
	assert_int_equal(audit_log_flush(log, false), 0);
	result = verify(true);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.seals, 1);
	assert_int_equal(result.sealed, 7);
	assert_int_equal(result.sequence, 8);
	audit_log_close(log);
	assert_int_equal(verify(true).sealed, 9);
}

static struct verify_result verify_with(size_t first, size_t count)
{
	const struct verify_options verify_options = {
		.keys = verification + first,
		.key_count = count,
		.problem = keep_text,
	};
	struct verify_result result = {};

	last_text[0] = '\0';
	assert_int_equal(verify_log(directory, &verify_options, &result, NULL), 0);
	return result;
}

/* A log of two keys: each proves its own, and the later one all that was there when it began. */
static void test_renewed(void **state)
{
	struct verify_result result;
	struct audit_log *log;

	(void)state;
	empty();
	set_up_keys();
	log = open_one_segment();
	append_sealed(log, 2);
	renew_keys();
	/* At once, be there something to seal or not. */
	(void)audit_log_tick(log);
	assert_int_equal(verify_with(0, 1).seals, 2);
	assert_int_equal(verify_with(0, 1).problems, 0);
	append_sealed(log, 2);
	append_sealed(log, 2);
	audit_log_close(log);
	/* 2 records, 2 seals, then twice 2 and a seal. */
	result = verify_with(0, 2);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.seals, 4);
	assert_int_equal(result.unchecked, 0);
	assert_int_equal(result.sealed, 10);
	result = verify_with(0, 1);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.unchecked, 2);
	assert_int_equal(result.sealed, 4);
	result = verify_with(1, 1);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.unchecked, 2);
	assert_int_equal(result.sealed, 10);
	/* One that is of another log. */
	assert_int_equal(verify_with(3, 1).problems, 1);
	assert_int_equal(verify_with(3, 1).sealed, 0);
	/* The old key is nowhere, the new one where the old one was. */
	{
		_cleanup_(freep) char *data = NULL;
		struct seal_key key;
		size_t size;

		read_key_file(&data, &size);
		assert_int_equal(seal_key_first(verification[1], &key), 0);
		assert_null(memmem(data, size, key.key, sizeof(key.key)));
		assert_int_equal(seal_key_advance(&key), 0);
		assert_int_equal(seal_key_advance(&key), 0);
		assert_non_null(memmem(data, size, key.key, sizeof(key.key)));
		assert_int_equal(access(SEAL_NEXT, F_OK), -1);
	}
}

/* Root, who knows the key of the next seal, begins a key of his own earlier than that. */
static void test_renewed_in_the_past(void **state)
{
	_cleanup_(freep) char *early = NULL, *key_file = NULL;
	size_t early_size, key_size;
	char path[160];
	struct audit_log *log;

	(void)state;
	empty();
	set_up_keys();
	log = open_one_segment();
	append_sealed(log, 2);
	snprintf(path, sizeof(path), "%s/" SEGMENT_NAME, directory);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &early, &early_size), 0);
	append_sealed(log, 2);
	append_sealed(log, 2);
	audit_log_close(log);
	/* Cut off behind the first seal, and begun anew with the key at hand. */
	read_key_file(&key_file, &key_size);
	write_file(SEGMENT_NAME, early, early_size);
	log = open_one_segment();
	renew_keys();
	append_sealed(log, 2);
	append_sealed(log, 2);
	audit_log_close(log);
	assert_true(verify_with(0, 2).problems > 0);
	assert_true(verify_with(0, 1).problems > 0);
	/* Nor by taking the new key without a seal of the old one that says so. */
	write_file(SEGMENT_NAME, early, early_size);
	remove_file(SEAL_FILE);
	begin_with(verification[1]);
	log = open_one_segment();
	append_sealed(log, 2);
	audit_log_close(log);
	assert_true(verify_with(0, 1).problems > 0);
	assert_true(verify_with(0, 2).problems > 0);
	/* Nor by saying that the log ends where the key was replaced. */
	empty();
	set_up_keys();
	log = open_one_segment();
	append_sealed(log, 2);
	renew_keys();
	(void)audit_log_tick(log);
	free(TAKE_PTR(early));
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &early, &early_size), 0);
	append_sealed(log, 2);
	audit_log_close(log);
	write_file(SEGMENT_NAME, early, early_size);
	assert_true(verify_with(0, 2).problems > 0);
	write_file(SEAL_FILE, key_file, key_size);
	assert_true(verify_with(0, 2).problems > 0);
}

/*
 * A key that is another log's, though its next seal has the number that is awaited, goes on where
 * no seal says so.
 */
static void test_sealed_with_another_key(void **state)
{
	_cleanup_(freep) char *other = NULL;
	struct audit_log *log;
	size_t size;

	(void)state;
	empty();
	begin_with(verification[1]);
	log = open_one_segment();
	append_sealed(log, 2);
	audit_log_close(log);
	read_key_file(&other, &size);
	empty();
	set_up_keys();
	log = open_one_segment();
	append_sealed(log, 2);
	audit_log_close(log);
	assert_int_equal(verify_with(0, 2).problems, 0);
	write_file(SEAL_FILE, other, size);
	log = open_one_segment();
	append_sealed(log, 2);
	audit_log_close(log);
	assert_int_equal(verify_with(0, 2).problems, 1);
	assert_non_null(strstr(last_text, "seal 2 was made with another key"));
}

static unsigned int notes;

static void count_note(void *data, const char *text)
{
	(void)data;
	(void)text;
	notes++;
}

static uint64_t stepping_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? now + stepped : now - 1763683000000000000ull;
}

static size_t count_segments(void)
{
	struct segments segments;
	size_t count;

	assert_int_equal(segments_list(directory, &segments), 0);
	count = segments.count;
	segments_free(&segments);
	return count;
}

/* Each bound deletes the oldest, on record; without the record it is tampering. */
static void test_retention(void **state)
{
	static const struct audit_log_options bounds[] = {
		{.clock = pretended_clock, .segment_bytes = 1500, .keep_segments = 3},
		{.clock = pretended_clock, .segment_bytes = 1500, .keep_bytes = 7000},
		/* Files were changed now, whatever the clock says. */
		{.clock = pretended_clock, .segment_bytes = 1500, .keep_nsec = 3600 * NSEC_PER_SEC},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		uint64_t repaired, before = now;
		struct audit_log *log;
		struct verify_result result;
		struct segments segments;
		char name[SEGMENTS_NAME_SIZE];

		empty();
		set_up_keys();
		now = clock_nsec(CLOCK_REALTIME);
		assert_int_equal(audit_log_open(directory, &bounds[i], &log, &repaired, NULL), 0);
		for (int k = 0; k < 60; k++) {
			append(log, k);
			assert_int_equal(audit_log_flush(log, false), 0);
			(void)audit_log_tick(log);
		}
		now += 7200 * NSEC_PER_SEC;
		append(log, 60);
		(void)audit_log_tick(log);
		assert_in_range(count_segments(), bounds[i].keep_nsec ? 0 : 1, 5);
		audit_log_close(log);
		result = verify(true);
		if (result.problems > 0)
			fail_msg("%s", last_text);
		assert_true(result.first > 1);
		assert_int_equal(result.sealed, result.sequence);
		if (count_segments() == 0) {
			now = before;
			continue;
		}
		assert_int_equal(segments_list(directory, &segments), 0);
		segments_name(segments.entries[0].first, segments.entries[0].compressed, name);
		segments_free(&segments);
		remove_file(name);
		assert_true(verify(true).problems > 0);
		now = before;
	}
}

static void test_compressed(void **state)
{
	static const struct audit_log_options compressing = {
		.clock = pretended_clock,
		.segment_bytes = 3000,
		.compress = true,
	};
	struct audit_log *log;
	struct segments segments;
	uint64_t repaired;
	char name[SEGMENTS_NAME_SIZE + 64];

	(void)state;
	empty();
	set_up_keys();
	assert_int_equal(audit_log_open(directory, &compressing, &log, &repaired, NULL), 0);
	for (int i = 0; i < 40; i++)
		append(log, i);
	assert_int_equal(audit_log_flush(log, false), 0);
	while (audit_log_tick(log))
		usleep(1000);
	audit_log_close(log);
	assert_int_equal(segments_list(directory, &segments), 0);
	assert_int_equal(segments.count, 1);
	assert_true(segments.entries[0].compressed && !segments.entries[0].both);
	segments_free(&segments);
	assert_int_equal(verify(true).problems, 0);
	/* A crash came before the plain one was removed, or while it was compressed. */
	write_file("00000000000000000001.jsonl.gz", "", 0);
	assert_true(verify(true).problems > 0);
	snprintf(name, sizeof(name), "%s/00000000000000000001.jsonl.gz", directory);
	unlink(name);
}

static void test_clock_steps(void **state)
{
	static const struct audit_log_options with_steps = {
		.clock = stepping_clock,
		.seal_nsec = 10 * NSEC_PER_SEC,
	};
	const struct verify_options verify_options = {
		.keys = verification, .key_count = 1, .note = count_note};
	struct verify_result result;
	struct audit_log *log;
	uint64_t repaired;

	(void)state;
	empty();
	set_up_keys();
	stepped = 0;
	assert_int_equal(audit_log_open(directory, &with_steps, &log, &repaired, NULL), 0);
	append_sealed(log, 1);
	append_sealed(log, 1);
	stepped = 3600 * NSEC_PER_SEC;
	append_sealed(log, 1);
	append_sealed(log, 1);
	stepped = 0;
	append_sealed(log, 1);
	audit_log_close(log);
	notes = 0;
	assert_int_equal(verify_log(directory, &verify_options, &result, NULL), 0);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.notes, notes);
	/* Forward and back as the seals tell, and back as the records do. */
	assert_int_equal(notes, 3);
}

static void test_key_text(void **state)
{
	unsigned char back[SEAL_KEY_SIZE];
	char text[SEAL_TEXT_SIZE + 2];

	(void)state;
	seal_format(verification[0], text);
	assert_int_equal(strlen(text), SEAL_TEXT_SIZE - 1);
	strcat(text, "\n");
	assert_int_equal(seal_parse(text, back), 0);
	assert_memory_equal(back, verification[0], sizeof(back));
	assert_int_equal(seal_parse("0102", back), -EINVAL);
	assert_int_equal(seal_parse("", back), -EINVAL);
	text[3] = 'x';
	assert_int_equal(seal_parse(text, back), -EINVAL);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	empty();
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean_logs),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_cut_at_a_seal),
		cmocka_unit_test(test_keys_are_erased),
		cmocka_unit_test(test_key_file_torn),
		cmocka_unit_test(test_renewed),
		cmocka_unit_test(test_renewed_in_the_past),
		cmocka_unit_test(test_begun_later),
		cmocka_unit_test(test_clock_steps),
		cmocka_unit_test(test_key_text),
		cmocka_unit_test(test_retention),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_proof_ends_at_damage),
		cmocka_unit_test(test_sealed_with_another_key),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
