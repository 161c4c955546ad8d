/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a log, for those who read from the middle of them: their text by position. */
#include "audit/read/archive.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/chain.h"
#include "audit/storage/segment.h"
#include "audit/storage/segment_input.h"
#include "audit/storage/segments.h"

/* A segment is closed long before its text is so large. */
#define TEXT_SIZE_MAX (1ull << 30)

/* What a gzip file ends with (RFC 1952): checksum and size of its text, the lowest byte first. */
#define TRAILER_SIZE 8

struct file {
	char name[NAME_MAX + 1];
	int fd;
	bool compressed;
	uint64_t size; /* of the text */
	uint64_t stamp;
};

struct audit_archive {
	char *directory;
	struct file *files;
	size_t count;
	/* the text of a compressed one */
	char *text;
	size_t text_number; /* whose; SIZE_MAX: nobody's */
	size_t text_size;
};

static void close_files(struct audit_archive *archive)
{
	for (size_t i = 0; i < archive->count; i++)
		closep(&archive->files[i].fd);
	free(archive->files);
	archive->files = NULL;
	archive->count = 0;
}

void audit_archive_close(struct audit_archive *archive)
{
	close_files(archive);
	free(archive->directory);
	free(archive->text);
	free(archive);
}

static int read_trailer(struct file *file, uint64_t file_size)
{
	unsigned char trailer[TRAILER_SIZE];

	if (file_size < sizeof(trailer) ||
	    pread(file->fd, trailer, sizeof(trailer), (off_t)(file_size - sizeof(trailer))) !=
		    sizeof(trailer))
		return -EBADMSG;
	file->stamp = 0;
	for (size_t i = 0; i < sizeof(trailer); i++)
		file->stamp |= (uint64_t)trailer[i] << (8 * i);
	file->size = file->stamp >> 32;
	return file->size <= TEXT_SIZE_MAX ? 0 : -EBADMSG;
}

/* -ENOENT without words: there is no such file. */
static int open_file(const char *directory, const char *name, bool compressed, struct file *ret,
		     struct failure *failure)
{
	struct file file = {.fd = -1, .compressed = compressed};
	_cleanup_(closep) int fd = -1;
	struct stat status;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG,
				   "the name of the log directory is too long");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return failure_set(failure, errno, "cannot open %s: %m", path);
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return failure_set(failure, EBADMSG, "%s is not a regular file", path);
	snprintf(file.name, sizeof(file.name), "%s", name);
	file.fd = fd;
	file.size = (uint64_t)status.st_size;
	if (compressed && read_trailer(&file, (uint64_t)status.st_size) < 0)
		return failure_set(failure, EBADMSG,
				   "%s is no compressed segment; see `cordon log verify`", path);
	*ret = file;
	ret->fd = TAKE_FD(fd);
	return 0;
}

/* All that was closed, then the one that grows. -EAGAIN: they changed meanwhile. */
static int open_files(struct audit_archive *archive, struct failure *failure)
{
	_cleanup_(segments_free) struct segments segments = {0}, after = {0};
	char name[SEGMENTS_NAME_SIZE];
	int r;

	r = segments_list(archive->directory, &segments);
	if (r == -EACCES)
		return failure_set(failure, r,
				   "cannot list %s: %m; the group cordon-log may: `usermod -aG "
				   "cordon-log USER`, and log in again",
				   archive->directory);
	if (r < 0 && r != -ENOENT)
		return failure_set(failure, r, "cannot list %s: %m", archive->directory);
	archive->files = calloc(segments.count + 1, sizeof(*archive->files));
	if (!archive->files)
		return failure_set(failure, ENOMEM, "no memory to read the log");
	for (size_t i = 0; i < segments.count; i++) {
		const struct segments_entry *e = &segments.entries[i];

		segments_name(e->first, e->compressed, name);
		r = open_file(archive->directory, name, e->compressed,
			      &archive->files[archive->count], failure);
		if (r == -ENOENT)
			return -EAGAIN;
		if (r < 0)
			return r;
		archive->count++;
	}
	r = open_file(archive->directory, SEGMENT_NAME, false, &archive->files[archive->count],
		      failure);
	if (r < 0 && r != -ENOENT)
		return r;
	archive->count += r == 0;
	if (archive->count == 0)
		return failure_set(failure, ENOENT,
				   "there is no log in %s; name its directory with --log",
				   archive->directory);
	/* Was the one that grew closed between the two looks? */
	r = segments_list(archive->directory, &after);
	return r == 0 && after.count != segments.count ? -EAGAIN : 0;
}

int audit_archive_open(const char *directory, struct audit_archive **ret_archive,
		       struct failure *failure)
{
	_cleanup_(audit_archive_closep) struct audit_archive *archive = calloc(1, sizeof(*archive));
	int r = -EAGAIN;

	if (!archive)
		return failure_set(failure, ENOMEM, "no memory to read the log");
	archive->text_number = SIZE_MAX;
	archive->directory = strdup(directory);
	if (!archive->directory)
		return failure_set(failure, ENOMEM, "no memory to read the log");
	for (unsigned int tries = 0; r == -EAGAIN && tries < 10; tries++) {
		close_files(archive);
		r = open_files(archive, failure);
	}
	if (r < 0)
		return failure_set(failure, r, "the log in %s keeps changing; try again",
				   directory);
	*ret_archive = TAKE_PTR(archive);
	return 0;
}

int audit_archive_stamp(const struct audit_archive *archive, size_t number, uint64_t *ret_stamp)
{
	if (!archive->files[number].compressed)
		return -ENODATA;
	*ret_stamp = archive->files[number].stamp;
	return 0;
}

size_t audit_archive_count(const struct audit_archive *archive)
{
	return archive->count;
}

const char *audit_archive_name(const struct audit_archive *archive, size_t number)
{
	return archive->files[number].name;
}

uint64_t audit_archive_size(const struct audit_archive *archive, size_t number)
{
	return archive->files[number].size;
}

/* Decompresses all of it. */
static int load_text(struct audit_archive *archive, size_t number)
{
	_cleanup_(segment_input_closep) struct segment_input *input = NULL;
	const struct file *file = &archive->files[number];
	_cleanup_(freep) char *text = malloc(file->size + 1);
	char path[PATH_MAX];
	size_t done = 0;
	int r;

	if (!text)
		return -ENOMEM;
	if (snprintf(path, sizeof(path), "%s/%s", archive->directory, file->name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	r = segment_input_open(path, true, &input);
	if (r < 0)
		return r;
	for (;;) {
		/* A byte more than there should be. */
		ssize_t n = segment_input_read(input, text + done, file->size + 1 - done);

		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		done += (size_t)n;
		if (done > file->size)
			return -EBADMSG;
	}
	if (done != file->size)
		return -EBADMSG;
	free(archive->text);
	archive->text = TAKE_PTR(text);
	archive->text_size = done;
	archive->text_number = number;
	return 0;
}

static int read_text(struct audit_archive *archive, size_t number, uint64_t offset, void *data,
		     size_t size, size_t *ret_size)
{
	int r = archive->text_number == number ? 0 : load_text(archive, number);

	if (r < 0)
		return r;
	if (offset > archive->text_size)
		offset = archive->text_size;
	if (size > archive->text_size - offset)
		size = archive->text_size - (size_t)offset;
	memcpy(data, archive->text + offset, size);
	*ret_size = size;
	return 0;
}

int audit_archive_read(struct audit_archive *archive, size_t number, uint64_t offset, void *data,
		       size_t size, size_t *ret_size)
{
	size_t done = 0;

	if (archive->files[number].compressed)
		return read_text(archive, number, offset, data, size, ret_size);
	while (done < size) {
		ssize_t n = pread(archive->files[number].fd, (char *)data + done, size - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*ret_size = done;
	return 0;
}

int audit_archive_line(struct audit_archive *archive, size_t number, uint64_t offset, char **buffer,
		       size_t *capacity, size_t *ret_size)
{
	size_t held = 0, wanted = 4096, n = 0;
	const char *newline;
	char *grown;
	int r;

	for (;; wanted *= 4) {
		if (wanted > *capacity) {
			grown = realloc(*buffer, wanted);
			if (!grown)
				return -ENOMEM;
			*buffer = grown;
			*capacity = wanted;
		}
		r = audit_archive_read(archive, number, offset + held, *buffer + held,
				       wanted - held, &n);
		if (r < 0)
			return r;
		newline = memchr(*buffer + held, '\n', n);
		if (newline) {
			*ret_size = (size_t)(newline - *buffer);
			return 0;
		}
		held += n;
		if (held < wanted)
			return -ENODATA;
		if (held > CHAIN_LINE_MAX)
			return -EMSGSIZE;
	}
}
