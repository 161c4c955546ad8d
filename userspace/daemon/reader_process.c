/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/reader_process.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/helper.h"
#include "daemon/message_codec.h"
#include "daemon/protocol.h"
#include "daemon/sandbox.h"

/* The socket, and standard input, output and error. */
#define FILES_MAX 8

static const char *const allowed[] = {
	"read",	     "write",	      "close", "munmap",       "mremap",
	"madvise",   "brk",	      "futex", "rt_sigreturn", "restart_syscall",
	"getrandom", "clock_gettime", "exit",  "exit_group",   NULL,
};

static int reply(int result, const char *data, size_t size)
{
	const struct reader_reply header = {.result = result, .size = (uint32_t)size};
	int r = io_write_all(HELPER_SOCKET_FD, &header, sizeof(header));

	return r < 0 ? r : io_write_all(HELPER_SOCKET_FD, data, size);
}

static int read_message(const char *packet, size_t size, char **ret_data, size_t *ret_size,
			struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *message = NULL;
	int r = protocol_parse(packet, size, &message, failure);

	if (r < 0)
		return r;
	r = message_encode(message, ret_data, ret_size);
	return r == -E2BIG || r == -EINVAL
		       ? failure_set(failure, EBADMSG, "a message that no request looks like")
		       : r;
}

static int serve_one(char *packet)
{
	_cleanup_(freep) char *data = NULL;
	struct failure failure = {};
	size_t encoded = 0;
	uint32_t size;
	/* 1: the daemon has closed it. */
	int r = io_read_exactly(HELPER_SOCKET_FD, &size, sizeof(size));

	if (r == 0 && size > PROTOCOL_MAX_PACKET)
		r = -EMSGSIZE;
	if (r == 0)
		r = io_read_exactly(HELPER_SOCKET_FD, packet, size);
	if (r != 0)
		return r;
	r = read_message(packet, size, &data, &encoded, &failure);
	return r < 0 ? reply(r, failure.text, strlen(failure.text)) : reply(0, data, encoded);
}

static int confine(void)
{
	const struct sandbox sandbox = {
		.root_fd = HELPER_DIRECTORY_FD,
		.uid = READER_UID,
		.gid = READER_UID,
		.files = FILES_MAX,
		.calls = allowed,
	};
	struct failure ignored = {};
	int r;

	/* Later it could not read what it takes the seed from. */
	json_object_seed(0);
	r = sandbox_enter(&sandbox, &ignored);
	(void)close(HELPER_DIRECTORY_FD);
	return r;
}

int reader_process(void)
{
	_cleanup_(freep) char *packet = malloc(PROTOCOL_MAX_PACKET);
	int r;

	/* Who interrupts the daemon wants it, not this. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	r = packet ? confine() : -ENOMEM;
	/* The daemon waits for this, so that nothing is read before. */
	if (reply(r, NULL, 0) < 0)
		return EXIT_FAILURE;
	while (r == 0)
		r = serve_one(packet);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
