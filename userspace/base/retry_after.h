/* SPDX-License-Identifier: Apache-2.0 */
/* What a server of HTTP says by its header Retry-After. Pure. */
#ifndef CORDON_BASE_RETRY_AFTER_H
#define CORDON_BASE_RETRY_AFTER_H

#include <stdint.h>

/* Seconds to leave it alone for, as number or date, at most 5 minutes; 0: it does not say. */
uint64_t retry_after_seconds(const char *value, uint64_t now_seconds);

#endif
