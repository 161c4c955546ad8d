/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the index of a log and keeps it up to date: DIRECTORY/index.sqlite. */
#include "audit/search/index.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>

#include "audit/storage/chain.h"
#include "audit/search/skim.h"

/* A block ends at whichever comes first. Its places must fit into 32 bits. */
#define BLOCK_RECORDS 16384u
#define BLOCK_BYTES   (16u << 20)

#define READ_SIZE     (4u << 20)
#define COMMIT_BLOCKS 64

struct build {
	struct index_file *file;
	struct audit_archive *archive;
	struct postings *postings;
	const struct index_progress *progress;
	struct index_result result;
	struct index_segment segment;
	struct index_block block;
	unsigned int uncommitted;
	uint64_t done, all;
	char decoded[1 << 16];
};

/* The digest of the line at `offset`. */
static int digest_line(struct audit_archive *archive, size_t number, uint64_t offset,
		       unsigned char digest[SHA256_SIZE])
{
	_cleanup_(freep) char *buffer = NULL;
	size_t capacity = 0, size;
	int r = audit_archive_line(archive, number, offset, &buffer, &capacity, &size);

	return r < 0 ? r : sha256_of(buffer, size, digest);
}

int index_locate(struct index_file *file, struct audit_archive *archive, size_t number,
		 struct index_segment *ret_segment)
{
	struct index_segment segment = {0};
	unsigned char last[SHA256_SIZE];
	int r;

	/* A compressed one does not change, so that it need not be read once it is known. */
	if (audit_archive_stamp(archive, number, &segment.stamp) == 0 && segment.stamp &&
	    index_file_find_segment(file, &segment) == 0) {
		*ret_segment = segment;
		return 0;
	}
	segment.stamp = 0;
	r = digest_line(archive, number, 0, segment.identity);
	if (r < 0)
		return r == -EMSGSIZE ? -ENODATA : r;
	r = index_file_find_segment(file, &segment);
	if (r == 0) {
		if (segment.indexed > audit_archive_size(archive, number))
			return -ESTALE;
		r = digest_line(archive, number, segment.last, last);
		if (r == -ENODATA || r == -EMSGSIZE ||
		    (r == 0 && memcmp(last, segment.last_digest, sizeof(last)) != 0))
			return -ESTALE;
	}
	if (r == 0 || r == -ENOENT)
		*ret_segment = segment;
	return r;
}

static int store_posting(void *data, const struct posting *posting)
{
	struct build *b = data;

	return index_file_add_posting(b->file, b->block.id, posting);
}

/* Writes the block that ends at `end`, and how far the segment is in the index. */
static int end_block(struct build *b, uint64_t end)
{
	int r = 0;

	b->segment.indexed = end;
	if (b->block.records > 0) {
		b->block.segment = b->segment.id;
		b->block.size = (uint32_t)(end - b->block.start);
		r = index_file_add_block(b->file, &b->block);
		if (r == 0)
			r = postings_each(b->postings, store_posting, b);
		b->segment.records += b->block.records;
		b->result.added += b->block.records;
	}
	if (r == 0)
		r = index_file_put_segment(b->file, &b->segment);
	if (r == 0 && ++b->uncommitted >= COMMIT_BLOCKS) {
		b->uncommitted = 0;
		r = index_file_commit(b->file);
		if (r == 0)
			r = index_file_begin(b->file);
	}
	postings_clear(b->postings);
	b->block = (struct index_block){.start = end};
	return r;
}

static int add_value(struct build *b, enum skim_field field, const struct skim_value *value,
		     uint32_t place)
{
	const char *text;
	size_t size;
	int r = skim_decode(value, b->decoded, sizeof(b->decoded), &text, &size);

	/* What is no JSON is no record, whatever else the line looks like. */
	if (r == -EBADMSG || r == -ENOBUFS)
		return 0;
	return r < 0 ? r : postings_add(b->postings, field, text, size, place);
}

static void take_time(struct index_block *block, const struct skim_value *time)
{
	char text[INDEX_TIME_SIZE];

	if (!time->data || time->size >= sizeof(text))
		return;
	memcpy(text, time->data, time->size);
	text[time->size] = '\0';
	if (!block->since[0] || strcmp(text, block->since) < 0)
		memcpy(block->since, text, sizeof(text));
	if (strcmp(text, block->until) > 0)
		memcpy(block->until, text, sizeof(text));
}

static int add_line(struct build *b, const char *line, size_t size, uint64_t offset)
{
	uint32_t place = (uint32_t)(offset - b->block.start);
	struct skim skim;
	int r;

	if (skim_record(line, size, &skim) < 0) {
		b->result.skipped++;
		return 0;
	}
	for (unsigned int i = 0; i < SKIM_FIELD_COUNT; i++) {
		if (i == SKIM_TIME || !skim.values[i].data)
			continue;
		r = add_value(b, (enum skim_field)i, &skim.values[i], place);
		if (r < 0)
			return r;
	}
	take_time(&b->block, &skim.values[SKIM_TIME]);
	b->block.records++;
	return 0;
}

/* Takes in the whole lines at `data`, which stands at `offset`. *ret_taken: their size. */
static int add_lines(struct build *b, const char *data, size_t size, uint64_t offset,
		     size_t *ret_taken)
{
	size_t at = 0;

	while (at < size) {
		const char *newline = memchr(data + at, '\n', size - at);
		size_t length;
		int r;

		if (!newline)
			break;
		length = (size_t)(newline - data) - at;
		if (offset + at + length + 1 - b->block.start > BLOCK_BYTES ||
		    b->block.records == BLOCK_RECORDS) {
			r = end_block(b, offset + at);
			if (r < 0)
				return r;
		}
		r = add_line(b, data + at, length, offset + at);
		if (r < 0)
			return r;
		b->segment.last = offset + at;
		r = 0;
		at += length + 1;
	}
	*ret_taken = at;
	return 0;
}

static bool is_stopped(const struct build *b)
{
	return b->progress && b->progress->stop && *b->progress->stop;
}

static void tell(struct build *b, uint64_t bytes)
{
	b->done += bytes;
	b->result.bytes += bytes;
	if (b->progress && b->progress->tell)
		b->progress->tell(b->progress->data, b->done, b->all);
}

/* What is behind the part of the segment that is in the index. */
static int add_text(struct build *b, size_t number, char *data, size_t capacity)
{
	uint64_t offset = b->segment.indexed;
	size_t held = 0;

	b->block = (struct index_block){.start = offset};
	for (;;) {
		size_t n, taken;
		int r = audit_archive_read(b->archive, number, offset + held, data + held,
					   capacity - held, &n);

		if (r < 0)
			return r;
		held += n;
		r = add_lines(b, data, held, offset, &taken);
		if (r < 0)
			return r;
		tell(b, taken);
		if (is_stopped(b))
			return -ECANCELED;
		/* A line that is longer than any record stays outside, with all behind it. */
		if (taken == 0 && (held < capacity || n == 0))
			break;
		if (taken == 0)
			return -EBADMSG;
		memmove(data, data + taken, held - taken);
		held -= taken;
		offset += taken;
	}
	return offset > b->segment.indexed ? end_block(b, offset) : 0;
}

/* So that a compressed segment is known again without being read. */
static int note_stamp(struct build *b, size_t number)
{
	uint64_t stamp;

	if (audit_archive_stamp(b->archive, number, &stamp) < 0 || b->segment.stamp == stamp)
		return 0;
	b->segment.stamp = stamp;
	return index_file_put_segment(b->file, &b->segment);
}

static int add_segment(struct build *b, size_t number)
{
	const size_t capacity = READ_SIZE + CHAIN_LINE_MAX;
	_cleanup_(freep) char *data = NULL;
	uint64_t before;
	int r = index_locate(b->file, b->archive, number, &b->segment);

	if (r == -ENODATA)
		return 0;
	if (r < 0 && r != -ENOENT)
		return r;
	before = b->segment.indexed;
	if (audit_archive_size(b->archive, number) <= before) {
		b->result.records += b->segment.records;
		return note_stamp(b, number);
	}
	memcpy(b->segment.last_digest, b->segment.identity, SHA256_SIZE);
	r = b->segment.id ? 0 : index_file_put_segment(b->file, &b->segment);
	data = malloc(capacity);
	if (!data)
		return -ENOMEM;
	if (r == 0)
		r = add_text(b, number, data, capacity);
	if (r == 0 && b->segment.indexed > 0)
		r = digest_line(b->archive, number, b->segment.last, b->segment.last_digest);
	if (r == 0)
		r = index_file_put_segment(b->file, &b->segment);
	b->result.records += b->segment.records;
	return r < 0 ? r : note_stamp(b, number);
}

static int add_all(struct build *b)
{
	int r = index_file_begin(b->file);

	b->done = b->all = 0;
	b->result.records = 0;
	for (size_t i = 0; i < audit_archive_count(b->archive); i++)
		b->all += audit_archive_size(b->archive, i);
	for (size_t i = 0; r == 0 && i < audit_archive_count(b->archive); i++)
		r = add_segment(b, i);
	return r < 0 ? r : index_file_commit(b->file);
}

/* Into a file of its own, which takes the place of the one that is there. */
static int build_anew(struct build *b, const char *path, const char *why, struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	char fresh[PATH_MAX];
	int r;

	if (snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh))
		return failure_set(failure, ENAMETOOLONG, "the name of the log is too long");
	(void)unlink(fresh);
	fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return failure_set(failure, errno, "cannot create the index %s: %m", fresh);
	r = index_file_open(fresh, INDEX_CREATE, &b->file, failure);
	if (r == 0) {
		b->result = (struct index_result){.built = true, .why = why};
		r = add_all(b);
		if (r < 0)
			failure_set(failure, r, "cannot build the index %s: %s", fresh,
				    r == -EIO || r == -ENOSPC ? index_file_error(b->file)
							      : strerror(-r));
		index_file_close(b->file);
		b->file = NULL;
	}
	if (r == 0 && (fsync(fd) < 0 || rename(fresh, path) < 0))
		r = failure_set(failure, errno, "cannot put the index %s in place: %m", path);
	if (r < 0)
		(void)unlink(fresh);
	return r;
}

/* Why the index that is there cannot be kept, or NULL: it is up to date now, or *ret_error. */
static const char *extend(struct build *b, const char *path, bool check, int *ret_error,
			  struct failure *failure)
{
	int r = index_file_open(path, INDEX_WRITE, &b->file, failure);

	*ret_error = 0;
	if (r == -ENOENT)
		return "there was none";
	if (r == 0 && check)
		r = index_file_check(b->file);
	if (r == 0) {
		b->result = (struct index_result){0};
		r = add_all(b);
	}
	if (r < 0 && r != -EBADMSG && r != -ESTALE && b->file)
		failure_set(failure, r, "cannot bring the index %s up to date: %s", path,
			    r == -ENOMEM ? "no memory" : index_file_error(b->file));
	if (b->file)
		index_file_close(b->file);
	b->file = NULL;
	if (r == -EBADMSG)
		return "it was damaged, or of another version";
	if (r == -ESTALE)
		return "it did not agree with the log";
	*ret_error = r;
	return NULL;
}

int index_update(const char *directory, bool rebuild, bool check,
		 const struct index_progress *progress, struct index_result *ret_result,
		 struct failure *failure)
{
	_cleanup_(audit_archive_closep) struct audit_archive *archive = NULL;
	_cleanup_(postings_freep) struct postings *postings = postings_new();
	_cleanup_(freep) struct build *b = calloc(1, sizeof(*b));
	const char *why = "it was asked for";
	_cleanup_(closep) int lock = -1;
	char path[PATH_MAX];
	int r;

	if (!b || !postings)
		return failure_set(failure, ENOMEM, "no memory for the index");
	if (snprintf(path, sizeof(path), "%s/%s", directory, INDEX_NAME) >= (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG, "the name of the log is too long");
	r = audit_archive_open(directory, &archive, failure);
	if (r < 0)
		return r;
	lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return failure_set(failure, errno, "cannot lock %s: %m", directory);
	b->archive = archive;
	b->postings = postings;
	b->progress = progress;
	if (!rebuild)
		why = extend(b, path, check, &r, failure);
	if (why)
		r = build_anew(b, path, why, failure);
	if (r < 0)
		return r;
	*ret_result = b->result;
	return 0;
}
