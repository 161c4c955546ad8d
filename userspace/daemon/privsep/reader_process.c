/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads what comes from outside: without privileges, without files. */
#include "daemon/privsep/reader_process.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/privsep/helper.h"
#include "control/message_codec.h"
#include "control/protocol.h"
#include "daemon/privsep/sandbox.h"

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

static int serve_request(const char *packet, size_t size)
{
	_cleanup_(freep) char *data = NULL;
	struct failure failure = {};
	size_t encoded = 0;
	int r = read_message(packet, size, &data, &encoded, &failure);

	return r < 0 ? reply(r, failure.text, strlen(failure.text)) : reply(0, data, encoded);
}

static int serve_dns_query(const char *data, size_t size)
{
	struct dns_query query = {0};
	int r = dns_query_read((const uint8_t *)data, size, &query);

	return r == 0 || r == -EINVAL ? reply(r, (const char *)&query, sizeof(query))
				      : reply(r, NULL, 0);
}

static int serve_dns_answer(const char *data, size_t size)
{
	struct dns_answer answer;
	struct dns_query query;
	int r;

	if (size < sizeof(query))
		return -EPROTO;
	memcpy(&query, data, sizeof(query));
	r = dns_answer_read((const uint8_t *)data + sizeof(query), size - sizeof(query), &query,
			    &answer);
	return r < 0 ? reply(r, NULL, 0) : reply(0, (const char *)&answer, sizeof(answer));
}

static int serve_one(char *data)
{
	struct reader_input input;
	/* 1: the daemon has closed it. */
	int r = io_read_exactly(HELPER_SOCKET_FD, &input, sizeof(input));

	if (r == 0 && input.size > READER_INPUT_MAX)
		r = -EMSGSIZE;
	if (r == 0)
		r = io_read_exactly(HELPER_SOCKET_FD, data, input.size);
	if (r != 0)
		return r;
	switch ((enum reader_kind)input.kind) {
	case READER_REQUEST:
		return serve_request(data, input.size);
	case READER_DNS_QUERY:
		return serve_dns_query(data, input.size);
	case READER_DNS_ANSWER:
		return serve_dns_answer(data, input.size);
	}
	return -EPROTO;
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
	_cleanup_(freep) char *data = malloc(READER_INPUT_MAX);
	int r;

	/* Who interrupts the daemon wants it, not this. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	r = data ? confine() : -ENOMEM;
	/* The daemon waits for this, so that nothing is read before. */
	if (reply(r, NULL, 0) < 0)
		return EXIT_FAILURE;
	while (r == 0)
		r = serve_one(data);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
