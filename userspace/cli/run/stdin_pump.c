/* SPDX-License-Identifier: Apache-2.0 */
/* Hands standard input through to a command that reads its code from it, and hashes what passes. */
#include "cli/run/stdin_pump.h"

#include <fcntl.h>

int stdin_pump_new(int in, struct stdin_pump **ret_pump)
{
	_cleanup_(stdin_pump_freep) struct stdin_pump *pump = calloc(1, sizeof(*pump));
	int fds[2];

	if (!pump)
		return -ENOMEM;
	pump->in = in;
	pump->place = lseek(in, 0, SEEK_CUR);
	pump->out = -1;
	pump->read_fd = -1;
	pump->hash = sha256_new();
	if (!pump->hash)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pump->read_fd = fds[0];
	pump->out = fds[1];
	/* Our end alone: the flag belongs to the open file, and each end is one of its own. */
	if (fcntl(pump->out, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	*ret_pump = TAKE_PTR(pump);
	return 0;
}

void stdin_pump_free(struct stdin_pump *pump)
{
	closep(&pump->read_fd);
	closep(&pump->out);
	if (pump->hash)
		sha256_free(pump->hash);
	free(pump);
}

void stdin_pump_started(struct stdin_pump *pump)
{
	closep(&pump->read_fd);
	pump->read_fd = -1;
}

static void stop(struct stdin_pump *pump)
{
	closep(&pump->out);
	pump->out = -1;
	pump->in = -1;
}

struct pollfd stdin_pump_wants(const struct stdin_pump *pump)
{
	if (pump->out >= 0 && pump->start < pump->end)
		return (struct pollfd){.fd = pump->out, .events = POLLOUT};
	if (pump->out >= 0 && pump->in >= 0)
		return (struct pollfd){.fd = pump->in, .events = POLLIN};
	return (struct pollfd){.fd = -1};
}

static void take_in(struct stdin_pump *pump)
{
	size_t room = sizeof(pump->buffer);
	ssize_t n = pump->place < 0 ? read(pump->in, pump->buffer, room)
				    : pread(pump->in, pump->buffer, room, pump->place);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* The end, or an error that the command would have met: for it, too, this is the end. */
	if (n <= 0) {
		stop(pump);
		return;
	}
	if (pump->place >= 0)
		pump->place += n;
	pump->start = 0;
	pump->end = (size_t)n;
}

static void hand_out(struct stdin_pump *pump)
{
	const char *data = pump->buffer + pump->start;
	ssize_t n = write(pump->out, data, pump->end - pump->start);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) { /* nobody reads it any more */
		pump->start = pump->end;
		stop(pump);
		return;
	}
	if (sha256_update(pump->hash, data, (size_t)n) < 0)
		pump->failed = true;
	pump->length += (uint64_t)n;
	pump->start += (size_t)n;
}

void stdin_pump_move(struct stdin_pump *pump)
{
	if (pump->start == pump->end)
		take_in(pump);
	if (pump->out >= 0 && pump->start < pump->end)
		hand_out(pump);
}

int stdin_pump_finish(struct stdin_pump *pump, unsigned char ret_digest[SHA256_SIZE],
		      uint64_t *ret_length)
{
	int r;

	stop(pump);
	if (pump->failed)
		return -EIO;
	r = sha256_finish(pump->hash, ret_digest);
	if (r < 0)
		return r;
	*ret_length = pump->length;
	return 0;
}
