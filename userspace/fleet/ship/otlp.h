/* SPDX-License-Identifier: Apache-2.0 */
/* Sends batches to an OpenTelemetry collector over HTTP, and waits for each confirmation. */
#ifndef CORDON_FLEET_OTLP_H
#define CORDON_FLEET_OTLP_H

#include "fleet/ship/presence.h"
#include "fleet/ship/publisher.h"

struct otlp;

/*
 * Uses URL, certificates and `plain` of `options`, which must outlive *ret_otlp. Returns 0, -EINVAL
 * if libcurl rejects an option, or -ENOMEM.
 */
int otlp_open(const struct publisher_options *options, struct otlp **ret_otlp,
	      struct failure *failure);
void otlp_close(struct otlp *otlp);
DEFINE_CLEANUP(struct otlp *, otlp_close, otlp_closep)

/*
 * Sends a batch. Returns 0 if the collector accepted it. *ret_refused is the number of records that
 * the collector rejected permanently; if it is not 0, *failure has the reason.
 *
 * Returns -EAGAIN without a confirmation: send again, after *ret_wait ns at the earliest. Returns
 * -EBADMSG if a line is not a record, or -ENOMEM.
 */
int otlp_send(struct otlp *otlp, const struct batch *batch, uint64_t *ret_refused,
	      uint64_t *ret_wait, struct failure *failure);

/* Sends one presence message. Returns 0, -EAGAIN if the collector did not accept it, or -ENOMEM. */
int otlp_announce(struct otlp *otlp, const struct presence *presence);

#endif
