/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From ring bytes to an event whose every length, number and enum is known to be in range. What
 * comes from a ring is not trusted to be well formed.
 */
#ifndef CORDON_AUDIT_DECODE_H
#define CORDON_AUDIT_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

/* Of what operation on what, common to denials and allowed accesses. */
struct decoded_access {
	uint32_t operation;
	uint32_t rights;
	uint16_t rule;
	uint32_t object_kind;
	bool object_moved;	      /* CORDON_OBJECT_MOVED: its text may be of another name */
	bool object_temporary;	      /* CORDON_OBJECT_TEMPORARY */
	bool object_own_terminal;     /* CORDON_OBJECT_OWN_TERMINAL */
	bool object_case_insensitive; /* CORDON_OBJECT_CASE_INSENSITIVE */
	uint32_t object_total;
	/* into the event */
	const unsigned char *object;
	size_t object_length;
};

struct decoded_event {
	struct cordon_event header;
	size_t comm_length;
	union {
		struct {
			struct decoded_access access;
			int error;
			uint8_t reason;
			uint8_t would;
			uint32_t repeats;
		} denial;
		struct decoded_access access; /* CORDON_EVENT_OPEN, _CHANGE, _CONNECT */
		struct {
			const char *path;
			size_t path_length;
			const char *arguments;
			size_t arguments_length;
			uint32_t arguments_total;
		} exec;
		struct {
			int status;
			uint64_t user_nsec, system_nsec;
		} exit;
	};
};

/*
 * Pointers in *ret point into `data`. -EBADMSG: not well formed. Any alignment.
 */
int decode_event(const void *data, size_t size, struct decoded_event *ret);

/* A decoded CORDON_OBJECT_NET. */
struct decoded_address {
	uint8_t family; /* 4 or 6 */
	uint8_t protocol;
	uint16_t port;
	unsigned char address[16];
};

/* A decoded CORDON_OBJECT_SOCKET. */
struct decoded_socket {
	uint8_t family, type;
	uint16_t protocol;
};

/* Of objects that decode_event() let pass. */
void decode_address(const struct decoded_access *access, struct decoded_address *ret);
void decode_socket(const struct decoded_access *access, struct decoded_socket *ret);

#endif
