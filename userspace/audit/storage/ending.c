/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a segment: what its last record is, and what a crash left behind it. */
#include "audit/storage/ending.h"

#include <string.h>

#include "audit/storage/chain.h"
#include "audit/storage/segment_input.h"
#include "base/cleanup.h"

#define READ_SIZE (1u << 18)

/* The last part of the file: enough to hold its last two whole lines. */
struct window {
	char *data;
	size_t size;
	bool whole_file;
};

static int read_at(int fd, char *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO; /* shorter than a moment ago, with the lock held */
		done += (size_t)n;
	}
	return 0;
}

static int read_window(int fd, uint64_t file_size, size_t limit, struct window *ret)
{
	size_t size = file_size < limit ? (size_t)file_size : limit;
	_cleanup_(freep) char *data = malloc(size + 1);
	int r;

	if (!data)
		return -ENOMEM;
	r = read_at(fd, data, size, file_size - size);
	if (r < 0)
		return r;
	ret->data = TAKE_PTR(data);
	ret->size = size;
	ret->whole_file = size == file_size;
	return 0;
}

/* Where the line begins that ends before `end`; false: before the window. */
static bool line_start(const struct window *window, size_t end, size_t *ret)
{
	const char *newline = end > 0 ? memrchr(window->data, '\n', end) : NULL;

	if (!newline && !window->whole_file)
		return false;
	*ret = newline ? (size_t)(newline + 1 - window->data) : 0;
	return true;
}

/* What the last line, which begins at `start`, is chained to. 0: known; 1: not known. */
static int what_is_before(const struct window *window, size_t start, uint64_t previous,
			  const unsigned char previous_chain[SHA256_SIZE], uint64_t *ret_sequence,
			  unsigned char ret_chain[SHA256_SIZE])
{
	size_t before_start, body;

	if (start == 0) {
		*ret_sequence = previous;
		memcpy(ret_chain, previous_chain, SHA256_SIZE);
		return previous > 0 ? 0 : 1;
	}
	if (!line_start(window, start - 1, &before_start))
		return -EBADMSG;
	return chain_split(window->data + before_start, start - 1 - before_start, &body,
			   ret_sequence, ret_chain);
}

/* Takes the last line, if it follows from what is before it. */
static int adopt_last_line(const struct window *window, size_t start, size_t end, uint64_t previous,
			   const unsigned char previous_chain[SHA256_SIZE], struct ending *ending)
{
	unsigned char before_chain[SHA256_SIZE] = {}, claimed[SHA256_SIZE], computed[SHA256_SIZE];
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	uint64_t sequence, before = 0;
	size_t body;
	int r, known;

	if (!hash)
		return -ENOMEM;
	r = chain_split(window->data + start, end - start, &body, &sequence, claimed);
	if (r < 0)
		return r;
	known = what_is_before(window, start, previous, previous_chain, &before, before_chain);
	if (known < 0)
		return known;
	r = chain_digest(hash, before_chain, window->data + start, body, computed);
	if (r < 0)
		return r;
	/* The first record left of a log whose older segments were deleted follows from nothing. */
	if ((known == 0 || sequence == 1) &&
	    (memcmp(claimed, computed, sizeof(claimed)) != 0 || sequence != before + 1))
		return -EBADMSG;
	ending->sequence = sequence;
	memcpy(ending->chain, claimed, sizeof(claimed));
	return 0;
}

/* 0: done; 1: the window is too small to tell. */
static int examine(const struct window *window, uint64_t file_size, uint64_t previous,
		   const unsigned char previous_chain[SHA256_SIZE], struct ending *ending)
{
	const char *newline = memrchr(window->data, '\n', window->size);
	size_t end, start, before;

	if (!newline && !window->whole_file)
		return 1;
	ending->size = 0;
	if (!newline)
		return 0;
	end = (size_t)(newline - window->data);
	ending->size = file_size - (window->size - end - 1);
	if (!line_start(window, end, &start) ||
	    (start > 0 && !line_start(window, start - 1, &before)))
		return 1;
	return adopt_last_line(window, start, end, previous, previous_chain, ending);
}

/* Where the first line begins that has a NUL in it; or the size. */
static int size_without_holes(int fd, uint64_t size, uint64_t *ret)
{
	_cleanup_(freep) char *data = malloc(READ_SIZE);
	uint64_t line = 0;

	if (!data)
		return -ENOMEM;
	for (uint64_t at = 0; at < size;) {
		size_t n = size - at < READ_SIZE ? (size_t)(size - at) : READ_SIZE;
		const char *nul, *newline;
		int r = read_at(fd, data, n, at);

		if (r < 0)
			return r;
		nul = memchr(data, '\0', n);
		newline = memrchr(data, '\n', nul ? (size_t)(nul - data) : n);
		if (newline)
			line = at + (uint64_t)(newline + 1 - data);
		if (nul) {
			*ret = line;
			return 0;
		}
		at += n;
	}
	*ret = size;
	return 0;
}

static int find_first(int fd, uint64_t size, uint64_t *ret_first)
{
	char head[64];
	size_t n = size < sizeof(head) ? (size_t)size : sizeof(head);
	int r = read_at(fd, head, n, 0);

	if (r < 0)
		return r;
	return chain_sequence(head, n, ret_first);
}

int ending_find(int fd, uint64_t size, bool crashed, uint64_t previous,
		const unsigned char previous_chain[SHA256_SIZE], struct ending *ret_ending)
{
	struct ending ending = {};
	int r;

	if (crashed) {
		r = size_without_holes(fd, size, &size);
		if (r < 0)
			return r;
	}
	for (size_t limit = 1u << 16; size > 0; limit *= 2) {
		_cleanup_(freep) char *data = NULL;
		struct window window;

		r = read_window(fd, size, limit, &window);
		if (r < 0)
			return r;
		data = window.data;
		r = examine(&window, size, previous, previous_chain, &ending);
		if (r == 0)
			break;
		if (r < 0)
			return r;
		if (limit > 2 * CHAIN_LINE_MAX)
			return -EBADMSG;
	}
	if (ending.size > 0) {
		r = find_first(fd, ending.size, &ending.first);
		if (r < 0)
			return r;
	}
	*ret_ending = ending;
	return 0;
}

/* Moves the last lines to the front, to read on behind them. */
static int keep_last(char **data, size_t *size, size_t *capacity)
{
	const char *last = *size > 0 ? memrchr(*data, '\n', *size) : NULL;
	const char *before = last ? memrchr(*data, '\n', (size_t)(last - *data)) : NULL;
	char *grown;

	if (before) {
		size_t dropped = (size_t)(before + 1 - *data);

		memmove(*data, *data + dropped, *size - dropped);
		*size -= dropped;
	}
	if (*capacity - *size >= READ_SIZE)
		return 0;
	if (*capacity > 4 * (size_t)CHAIN_LINE_MAX)
		return -EBADMSG;
	grown = realloc(*data, *capacity * 2 + READ_SIZE);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*capacity = *capacity * 2 + READ_SIZE;
	return 0;
}

int ending_of_closed(const char *path, bool compressed, struct ending *ret_ending)
{
	_cleanup_(segment_input_closep) struct segment_input *input = NULL;
	_cleanup_(freep) char *data = NULL;
	size_t size = 0, capacity = 0, end, start, body;
	struct ending ending = {};
	const char *newline;
	ssize_t n;
	int r = segment_input_open(path, compressed, &input);

	if (r < 0)
		return r;
	do {
		r = keep_last(&data, &size, &capacity);
		if (r < 0)
			return r;
		n = segment_input_read(input, data + size, READ_SIZE);
		if (n < 0)
			return (int)n;
		size += (size_t)n;
	} while (n > 0);
	newline = size > 0 ? memrchr(data, '\n', size) : NULL;
	if (!newline)
		return -EBADMSG;
	end = (size_t)(newline - data);
	newline = end > 0 ? memrchr(data, '\n', end) : NULL;
	start = newline ? (size_t)(newline + 1 - data) : 0;
	r = chain_split(data + start, end - start, &body, &ending.sequence, ending.chain);
	if (r < 0)
		return r;
	*ret_ending = ending;
	return 0;
}
