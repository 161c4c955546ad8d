/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control protocol between clients (`cordon run`, `status`, ...) and the daemon;
 * docs/protocol.md describes every message.
 *
 * A SOCK_SEQPACKET socket; one JSON object per packet, at most PROTOCOL_MAX_PACKET bytes, with at
 * most PROTOCOL_MAX_FDS descriptors beside it (SCM_RIGHTS). The client asks, the daemon answers
 * each request with one packet, in order. One connection owns at most one execution, and the
 * execution ends with the connection.
 */
#ifndef CORDON_DAEMON_PROTOCOL_H
#define CORDON_DAEMON_PROTOCOL_H

#include <jansson.h>
#include <stddef.h>
#include <sys/socket.h>

#include "audit/record/record.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "bpf/abi.h"
#include "policy/core/compiled.h"

#define PROTOCOL_VERSION   2
#define PROTOCOL_DIRECTORY "/run/cordon"
#define PROTOCOL_SOCKET	   PROTOCOL_DIRECTORY "/control.sock"
/* Answers `status`, and refuses all else, whoever asks. */
#define PROTOCOL_STATUS_SOCKET PROTOCOL_DIRECTORY "/status.sock"
/* Answers `who`, about all executions, and refuses all else. */
#define PROTOCOL_WHO_SOCKET PROTOCOL_DIRECTORY "/who.sock"
#define PROTOCOL_MAX_PACKET 65536u
#define PROTOCOL_MAX_FDS    8u
#define PROTOCOL_MAX_BINDS  (PROTOCOL_MAX_FDS - 3) /* work directory, home and code have theirs */
/* One for each execution that can be live. */
#define PROTOCOL_MAX_CLIENTS CORDON_MAX_EXECUTIONS
/* Of these, of all clients that are not root. */
#define PROTOCOL_MAX_MEMBERS 3072u
/*
 * Further connections, for looking at and ending what the others run: no execution can start there.
 */
#define PROTOCOL_RESERVED_CLIENTS 16u
/* Connections to each of the sockets for one request, besides. */
#define PROTOCOL_MAX_LOOKERS 16u
/* How long a prepared execution may stay without a label before it is given up. */
#define PROTOCOL_LABEL_SECONDS 30u
/* How long a client that is not root may say nothing and own no execution. */
#define PROTOCOL_SILENCE_SECONDS 60u

/* Descriptors beside a message; those that the receiver does not take over it closes. */
struct protocol_fds {
	int fd[PROTOCOL_MAX_FDS];
	size_t count;
};

void protocol_fds_close(struct protocol_fds *fds);

/* Frees a NULL-terminated array of strings; NULL is fine. */
void protocol_strings_free(char **strings);
DEFINE_CLEANUP(char **, protocol_strings_free, protocol_strings_freep)

/*
 * Sends one message. -EMSGSIZE: larger than a packet; -EAGAIN: a non-blocking socket is full;
 * -EPIPE, -ECONNRESET: the peer is gone (never a signal); -ENOMEM.
 */
int protocol_send(int socket, const json_t *message, const int *fds, size_t fd_count);

/*
 * Receives one message, a new reference; descriptors are close-on-exec. *ret_sender: the process
 * that sent it, as the kernel says, on a socket with SO_PASSCRED; NULL where nobody asks.
 *
 * -ECONNRESET: the peer has closed; -EAGAIN: nothing there on a non-blocking socket; -EMSGSIZE:
 * more bytes or descriptors than the protocol allows; -EBADMSG: not one JSON object, see
 * `failure`; -ENOMEM. No descriptor stays open on failure.
 */
int protocol_receive(int socket, json_t **ret_message, struct protocol_fds *ret_fds,
		     struct ucred *ret_sender, struct failure *failure);

/*
 * The same, with the bytes as they came. Descriptors that came along are in `ret_fds` on failure,
 * too, for the caller to close: that may take for ever.
 */
int protocol_receive_packet(int socket, char data[PROTOCOL_MAX_PACKET], size_t *ret_size,
			    struct protocol_fds *ret_fds, struct ucred *ret_sender,
			    struct failure *failure);

/* The bytes of one packet; -EBADMSG, -EMSGSIZE, -ENOMEM as above. */
int protocol_parse(const char *data, size_t size, json_t **ret_message, struct failure *failure);

/*
 * New references; NULL without memory. `error` may be negative. A long message is cut, what is no
 * UTF-8 in it is replaced.
 */
json_t *protocol_ok(void);
json_t *protocol_error(int error, const char *message);

/* "EINVAL" for EINVAL, and back; 0 where the name is unknown. */
const char *protocol_errno_name(int error);
int protocol_errno(const char *name);

/*
 * An array of strings, what is no UTF-8 in them replaced (null entries allowed if `nulls`) and
 * back. protocol_strings_of() returns a NULL-terminated array in which a null entry is a NULL
 * pointer, so that with `nulls` the count is json_array_size(). -EINVAL: not that; -ENOMEM.
 */
json_t *protocol_strings(char *const *strings);
int protocol_strings_of(json_t *array, bool nulls, char ***ret_strings);

/* Limits as an object with the names of struct policy_limits. With `all`, zeros too. */
json_t *protocol_limits(const struct policy_limits *limits, bool all);
/* Absent names are 0. -EINVAL: unknown name, negative or not an integer. */
int protocol_limits_of(json_t *object, struct policy_limits *ret_limits, struct failure *failure);

/* "exited", "timeout", ... for enum audit_end_cause, and back (-EINVAL). */
const char *protocol_cause_name(enum audit_end_cause cause);
int protocol_cause(const char *name, enum audit_end_cause *ret_cause);

/* "none", "file", "argument", "stdin" for enum audit_code_source, and back (-EINVAL). */
const char *protocol_code_source_name(enum audit_code_source source);
int protocol_code_source(const char *name, enum audit_code_source *ret_source);

#endif
