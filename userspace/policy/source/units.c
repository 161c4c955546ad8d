/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the numbers, durations, sizes, addresses and ports of policies. */
#include "policy/source/units.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit durations[] = {
	{"ms", NSEC_PER_MSEC},		 {"s", NSEC_PER_SEC},
	{"m", 60 * NSEC_PER_SEC},	 {"h", 3600 * NSEC_PER_SEC},
	{"d", 24 * 3600 * NSEC_PER_SEC}, {NULL, 0},
};

static const struct unit sizes[] = {
	{"B", 1},
	{"K", 1ull << 10},
	{"KiB", 1ull << 10},
	{"M", 1ull << 20},
	{"MiB", 1ull << 20},
	{"G", 1ull << 30},
	{"GiB", 1ull << 30},
	{"T", 1ull << 40},
	{"TiB", 1ull << 40},
	{NULL, 0},
};

static const struct unit cpus[] = {
	{"%", 1},
	{"cpu", 100},
	{"cpus", 100},
	{NULL, 0},
};

int units_number(const char *text, uint64_t *ret_number)
{
	uint64_t n = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return -ERANGE;
	}
	*ret_number = n;
	return 0;
}

/*
 * A decimal number with at most three decimals, multiplied by the factor of the unit after it.
 * Fractions of the smallest unit are truncated.
 */
static int scaled(const char *text, const struct unit *units, uint64_t *ret_value)
{
	size_t whole = strspn(text, "0123456789"), places = 0;
	uint64_t n, fraction = 0, divisor = 1, value;
	char digits[24];
	const char *rest = text + whole;

	if (whole == 0)
		return -EINVAL;
	if (whole >= sizeof(digits))
		return -ERANGE;
	memcpy(digits, text, whole);
	digits[whole] = '\0';
	if (units_number(digits, &n) < 0)
		return -ERANGE;
	if (*rest == '.') {
		places = strspn(rest + 1, "0123456789");
		if (places == 0 || places > 3)
			return -EINVAL;
		for (size_t i = 1; i <= places; i++) {
			fraction = fraction * 10 + (uint64_t)(rest[i] - '0');
			divisor *= 10;
		}
		rest += 1 + places;
	}
	while (*rest == ' ')
		rest++;
	if (!*rest)
		return -ENODATA;
	for (; units->name; units++)
		if (strcmp(units->name, rest) == 0)
			break;
	if (!units->name)
		return -EINVAL;
	if (__builtin_mul_overflow(n, units->factor, &value) ||
	    __builtin_add_overflow(value, fraction * units->factor / divisor, &value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int units_duration(const char *text, uint64_t *ret_nsec)
{
	uint64_t value;
	int r = scaled(text, durations, &value);

	if (r < 0)
		return r;
	if (value > INT64_MAX)
		return -ERANGE;
	*ret_nsec = value;
	return 0;
}

int units_size(const char *text, uint64_t *ret_bytes)
{
	uint64_t value;
	int r = scaled(text, sizes, &value);

	if (r < 0)
		return r;
	if (value > INT64_MAX)
		return -ERANGE;
	*ret_bytes = value;
	return 0;
}

int units_rate(const char *text, uint64_t *ret_bytes)
{
	char size[32];
	size_t length = strcspn(text, "/");

	if (length >= sizeof(size))
		return -EINVAL;
	memcpy(size, text, length);
	size[length] = '\0';
	if (strcmp(text + length, "/s") != 0)
		return text[length] ? -EINVAL : -ENODATA;
	return units_size(size, ret_bytes);
}

int units_cpu(const char *text, uint64_t *ret_percent)
{
	uint64_t value;
	int r = scaled(text, cpus, &value);

	if (r < 0)
		return r;
	if (value > 1000000)
		return -ERANGE;
	*ret_percent = value;
	return 0;
}

/* Clears the bits after the prefix; 1: some were set. */
static int mask_address(struct net_block *b)
{
	int found = 0;

	for (unsigned int i = 0; i < 16; i++) {
		unsigned int kept = b->prefix > i * 8 ? b->prefix - i * 8 : 0;
		uint8_t mask = kept >= 8 ? 0xff : (uint8_t)(0xff00u >> kept);

		found |= (b->address[i] & ~mask) != 0;
		b->address[i] &= mask;
	}
	return found;
}

static void fold_mapped(struct net_block *b)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (b->family != 6 || b->prefix < 96 || memcmp(b->address, mapped, sizeof(mapped)) != 0)
		return;
	b->family = 4;
	b->prefix = (uint8_t)(b->prefix - 96);
	memmove(b->address, b->address + 12, 4);
	memset(b->address + 4, 0, 12);
}

int units_block(const char *text, struct net_block *ret_block)
{
	struct net_block b = {0};
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : strlen(text);
	uint64_t prefix;
	int stray;

	if (length >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	if (inet_pton(AF_INET, address, b.address) == 1)
		b.family = 4;
	else if (inet_pton(AF_INET6, address, b.address) == 1)
		b.family = 6;
	else
		return -EINVAL;
	prefix = b.family == 4 ? 32 : 128;
	if (slash) {
		uint64_t n;

		if (units_number(slash + 1, &n) < 0)
			return -EINVAL;
		if (n > prefix)
			return -ERANGE;
		prefix = n;
	}
	b.prefix = (uint8_t)prefix;
	stray = mask_address(&b);
	fold_mapped(&b);
	*ret_block = b;
	return stray ? -EDOM : 0;
}

void units_block_format(const struct net_block *block, char text[UNITS_BLOCK_TEXT])
{
	char address[INET6_ADDRSTRLEN] = "";

	inet_ntop(block->family == 4 ? AF_INET : AF_INET6, block->address, address,
		  sizeof(address));
	if (block->prefix == (block->family == 4 ? 32 : 128))
		snprintf(text, UNITS_BLOCK_TEXT, "%s", address);
	else
		snprintf(text, UNITS_BLOCK_TEXT, "%s/%u", address, block->prefix);
}

int units_ports(const char *text, struct number_range *ret_range)
{
	const char *dash = strchr(text, '-');
	uint64_t low = 0, high = 0;
	char first[8];
	int r;

	if (!dash) {
		r = units_number(text, &low);
		high = low;
	} else {
		size_t length = (size_t)(dash - text);

		if (length >= sizeof(first))
			return -EINVAL;
		memcpy(first, text, length);
		first[length] = '\0';
		r = units_number(first, &low);
		if (r == 0)
			r = units_number(dash + 1, &high);
	}
	if (r < 0)
		return r;
	if (low > UINT16_MAX || high > UINT16_MAX)
		return -ERANGE;
	if (low > high)
		return -EDOM;
	*ret_range = (struct number_range){(uint16_t)low, (uint16_t)high};
	return 0;
}
