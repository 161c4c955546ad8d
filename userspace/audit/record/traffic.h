/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What went to and came from one other end, over an execution's whole life. One record for each,
 * and not for each connection: so a program that connects a million times makes no million records,
 * datagrams are in it, which have no end to be recorded at, and what remains open at the end is,
 * too.
 */
#ifndef CORDON_AUDIT_TRAFFIC_H
#define CORDON_AUDIT_TRAFFIC_H

#include <jansson.h>

#include "audit/record/record.h"

struct audit_traffic {
	struct cordon_traffic counts;
	bool rest;	    /* of other ends that were not told apart: the name says nothing */
	const char *domain; /* a name that the execution was given for the address; or NULL */
};

json_t *audit_record_traffic(const struct audit_execution *execution,
			     const struct audit_traffic *traffic, uint64_t time);

/*
 * What the execution as a whole has sent and received beyond these. False: nothing. Packets are
 * counted while this is read, so a sum may be ahead of the whole.
 */
bool audit_traffic_rest(const struct audit_end *whole, const struct cordon_traffic *counts,
			size_t count, struct cordon_traffic *ret_rest);

#endif
