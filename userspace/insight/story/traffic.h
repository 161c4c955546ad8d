/* SPDX-License-Identifier: Apache-2.0 */
/* Formats the records about an execution's traffic by remote end. */
#ifndef CORDON_INSIGHT_TRAFFIC_H
#define CORDON_INSIGHT_TRAFFIC_H

#include <jansson.h>
#include <stddef.h>

/*
 * Returns the traffic records among `records`, most bytes first, otherwise in order; traffic
 * without a known end is last. *ret_traffic: an array of records that are not owned, which the
 * caller frees; NULL if there are none. Returns 0 or -ENOMEM.
 */
int traffic_of(json_t *const *records, size_t count, const json_t ***ret_traffic,
	       size_t *ret_count);

/*
 * Formats "203.0.113.7:443, tcp (example.org)" or "from 198.51.100.2 to port 80, tcp". The caller
 * frees it; NULL if out of memory.
 */
char *traffic_end(const json_t *record);

/*
 * Formats "1.2 MiB sent, 3.4 KiB received, 2 connections". The caller frees it; NULL if out of
 * memory.
 */
char *traffic_amount(const json_t *record);

#endif
