/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes logs as hosts' daemons do, for tests of what reads them:   write_log DIRECTORY RECORDS
 * [RATE [SEGMENT_BYTES [HOSTS]]]
 *
 * RATE: records a second, 0: all at once. Every fiftieth is a denial; executions begin and end
 * every hundred. HOSTS: that many hosts' logs, DIRECTORY/1 to DIRECTORY/HOSTS, which get the
 * records by turns; each is sealed, and has a heartbeat a minute besides. SIGTERM closes all
 * before.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/record/identity.h"
#include "audit/write/log.h"

#define BEAT_NSEC (60 * NSEC_PER_SEC)

struct host {
	struct audit_log *log;
	unsigned long written;
	uint64_t beat; /* when its next heartbeat is due, monotonic */
	char identity[IDENTITY_TEXT_MAX];
};

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

static json_t *heartbeat_of(const struct host *host)
{
	char time[CLOCK_TEXT_SIZE];

	clock_format(clock_nsec(CLOCK_REALTIME), time);
	return json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i, s:{s:i, s:i, s:[{s:s, s:s}], s:{s:I}}}}",
			 "@timestamp", time, "event", "kind", "event", "action", "agent-heartbeat",
			 "outcome", "success", "cordon", "schema", 1, "agent", "interval", 60,
			 "executions", 1, "policies", "name", "python-sandbox", "digest",
			 "7147873813e6eafd7147873813e6eafd7147873813e6eafd7147873813e6eafd",
			 "totals", "started", (json_int_t)(host->written / 100));
}

static int append(struct host *host, json_t *record)
{
	int r = record ? audit_log_append(host->log, record) : -ENOMEM;

	json_decref(record);
	return r;
}

/* Heartbeats, seals and whatever else is due, of all hosts. */
static int tend(struct host *hosts, unsigned long count)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);

	for (unsigned long i = 0; i < count; i++) {
		struct host *host = &hosts[i];

		if (count > 1 && now >= host->beat) {
			int r = append(host, heartbeat_of(host));

			if (r < 0)
				return r;
			host->beat += BEAT_NSEC;
		}
		(void)audit_log_flush(host->log, false);
		(void)audit_log_tick(host->log);
	}
	return 0;
}

static int append_all(struct host *hosts, unsigned long count, unsigned long records,
		      unsigned long rate)
{
	uint64_t start = clock_nsec(CLOCK_MONOTONIC), tended = 0;

	/* They do not begin at the same moment of their minutes. */
	for (unsigned long i = 0; i < count; i++)
		hosts[i].beat = start + i * (BEAT_NSEC / count);
	for (unsigned long i = 1; i <= records && !stopped; i++) {
		struct host *host = &hosts[(i - 1) % count];
		int r = append(host, record_of(++host->written));

		if (r < 0)
			return r;
		if (rate > 0 || i % 500 == 0)
			(void)audit_log_flush(host->log, false);
		while (rate > 0 && !stopped &&
		       clock_nsec(CLOCK_MONOTONIC) - start < i * NSEC_PER_SEC / rate) {
			if (clock_nsec(CLOCK_MONOTONIC) - tended >= NSEC_PER_SEC) {
				tended = clock_nsec(CLOCK_MONOTONIC);
				r = tend(hosts, count);
				if (r < 0)
					return r;
			}
			usleep(2000);
		}
	}
	return 0;
}

/* --- logs ----------------------------------------------------------------------------------- */

static int describe_host(unsigned long number, struct host *host)
{
	struct identity identity;
	char machine[33];

	identity_of_host(&identity);
	/* A host that has no machine id can be tested all the same. */
	if (number > 0 || !identity.host[0]) {
		snprintf(machine, sizeof(machine), "0123456789abcdef%016lx", number);
		(void)identity_host_id(machine, identity.host);
	}
	if (number > 0)
		snprintf(identity.name, sizeof(identity.name), "host-%lu", number);
	identity.version = "test";
	return identity_format(&identity, host->identity);
}

/* As `cordon log keygen` does, with a key that nobody needs. */
static int begin_sealing(const char *directory)
{
	static const unsigned char verification[SEAL_KEY_SIZE] = "write_log";
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key;
	int fd, r;

	if (mkdir(directory, 0750) < 0 && errno != EEXIST)
		return -errno;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = seal_key_first(verification, &key);
	if (r == 0)
		r = seal_file_create(fd, &key, &file);
	seal_file_close(&file);
	close(fd);
	return r == -EEXIST ? 0 : r;
}

static int open_log(struct host *host, unsigned long number, const char *directory,
		    uint64_t segment_bytes)
{
	struct audit_log_options options = AUDIT_LOG_DEFAULTS;
	struct failure failure = {};
	uint64_t repaired;
	int r = describe_host(number, host);

	if (r == 0 && number > 0)
		r = begin_sealing(directory);
	options.identity = host->identity;
	if (segment_bytes > 0)
		options.segment_bytes = segment_bytes;
	if (r == 0)
		r = audit_log_open(directory, &options, &host->log, &repaired, &failure);
	if (r < 0)
		fprintf(stderr, "write_log: %s\n", failure.text[0] ? failure.text : strerror(-r));
	/* Not all hosts are at the same record. */
	host->written = number * 7;
	return r;
}

static int run(const char *directory, unsigned long records, unsigned long rate,
	       uint64_t segment_bytes, unsigned long count)
{
	struct host *hosts = calloc(count > 0 ? count : 1, sizeof(*hosts));
	int r = hosts ? 0 : -ENOMEM;

	if (count == 0 && r == 0)
		r = open_log(hosts, 0, directory, segment_bytes);
	for (unsigned long i = 0; i < count && r == 0; i++) {
		char path[PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s/%lu", directory, i + 1);
		r = open_log(&hosts[i], i + 1, path, segment_bytes);
	}
	if (r == 0)
		r = append_all(hosts, count > 0 ? count : 1, records, rate);
	for (unsigned long i = 0; hosts && i < (count > 0 ? count : 1); i++)
		if (hosts[i].log)
			audit_log_close(hosts[i].log);
	free(hosts);
	return r;
}

static unsigned long word(int argc, char **argv, int at)
{
	return argc > at ? strtoul(argv[at], NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	struct rlimit files;

	if (argc < 3) {
		fputs("usage: write_log DIRECTORY RECORDS [RATE [SEGMENT_BYTES [HOSTS]]]\n",
		      stderr);
		return 2;
	}
	signal(SIGTERM, stop);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	return run(argv[1], word(argc, argv, 2), word(argc, argv, 3), word(argc, argv, 4),
		   word(argc, argv, 5)) < 0
		       ? 1
		       : 0;
}
