/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the HTTP header Retry-After. No I/O. */
#ifndef CORDON_BASE_RETRY_AFTER_H
#define CORDON_BASE_RETRY_AFTER_H

#include <stdint.h>

/*
 * Returns the requested delay in seconds, from a number or a date, at most 5 minutes; 0 for other
 * values.
 */
uint64_t retry_after_seconds(const char *value, uint64_t now_seconds);

#endif
