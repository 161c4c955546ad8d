/* SPDX-License-Identifier: Apache-2.0 */
/* Sealed logs, and all that may be done to them. */
#include "tests/unit/audit/seal/sealed_log.h"

#define MUTATIONS  10000
#define CLEAN_LOGS 1000

static struct audit_log_options options = {
	.clock = pretended_clock,
	.segment_bytes = 1500,
	.seal_nsec = 10 * NSEC_PER_SEC,
};

static struct audit_log *open_log(void)
{
	struct audit_log *log = NULL;
	uint64_t repaired;

	assert_int_equal(audit_log_open(directory, &options, &log, &repaired, NULL), 0);
	return log;
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

#define FILES_MAX 64

struct image {
	struct file files[FILES_MAX];
	size_t count;
};

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

static void test_rewritten(void **state)
{
	struct audit_log *log;
	_cleanup_(freep) char *data = NULL;
	char path[160], *number;
	size_t size;

	(void)state;
	log = begin_sealed(5);
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
	log = begin_sealed(2);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean_logs),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_cut_at_a_seal),
		cmocka_unit_test(test_proof_ends_at_damage),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
