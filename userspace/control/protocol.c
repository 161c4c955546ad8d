/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives one message of the control protocol, with its descriptors. */
#include "control/protocol.h"

#include <string.h>
#include <sys/socket.h>

#include "audit/text/text.h"

/* A byte may become six in JSON, and the message must fit into a packet. */
#define ERROR_TEXT_MAX 10000u

void protocol_fds_close(struct protocol_fds *fds)
{
	for (size_t i = 0; i < fds->count; i++)
		closep(&fds->fd[i]);
	fds->count = 0;
}

void protocol_strings_free(char **strings)
{
	for (char **s = strings; s && *s; s++)
		free(*s);
	free(strings);
}

int protocol_send(int socket, const json_t *message, const int *fds, size_t fd_count)
{
	_cleanup_(freep) char *text = json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII);
	union {
		struct cmsghdr header;
		char buffer[CMSG_SPACE(sizeof(int) * PROTOCOL_MAX_FDS)];
	} control = {};
	struct iovec iov;
	struct msghdr packet = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t sent;

	if (!text)
		return -ENOMEM;
	iov = (struct iovec){.iov_base = text, .iov_len = strlen(text)};
	if (iov.iov_len > PROTOCOL_MAX_PACKET || fd_count > PROTOCOL_MAX_FDS)
		return -EMSGSIZE;
	if (fd_count > 0) {
		struct cmsghdr *header;

		packet.msg_control = control.buffer;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		header = CMSG_FIRSTHDR(&packet);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(header), fds, sizeof(int) * fd_count);
	}
	do {
		sent = sendmsg(socket, &packet, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static void collect(struct msghdr *packet, struct protocol_fds *ret_fds, struct ucred *ret_sender)
{
	/* Invalid values, which remain if the kernel reports no sender. */
	struct ucred sender = {.pid = -1, .uid = (uid_t)-1, .gid = (gid_t)-1};

	ret_fds->count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(packet); c; c = CMSG_NXTHDR(packet, c)) {
		size_t count;

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
		    c->cmsg_len == CMSG_LEN(sizeof(sender)))
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count && ret_fds->count < PROTOCOL_MAX_FDS; i++)
			memcpy(&ret_fds->fd[ret_fds->count++], CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
	}
	if (ret_sender)
		*ret_sender = sender;
}

int protocol_parse(const char *data, size_t size, json_t **ret_message, struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *message = NULL;
	json_error_t error;

	if (size > PROTOCOL_MAX_PACKET)
		return failure_set(failure, EMSGSIZE, "a message may have %u bytes at most",
				   PROTOCOL_MAX_PACKET);
	message = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
	if (!message && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!message)
		return failure_set(failure, EBADMSG, "not JSON: %s (byte %d)", error.text,
				   error.position);
	if (!json_is_object(message))
		return failure_set(failure, EBADMSG, "a message must be one JSON object");
	*ret_message = TAKE_PTR(message);
	return 0;
}

int protocol_receive_packet(int socket, char data[PROTOCOL_MAX_PACKET], size_t *ret_size,
			    struct protocol_fds *ret_fds, struct ucred *ret_sender,
			    struct failure *failure)
{
	union {
		struct cmsghdr header;
		char buffer[CMSG_SPACE(sizeof(struct ucred)) +
			    CMSG_SPACE(sizeof(int) * PROTOCOL_MAX_FDS)];
	} control;
	struct iovec iov = {.iov_base = data, .iov_len = PROTOCOL_MAX_PACKET};
	struct msghdr packet = {.msg_iov = &iov,
				.msg_iovlen = 1,
				.msg_control = control.buffer,
				/* Space for exactly the permitted number of descriptors. */
				.msg_controllen =
					CMSG_SPACE(sizeof(int) * PROTOCOL_MAX_FDS) +
					(ret_sender ? CMSG_SPACE(sizeof(*ret_sender)) : 0)};
	ssize_t size;

	ret_fds->count = 0;
	do {
		size = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
	} while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;
	collect(&packet, ret_fds, ret_sender);
	if (size == 0)
		return -ECONNRESET;
	if (packet.msg_flags & MSG_TRUNC)
		return failure_set(failure, EMSGSIZE, "a message may have %u bytes at most",
				   PROTOCOL_MAX_PACKET);
	if (packet.msg_flags & MSG_CTRUNC)
		return failure_set(failure, EMSGSIZE, "a message may carry %u descriptors at most",
				   PROTOCOL_MAX_FDS);
	*ret_size = (size_t)size;
	return 0;
}

int protocol_receive(int socket, json_t **ret_message, struct protocol_fds *ret_fds,
		     struct ucred *ret_sender, struct failure *failure)
{
	_cleanup_(freep) char *data = malloc(PROTOCOL_MAX_PACKET);
	_cleanup_(protocol_fds_close) struct protocol_fds fds = {};
	size_t size = 0;
	int r;

	if (!data)
		return -ENOMEM;
	r = protocol_receive_packet(socket, data, &size, &fds, ret_sender, failure);
	if (r == 0)
		r = protocol_parse(data, size, ret_message, failure);
	if (r < 0)
		return r;
	*ret_fds = fds;
	fds.count = 0;
	return 0;
}

json_t *protocol_ok(void)
{
	return json_pack("{s:b}", "ok", 1);
}

json_t *protocol_error(int error, const char *message)
{
	return json_pack("{s:b,s:s,s:o}", "ok", 0, "error", protocol_errno_name(error), "message",
			 text_lossy(message, strnlen(message, ERROR_TEXT_MAX)));
}

const char *protocol_errno_name(int error)
{
	const char *name = strerrorname_np(abs(error));

	return name ? name : "EIO";
}

int protocol_errno(const char *name)
{
	/* Linux numbers errors from 1 to 133 (EHWPOISON). */
	for (int error = 1; error <= EHWPOISON; error++) {
		const char *candidate = strerrorname_np(error);

		if (candidate && strcmp(candidate, name) == 0)
			return error;
	}
	return 0;
}

json_t *protocol_strings(char *const *strings)
{
	_cleanup_(json_decrefp) json_t *array = json_array();

	if (!array)
		return NULL;
	for (char *const *s = strings; s && *s; s++)
		if (json_array_append_new(array, text_lossy(*s, strlen(*s))) < 0)
			return NULL;
	return TAKE_PTR(array);
}

int protocol_strings_of(json_t *array, bool nulls, char ***ret_strings)
{
	size_t count = json_array_size(array);
	char **strings;

	if (!json_is_array(array))
		return -EINVAL;
	strings = calloc(count + 1, sizeof(*strings));
	if (!strings)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *entry = json_array_get(array, i);
		int r = 0;

		if (json_is_string(entry)) {
			strings[i] = strdup(json_string_value(entry));
			r = strings[i] ? 0 : -ENOMEM;
		} else if (!nulls || !json_is_null(entry)) {
			r = -EINVAL;
		}
		if (r < 0) {
			for (size_t j = 0; j < i; j++)
				free(strings[j]);
			free(strings);
			return r;
		}
	}
	*ret_strings = strings;
	return 0;
}

static const struct {
	const char *name;
	size_t offset;
} limit_names[] = {
	{"wall_nsec", offsetof(struct policy_limits, wall_nsec)},
	{"memory_bytes", offsetof(struct policy_limits, memory_bytes)},
	{"pids", offsetof(struct policy_limits, pids)},
	{"cpu_percent", offsetof(struct policy_limits, cpu_percent)},
	{"cpu_time_nsec", offsetof(struct policy_limits, cpu_time_nsec)},
	{"address_space_bytes", offsetof(struct policy_limits, address_space_bytes)},
	{"file_size_bytes", offsetof(struct policy_limits, file_size_bytes)},
	{"open_files", offsetof(struct policy_limits, open_files)},
	{"io_read_bytes", offsetof(struct policy_limits, io_read_bytes)},
	{"io_write_bytes", offsetof(struct policy_limits, io_write_bytes)},
};
_Static_assert(sizeof(struct policy_limits) == ARRAY_SIZE(limit_names) * sizeof(uint64_t),
	       "every limit has a name");

json_t *protocol_limits(const struct policy_limits *limits, bool all)
{
	_cleanup_(json_decrefp) json_t *object = json_object();

	if (!object)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(limit_names); i++) {
		uint64_t value = *(const uint64_t *)((const char *)limits + limit_names[i].offset);

		/* JSON integers are signed; larger values mean no limit anyway. */
		if (value > INT64_MAX)
			value = INT64_MAX;
		if ((all || value > 0) && json_object_set_new(object, limit_names[i].name,
							      json_integer((json_int_t)value)) < 0)
			return NULL;
	}
	return TAKE_PTR(object);
}

int protocol_limits_of(json_t *object, struct policy_limits *ret_limits, struct failure *failure)
{
	struct policy_limits limits = {};
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return failure_set(failure, EINVAL, "limits must be an object");
	json_object_foreach(object, name, value) {
		size_t i = 0;

		while (i < ARRAY_SIZE(limit_names) && strcmp(limit_names[i].name, name) != 0)
			i++;
		if (i == ARRAY_SIZE(limit_names))
			return failure_set(failure, EINVAL, "unknown limit \"%.64s\"", name);
		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return failure_set(failure, EINVAL,
					   "limit %s must be an integer, not negative", name);
		*(uint64_t *)((char *)&limits + limit_names[i].offset) =
			(uint64_t)json_integer_value(value);
	}
	*ret_limits = limits;
	return 0;
}

static const char *const cause_names[] = {
	[AUDIT_END_EXITED] = "exited",	       [AUDIT_END_SIGNALED] = "signaled",
	[AUDIT_END_TIMEOUT] = "timeout",       [AUDIT_END_DENIALS] = "denials",
	[AUDIT_END_OWNER_GONE] = "owner-gone", [AUDIT_END_KILLED] = "killed",
	[AUDIT_END_RECOVERED] = "recovered",   [AUDIT_END_NOT_STARTED] = "not-started",
	[AUDIT_END_CANCELLED] = "cancelled",
};

static const char *const code_source_names[] = {
	[AUDIT_CODE_NONE] = "none",
	[AUDIT_CODE_FILE] = "file",
	[AUDIT_CODE_ARGUMENT] = "argument",
	[AUDIT_CODE_STDIN] = "stdin",
};

static int name_index(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -EINVAL;
}

const char *protocol_cause_name(enum audit_end_cause cause)
{
	return (size_t)cause < ARRAY_SIZE(cause_names) ? cause_names[cause] : "unknown";
}

int protocol_cause(const char *name, enum audit_end_cause *ret_cause)
{
	int index = name_index(cause_names, ARRAY_SIZE(cause_names), name);

	if (index < 0)
		return index;
	*ret_cause = (enum audit_end_cause)index;
	return 0;
}

const char *protocol_code_source_name(enum audit_code_source source)
{
	return (size_t)source < ARRAY_SIZE(code_source_names) ? code_source_names[source]
							      : "unknown";
}

int protocol_code_source(const char *name, enum audit_code_source *ret_source)
{
	int index = name_index(code_source_names, ARRAY_SIZE(code_source_names), name);

	if (index < 0)
		return index;
	*ret_source = (enum audit_code_source)index;
	return 0;
}
