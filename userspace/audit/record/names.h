/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that records use for the numbers of bpf/abi.h and of the kernel. Complete for every
 * enum (a test sees to it); NULL for a number outside.
 */
#ifndef CORDON_AUDIT_NAMES_H
#define CORDON_AUDIT_NAMES_H

#include <stdint.h>

#include "audit/record/approval.h"
#include "audit/record/record.h"
#include "bpf/abi.h"

const char *name_of_operation(uint32_t operation);
const char *name_of_right(uint32_t right);
const char *name_of_reason(uint32_t reason);
const char *name_of_object_kind(uint32_t kind);
const char *name_of_counter(uint32_t counter);
const char *name_of_code_source(enum audit_code_source source);
const char *name_of_end_cause(enum audit_end_cause cause);
const char *name_of_limit(enum audit_limit limit);
const char *name_of_approval_decision(enum audit_approval_decision decision);

/* "CAP_SYS_ADMIN" */
const char *name_of_capability(uint64_t capability);
/* "inet" for AF_INET, "stream" for SOCK_STREAM, "tcp" for IPPROTO_TCP: as policies spell them */
const char *name_of_family(uint32_t family);
const char *name_of_socket_type(uint32_t type);
const char *name_of_protocol(uint32_t protocol);

/* "EACCES" for -EACCES or EACCES; "unknown" for no errno. */
const char *name_of_error(int error);
/*
 * "keyctl", or "getpid (i386)" of another ABI; NULL for none. Lives until the thread's next call.
 */
const char *name_of_system_call(uint64_t number);
/* "SIGKILL"; NULL for no signal. The text lives until the thread's next call. */
const char *name_of_signal(int number);

#endif
