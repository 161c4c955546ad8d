/* SPDX-License-Identifier: Apache-2.0 */
/* What an execution sent and received, by the other end: its records of traffic, put to words. */
#ifndef CORDON_INSIGHT_TRAFFIC_H
#define CORDON_INSIGHT_TRAFFIC_H

#include <jansson.h>
#include <stddef.h>

/*
 * Those of `records`, most bytes first and of equal ones as they stand; what was not told apart is
 * last. An array of borrowed records to be freed, or NULL: there are none. -ENOMEM.
 */
int traffic_of(json_t *const *records, size_t count, const json_t ***ret_traffic,
	       size_t *ret_count);

/*
 * "203.0.113.7:443, tcp (example.org)", "from 198.51.100.2 to port 80, tcp"; to be freed, or NULL:
 * no memory.
 */
char *traffic_end(const json_t *record);

/* "1.2 MiB sent, 3.4 KiB received, 2 connections"; to be freed, or NULL: no memory. */
char *traffic_amount(const json_t *record);

#endif
