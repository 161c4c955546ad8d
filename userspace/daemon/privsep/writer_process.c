/* SPDX-License-Identifier: Apache-2.0 */
/* The process that writes one log, and reaches nothing but its directory. */
#include "daemon/privsep/writer_process.h"

#include <openssl/crypto.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/storage/tail.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/sha256.h"
#include "daemon/privsep/helper.h"
#include "daemon/privsep/shipped.h"
#include "daemon/privsep/writer_protocol.h"
#include "daemon/privsep/writer_sandbox.h"

#define RETRY_NSEC (20 * NSEC_PER_MSEC)

struct process {
	struct audit_log *log;
	struct tail tail; /* what an earlier writer may have written of what comes */
	uint64_t lost;
	char *payload;
	size_t capacity;
	struct writer_hello hello;
};

static int read_payload(struct process *p, size_t size)
{
	if (size > WRITER_PAYLOAD_MAX)
		return -EMSGSIZE;
	if (size > p->capacity) {
		char *grown = realloc(p->payload, size);

		if (!grown)
			return -ENOMEM;
		p->payload = grown;
		p->capacity = size;
	}
	return io_read_exactly(HELPER_SOCKET_FD, p->payload, size);
}

/* --- what is asked for -------------------------------------------------------------------- */

/* Those that an earlier writer wrote before it crashed are skipped. */
static int append(struct process *p, size_t size)
{
	for (size_t at = 0; at < size;) {
		const char *record = p->payload + at + sizeof(uint32_t);
		uint32_t length;

		if (size - at < sizeof(length))
			return -EBADMSG;
		memcpy(&length, p->payload + at, sizeof(length));
		at += sizeof(length);
		if (size - at < length)
			return -EBADMSG;
		at += length;
		if (!tail_has(&p->tail, record, length) &&
		    audit_log_append_text(p->log, record, length) < 0)
			p->lost++;
	}
	return 0;
}

static int lose(struct process *p, size_t size)
{
	uint64_t records;

	if (size != sizeof(records))
		return -EBADMSG;
	memcpy(&records, p->payload, sizeof(records));
	audit_log_lose(p->log, records, -ENOBUFS);
	return 0;
}

/* Another writer may be about to leave: one whose daemon was killed. */
static int open_patiently(struct process *p, uint64_t *ret_repaired, struct failure *failure)
{
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + p->hello.patience_msec * NSEC_PER_MSEC;
	const struct timespec pause = {.tv_nsec = RETRY_NSEC};

	for (;;) {
		int r = audit_log_open(".", &p->hello.options, &p->log, ret_repaired, failure);

		if (r != -EWOULDBLOCK || clock_nsec(CLOCK_MONOTONIC) >= end)
			return r;
		nanosleep(&pause, NULL);
	}
}

static int go_on_for(struct process *p)
{
	const struct audit_log_position *before = &p->hello.position;
	int r = 0;

	if (p->hello.anew && before->sequence > 0)
		r = audit_log_continue(p->log, before);
	else if (before->sequence > 0)
		r = tail_read(".", before->sequence, &p->tail);
	return r;
}

/* libcrypto reads what it wants to read while it can. */
static int warm_up(void)
{
	unsigned char digest[SHA256_SIZE];

	return sha256_of("", 0, digest);
}

static int begin(struct process *p, struct writer_reply *reply)
{
	struct failure failure = {};
	int r = warm_up();

	umask(027);
	if (r == 0 && p->hello.confine)
		r = writer_sandbox_enter(HELPER_DIRECTORY_FD, p->hello.uid, p->hello.gid, &failure);
	else if (r == 0 && fchdir(HELPER_DIRECTORY_FD) < 0)
		r = -errno;
	(void)close(HELPER_DIRECTORY_FD);
	if (r == 0)
		r = open_patiently(p, &reply->repaired, &failure);
	if (r == 0)
		r = go_on_for(p);
	/* What was before is nobody's business any more. */
	OPENSSL_cleanse(&p->hello.position.key, sizeof(p->hello.position.key));
	snprintf(reply->text, sizeof(reply->text), "%s", failure.text);
	return r;
}

static int tick(struct process *p, size_t size, struct writer_reply *reply)
{
	struct audit_log_shipped shipped;

	shipped_read(p->payload, size, &shipped);
	audit_log_note_shipped(p->log, &shipped);
	reply->later = audit_log_tick(p->log);
	return 0;
}

static int answer(struct process *p, const struct writer_header *header, struct writer_reply *reply)
{
	uint32_t request = header->request;

	switch (request) {
	case WRITER_FLUSH:
	case WRITER_SYNC:
		return audit_log_flush(p->log, request == WRITER_SYNC);
	case WRITER_TICK:
		return tick(p, header->size, reply);
	case WRITER_WRITABLE:
		return audit_log_writable(p->log);
	case WRITER_CLOSE:
		audit_log_close(p->log);
		p->log = NULL;
		return 0;
	default:
		return -EBADMSG;
	}
}

static int send_reply(struct process *p, struct writer_reply *reply)
{
	int r;

	reply->lost = p->lost;
	if (p->log) {
		audit_log_position(p->log, &reply->position);
		audit_log_figures(p->log, &reply->figures);
	}
	r = io_write_all(HELPER_SOCKET_FD, reply, sizeof(*reply));
	OPENSSL_cleanse(&reply->position.key, sizeof(reply->position.key));
	return r;
}

/* 1: there is no more to do. */
static int serve_one(struct process *p)
{
	struct writer_header header;
	struct writer_reply reply = {};
	int r = io_read_exactly(HELPER_SOCKET_FD, &header, sizeof(header));

	if (r != 0)
		return r;
	r = read_payload(p, header.size);
	if (r != 0)
		return r;
	if (header.request == WRITER_APPEND)
		return append(p, header.size);
	if (header.request == WRITER_LOSE)
		return lose(p, header.size);
	reply.result = answer(p, &header, &reply);
	r = send_reply(p, &reply);
	return r < 0 ? r : header.request == WRITER_CLOSE;
}

static int serve_first(struct process *p)
{
	struct writer_header header;
	struct writer_reply reply = {};
	int r = io_read_exactly(HELPER_SOCKET_FD, &header, sizeof(header));

	if (r == 0 && (header.request != WRITER_HELLO || header.size != sizeof(p->hello)))
		r = -EBADMSG;
	if (r == 0)
		r = io_read_exactly(HELPER_SOCKET_FD, &p->hello, sizeof(p->hello));
	if (r != 0)
		return r;
	p->hello.options.clock = NULL;
	p->hello.options.shown = p->hello.name;
	p->hello.options.identity = p->hello.identity[0] ? p->hello.identity : NULL;
	reply.result = begin(p, &reply);
	r = send_reply(p, &reply);
	return r < 0 ? r : reply.result;
}

int writer_process(void)
{
	struct process p = {};
	int r;

	/*
	 * A write into a closed socket is an error like others; and who interrupts the daemon wants
	 * it, not this.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	r = serve_first(&p);
	while (r == 0)
		r = serve_one(&p);
	/*
	 * The daemon is gone. What it gave is written; that the writer stopped in order is not
	 * noted, for nobody can say what else the daemon had.
	 */
	if (p.log)
		(void)audit_log_flush(p.log, true);
	free(p.payload);
	tail_free(&p.tail);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
