/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and formats limits. */
#include "launch/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"

const struct limit_kind limit_kinds[LIMIT_KINDS] = {
	{"timeout", LIMIT_DURATION, offsetof(struct policy_limits, wall_nsec)},
	{"memory", LIMIT_SIZE, offsetof(struct policy_limits, memory_bytes)},
	{"pids", LIMIT_COUNT, offsetof(struct policy_limits, pids)},
	{"cpu", LIMIT_PERCENT, offsetof(struct policy_limits, cpu_percent)},
	{"cpu-time", LIMIT_DURATION, offsetof(struct policy_limits, cpu_time_nsec)},
	{"address-space", LIMIT_SIZE, offsetof(struct policy_limits, address_space_bytes)},
	{"file-size", LIMIT_SIZE, offsetof(struct policy_limits, file_size_bytes)},
	{"open-files", LIMIT_COUNT, offsetof(struct policy_limits, open_files)},
	{"io-read", LIMIT_SIZE, offsetof(struct policy_limits, io_read_bytes)},
	{"io-write", LIMIT_SIZE, offsetof(struct policy_limits, io_write_bytes)},
};

struct suffix {
	const char *name;
	uint64_t factor;
};

/* Sorted by size; limit_format() uses the first suffix of a factor. */
static const struct suffix durations[] = {
	{"h", 3600 * NSEC_PER_SEC},
	{"m", 60 * NSEC_PER_SEC},
	{"min", 60 * NSEC_PER_SEC},
	{"s", NSEC_PER_SEC},
	{"ms", NSEC_PER_MSEC},
	{"us", 1000},
	{"ns", 1},
};

static const struct suffix sizes[] = {
	{"T", 1ull << 40},   {"TiB", 1ull << 40}, {"G", 1ull << 30},
	{"GiB", 1ull << 30}, {"M", 1ull << 20},	  {"MiB", 1ull << 20},
	{"K", 1ull << 10},   {"KiB", 1ull << 10}, {"B", 1},
};

static const struct suffix counts[] = {{"", 1}};
static const struct suffix percents[] = {{"%", 1}};

static const struct unit {
	const struct suffix *suffixes;
	size_t count;
	const char *examples;
} units[] = {
	[LIMIT_DURATION] = {durations, ARRAY_SIZE(durations),
			    "a duration such as 500ms, 60s or 2m"},
	[LIMIT_SIZE] = {sizes, ARRAY_SIZE(sizes), "a size such as 64K, 512M or 1G"},
	[LIMIT_COUNT] = {counts, ARRAY_SIZE(counts), "a whole number above 0"},
	[LIMIT_PERCENT] = {percents, ARRAY_SIZE(percents),
			   "a percentage of one CPU such as 50% or 200%"},
};

uint64_t *limit_of(struct policy_limits *limits, const struct limit_kind *kind)
{
	return (uint64_t *)((char *)limits + kind->offset);
}

static const struct suffix *suffix_find(const struct unit *unit, const char *name, size_t length)
{
	for (size_t i = 0; i < unit->count; i++)
		if (strlen(unit->suffixes[i].name) == length &&
		    strncasecmp(unit->suffixes[i].name, name, length) == 0)
			return &unit->suffixes[i];
	return NULL;
}

/* Converts the digits after the point to units of `factor`. */
static uint64_t parse_fraction(const char *digits, size_t count, uint64_t factor)
{
	long double value = 0, place = (long double)factor;

	for (size_t i = 0; i < count; i++) {
		place /= 10;
		value += place * (digits[i] - '0');
	}
	return (uint64_t)(value + 0.5L);
}

/* Parses one "NUMBER[.NUMBER][SUFFIX]" and advances *text behind it. */
static int parse_part(const struct unit *unit, const char **text, uint64_t *value)
{
	const char *digits = *text, *point = NULL, *name;
	const struct suffix *suffix;
	uint64_t whole, fraction = 0;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	errno = 0;
	whole = strtoull(digits, &end, 10);
	if (errno == ERANGE)
		return -ERANGE;
	name = end;
	if (*name == '.') {
		point = ++name;
		name += strspn(name, "0123456789");
		if (name == point)
			return -EINVAL;
	}
	suffix = suffix_find(unit, name, strcspn(name, "0123456789"));
	if (!suffix || (point && suffix->factor == 1))
		return -EINVAL;
	if (point)
		fraction = parse_fraction(point, (size_t)(name - point), suffix->factor);
	if (__builtin_mul_overflow(whole, suffix->factor, &whole) ||
	    __builtin_add_overflow(whole, fraction, &whole) ||
	    __builtin_add_overflow(*value, whole, value))
		return -ERANGE;
	*text = name + strcspn(name, "0123456789");
	return 0;
}

static int parse(const struct limit_kind *kind, const char *text, uint64_t *ret_value)
{
	const struct unit *unit = &units[kind->unit];
	uint64_t value = 0;
	int r;

	/* Durations may have several parts, as in "1m30s"; sizes and counts have one. */
	do {
		r = parse_part(unit, &text, &value);
		if (r < 0)
			return r;
	} while (*text && kind->unit == LIMIT_DURATION);
	if (*text || value == 0)
		return -EINVAL;
	/* JSON integers and the kernel's limits are signed. */
	if (value > INT64_MAX)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int limit_parse(const struct limit_kind *kind, const char *text, struct policy_limits *limits,
		struct failure *failure)
{
	uint64_t value;
	int r;

	r = parse(kind, text, &value);
	if (r == -ERANGE)
		return failure_set(failure, ERANGE, "--%s %s is too large", kind->option, text);
	if (r < 0)
		return failure_set(failure, EINVAL,
				   text[0] && !text[strspn(text, "0123456789")] &&
						   kind->unit != LIMIT_COUNT
					   ? "--%s takes %s: %s has no unit"
					   : "--%s takes %s, not '%s'",
				   kind->option, units[kind->unit].examples, text);
	*limit_of(limits, kind) = value;
	return 0;
}

void limit_format(const struct limit_kind *kind, uint64_t value, char text[LIMIT_TEXT_SIZE])
{
	const struct unit *unit = &units[kind->unit];
	bool parts = kind->unit == LIMIT_DURATION;
	int length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < unit->count; i++) {
		uint64_t factor = unit->suffixes[i].factor;

		if (value < factor || (!parts && value % factor != 0))
			continue;
		length += snprintf(text + length, LIMIT_TEXT_SIZE - (size_t)length, "%" PRIu64 "%s",
				   value / factor, unit->suffixes[i].name);
		value %= factor;
		if (value == 0)
			return;
	}
	if (length == 0)
		snprintf(text, LIMIT_TEXT_SIZE, "0");
}
