/* SPDX-License-Identifier: Apache-2.0 */
/* Checks every length, number and enum of an event from the ring. */
#include "audit/record/decode.h"

#include <errno.h>
#include <string.h>

#define MAX_ERRNO  4095
#define RIGHTS_ALL (CORDON_RIGHT(CORDON_RIGHT_COUNT) - 1)
#define NET4_SIZE  8u
#define NET6_SIZE  20u

static int check_object(const struct decoded_access *access)
{
	size_t length = access->object_length;

	switch (access->object_kind) {
	case CORDON_OBJECT_NONE:
		return length == 0 ? 0 : -EBADMSG;
	case CORDON_OBJECT_PATH:
	case CORDON_OBJECT_SPECIAL:
	case CORDON_OBJECT_ABSTRACT:
	case CORDON_OBJECT_HOST:
		return 0;
	case CORDON_OBJECT_NET:
		if (length == NET4_SIZE && access->object[0] == 4)
			return 0;
		return length == NET6_SIZE && access->object[0] == 6 ? 0 : -EBADMSG;
	case CORDON_OBJECT_SOCKET:
		return length == 4 ? 0 : -EBADMSG;
	case CORDON_OBJECT_NUMBER:
		return length == sizeof(__u64) ? 0 : -EBADMSG;
	case CORDON_OBJECT_PROCESS:
		return length == sizeof(struct cordon_process_object) ? 0 : -EBADMSG;
	default:
		return -EBADMSG;
	}
}

static int check_access(const struct decoded_access *access, size_t room)
{
	if (access->operation >= CORDON_OP_COUNT || (access->rights & ~RIGHTS_ALL) ||
	    access->object_length > room || access->object_total < access->object_length)
		return -EBADMSG;
	return check_object(access);
}

static int decode_denial(const unsigned char *data, size_t size, struct decoded_event *ret)
{
	struct cordon_denial_event event;

	if (size < sizeof(event))
		return -EBADMSG;
	memcpy(&event, data, sizeof(event));
	if (event.error >= 0 || event.error < -MAX_ERRNO || event.reason >= CORDON_REASON_COUNT ||
	    event.would > 1 || (event.object_flags & ~CORDON_OBJECT_FLAGS))
		return -EBADMSG;
	ret->denial.error = event.error;
	ret->denial.reason = event.reason;
	ret->denial.would = event.would;
	ret->denial.repeats = event.repeats;
	ret->denial.access = (struct decoded_access){
		.operation = event.operation,
		.rights = event.rights,
		.rule = event.rule,
		.object_kind = event.object_kind,
		.object_moved = event.object_flags & CORDON_OBJECT_MOVED,
		.object_temporary = event.object_flags & CORDON_OBJECT_TEMPORARY,
		.object_own_terminal = event.object_flags & CORDON_OBJECT_OWN_TERMINAL,
		.object_case_insensitive = event.object_flags & CORDON_OBJECT_CASE_INSENSITIVE,
		.object_total = event.object_total,
		.object = data + sizeof(event),
		.object_length = event.object_length,
	};
	return check_access(&ret->denial.access, size - sizeof(event));
}

static int decode_access(const unsigned char *data, size_t size, struct decoded_event *ret)
{
	struct cordon_access_event event;

	if (size < sizeof(event))
		return -EBADMSG;
	memcpy(&event, data, sizeof(event));
	if (event.object_flags & ~CORDON_OBJECT_FLAGS)
		return -EBADMSG;
	ret->access = (struct decoded_access){
		.operation = event.operation,
		.rights = event.rights,
		.rule = event.rule,
		.object_kind = event.object_kind,
		.object_moved = event.object_flags & CORDON_OBJECT_MOVED,
		.object_temporary = event.object_flags & CORDON_OBJECT_TEMPORARY,
		.object_own_terminal = event.object_flags & CORDON_OBJECT_OWN_TERMINAL,
		.object_case_insensitive = event.object_flags & CORDON_OBJECT_CASE_INSENSITIVE,
		.object_total = event.object_total,
		.object = data + sizeof(event),
		.object_length = event.object_length,
	};
	return check_access(&ret->access, size - sizeof(event));
}

static int decode_exec(const unsigned char *data, size_t size, struct decoded_event *ret)
{
	struct cordon_exec_event event;
	size_t room;

	if (size < sizeof(event))
		return -EBADMSG;
	memcpy(&event, data, sizeof(event));
	room = size - sizeof(event);
	if (event.path_length > room || event.args_length > room - event.path_length ||
	    event.args_total < event.args_length)
		return -EBADMSG;
	ret->exec.path = (const char *)data + sizeof(event);
	ret->exec.path_length = event.path_length;
	ret->exec.arguments = ret->exec.path + event.path_length;
	ret->exec.arguments_length = event.args_length;
	ret->exec.arguments_total = event.args_total;
	return 0;
}

static int decode_exit(const unsigned char *data, size_t size, struct decoded_event *ret)
{
	struct cordon_exit_event event;

	if (size < sizeof(event))
		return -EBADMSG;
	memcpy(&event, data, sizeof(event));
	ret->exit.status = event.exit_code;
	ret->exit.user_nsec = event.user_ns;
	ret->exit.system_nsec = event.system_ns;
	return 0;
}

int decode_event(const void *data, size_t size, struct decoded_event *ret)
{
	struct decoded_event event = {0};
	int r = 0;

	if (size < sizeof(event.header))
		return -EBADMSG;
	memcpy(&event.header, data, sizeof(event.header));
	if (event.header.size < sizeof(event.header) || event.header.size > size)
		return -EBADMSG;
	size = event.header.size;
	event.comm_length = strnlen(event.header.comm, sizeof(event.header.comm));
	switch (event.header.type) {
	case CORDON_EVENT_LABEL:
	case CORDON_EVENT_EMPTY:
	case CORDON_EVENT_ASKED:
		break;
	case CORDON_EVENT_EXEC:
		r = decode_exec(data, size, &event);
		break;
	case CORDON_EVENT_EXIT:
		r = decode_exit(data, size, &event);
		break;
	case CORDON_EVENT_DENIAL:
	case CORDON_EVENT_ATTEMPT:
		r = decode_denial(data, size, &event);
		break;
	case CORDON_EVENT_OPEN:
	case CORDON_EVENT_CHANGE:
	case CORDON_EVENT_CONNECT:
		r = decode_access(data, size, &event);
		break;
	default:
		r = -EBADMSG;
	}
	if (r < 0)
		return r;
	*ret = event;
	return 0;
}

void decode_address(const struct decoded_access *access, struct decoded_address *ret)
{
	size_t length = access->object[0] == 4 ? 4 : 16;
	const unsigned char *port = access->object + 2 + length;

	*ret = (struct decoded_address){
		.family = access->object[0],
		.protocol = access->object[1],
		.port = (uint16_t)(port[0] << 8 | port[1]),
	};
	memcpy(ret->address, access->object + 2, length);
}

void decode_socket(const struct decoded_access *access, struct decoded_socket *ret)
{
	const unsigned char *o = access->object;

	*ret = (struct decoded_socket){o[0], o[1], (uint16_t)(o[2] << 8 | o[3])};
}
