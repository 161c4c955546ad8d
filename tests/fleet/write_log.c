/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a log as a host's daemon does, for tests of what reads it:   write_log DIRECTORY RECORDS
 * [RATE [SEGMENT_BYTES]]
 *
 * RATE: records a second, 0: all at once. Every fiftieth is a denial; executions begin and end
 * every hundred. SIGTERM closes it before.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/record/identity.h"
#include "audit/write/log.h"

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static const char *action_of(unsigned long i)
{
	if (i % 100 == 1)
		return "execution-start";
	if (i % 100 == 0)
		return "execution-end";
	return i % 50 == 25 ? "denial" : "process-exec";
}

static json_t *record_of(unsigned long i)
{
	const char *action = action_of(i);
	char time[CLOCK_TEXT_SIZE], id[40];

	clock_format(clock_nsec(CLOCK_REALTIME), time);
	snprintf(id, sizeof(id), "019aa3c4-11d2-7abc-8def-%012lx", i / 100);
	return json_pack(
		"{s:s, s:{s:s, s:s, s:s}, s:{s:I, s:s, s:{s:I}, s:s, s:s}, s:{s:s}, s:{s:i, s:{s:s, s:s, "
		"s:s}, s:I, s:{s:s, s:s}}}",
		"@timestamp", time, "event", "kind", strcmp(action, "denial") ? "event" : "alert",
		"action", action, "outcome", "success", "process", "pid",
		(json_int_t)(1000 + i % 30000), "entity_id", "1000-123456789", "parent", "pid",
		(json_int_t)(999 + i % 7), "name", "python3", "executable", "/usr/bin/python3.11",
		"user", "id", "1000", "cordon", "schema", 1, "execution", "id", id, "session",
		"s-17", "agent", "coder", "sequence", (json_int_t)i, "policy", "name",
		"python-sandbox", "digest",
		"7147873813e6eafd7147873813e6eafd7147873813e6eafd7147873813e6eafd");
}

static int append_all(struct audit_log *log, unsigned long records, unsigned long rate)
{
	uint64_t start = clock_nsec(CLOCK_MONOTONIC);

	for (unsigned long i = 1; i <= records && !stopped; i++) {
		json_t *record = record_of(i);
		int r = record ? audit_log_append(log, record) : -ENOMEM;

		json_decref(record);
		if (r < 0)
			return r;
		if (rate == 0 && i % 500 == 0)
			(void)audit_log_flush(log, false);
		while (rate > 0 && !stopped &&
		       clock_nsec(CLOCK_MONOTONIC) - start < i * NSEC_PER_SEC / rate) {
			(void)audit_log_flush(log, false);
			(void)audit_log_tick(log);
			usleep(5000);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	char text[IDENTITY_TEXT_MAX];
	struct audit_log_options options = AUDIT_LOG_DEFAULTS;
	struct identity identity;
	struct failure failure = {};
	struct audit_log *log;
	uint64_t repaired;
	int r;

	if (argc < 3) {
		fputs("usage: write_log DIRECTORY RECORDS [RATE [SEGMENT_BYTES]]\n", stderr);
		return 2;
	}
	signal(SIGTERM, stop);
	identity_of_host(&identity);
	/* A host that has no machine id can be tested all the same. */
	if (!identity.host[0])
		(void)identity_host_id("0123456789abcdef0123456789abcdef", identity.host);
	identity.version = "test";
	r = identity_format(&identity, text);
	options.identity = text;
	if (argc > 4)
		options.segment_bytes = strtoull(argv[4], NULL, 10);
	if (r == 0)
		r = audit_log_open(argv[1], &options, &log, &repaired, &failure);
	if (r < 0) {
		fprintf(stderr, "write_log: %s\n", failure.text[0] ? failure.text : strerror(-r));
		return 1;
	}
	r = append_all(log, strtoul(argv[2], NULL, 10), argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
	audit_log_close(log);
	return r < 0 ? 1 : 0;
}
