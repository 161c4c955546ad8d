/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast events become chained records on disk, and how fast a log is verified, beside the speed
 * of the hash alone on the same bytes, record by record. In CPU time of one core, best of several
 * runs.  audit [DIRECTORY]
 */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "audit/record/event_text.h"
#include "audit/write/log.h"
#include "audit/read/reader.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/sha256.h"
#include "tests/unit/audit/fixture.h"

#define RECORDS	   400000u
#define RUNS	   5
#define EVENTS	   64u
#define SYNC_EVERY 100000u /* the daemon syncs once a second: that many at half its budget */

static struct fixture fixture;
static struct fixture_event events[EVENTS];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bench audit: %s\n", what);
	exit(1);
}

/* Mostly denials of paths, as under attack; exits, connects and opens between. */
static void make_events(void)
{
	static const unsigned char net[] = {4, IPPROTO_TCP, 203, 0, 113, 7, 0x01, 0xbb};
	char path[96];

	fixture_init(&fixture);
	for (unsigned int i = 0; i < EVENTS; i++) {
		snprintf(path, sizeof(path), "/home/u/.config/gcloud/credentials-%u.json", i);
		if (i % 8 == 7)
			fixture_exit(&fixture, 4000 + i, 3999, "python3", 0, &events[i]);
		else if (i % 8 == 6)
			fixture_access(&fixture, CORDON_EVENT_CONNECT, 4000, 3999, "python3",
				       CORDON_OP_CONNECT, CORDON_RIGHT(CORDON_NET_CONNECT),
				       CORDON_OBJECT_NET, net, sizeof(net), &events[i]);
		else if (i % 8 == 5)
			fixture_access(&fixture, CORDON_EVENT_OPEN, 4000, 3999, "python3",
				       CORDON_OP_OPEN, CORDON_RIGHT(CORDON_READ),
				       CORDON_OBJECT_PATH, path, strlen(path), &events[i]);
		else
			fixture_denial(&fixture,
				       &(struct fixture_denial){
					       .pid = 4000,
					       .parent = 3999,
					       .comm = "python3",
					       .operation = CORDON_OP_OPEN,
					       .rights = CORDON_RIGHT(CORDON_READ),
					       .kind = CORDON_OBJECT_PATH,
					       .object = path,
					       .object_size = strlen(path),
					       .reason = i % 2 ? CORDON_REASON_RULE
							       : CORDON_REASON_DEFAULT,
					       .rule = 1,
				       },
				       &events[i]);
	}
}

static double cpu_seconds(void)
{
	return (double)clock_nsec(CLOCK_PROCESS_CPUTIME_ID) / (double)NSEC_PER_SEC;
}

static void empty(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/* From ring bytes to the disk. */
static double write_log(const char *directory)
{
	const struct audit_log_options options = {};
	struct event_text text = {};
	struct audit_log *log;
	uint64_t repaired;
	double start;

	empty(directory);
	start = cpu_seconds();
	if (audit_log_open(directory, &options, &log, &repaired, NULL) < 0)
		die("cannot open the log");
	for (unsigned int i = 0; i < RECORDS; i++) {
		const struct fixture_event *event = &events[i % EVENTS];

		if (event_text_write(&text, &fixture.execution, event->data, event->size,
				     FIXTURE_BOOT_OFFSET) < 0 ||
		    audit_log_append_text(log, text.record.data, text.record.size) < 0)
			die("cannot record an event");
		if (i % SYNC_EVERY == SYNC_EVERY - 1 && audit_log_flush(log, true) < 0)
			die("cannot write");
	}
	audit_log_close(log);
	event_text_release(&text);
	return cpu_seconds() - start;
}

static void on_problem(void *data, const char *text)
{
	(void)data;
	die(text);
}

static double verify_log(const char *directory)
{
	struct audit_verification result;
	struct audit_reader *reader;
	double start = cpu_seconds();

	if (audit_reader_open(directory, &reader, NULL) < 0 ||
	    audit_reader_verify(reader, on_problem, NULL, &result, NULL) < 0)
		die("cannot verify");
	audit_reader_close(reader);
	if (result.records != RECORDS)
		die("the log has another number of records");
	return cpu_seconds() - start;
}

/*
 * One digest for each line, over the previous digest and the line: what the chain cannot do
 * without.
 */
static double hash_alone(const char *data, size_t size)
{
	unsigned char chain[SHA256_SIZE] = {};
	struct sha256 *hash = sha256_new();
	static size_t lengths[RECORDS];
	size_t count = 0;
	double start;

	for (const char *at = data; at < data + size; count++) {
		const char *newline = memchr(at, '\n', (size_t)(data + size - at));

		lengths[count] = (size_t)(newline + 1 - at);
		at = newline + 1;
	}
	start = cpu_seconds();
	for (size_t i = 0; i < count; data += lengths[i++])
		if (chain_digest(hash, chain, data, lengths[i] - CHAIN_TAIL_SIZE, chain) < 0)
			die("no SHA-256");
	start = cpu_seconds() - start;
	sha256_free(hash);
	return start;
}

static double best(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

static bool row(const char *what, double seconds, double bytes, double hash, double ratio,
		double rate)
{
	bool good = hash / seconds >= ratio && RECORDS / seconds >= rate;

	printf("%-28s %10.0f %8.0f %8.2f", what, RECORDS / seconds, bytes / seconds / 1e6,
	       hash / seconds);
	if (ratio > 0)
		printf("   %s (budget: %.1f of the hash%s)", good ? "ok" : "MISSED", ratio,
		       rate > 0 ? ", 200,000 records/s" : "");
	putchar('\n');
	return good;
}

int main(int argc, char **argv)
{
	char made[] = "/tmp/cordon-bench-XXXXXX", path[256];
	const char *directory = argc > 1 ? argv[1] : mkdtemp(made);
	double hash = 0, written = 0, verified = 0;
	char *data = NULL;
	size_t size = 0;
	bool good;

	make_events();
	if (!directory)
		die("cannot make a directory");
	for (int run = 0; run < RUNS; run++) {
		written = best(written, write_log(directory));
		verified = best(verified, verify_log(directory));
		if (!data) {
			snprintf(path, sizeof(path), "%s/current.jsonl", directory);
			if (io_read_file(AT_FDCWD, path, SIZE_MAX, &data, &size) < 0)
				die("cannot read the log");
		}
		hash = best(hash, hash_alone(data, size));
	}
	printf("%u records of %zu bytes, best of %d, CPU time of one core\n", RECORDS,
	       size / RECORDS, RUNS);
	printf("%-28s %10s %8s %8s\n", "", "records/s", "MB/s", "of hash");
	(void)row("SHA-256 alone", hash, (double)size, hash, 0, 0);
	good = row("decode to record on disk", written, (double)size, hash, 0.5, 200000);
	good = row("verify", verified, (double)size, hash, 0.8, 0) && good;
	free(data);
	empty(directory);
	if (argc == 1)
		rmdir(directory);
	printf("# bench audit: %d passed, %d failed\n", good, !good);
	return good ? 0 : 1;
}
