/* SPDX-License-Identifier: Apache-2.0 */
/* Which name an address stands for, of those that the DNS stub has answered to an execution. */
#ifndef CORDON_DAEMON_DOMAIN_H
#define CORDON_DAEMON_DOMAIN_H

#include "audit/record/event_text.h"
#include "kernel/enforcement.h"

/*
 * For the record of an access: the name by which `policy` allows to connect where no rule does by
 * the address, and the rule that does; else a name that the address stands for, and no rule. False:
 * the event is about no address of a name.
 */
bool domain_find(struct enforcement *enforcement, const struct compiled_policy *policy,
		 const struct cordon_event *event, size_t size, struct event_domain *ret_domain);

/* The same for what it sent and received: any name that it was given for the other end. */
bool domain_of_traffic(struct enforcement *enforcement, const struct compiled_policy *policy,
		       uint32_t slot, const struct cordon_traffic *traffic,
		       struct event_domain *ret_domain);

#endif
