/* SPDX-License-Identifier: Apache-2.0 */
/* The text of one segment, plain or compressed (gzip, RFC 1952). */
#include "audit/storage/segment_input.h"

#include <fcntl.h>
#include <string.h>
#include <zlib.h>

#define COMPRESSED_SIZE (1u << 16)
/* zlib: the largest window, and the gzip format only. */
#define GZIP_WINDOW (15 + 16)

struct segment_input {
	int fd;
	bool compressed;
	bool finished;	      /* the compressed data is at its end, */
	bool ended;	      /* and so is the file */
	uint64_t offset;      /* of the text */
	uint64_t file_offset; /* of the file, where compressed */
	z_stream stream;
	unsigned char *data; /* read from the file, not yet decompressed */
	struct sha256 *hash;
};

void segment_input_close(struct segment_input *input)
{
	closep(&input->fd);
	if (input->data)
		inflateEnd(&input->stream);
	free(input->data);
	if (input->hash)
		sha256_free(input->hash);
	free(input);
}

static int start_inflating(struct segment_input *input)
{
	_cleanup_(freep) unsigned char *data = malloc(COMPRESSED_SIZE);

	if (!data || inflateInit2(&input->stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	input->data = TAKE_PTR(data);
	return 0;
}

int segment_input_open(const char *path, bool compressed, struct segment_input **ret_input)
{
	_cleanup_(segment_input_closep) struct segment_input *input = calloc(1, sizeof(*input));
	struct stat status;
	int r;

	if (!input)
		return -ENOMEM;
	input->compressed = compressed;
	input->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (input->fd < 0 || fstat(input->fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADMSG;
	if (compressed) {
		r = start_inflating(input);
		if (r < 0)
			return r;
	}
	*ret_input = TAKE_PTR(input);
	return 0;
}

static ssize_t read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, buffer, size, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* More compressed bytes. 0: there are none. */
static ssize_t refill(struct segment_input *input)
{
	ssize_t n = read_at(input->fd, input->data, COMPRESSED_SIZE, input->file_offset);
	int r;

	if (n <= 0)
		return n;
	if (input->hash) {
		r = sha256_update(input->hash, input->data, (size_t)n);
		if (r < 0)
			return r;
	}
	input->file_offset += (uint64_t)n;
	input->stream.next_in = input->data;
	input->stream.avail_in = (uInt)n;
	return n;
}

/* Behind the end of the compressed data there must be nothing. */
static ssize_t end_here(struct segment_input *input)
{
	ssize_t n = input->stream.avail_in > 0 ? 1 : refill(input);

	if (n > 0)
		return -EBADMSG;
	input->ended = n == 0;
	return n;
}

static ssize_t read_compressed(struct segment_input *input, void *buffer, size_t size)
{
	z_stream *stream = &input->stream;

	if (input->finished)
		return input->ended ? 0 : end_here(input);
	stream->next_out = buffer;
	stream->avail_out = size > UINT32_MAX ? UINT32_MAX : (uInt)size;
	while (stream->avail_out > 0) {
		uInt room = stream->avail_out;
		int status;

		if (stream->avail_in == 0) {
			ssize_t n = refill(input);

			if (n < 0)
				return n;
			if (n == 0)
				return -EBADMSG;
		}
		status = inflate(stream, Z_NO_FLUSH);
		input->finished = status == Z_STREAM_END;
		if (stream->avail_out < room || input->finished) {
			ssize_t done = (ssize_t)((unsigned char *)stream->next_out -
						 (unsigned char *)buffer);

			if (done > 0)
				return done;
			return end_here(input);
		}
		if (status != Z_OK)
			return status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
	return 0;
}

ssize_t segment_input_read(struct segment_input *input, void *buffer, size_t size)
{
	ssize_t n = input->compressed ? read_compressed(input, buffer, size)
				      : read_at(input->fd, buffer, size, input->offset);

	if (n > 0)
		input->offset += (uint64_t)n;
	return n;
}

uint64_t segment_input_offset(const struct segment_input *input)
{
	return input->offset;
}

void segment_input_rewind(struct segment_input *input, uint64_t offset)
{
	input->offset = offset;
}

int segment_input_stat(const struct segment_input *input, struct stat *ret_status)
{
	return fstat(input->fd, ret_status) < 0 ? -errno : 0;
}

int segment_input_hash(struct segment_input *input)
{
	input->hash = sha256_new();
	return input->hash ? 0 : -ENOMEM;
}

int segment_input_digest(struct segment_input *input, unsigned char ret_digest[SHA256_SIZE])
{
	if (!input->hash || !input->ended)
		return -ENODATA;
	return sha256_finish(input->hash, ret_digest);
}
