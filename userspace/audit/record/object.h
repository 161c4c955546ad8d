/* SPDX-License-Identifier: Apache-2.0 */
/* What an access was about, as text: a path, an address, a socket, a capability, a process. */
#ifndef CORDON_AUDIT_OBJECT_H
#define CORDON_AUDIT_OBJECT_H

#include <netinet/in.h>
#include <stddef.h>

#include "audit/record/decode.h"

/*
 * Writes what is not a name of its own: "203.0.113.7:443", "inet/raw/icmp", "CAP_SYS_ADMIN",
 * "process 123 (SIGKILL)". "" for CORDON_OBJECT_NONE and for names, whose bytes are the text.
 */
#define OBJECT_TEXT_SIZE 128
void object_format(const struct decoded_access *access, char text[OBJECT_TEXT_SIZE]);

void object_format_address(const struct decoded_address *address, char text[INET6_ADDRSTRLEN]);

#endif
