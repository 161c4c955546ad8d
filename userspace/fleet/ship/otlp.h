/* SPDX-License-Identifier: Apache-2.0 */
/* Sends batches to an OpenTelemetry collector by HTTP, and waits for each to be taken. */
#ifndef CORDON_FLEET_OTLP_H
#define CORDON_FLEET_OTLP_H

#include "fleet/ship/presence.h"
#include "fleet/ship/publisher.h"

struct otlp;

/*
 * `options` is borrowed: its URL, its certificates and `plain`. -EINVAL: they are wrong; -ENOMEM.
 */
int otlp_open(const struct publisher_options *options, struct otlp **ret_otlp,
	      struct failure *failure);
void otlp_close(struct otlp *otlp);
DEFINE_CLEANUP(struct otlp *, otlp_close, otlp_closep)

/*
 * 0: the collector took it; *ret_refused: but for so many records, `failure` says why. -EAGAIN: it
 * did not say so: to be sent again, *ret_wait ns later at the earliest; -EBADMSG: a line is no
 * record; -ENOMEM.
 */
int otlp_send(struct otlp *otlp, const struct batch *batch, uint64_t *ret_refused,
	      uint64_t *ret_wait, struct failure *failure);

/* Says a word of presence, once. -EAGAIN: the collector did not take it; -ENOMEM. */
int otlp_announce(struct otlp *otlp, const struct presence *presence);

#endif
