/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the numbers, durations, sizes, addresses and ports of policies. */
#ifndef CORDON_POLICY_UNITS_H
#define CORDON_POLICY_UNITS_H

#include <stdint.h>

#include "policy/source/model.h"

/* All functions: -EINVAL: invalid format; -ERANGE: too large. */

/* Decimal digits only. */
int units_number(const char *text, uint64_t *ret_number);

/* "500ms", "1.5s", "5m", "1h", "2d", in nanoseconds. -ENODATA: a number without a unit. */
int units_duration(const char *text, uint64_t *ret_nsec);

/* "512M", "1.5GiB", "64K", "100B": powers of 1024. -ENODATA: a number without a unit. */
int units_size(const char *text, uint64_t *ret_bytes);

/* "1M/s": as units_size(), per second. -ENODATA: no unit, or not per second. */
int units_rate(const char *text, uint64_t *ret_bytes);

/* "150%" or "1.5 cpus": 150. -ENODATA: a number without a unit. */
int units_cpu(const char *text, uint64_t *ret_percent);

/*
 * An address or CIDR block, IPv4 or IPv6. Blocks of IPv4-mapped IPv6 are returned as IPv4. -EDOM:
 * bits after the prefix were set (*ret_block has them cleared).
 */
int units_block(const char *text, struct net_block *ret_block);

/* Writes "10.0.0.0/8", or only the address if the prefix covers all bits. */
#define UNITS_BLOCK_TEXT 64
void units_block_format(const struct net_block *block, char text[UNITS_BLOCK_TEXT]);

/* "443" or "8000-8100". -EDOM: the low end is above the high end. */
int units_ports(const char *text, struct number_range *ret_range);

#endif
