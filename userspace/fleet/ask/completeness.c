/* SPDX-License-Identifier: Apache-2.0 */
/* Reports which hosts are complete, and the problems of the others. */
#include "fleet/ask/completeness.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* Hosts named per problem; the others are only counted. */
#define NAMED_MAX 5
/* Clock differences up to this are normal. */
#define AHEAD_MAX ((int64_t)(60 * NSEC_PER_SEC))
#define ID_SHOWN  12

uint64_t completeness_missing(uint64_t contiguous, const struct completeness_range *ranges,
			      size_t count, uint64_t *ret_highest)
{
	uint64_t missing = 0, reached = contiguous;

	for (size_t i = 0; i < count; i++) {
		if (ranges[i].first > reached + 1)
			missing += ranges[i].first - reached - 1;
		if (ranges[i].last > reached)
			reached = ranges[i].last;
	}
	if (ret_highest)
		*ret_highest = reached;
	return missing;
}

static uint64_t age(const struct completeness *c, const struct completeness_host *host)
{
	return c->now > host->last_heard ? c->now - host->last_heard : 0;
}

static enum completeness_condition condition_without_word(const struct completeness_host *host)
{
	if (host->presence.state == PRESENCE_LEAVING)
		return COMPLETENESS_SHIPPER_STOPPED;
	return host->presence.closed > 0 ? COMPLETENESS_SHIPPER_KILLED : COMPLETENESS_CUT_OFF;
}

enum completeness_condition completeness_condition(const struct completeness *c,
						   const struct completeness_host *host)
{
	const struct presence *presence = &host->presence;

	if (host->never_heard)
		return COMPLETENESS_NEVER_HEARD;
	if (presence->state == PRESENCE_REWRITTEN)
		return COMPLETENESS_REWRITTEN;
	if (presence->state == PRESENCE_LEAVING ||
	    (presence->state != PRESENCE_UNKNOWN && !presence_is_fresh(presence, c->now)))
		return condition_without_word(host);
	if (presence->daemon == PRESENCE_KILLED)
		return COMPLETENESS_DAEMON_KILLED;
	if (presence->daemon == PRESENCE_STOPPED)
		return COMPLETENESS_DAEMON_STOPPED;
	if (age(c, host) <= c->silent_after)
		return COMPLETENESS_FINE;
	if (presence->daemon == PRESENCE_RUNNING)
		return COMPLETENESS_DAEMON_MUTE;
	return strcmp(host->last_action, "agent-stop") == 0 ? COMPLETENESS_DAEMON_STOPPED
							    : COMPLETENESS_SILENT;
}

const char *completeness_condition_text(enum completeness_condition condition)
{
	static const char *const texts[COMPLETENESS_CONDITION_COUNT] = {
		[COMPLETENESS_FINE] = "",
		[COMPLETENESS_NEVER_HEARD] = "never heard of",
		[COMPLETENESS_REWRITTEN] = "log rewritten",
		[COMPLETENESS_DAEMON_KILLED] = "daemon killed",
		[COMPLETENESS_DAEMON_STOPPED] = "daemon stopped",
		[COMPLETENESS_DAEMON_MUTE] = "daemon mute",
		[COMPLETENESS_SHIPPER_STOPPED] = "shipper stopped",
		[COMPLETENESS_SHIPPER_KILLED] = "shipper gone",
		[COMPLETENESS_CUT_OFF] = "cut off",
		[COMPLETENESS_SILENT] = "silent",
	};

	return texts[condition];
}

bool completeness_is_silent(const struct completeness *c, const struct completeness_host *host)
{
	return !host->never_heard && completeness_condition(c, host) != COMPLETENESS_FINE;
}

bool completeness_is_complete(const struct completeness *c, const struct completeness_host *host)
{
	return host->missing == 0 && host->waiting == 0 && host->later == 0 && host->held == 0 &&
	       !host->trouble && completeness_condition(c, host) == COMPLETENESS_FINE;
}

void completeness_age(uint64_t nsec, char text[16])
{
	static const struct {
		uint64_t seconds, until;
		const char *unit;
	} units[] = {
		{1, 120, "s"}, {60, 7200, "min"}, {3600, 172800, "h"}, {86400, UINT64_MAX, "d"}};
	uint64_t seconds = nsec / NSEC_PER_SEC;
	size_t i = 0;

	while (seconds >= units[i].until)
		i++;
	(void)snprintf(text, 16, "%" PRIu64 " %s", seconds / units[i].seconds, units[i].unit);
}

const char *completeness_name(const struct completeness_host *host,
			      char buffer[COMPLETENESS_NAME_SIZE])
{
	const char *name = host->expected ? host->expected : host->name;

	if (name && !host->name_shared)
		return name;
	if (name)
		(void)snprintf(buffer, COMPLETENESS_NAME_SIZE, "%.60s(%.*s)", name, ID_SHOWN,
			       host->host);
	else
		(void)snprintf(buffer, COMPLETENESS_NAME_SIZE, "%.*s", ID_SHOWN, host->host);
	return buffer;
}

/* Writes a count as "1,204". */
static void write_count(FILE *out, uint64_t count)
{
	char digits[24];
	int size = snprintf(digits, sizeof(digits), "%" PRIu64, count);

	for (int i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			fputc(',', out);
		fputc(digits[i], out);
	}
}

/* Writes a time as "03:11", with the date if it is more than a day ago. */
static void write_moment(FILE *out, uint64_t moment, uint64_t now)
{
	time_t seconds = (time_t)(moment / NSEC_PER_SEC);
	char text[32] = "";
	struct tm local;

	if (localtime_r(&seconds, &local))
		(void)strftime(text, sizeof(text),
			       now - moment < 86400 * NSEC_PER_SEC ? "%H:%M" : "%Y-%m-%d %H:%M",
			       &local);
	fputs(text, out);
}

typedef bool (*write_problem)(FILE *out, const struct completeness *c,
			      const struct completeness_host *host);

/*
 * Each of the following returns whether a host has one problem, and describes it if `out` is not
 * NULL.
 */
static bool never_heard(FILE *out, const struct completeness *c,
			const struct completeness_host *host)
{
	(void)c;
	if (host->never_heard && out)
		fputs(" never heard of", out);
	return host->never_heard;
}

static void write_seal(FILE *out, const struct completeness_host *host)
{
	if (!host->sealed) {
		fputs(", no seal", out);
		return;
	}
	fputs(", last seal ", out);
	if (host->unsealed == 0) {
		fputs("intact", out);
		return;
	}
	write_count(out, host->unsealed);
	fputs(host->unsealed == 1 ? " record before its end" : " records before its end", out);
}

/*
 * Writes the cause of the silence. If it may be an attack, also writes how much of the log is
 * sealed.
 */
static void write_cause(FILE *out, const struct completeness_host *host,
			enum completeness_condition condition)
{
	static const char *const causes[COMPLETENESS_CONDITION_COUNT] = {
		[COMPLETENESS_REWRITTEN] = "its log was rewritten, and its shipper stopped",
		[COMPLETENESS_DAEMON_KILLED] = "daemon killed",
		[COMPLETENESS_DAEMON_STOPPED] = "daemon stopped in order",
		[COMPLETENESS_DAEMON_MUTE] = "daemon and shipper are there, nothing is recorded",
		[COMPLETENESS_SHIPPER_STOPPED] = "shipper stopped in order",
		[COMPLETENESS_SHIPPER_KILLED] = "shipper killed, the host's connection is closed",
		[COMPLETENESS_CUT_OFF] = "neither the shipper nor its connection responds",
	};

	if (!causes[condition])
		return;
	fprintf(out, ": %s", causes[condition]);
	if (condition == COMPLETENESS_DAEMON_KILLED || condition == COMPLETENESS_REWRITTEN)
		write_seal(out, host);
}

static bool silent(FILE *out, const struct completeness *c, const struct completeness_host *host)
{
	bool is = completeness_is_silent(c, host);

	if (is && out) {
		fputs(" silent since ", out);
		write_moment(out, host->last_heard, c->now);
		write_cause(out, host, completeness_condition(c, host));
	}
	return is;
}

static bool lacks(FILE *out, const struct completeness *c, const struct completeness_host *host)
{
	(void)c;
	if (host->missing > 0 && out) {
		fputs(" lacks ", out);
		write_count(out, host->missing);
		fputs(host->missing == 1 ? " record" : " records", out);
	}
	if (host->waiting > 0 && out) {
		fputs(host->missing > 0 ? ", and no chain covers the " : " has ", out);
		write_count(out, host->waiting);
		fputs(host->missing > 0 ? " behind them" : " records that no chain covers", out);
	}
	return host->missing > 0 || host->waiting > 0;
}

/* Writes " has 3 messages over its quota" and similar texts. */
static bool has_messages(FILE *out, const char *verb, uint64_t count, const char *how)
{
	if (count > 0 && out) {
		fprintf(out, " %s ", verb);
		write_count(out, count);
		fprintf(out, count == 1 ? " message %s" : " messages %s", how);
	}
	return count > 0;
}

static bool is_behind(FILE *out, const struct completeness *c, const struct completeness_host *host)
{
	(void)c;
	return has_messages(out, "has", host->later, "to be read when it has its turn");
}

static bool is_over_quota(FILE *out, const struct completeness *c,
			  const struct completeness_host *host)
{
	(void)c;
	return has_messages(out, "has", host->held, "over its quota");
}

static bool has_dropped(FILE *out, const struct completeness *c,
			const struct completeness_host *host)
{
	(void)c;
	return has_messages(out, "had", host->dropped, "dropped over its quotas");
}

static bool is_in_trouble(FILE *out, const struct completeness *c,
			  const struct completeness_host *host)
{
	(void)c;
	if (host->trouble && out)
		fprintf(out, " has a log that does not open: %.200s", host->trouble);
	return host->trouble != NULL;
}

static bool has_gone(FILE *out, const struct completeness *c, const struct completeness_host *host)
{
	(void)c;
	if (host->gone > 0 && out) {
		fputs(" has given up ", out);
		write_count(out, host->gone);
		fputs(host->gone == 1 ? " record" : " records", out);
	}
	return host->gone > 0;
}

static bool shares_name(FILE *out, const struct completeness *c,
			const struct completeness_host *host)
{
	(void)c;
	if (host->name_shared && out)
		fputs(" has the name of another host", out);
	return host->name_shared;
}

static bool is_misnamed(FILE *out, const struct completeness *c,
			const struct completeness_host *host)
{
	bool is = host->expected && host->name && strcmp(host->expected, host->name) != 0;

	(void)c;
	if (is && out)
		fprintf(out, " calls itself %.60s", host->name);
	return is;
}

static bool has_apart(FILE *out, const struct completeness *c, const struct completeness_host *host)
{
	(void)c;
	if (host->apart > 0 && out) {
		fputs(" has ", out);
		write_count(out, host->apart);
		fputs(host->apart == 1 ? " delivery kept apart" : " deliveries kept apart", out);
	}
	return host->apart > 0;
}

static bool is_ahead(FILE *out, const struct completeness *c, const struct completeness_host *host)
{
	char text[16];

	(void)c;
	if (host->ahead > AHEAD_MAX && out) {
		completeness_age((uint64_t)host->ahead, text);
		fprintf(out, " has a clock that is %s ahead", text);
	}
	return host->ahead > AHEAD_MAX;
}

static bool two_grow(FILE *out, const struct completeness *c, const struct completeness_host *host)
{
	(void)c;
	if (host->two_grow && out)
		fputs(" has two logs that grow at once (two hosts with one machine-id?)", out);
	return host->two_grow;
}

static const struct {
	write_problem write;
	const char *of_others;
} problems[] = {
	{never_heard, "never heard of"},
	{silent, "silent"},
	{lacks, "that lack records"},
	{is_behind, "with messages to be read"},
	{is_over_quota, "over quotas"},
	{is_in_trouble, "with logs that do not open"},
	{has_gone, "with records given up"},
	{has_dropped, "with messages dropped"},
	{shares_name, "with names of others"},
	{is_misnamed, "that call themselves otherwise"},
	{has_apart, "with deliveries kept apart"},
	{is_ahead, "with clocks ahead"},
	{two_grow, "with two logs that grow at once"},
};

static void write_problems(FILE *out, const struct completeness *c,
			   const struct completeness_host *hosts, size_t count, size_t number)
{
	char buffer[COMPLETENESS_NAME_SIZE];
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		if (!problems[number].write(NULL, c, &hosts[i]))
			continue;
		if (++found > NAMED_MAX)
			continue;
		fprintf(out, "; %s", completeness_name(&hosts[i], buffer));
		(void)problems[number].write(out, c, &hosts[i]);
	}
	if (found > NAMED_MAX) {
		fputs("; ", out);
		write_count(out, found - NAMED_MAX);
		fprintf(out, " more %s", problems[number].of_others);
	}
}

/* Counts complete hosts. *ret_oldest: age in ns of the oldest last record among them. */
static size_t count_complete(const struct completeness *c, const struct completeness_host *hosts,
			     size_t count, uint64_t *ret_oldest)
{
	size_t complete = 0;

	*ret_oldest = 0;
	for (size_t i = 0; i < count; i++) {
		if (!completeness_is_complete(c, &hosts[i]))
			continue;
		complete++;
		if (age(c, &hosts[i]) > *ret_oldest)
			*ret_oldest = age(c, &hosts[i]);
	}
	return complete;
}

char *completeness_text(const struct completeness *c, const struct completeness_host *hosts,
			size_t count)
{
	_cleanup_(fclosep) FILE *out = NULL;
	char *text = NULL, duration[16];
	uint64_t oldest;
	size_t size, complete = count_complete(c, hosts, count, &oldest);

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	write_count(out, complete);
	fputs(" of ", out);
	write_count(out, count);
	fputs(count == 1 ? " host complete" : " hosts complete", out);
	if (complete > 0) {
		completeness_age(oldest, duration);
		fprintf(out, " to %s ago", duration);
	}
	for (size_t i = 0; i < ARRAY_SIZE(problems); i++)
		write_problems(out, c, hosts, count, i);
	if (fclose(TAKE_PTR(out)) == 0)
		return text;
	free(text);
	return NULL;
}

static json_t *host_json(const struct completeness *c, const struct completeness_host *host)
{
	enum completeness_condition condition = completeness_condition(c, host);
	char heard[CLOCK_TEXT_SIZE];

	clock_format(host->last_heard, heard);
	return json_pack(
		"{s:s, s:s?, s:s?, s:b, s:I, s:I, s:I, s:I, s:I, s:s?, s:s?, s:b, s:s?, s:o, s:I,"
		" s:I, s:b, s:b}",
		"id", host->host, "name", host->name, "expected", host->expected, "name_shared",
		host->name_shared, "uncovered", (json_int_t)host->waiting, "given_up",
		(json_int_t)host->gone, "later", (json_int_t)host->later, "over_quota",
		(json_int_t)host->held, "dropped", (json_int_t)host->dropped, "trouble",
		host->trouble, "last_heard", host->never_heard ? NULL : heard, "silent",
		completeness_is_silent(c, host), "condition",
		condition == COMPLETENESS_FINE ? NULL : completeness_condition_text(condition),
		"records_behind_seal",
		host->sealed ? json_integer((json_int_t)host->unsealed) : json_null(), "missing",
		(json_int_t)host->missing, "apart", (json_int_t)host->apart, "clock_ahead",
		host->ahead > AHEAD_MAX, "two_logs_grow", host->two_grow);
}

json_t *completeness_json(const struct completeness *c, const struct completeness_host *hosts,
			  size_t count)
{
	_cleanup_(freep) char *text = completeness_text(c, hosts, count);
	json_t *incomplete = json_array();
	uint64_t oldest;
	size_t complete = count_complete(c, hosts, count, &oldest);

	for (size_t i = 0; i < count; i++)
		if (!completeness_is_complete(c, &hosts[i]) || hosts[i].apart > 0 ||
		    hosts[i].gone > 0 || hosts[i].dropped > 0 || hosts[i].name_shared)
			json_array_append_new(incomplete, host_json(c, &hosts[i]));
	return json_pack("{s:s?, s:I, s:I, s:I, s:o}", "text", text, "hosts", (json_int_t)count,
			 "complete", (json_int_t)complete, "complete_to_seconds_ago",
			 (json_int_t)(oldest / NSEC_PER_SEC), "not_complete", incomplete);
}
