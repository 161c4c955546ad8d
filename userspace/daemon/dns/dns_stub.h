/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DNS server of executions whose policies name hosts. The kernel leads their DNS to it
 * (bpf/hooks/dns.bpf.h). It asks the host's servers for names that the policy allows to connect to,
 * and for nothing else; the addresses stand for the name in the kernel before the answer goes out,
 * and for as long as it lives.
 */
#ifndef CORDON_DAEMON_DNS_STUB_H
#define CORDON_DAEMON_DNS_STUB_H

#include "daemon/execution/context.h"

struct dns_stub;

/* Opens its sockets on loopback (IPv6 where the host has it) and tells the kernel. */
int dns_stub_start(struct daemon *daemon, struct dns_stub **ret_stub, struct failure *failure);

/* DNS of executions goes nowhere from here on. */
void dns_stub_free(struct dns_stub *stub);

/* For `cordon status`: what was asked and how it ended. NULL: no memory. */
json_t *dns_stub_json(const struct dns_stub *stub);

#endif
