/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One query to the host's DNS servers: over UDP from a port and with an id of its own each time,
 * over TCP where the answer was cut. Ends in any case, within DNS_EXCHANGE_MSEC.
 */
#ifndef CORDON_DAEMON_DNS_EXCHANGE_H
#define CORDON_DAEMON_DNS_EXCHANGE_H

#include <event2/event.h>

#include "daemon/pure/dns_message.h"
#include "daemon/dns/dns_reader.h"
#include "daemon/pure/dns_servers.h"

/*
 * Each server, or one several times. Below the five seconds that resolvers wait (resolv.conf(5)).
 */
#define DNS_TRIES	  3
#define DNS_TRY_MSEC	  1400
#define DNS_EXCHANGE_MSEC (DNS_TRIES * DNS_TRY_MSEC)

struct dns_exchange;

/*
 * Called once, never from dns_exchange_start(); the exchange is gone then. NULL: there is no
 * answer.
 */
typedef void (*dns_exchange_done)(const struct dns_answer *answer, void *context);

/*
 * Sends `query` under an id of its own; `reader` reads what comes. -ENOMEM, or -errno of a call
 * that failed.
 */
int dns_exchange_start(struct event_base *base, const struct dns_servers *servers,
		       const struct dns_reader *reader, const struct dns_query *query,
		       dns_exchange_done done, void *context, struct dns_exchange **ret_exchange);

/* Ends it without a call. */
void dns_exchange_free(struct dns_exchange *x);

#endif
