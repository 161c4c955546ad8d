/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a policy's settings besides rules. */
#include "policy/source/settings.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "policy/source/words.h"

enum unit {
	UNIT_COUNT,
	UNIT_BYTES,
	UNIT_BYTES_A_SECOND,
	UNIT_NSEC,
	UNIT_PERCENT,
};

struct setting {
	const char *name;
	void (*describe)(const struct compiled_policy *p, const struct setting *s, FILE *out);
	enum setting_change (*compare)(const struct compiled_policy *a,
				       const struct compiled_policy *b, const struct setting *s);
	size_t offset; /* limits: in struct policy_limits */
	enum unit unit;
	uint32_t flag;	      /* flags: CORDON_POLICY_* */
	const char *off, *on; /* flags: their words */
	unsigned int shift;   /* audit levels */
};

static const struct cordon_policy_header *header(const struct compiled_policy *p)
{
	return (const void *)p->tables;
}

static enum setting_change changed(bool narrower, bool wider)
{
	return (narrower ? SETTING_NARROWER : 0) | (wider ? SETTING_WIDER : 0);
}

/* ---- mode and flags ---- */

static void describe_mode(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	(void)s;
	fputs(p->observe ? "observe" : "enforce", out);
}

static enum setting_change compare_mode(const struct compiled_policy *a,
					const struct compiled_policy *b, const struct setting *s)
{
	(void)s;
	return changed(a->observe && !b->observe, b->observe && !a->observe);
}

static void describe_flag(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	fputs(header(p)->flags & s->flag ? s->on : s->off, out);
}

static enum setting_change compare_flag(const struct compiled_policy *a,
					const struct compiled_policy *b, const struct setting *s)
{
	uint32_t x = header(a)->flags & s->flag, y = header(b)->flags & s->flag;

	return changed(x && !y, y && !x);
}

/* With the order reversed: the flag removes a permission. */
static enum setting_change compare_narrowing(const struct compiled_policy *a,
					     const struct compiled_policy *b,
					     const struct setting *s)
{
	return compare_flag(b, a, s);
}

/* ---- descriptors ---- */

static unsigned int descriptors_kept(const struct compiled_policy *p)
{
	return CORDON_KEPT_DESCRIPTORS(header(p)->flags);
}

static void describe_descriptors(const struct compiled_policy *p, const struct setting *s,
				 FILE *out)
{
	static const char *const words[] = {"close", "deny", "record", "?"};

	(void)s;
	fputs(words[descriptors_kept(p)], out);
}

static enum setting_change compare_descriptors(const struct compiled_policy *a,
					       const struct compiled_policy *b,
					       const struct setting *s)
{
	unsigned int x = descriptors_kept(a), y = descriptors_kept(b);

	(void)s;
	return changed(y<x, y> x);
}

/* ---- system calls ---- */

static unsigned int call_level(const struct compiled_policy *p)
{
	uint32_t flags = header(p)->flags;

	if (flags & CORDON_POLICY_ALL_SYSTEM_CALLS)
		return 2;
	return flags & CORDON_POLICY_STRICT_CALLS ? 0 : 1;
}

static void describe_calls(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	static const char *const levels[] = {"strict", "restricted", "all"};

	(void)s;
	fputs(levels[call_level(p)], out);
}

static enum setting_change compare_calls(const struct compiled_policy *a,
					 const struct compiled_policy *b, const struct setting *s)
{
	unsigned int x = call_level(a), y = call_level(b);

	(void)s;
	return changed(y<x, y> x);
}

/* ---- namespaces ---- */

/* A permission to mount in namespaces includes the permission to make them. */
static unsigned int namespaces_level(const struct compiled_policy *p)
{
	if (!(header(p)->flags & CORDON_POLICY_NAMESPACES))
		return 0;
	return header(p)->flags & CORDON_POLICY_OWN_NAMESPACES ? 2 : 1;
}

static void describe_namespaces(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	static const char *const levels[] = {"deny", "allow", "own"};

	(void)s;
	fputs(levels[namespaces_level(p)], out);
}

static enum setting_change compare_namespaces(const struct compiled_policy *a,
					      const struct compiled_policy *b,
					      const struct setting *s)
{
	unsigned int before = namespaces_level(a), after = namespaces_level(b);

	(void)s;
	return changed(after<before, after> before);
}

/* ---- capabilities ---- */

static void describe_capabilities(const struct compiled_policy *p, const struct setting *s,
				  FILE *out)
{
	uint64_t all = 0, ceiling = header(p)->capabilities;
	const char *separator = "";

	(void)s;
	for (const struct word *w = words_capabilities; w->text; w++)
		all |= 1ull << w->value;
	if (ceiling == 0 || ceiling == all) {
		fputs(ceiling ? "all" : "none", out);
		return;
	}
	for (const struct word *w = words_capabilities; w->text; w++) {
		if (!(ceiling >> w->value & 1))
			continue;
		fprintf(out, "%s%s", separator, w->text);
		separator = ", ";
	}
}

static enum setting_change compare_capabilities(const struct compiled_policy *a,
						const struct compiled_policy *b,
						const struct setting *s)
{
	uint64_t x = header(a)->capabilities, y = header(b)->capabilities;

	(void)s;
	return changed(x & ~y, y & ~x);
}

/* ---- limits ---- */

static uint64_t limit(const struct compiled_policy *p, const struct setting *s)
{
	uint64_t value;

	memcpy(&value, (const char *)&p->limits + s->offset, sizeof(value));
	return value;
}

struct scale {
	uint64_t factor;
	const char *suffix;
};

static const struct scale byte_scales[] = {
	{1ull << 40, "T"}, {1ull << 30, "G"}, {1ull << 20, "M"}, {1ull << 10, "K"}, {1, "B"}};
static const struct scale time_scales[] = {{86400000000000ull, "d"}, {3600000000000ull, "h"},
					   {60000000000ull, "m"},    {1000000000ull, "s"},
					   {1000000ull, "ms"},	     {1, "ns"}};

/* Uses the largest unit that gives a whole number. */
static void put_scaled(FILE *out, uint64_t value, const struct scale *scale)
{
	while (value % scale->factor != 0)
		scale++;
	fprintf(out, "%" PRIu64 "%s", value / scale->factor, scale->suffix);
}

static void describe_limit(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	uint64_t value = limit(p, s);

	if (value == 0)
		fputs("none", out);
	else if (s->unit == UNIT_BYTES || s->unit == UNIT_BYTES_A_SECOND)
		put_scaled(out, value, byte_scales);
	else if (s->unit == UNIT_NSEC)
		put_scaled(out, value, time_scales);
	else
		fprintf(out, "%" PRIu64 "%s", value, s->unit == UNIT_PERCENT ? "%" : "");
	if (value != 0 && s->unit == UNIT_BYTES_A_SECOND)
		fputs("/s", out);
}

static enum setting_change compare_limit(const struct compiled_policy *a,
					 const struct compiled_policy *b, const struct setting *s)
{
	/* 0 means no limit; after subtracting 1 it is the largest value. */
	uint64_t x = limit(a, s) - 1, y = limit(b, s) - 1;

	return changed(y<x, y> x);
}

static void describe_denials(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	(void)s;
	if (header(p)->denial_limit)
		fprintf(out, "%u", header(p)->denial_limit);
	else
		fputs("none", out);
}

static enum setting_change compare_denials(const struct compiled_policy *a,
					   const struct compiled_policy *b, const struct setting *s)
{
	uint32_t x = header(a)->denial_limit - 1, y = header(b)->denial_limit - 1;

	(void)s;
	return changed(y<x, y> x);
}

static void describe_ask(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	(void)s;
	if (header(p)->ask_msec)
		put_scaled(out, header(p)->ask_msec * NSEC_PER_MSEC, time_scales);
	else
		fputs("none", out);
}

/*
 * A longer wait allows no access, but it lets the program take up a person's time: it counts as
 * wider.
 */
static enum setting_change compare_ask(const struct compiled_policy *a,
				       const struct compiled_policy *b, const struct setting *s)
{
	(void)s;
	return changed(
		header(b)->ask_msec<header(a)->ask_msec, header(b)->ask_msec> header(a)->ask_msec);
}

/* ---- environment ---- */

static void describe_keep(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	(void)s;
	if (p->environment.keep_all)
		fputs("everything", out);
	else if (!p->environment.keep[0])
		fputs("nothing", out);
	for (char **k = p->environment.keep; !p->environment.keep_all && *k; k++)
		fprintf(out, "%s%s", k == p->environment.keep ? "" : ", ", *k);
}

/*
 * Patterns are compared as text: one covers another if it matches the other's spelling. This may
 * report a difference between equivalent lists, but never misses a difference. Names have no
 * wildcards, so a pattern that matches wildcards literally also matches all of their expansions.
 */
static bool covers(const struct policy_environment *wide, const struct policy_environment *narrow)
{
	if (wide->keep_all || narrow->keep_all)
		return wide->keep_all;
	for (char **n = narrow->keep; *n; n++) {
		bool found = false;

		for (char **w = wide->keep; *w && !found; w++) {
			size_t stem = strcspn(*w, "*?[");

			found = strcmp(*w, *n) == 0 ||
				(strcmp(*w + stem, "*") == 0 && strncmp(*w, *n, stem) == 0) ||
				(!strpbrk(*n, "*?[") && fnmatch(*w, *n, 0) == 0);
		}
		if (!found)
			return false;
	}
	return true;
}

static enum setting_change compare_keep(const struct compiled_policy *a,
					const struct compiled_policy *b, const struct setting *s)
{
	(void)s;
	return changed(!covers(&b->environment, &a->environment),
		       !covers(&a->environment, &b->environment));
}

static void describe_set(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	const struct policy_environment *e = &p->environment;

	(void)s;
	if (!e->set_names[0])
		fputs("nothing", out);
	for (size_t i = 0; e->set_names[i]; i++)
		fprintf(out, "%s%s=%s", i ? ", " : "", e->set_names[i], e->set_values[i]);
}

static bool sets(const struct policy_environment *e, const char *name, const char *value)
{
	for (size_t i = 0; e->set_names[i]; i++)
		if (strcmp(e->set_names[i], name) == 0)
			return strcmp(e->set_values[i], value) == 0;
	return false;
}

/* A new value may change the behaviour of programs: it counts as wider. */
static enum setting_change compare_set(const struct compiled_policy *a,
				       const struct compiled_policy *b, const struct setting *s)
{
	bool narrower = false, wider = false;

	(void)s;
	for (size_t i = 0; a->environment.set_names[i]; i++)
		narrower |= !sets(&b->environment, a->environment.set_names[i],
				  a->environment.set_values[i]);
	for (size_t i = 0; b->environment.set_names[i]; i++)
		wider |= !sets(&a->environment, b->environment.set_names[i],
			       b->environment.set_values[i]);
	return changed(narrower, wider);
}

/* ---- audit: less logging is wider ---- */

static void describe_audit(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	static const char *const levels[] = {"denied", "writes", "all", "?"};

	fputs(levels[header(p)->audit >> s->shift & 3], out);
}

static enum setting_change compare_audit(const struct compiled_policy *a,
					 const struct compiled_policy *b, const struct setting *s)
{
	uint32_t x = header(a)->audit >> s->shift & 3, y = header(b)->audit >> s->shift & 3;

	return changed(y > x, y < x);
}

static void describe_refused(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	fputs(header(p)->audit >> s->shift & 3 ? "denied" : "none", out);
}

static void describe_arguments(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	(void)s;
	fputs(p->arguments == POLICY_ARGUMENTS_FULL ? "full" : "digest", out);
}

static enum setting_change compare_arguments(const struct compiled_policy *a,
					     const struct compiled_policy *b,
					     const struct setting *s)
{
	(void)s;
	return changed(b->arguments > a->arguments, b->arguments < a->arguments);
}

/* A lower rate loses records sooner; a higher rate fills the disk sooner. */
static void describe_rate(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	uint32_t rate = header(p)->log_rate;

	(void)s;
	if (rate == 0 || rate == CORDON_LOG_RATE_NONE) {
		fputs(rate ? "none" : "default", out);
		return;
	}
	put_scaled(out, (uint64_t)rate << 10, byte_scales);
	fputs("/s", out);
}

static enum setting_change compare_rate(const struct compiled_policy *a,
					const struct compiled_policy *b, const struct setting *s)
{
	bool other = header(a)->log_rate != header(b)->log_rate;

	(void)s;
	return changed(other, other);
}

/* ---- users that may launch it ---- */

static void describe_run_by(const struct compiled_policy *p, const struct setting *s, FILE *out)
{
	(void)s;
	fputs("root", out);
	for (char **name = p->run_by; name && *name; name++)
		fprintf(out, ", %s", *name);
}

static bool may_run(const struct compiled_policy *p, const char *name)
{
	for (char **have = p->run_by; have && *have; have++)
		if (strcmp(*have, name) == 0)
			return true;
	return false;
}

static bool lets_more_run(const struct compiled_policy *a, const struct compiled_policy *b)
{
	for (char **name = b->run_by; name && *name; name++)
		if (!may_run(a, *name))
			return true;
	return false;
}

static enum setting_change compare_run_by(const struct compiled_policy *a,
					  const struct compiled_policy *b, const struct setting *s)
{
	(void)s;
	return changed(lets_more_run(b, a), lets_more_run(a, b));
}

#define FLAG(name_, flag_, off_, on_)                                                              \
	{.name = name_,                                                                            \
	 .describe = describe_flag,                                                                \
	 .compare = compare_flag,                                                                  \
	 .flag = flag_,                                                                            \
	 .off = off_,                                                                              \
	 .on = on_}
#define LIMIT(name_, field_, unit_)                                                                \
	{.name = "limits." name_,                                                                  \
	 .describe = describe_limit,                                                               \
	 .compare = compare_limit,                                                                 \
	 .offset = offsetof(struct policy_limits, field_),                                         \
	 .unit = unit_}
#define AUDIT(name_, shift_)                                                                       \
	{.name = "audit." name_,                                                                   \
	 .describe = describe_audit,                                                               \
	 .compare = compare_audit,                                                                 \
	 .shift = shift_}

static const struct setting settings[] = {
	{.name = "mode", .describe = describe_mode, .compare = compare_mode},
	FLAG("process.signal", CORDON_POLICY_SIGNAL_ANY, "execution", "any"),
	FLAG("process.trace", CORDON_POLICY_TRACE_OWN, "none", "own"),
	{.name = "process.namespaces",
	 .describe = describe_namespaces,
	 .compare = compare_namespaces},
	{.name = "process.system_calls", .describe = describe_calls, .compare = compare_calls},
	FLAG("process.io_uring", CORDON_POLICY_IO_URING, "deny", "allow"),
	{.name = "process.metadata",
	 .describe = describe_flag,
	 .compare = compare_narrowing,
	 .flag = CORDON_POLICY_METADATA,
	 .off = "allow",
	 .on = "deny"},
	{.name = "process.special",
	 .describe = describe_flag,
	 .compare = compare_narrowing,
	 .flag = CORDON_POLICY_SPECIAL,
	 .off = "allow",
	 .on = "deny"},
	FLAG("process.temporary", CORDON_POLICY_OWN_TEMPORARY, "deny", "own"),
	FLAG("process.terminals", CORDON_POLICY_OWN_TERMINALS, "deny", "own"),
	{.name = "process.descriptors",
	 .describe = describe_descriptors,
	 .compare = compare_descriptors},
	{.name = "process.code",
	 .describe = describe_flag,
	 .compare = compare_narrowing,
	 .flag = CORDON_POLICY_PINNED,
	 .off = "recorded",
	 .on = "pinned"},
	{.name = "coverage",
	 .describe = describe_flag,
	 .compare = compare_narrowing,
	 .flag = CORDON_POLICY_FULL_COVERAGE,
	 .off = "available",
	 .on = "full"},
	{.name = "process.capabilities",
	 .describe = describe_capabilities,
	 .compare = compare_capabilities},
	LIMIT("wall", wall_nsec, UNIT_NSEC),
	LIMIT("memory", memory_bytes, UNIT_BYTES),
	LIMIT("pids", pids, UNIT_COUNT),
	LIMIT("cpu", cpu_percent, UNIT_PERCENT),
	LIMIT("cpu_time", cpu_time_nsec, UNIT_NSEC),
	LIMIT("address_space", address_space_bytes, UNIT_BYTES),
	LIMIT("file_size", file_size_bytes, UNIT_BYTES),
	LIMIT("open_files", open_files, UNIT_COUNT),
	LIMIT("io.read", io_read_bytes, UNIT_BYTES_A_SECOND),
	LIMIT("io.write", io_write_bytes, UNIT_BYTES_A_SECOND),
	{.name = "environment.keep", .describe = describe_keep, .compare = compare_keep},
	{.name = "environment.set", .describe = describe_set, .compare = compare_set},
	AUDIT("opens", CORDON_AUDIT_OPENS_SHIFT),
	AUDIT("connects", CORDON_AUDIT_CONNECTS_SHIFT),
	AUDIT("execs", CORDON_AUDIT_EXECS_SHIFT),
	{.name = "audit.system_calls",
	 .describe = describe_refused,
	 .compare = compare_audit,
	 .shift = CORDON_AUDIT_CALLS_SHIFT},
	{.name = "audit.arguments", .describe = describe_arguments, .compare = compare_arguments},
	{.name = "audit.rate", .describe = describe_rate, .compare = compare_rate},
	{.name = "on_denial.limit", .describe = describe_denials, .compare = compare_denials},
	{.name = "ask", .describe = describe_ask, .compare = compare_ask},
	{.name = "run_by", .describe = describe_run_by, .compare = compare_run_by},
};

const char *setting_name(size_t number)
{
	return number < ARRAY_SIZE(settings) ? settings[number].name : NULL;
}

bool setting_describe(const struct compiled_policy *p, size_t number, char text[SETTING_TEXT])
{
	FILE *out;

	if (number >= ARRAY_SIZE(settings))
		return false;
	memset(text, 0, SETTING_TEXT);
	out = fmemopen(text, SETTING_TEXT, "w");
	if (!out)
		return false;
	settings[number].describe(p, &settings[number], out);
	fclose(out);
	text[SETTING_TEXT - 1] = '\0';
	return true;
}

enum setting_change setting_compare(const struct compiled_policy *a,
				    const struct compiled_policy *b, size_t number)
{
	return settings[number].compare(a, b, &settings[number]);
}
