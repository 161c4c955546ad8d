/* SPDX-License-Identifier: Apache-2.0 */
/* What an access was about, as text: a path, an address, a socket, a capability, a process. */
#include "audit/record/object.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "audit/record/names.h"

#define NUMBER_TEXT_SIZE 24

/* The name, or the number where there is none. */
static const char *name_or_number(const char *name, uint64_t number, char text[NUMBER_TEXT_SIZE])
{
	if (name)
		return name;
	snprintf(text, NUMBER_TEXT_SIZE, "%llu", (unsigned long long)number);
	return text;
}

static char *format_byte(unsigned int value, char *to)
{
	if (value >= 100)
		*to++ = (char)('0' + value / 100);
	if (value >= 10)
		*to++ = (char)('0' + value / 10 % 10);
	*to++ = (char)('0' + value % 10);
	return to;
}

static void format_ipv4(const unsigned char bytes[4], char *to)
{
	for (int i = 0; i < 4; i++) {
		if (i > 0)
			*to++ = '.';
		to = format_byte(bytes[i], to);
	}
	*to = '\0';
}

void object_format_address(const struct decoded_address *address, char text[INET6_ADDRSTRLEN])
{
	/*
	 * By far the most frequent, and the C library's way takes as long as all else of a record.
	 */
	if (address->family == 4)
		format_ipv4(address->address, text);
	else
		inet_ntop(AF_INET6, address->address, text, INET6_ADDRSTRLEN);
}

static void format_net(const struct decoded_access *access, char text[OBJECT_TEXT_SIZE])
{
	struct decoded_address address;
	char host[INET6_ADDRSTRLEN];

	decode_address(access, &address);
	object_format_address(&address, host);
	snprintf(text, OBJECT_TEXT_SIZE, address.family == 4 ? "%s:%u" : "[%s]:%u", host,
		 address.port);
}

static void format_socket(const struct decoded_access *access, char text[OBJECT_TEXT_SIZE])
{
	char family[NUMBER_TEXT_SIZE], type[NUMBER_TEXT_SIZE], protocol[NUMBER_TEXT_SIZE];
	struct decoded_socket s;
	bool internet;

	decode_socket(access, &s);
	internet = s.family == AF_INET || s.family == AF_INET6;
	snprintf(text, OBJECT_TEXT_SIZE, "%s/%s/%s",
		 name_or_number(name_of_family(s.family), s.family, family),
		 name_or_number(name_of_socket_type(s.type), s.type, type),
		 name_or_number(internet ? name_of_protocol(s.protocol) : NULL, s.protocol,
				protocol));
}

static void format_number(const struct decoded_access *access, char text[OBJECT_TEXT_SIZE])
{
	char buffer[NUMBER_TEXT_SIZE];
	const char *name = NULL;
	__u64 number;

	memcpy(&number, access->object, sizeof(number));
	if (access->operation == CORDON_OP_CAPABLE)
		name = name_of_capability(number);
	else if (access->operation == CORDON_OP_SIGNAL && number < 128)
		name = name_of_signal((int)number);
	else if (access->operation == CORDON_OP_SYSTEM_CALL)
		name = name_of_system_call(number);
	snprintf(text, OBJECT_TEXT_SIZE, "%s", name_or_number(name, number, buffer));
}

static void format_process(const struct decoded_access *access, char text[OBJECT_TEXT_SIZE])
{
	struct cordon_process_object process;
	const char *signal_name = NULL;

	memcpy(&process, access->object, sizeof(process));
	if (access->operation == CORDON_OP_SIGNAL && process.number < 128)
		signal_name = name_of_signal((int)process.number);
	if (signal_name)
		snprintf(text, OBJECT_TEXT_SIZE, "process %u (%s)", process.pid, signal_name);
	else
		snprintf(text, OBJECT_TEXT_SIZE, "process %u", process.pid);
}

void object_format(const struct decoded_access *access, char text[OBJECT_TEXT_SIZE])
{
	text[0] = '\0';
	switch (access->object_kind) {
	case CORDON_OBJECT_NET:
		format_net(access, text);
		break;
	case CORDON_OBJECT_SOCKET:
		format_socket(access, text);
		break;
	case CORDON_OBJECT_NUMBER:
		format_number(access, text);
		break;
	case CORDON_OBJECT_PROCESS:
		format_process(access, text);
		break;
	default:
		break;
	}
}
