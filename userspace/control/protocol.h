/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control protocol between clients (`cordon run`, `status`, ...) and the daemon;
 * docs/protocol.md describes every message.
 *
 * It uses a SOCK_SEQPACKET socket with one JSON object per packet, at most PROTOCOL_MAX_PACKET
 * bytes and PROTOCOL_MAX_FDS descriptors (SCM_RIGHTS). The daemon replies to each request with one
 * packet, in order. A connection owns at most one execution, which ends with the connection.
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
/* Supports only `status`, for all clients. */
#define PROTOCOL_STATUS_SOCKET PROTOCOL_DIRECTORY "/status.sock"
/* Supports only `who`, for all executions. */
#define PROTOCOL_WHO_SOCKET PROTOCOL_DIRECTORY "/who.sock"
#define PROTOCOL_MAX_PACKET 65536u
#define PROTOCOL_MAX_FDS    8u
#define PROTOCOL_MAX_BINDS  (PROTOCOL_MAX_FDS - 3) /* except work directory, home and code */
/* One for each live execution. */
#define PROTOCOL_MAX_CLIENTS CORDON_MAX_EXECUTIONS
/* Of these, the maximum for all clients that are not root. */
#define PROTOCOL_MAX_MEMBERS 3072u
/* Further connections to inspect and end executions. They cannot start one. */
#define PROTOCOL_RESERVED_CLIENTS 16u
/* Additional connections to each of the sockets for one request. */
#define PROTOCOL_MAX_LOOKERS 16u
/* Timeout of a prepared execution without a label. */
#define PROTOCOL_LABEL_SECONDS 30u
/* Timeout of a silent client that is not root and owns no execution. */
#define PROTOCOL_SILENCE_SECONDS 60u

/* Descriptors of a message. The receiver closes all descriptors that it does not keep. */
struct protocol_fds {
	int fd[PROTOCOL_MAX_FDS];
	size_t count;
};

void protocol_fds_close(struct protocol_fds *fds);

/* Frees a NULL-terminated array of strings, or NULL. */
void protocol_strings_free(char **strings);
DEFINE_CLEANUP(char **, protocol_strings_free, protocol_strings_freep)

/*
 * Sends one message, without SIGPIPE. Returns 0, -EMSGSIZE if it exceeds a packet, -EAGAIN if a
 * non-blocking socket is full, -EPIPE or -ECONNRESET if the peer closed the connection, or -ENOMEM.
 */
int protocol_send(int socket, const json_t *message, const int *fds, size_t fd_count);

/*
 * Receives one message as a new reference, with close-on-exec descriptors. *ret_sender: the sending
 * process as reported by the kernel, on a socket with SO_PASSCRED; may be NULL.
 *
 * Returns 0, -ECONNRESET if the peer closed the connection, -EAGAIN if a non-blocking socket is
 * empty, -EMSGSIZE for too many bytes or descriptors, -EBADMSG if it is not one JSON object (see
 * *failure), or -ENOMEM. On failure no descriptor stays open.
 */
int protocol_receive(int socket, json_t **ret_message, struct protocol_fds *ret_fds,
		     struct ucred *ret_sender, struct failure *failure);

/*
 * Receives one packet unparsed. Also on failure `ret_fds` has the received descriptors, which the
 * caller closes, because close(2) may block.
 */
int protocol_receive_packet(int socket, char data[PROTOCOL_MAX_PACKET], size_t *ret_size,
			    struct protocol_fds *ret_fds, struct ucred *ret_sender,
			    struct failure *failure);

/* Parses one packet. Returns 0, -EBADMSG, -EMSGSIZE or -ENOMEM as above. */
int protocol_parse(const char *data, size_t size, json_t **ret_message, struct failure *failure);

/*
 * Return new references; NULL if out of memory. `error` may be negative. Long messages are
 * truncated, and invalid UTF-8 is replaced.
 */
json_t *protocol_ok(void);
json_t *protocol_error(int error, const char *message);

/* Convert between EINVAL and "EINVAL"; 0 for unknown names. */
const char *protocol_errno_name(int error);
int protocol_errno(const char *name);

/*
 * Convert between a list of strings and a JSON array. Invalid UTF-8 is replaced.
 * protocol_strings_of() returns a NULL-terminated array; with `nulls`, entries may be null and
 * become NULL, so that the count is json_array_size(). Returns 0, -EINVAL for other JSON, or
 * -ENOMEM.
 */
json_t *protocol_strings(char *const *strings);
int protocol_strings_of(json_t *array, bool nulls, char ***ret_strings);

/*
 * Converts limits to an object with the names in struct policy_limits; with `all` including zeros.
 */
json_t *protocol_limits(const struct policy_limits *limits, bool all);
/* Missing names become 0. Returns -EINVAL for unknown names, negative numbers and other types. */
int protocol_limits_of(json_t *object, struct policy_limits *ret_limits, struct failure *failure);

/* Convert between enum audit_end_cause and "exited", "timeout", ...; -EINVAL for unknown names. */
const char *protocol_cause_name(enum audit_end_cause cause);
int protocol_cause(const char *name, enum audit_end_cause *ret_cause);

/*
 * Convert between enum audit_code_source and "none", "file", "argument", "stdin"; -EINVAL for
 * unknown names.
 */
const char *protocol_code_source_name(enum audit_code_source source);
int protocol_code_source(const char *name, enum audit_code_source *ret_source);

#endif
