// SPDX-License-Identifier: Apache-2.0
/*
 * How fast an index is built, and how fast it answers: writes a log of as many records as it is
 * told, as a busy host would, indexes it, and asks.   index [RECORDS [DIRECTORY]]
 *
 * Budgets: 200,000 records a second into the index; records of one execution within 100 ms.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/chain.h"
#include "audit/search/index.h"
#include "audit/search/search.h"
#include "base/clock.h"
#include "base/io.h"

#define RECORDS_DEFAULT	  1000000ull
#define LIVE		  16 /* executions at a time */
#define RECORDS_EACH	  400
#define PATHS		  5000
#define EXECUTIONS_EACH	  10 /* of a session */
#define QUESTIONS	  50
#define INDEX_RATE	  200000.0
#define QUESTION_MSEC_MAX 100.0
#define BUFFER_SIZE	  (8u << 20)
#define TIME_START	  1795000000000000000ull

struct writer {
	int fd;
	struct sha256 *hash;
	unsigned char chain[SHA256_SIZE];
	uint64_t sequence, bytes;
	char *buffer;
	size_t held;
	uint32_t random;
};

static void fail(const char *what)
{
	fprintf(stderr, "bench index: %s: %m\n", what);
	exit(EXIT_FAILURE);
}

static uint32_t draw(struct writer *w, uint32_t below)
{
	w->random = w->random * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)w->random * below) >> 32);
}

static void flush(struct writer *w)
{
	if (io_write_all(w->fd, w->buffer, w->held) < 0)
		fail("write");
	w->bytes += w->held;
	w->held = 0;
}

static void execution_id(uint64_t execution, char id[40])
{
	snprintf(id, 40, "01a2%04x-%04x-7%03x-8000-%012llx", (unsigned int)(execution >> 24),
		 (unsigned int)(execution >> 8) & 0xffff, (unsigned int)execution & 0xfff,
		 (unsigned long long)execution * 2654435761u % 0xffffffffffffull);
}

/* One line for tests/bench/run. `least`: the budget is the least it may be. */
static void show(const char *what, double value, const char *unit, double budget, bool least)
{
	printf("{\"what\": \"%s\", \"value\": %.1f, \"unit\": \"%s\"", what, value, unit);
	if (budget > 0)
		printf(", \"budget\": %.0f, \"at_least\": %s", budget, least ? "true" : "false");
	puts("}");
}

static void write_object(struct writer *w, uint64_t execution, char *text, size_t size)
{
	if (draw(w, 10) < 6)
		snprintf(text, size, "/usr/lib/python3.11/package%u/module%u.py",
			 draw(w, PATHS) / 50, draw(w, 50));
	else
		snprintf(text, size, "/srv/agents/work-%llu/output/file-%u.json",
			 (unsigned long long)execution, draw(w, 40));
}

/* What is particular to a record: its action, and the members behind "cordon.policy". */
static const char *write_particulars(struct writer *w, uint64_t execution, unsigned int number,
				     char *file, char *rest, size_t size)
{
	char object[128];
	uint32_t kind = draw(w, 100);

	file[0] = rest[0] = '\0';
	if (number == 0)
		return "execution-start";
	if (number == RECORDS_EACH - 1)
		return "execution-end";
	if (kind < 10) {
		snprintf(rest, size,
			 ",\"arguments\":{\"sha256\":\"%064x\",\"length\":21,\"truncated\":false}",
			 draw(w, 1000));
		return "process-exec";
	}
	if (kind < 20)
		return "process-exit";
	if (kind < 25) {
		snprintf(file, size, "\"destination\":{\"ip\":\"203.0.113.%u\",\"port\":443},",
			 draw(w, 250));
		return "connect";
	}
	write_object(w, execution, object, sizeof(object));
	snprintf(file, size, "\"file\":{\"path\":\"%s\"},", object);
	snprintf(
		rest, size,
		",\"operation\":\"open\",\"object\":{\"kind\":\"path\",\"text\":\"%s\"},"
		"\"rights\":[\"%s\"],\"rule\":null%s",
		object, kind < 80 ? "write" : "read",
		kind < 80
			? ""
			: ",\"error\":\"EACCES\",\"reason\":\"default\",\"repeats\":0,"
			  "\"suggestion\":{\"rule\":\"files:\\n  - {allow: [read]}\",\"why\":null}");
	return kind < 80 ? "open" : "denial";
}

static void write_record(struct writer *w, uint64_t execution, unsigned int number)
{
	char id[40], time[CLOCK_TEXT_SIZE], file[256], rest[1024];
	const char *action = write_particulars(w, execution, number, file, rest, sizeof(rest) / 4);
	char *line = w->buffer + w->held;
	unsigned char digest[SHA256_SIZE];
	int length;

	execution_id(execution, id);
	clock_format(TIME_START + w->sequence * 100000, time);
	length = snprintf(
		line, 4096,
		"{\"seq\":%llu,\"@timestamp\":\"%s\",\"event\":{\"kind\":\"event\",\"action\":\"%s\","
		"\"outcome\":\"success\"},\"process\":{\"pid\":%u,\"entity_id\":\"%u-18426830724\","
		"\"name\":\"python3\",\"parent\":{\"pid\":145,\"entity_id\":\"145-5010775708\"},"
		"\"thread\":{\"id\":148}},\"user\":{\"id\":\"0\"},\"group\":{\"id\":\"0\"},%s"
		"\"cordon\":{\"schema\":1,\"execution\":{\"id\":\"%s\",\"session\":\"session-%llu\","
		"\"agent\":\"autogen:coder\"},\"sequence\":%u,\"policy\":{\"name\":\"python-sandbox\","
		"\"file\":\"/etc/cordon/policies/python-sandbox.yaml\",\"digest\":"
		"\"b471e8faf4ea63d13041de16300389ddfed702853004de4f67f887297d9a3477\",\"generation\":22}%s}",
		(unsigned long long)++w->sequence, time, action, number + 100, number + 100, file,
		id, (unsigned long long)execution / EXECUTIONS_EACH, number, rest);
	if (chain_digest(w->hash, w->chain, line, (size_t)length, digest) < 0)
		fail("SHA-256");
	memcpy(w->chain, digest, sizeof(digest));
	chain_write_tail(digest, line + length);
	w->held += (size_t)length + CHAIN_TAIL_SIZE;
	if (w->held > BUFFER_SIZE - 8192)
		flush(w);
}

/* Executions start and end; LIVE of them take turns. */
static void write_log(struct writer *w, uint64_t records)
{
	uint64_t executions[LIVE], next = 0;
	unsigned int numbers[LIVE];

	for (unsigned int i = 0; i < LIVE; i++) {
		executions[i] = next++;
		numbers[i] = 0;
	}
	while (w->sequence < records) {
		uint32_t i = draw(w, LIVE);

		write_record(w, executions[i], numbers[i]++);
		if (numbers[i] == RECORDS_EACH) {
			executions[i] = next++;
			numbers[i] = 0;
		}
	}
	flush(w);
}

static int count(void *data, json_t *record)
{
	(void)record;
	++*(uint64_t *)data;
	return 0;
}

static uint64_t ask(const char *directory, const struct audit_query *query, uint64_t *found)
{
	const struct search_options options = {0};
	uint64_t start = clock_nsec(CLOCK_MONOTONIC);
	struct search_result result;
	struct failure failure = {0};

	*found = 0;
	if (audit_search(directory, query, &options, count, found, &result, &failure) < 0 ||
	    !result.used_index || result.damaged > 0) {
		fprintf(stderr, "bench index: a search failed: %s\n", failure.text);
		exit(EXIT_FAILURE);
	}
	return clock_nsec(CLOCK_MONOTONIC) - start;
}

/* Some executions spread over the log. */
static void ask_executions(const char *directory, uint64_t records)
{
	uint64_t slowest = 0, all = 0, executions = records / RECORDS_EACH;

	for (unsigned int i = 0; i < QUESTIONS; i++) {
		struct audit_query query = {0};
		uint64_t nsec, found;
		char id[40];

		execution_id(executions * i / QUESTIONS, id);
		query.execution = id;
		nsec = ask(directory, &query, &found);
		if (found == 0)
			fail("an execution was not found");
		all += nsec;
		if (nsec > slowest)
			slowest = nsec;
	}
	show("a query by execution, on average", (double)all / QUESTIONS / 1e6, "ms", 0, false);
	show("a query by execution, the slowest of 50", (double)slowest / 1e6, "ms",
	     QUESTION_MSEC_MAX, false);
}

static void ask_others(const char *directory)
{
	struct audit_glob *glob;
	struct audit_network network;
	uint64_t nsec, found;

	if (audit_glob_new("/srv/agents/work-77/**", &glob) < 0 ||
	    audit_network_parse("203.0.113.8/31", &network) < 0)
		fail("out of memory");
	nsec = ask(directory, &(struct audit_query){.path = glob}, &found);
	show("a query by a path's directory", (double)nsec / 1e6, "ms", 0, false);
	audit_glob_free(glob);
	nsec = ask(directory, &(struct audit_query){.session = "session-7"}, &found);
	show("a query by session, 4,000 records", (double)nsec / 1e6, "ms", 0, false);
	nsec = ask(directory, &(struct audit_query){.address = &network, .session = "session-7"},
		   &found);
	show("a query by network within a session", (double)nsec / 1e6, "ms", 0, false);
}

int main(int argc, char **argv)
{
	uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : RECORDS_DEFAULT, start,
		 cpu_start;
	struct writer w = {.hash = sha256_new(), .buffer = malloc(BUFFER_SIZE), .random = 1};
	char directory[PATH_MAX] = "/tmp/bench-index-XXXXXX", path[PATH_MAX + 32];
	struct index_result result;
	struct failure failure = {0};
	struct stat status = {0};
	double seconds, cpu, rate;

	if (argc > 2)
		snprintf(directory, sizeof(directory), "%s", argv[2]);
	if (!w.hash || !w.buffer || records < 2 * RECORDS_EACH * LIVE)
		fail("at least 12,800 records");
	if (argc > 2 ? mkdir(directory, 0700) < 0 : !mkdtemp(directory))
		fail(directory);
	snprintf(path, sizeof(path), "%s/current.jsonl", directory);
	w.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w.fd < 0)
		fail(path);
	write_log(&w, records);
	start = clock_nsec(CLOCK_MONOTONIC);
	cpu_start = clock_nsec(CLOCK_PROCESS_CPUTIME_ID);
	if (index_update(directory, false, false, NULL, &result, &failure) < 0) {
		fprintf(stderr, "bench index: %s\n", failure.text);
		return EXIT_FAILURE;
	}
	seconds = (double)(clock_nsec(CLOCK_MONOTONIC) - start) / 1e9;
	/*
	 * By the processor's time: others use the machine, too. The wall clock's rate stands beside
	 * it.
	 */
	cpu = (double)(clock_nsec(CLOCK_PROCESS_CPUTIME_ID) - cpu_start) / 1e9;
	rate = (double)result.added / cpu;
	snprintf(path, sizeof(path), "%s/" INDEX_NAME, directory);
	(void)stat(path, &status);
	printf("index of %llu records, %.2f GB\n", (unsigned long long)result.added,
	       (double)w.bytes / 1e9);
	show("records into the index, by processor time", rate, "records/s", INDEX_RATE, true);
	show("the same by the clock", (double)result.added / seconds, "records/s", 0, false);
	show("size of the index", (double)status.st_size / 1e6, "MB", 0, false);
	ask_executions(directory, records);
	ask_others(directory);
	if (argc <= 2) {
		(void)unlink(path);
		snprintf(path, sizeof(path), "%s/current.jsonl", directory);
		(void)unlink(path);
		(void)rmdir(directory);
	}
	return EXIT_SUCCESS;
}
