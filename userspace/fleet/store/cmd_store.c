/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon-fleet store`: stores the logs of many hosts. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "fleet/clickhouse/settings.h"
#include "fleet/ship/clear_text.h"
#include "fleet/store/fleet_commands.h"
#include "fleet/store/import.h"
#include "fleet/store/stream.h"

/* How long to wait for the beginning of a log, because deliveries may be out of order. */
#define PATIENCE (120 * NSEC_PER_SEC)

static const char help[] =
	"usage: cordon-fleet store [OPTION]...\n"
	"       cordon-fleet store --import FILE --host ID --log ID [--first] [--store DIR]\n"
	"       cordon-fleet store skip HOST LOG SEQ --reason TEXT [--store DIR]\n"
	"\n"
	"Stores the logs of many hosts from a NATS JetStream stream, each byte for byte\n"
	"in DIR/hosts/HOST/LOG, where `cordon show`, `why`, `report` and `log verify`\n"
	"read it with --log. Rows of all logs are in DIR/fleet.sqlite for the other\n"
	"commands of cordon-fleet, or in the ClickHouse server that fleet.yaml names.\n"
	"Acknowledges messages after they are on disk. Quarantines invalid messages in\n"
	"DIR/apart, with the reason. Runs until stopped; exit status 1 on failure.\n"
	"\n"
	"      --store DIR          the store's directory (" DEFAULT_STORE_DIRECTORY ")\n"
	"      --fleet FILE         configuration of ClickHouse (" CONFIG_FLEET_FILE ")\n"
	"      --nats URL           the server (nats://127.0.0.1:4222)\n"
	"      --stream NAME        the stream (CORDON); created if it does not exist\n"
	"      --consumer NAME      this store's name at the server (cordon-store)\n"
	"      --credentials FILE   NATS credentials, as `nsc` writes them\n"
	"      --tls-ca FILE        CA certificates for the server\n"
	"      --tls-cert FILE, --tls-key FILE\n"
	"                           certificate and key of this store\n"
	"      --plaintext          permit unencrypted connections to another machine\n"
	"      --ack-wait SECONDS   delay until unacknowledged messages are resent (30)\n"
	"      --until-idle SECONDS exit after this time without a message\n"
	"      --host-disk GIB      disk space for the records of one host (64); beyond it,\n"
	"                           they stay in the stream, and query results list the host\n"
	"      --host-logs N        number of logs of one host (64)\n"
	"\n"
	"      --import FILE        store records from a file, a log's folder, or with - from\n"
	"                           standard input instead of a stream; exit status 1 if any\n"
	"                           was quarantined\n"
	"      --host ID, --log ID  host and log of the imported records\n"
	"      --first              the records were sent before a backlog: no chain covers them\n"
	"  -h, --help               print this help\n";

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

struct command {
	const char *directory, *fleet;
	bool plaintext; /* permit unencrypted connections to another machine */
	struct intake_limits limits;
	struct stream_options stream;
	struct import import;
};

enum {
	OPTION_STORE = 256,
	OPTION_FLEET,
	OPTION_NATS,
	OPTION_STREAM,
	OPTION_CONSUMER,
	OPTION_CREDENTIALS,
	OPTION_CA,
	OPTION_CERTIFICATE,
	OPTION_KEY,
	OPTION_ACK_WAIT,
	OPTION_IDLE,
	OPTION_IMPORT,
	OPTION_HOST,
	OPTION_LOG,
	OPTION_FIRST,
	OPTION_PLAINTEXT,
	OPTION_HOST_DISK,
	OPTION_HOST_LOGS,
};

static const struct option options[] = {
	{"store", required_argument, NULL, OPTION_STORE},
	{"fleet", required_argument, NULL, OPTION_FLEET},
	{"nats", required_argument, NULL, OPTION_NATS},
	{"stream", required_argument, NULL, OPTION_STREAM},
	{"consumer", required_argument, NULL, OPTION_CONSUMER},
	{"credentials", required_argument, NULL, OPTION_CREDENTIALS},
	{"tls-ca", required_argument, NULL, OPTION_CA},
	{"tls-cert", required_argument, NULL, OPTION_CERTIFICATE},
	{"tls-key", required_argument, NULL, OPTION_KEY},
	{"ack-wait", required_argument, NULL, OPTION_ACK_WAIT},
	{"until-idle", required_argument, NULL, OPTION_IDLE},
	{"import", required_argument, NULL, OPTION_IMPORT},
	{"host", required_argument, NULL, OPTION_HOST},
	{"log", required_argument, NULL, OPTION_LOG},
	{"first", no_argument, NULL, OPTION_FIRST},
	{"plaintext", no_argument, NULL, OPTION_PLAINTEXT},
	{"host-disk", required_argument, NULL, OPTION_HOST_DISK},
	{"host-logs", required_argument, NULL, OPTION_HOST_LOGS},
	{"help", no_argument, NULL, 'h'},
	{},
};

/* Parses a count from 1 to 1,048,576. */
static int take_count(const char *option, const char *value, uint64_t *ret_count)
{
	unsigned long count;
	char *end;

	errno = 0;
	count = strtoul(value, &end, 10);
	if (value[0] < '1' || value[0] > '9' || *end || errno || count > 1ul << 20) {
		message("--%s takes a number from 1 to 1048576, not \"%s\"", option, value);
		return -EINVAL;
	}
	*ret_count = count;
	return 0;
}

static int take_seconds(const char *option, const char *value, uint64_t *ret_nsec)
{
	unsigned long seconds;
	char *end;

	errno = 0;
	seconds = strtoul(value, &end, 10);
	if (value[0] < '1' || value[0] > '9' || *end || errno || seconds > 86400) {
		message("--%s takes a number of seconds from 1 to 86400, not \"%s\"", option,
			value);
		return -EINVAL;
	}
	*ret_nsec = seconds * NSEC_PER_SEC;
	return 0;
}

static int take_option(struct command *c, int option, const char *value)
{
	const struct {
		int option;
		const char **to;
	} texts[] = {
		{OPTION_STORE, &c->directory},
		{OPTION_FLEET, &c->fleet},
		{OPTION_NATS, &c->stream.url},
		{OPTION_STREAM, &c->stream.stream},
		{OPTION_CONSUMER, &c->stream.consumer},
		{OPTION_CREDENTIALS, &c->stream.credentials},
		{OPTION_CA, &c->stream.ca},
		{OPTION_CERTIFICATE, &c->stream.certificate},
		{OPTION_KEY, &c->stream.key},
		{OPTION_IMPORT, &c->import.from},
		{OPTION_HOST, &c->import.host},
		{OPTION_LOG, &c->import.log},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (texts[i].option == option) {
			*texts[i].to = value;
			return 0;
		}
	}
	switch (option) {
	case OPTION_ACK_WAIT:
		return take_seconds("ack-wait", value, &c->stream.ack_wait);
	case OPTION_IDLE:
		return take_seconds("until-idle", value, &c->stream.idle_end);
	case OPTION_FIRST:
		c->import.first_lane = true;
		return 0;
	case OPTION_HOST_DISK:
		if (take_count("host-disk", value, &c->limits.disk) < 0)
			return -EINVAL;
		c->limits.disk <<= 30;
		return 0;
	case OPTION_HOST_LOGS:
		return take_count("host-logs", value, &c->limits.logs);
	case OPTION_PLAINTEXT:
		c->plaintext = true;
		return 0;
	default:
		message("see `cordon-fleet store --help`");
		return -EINVAL;
	}
}

static bool is_complete(const struct command *c)
{
	if (c->import.from && (!c->import.host || !c->import.log))
		message("store: --import requires --host and --log of the records");
	else if (!c->import.from && (c->import.host || c->import.log || c->import.first_lane))
		message("store: --host, --log and --first go with --import");
	else if (c->stream.key && !c->stream.certificate)
		message("store: --tls-key goes with --tls-cert");
	else if (!c->import.from && !c->plaintext && !c->stream.ca && !c->stream.certificate &&
		 clear_text_leaves_machine(c->stream.url))
		message("cannot connect to %s: records would cross the network unencrypted. Use tls://, "
			"or --plaintext if only trusted parties can read there",
			c->stream.url);
	else
		return true;
	return false;
}

static void report(const char *text)
{
	message("%s; waiting for it", text);
}

static void report_forward(const char *text)
{
	message("%s", text);
}

/*
 * After an import: send rows to ClickHouse if it responds. Otherwise the next store does, and
 * queries include the rows in any case.
 */
static int finish_forward(struct intake *intake, struct failure *failure)
{
	int r;

	while ((r = intake_turn(intake, failure)) != FORWARD_IDLE && r != FORWARD_LATER && r >= 0)
		(void)nanosleep(&(struct timespec){.tv_nsec = 2 * (long)NSEC_PER_MSEC}, NULL);
	return r < 0 ? r : 0;
}

static int import(struct intake *intake, const struct import *what)
{
	uint64_t counts[INTAKE_RESULT_COUNT];
	struct failure failure = {};

	if (import_run(intake, what, counts, &failure) < 0 ||
	    finish_forward(intake, &failure) < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	printf("deliveries: %" PRIu64 " taken, %" PRIu64 " known, %" PRIu64 " waiting, %" PRIu64
	       " kept apart\n",
	       counts[INTAKE_TAKEN], counts[INTAKE_KNOWN], counts[INTAKE_WAITS],
	       counts[INTAKE_APART]);
	return counts[INTAKE_APART] > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_stream(struct intake *intake, const struct stream_options *stream)
{
	struct sigaction action = {.sa_handler = stop};
	struct failure failure = {};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (stream_run(intake, stream, &stopped, report, &failure) < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* Each open log needs three descriptors. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int forward(const struct command *c, struct intake *intake, struct config_fleet **ret_fleet,
		   struct failure *failure)
{
	const struct config_clickhouse *settings;
	struct config_fleet *fleet = NULL;
	int r = clickhouse_settings_load(c->fleet, &fleet, failure);

	if (r < 0)
		return r;
	*ret_fleet = fleet;
	settings = fleet ? config_fleet_clickhouse(fleet) : NULL;
	return settings ? intake_forward(intake, settings, report_forward, failure) : 0;
}

static int run(const struct command *c)
{
	/* Declared first, because `intake` uses it until it is closed. */
	_cleanup_(config_fleet_freep) struct config_fleet *fleet = NULL;
	_cleanup_(intake_closep) struct intake *intake = NULL;
	struct failure failure = {};
	int r;

	raise_descriptors();
	r = intake_open(c->directory, c->import.from ? 0 : PATIENCE, &intake, &failure);
	if (r == 0) {
		intake_limit(intake, &c->limits);
		r = forward(c, intake, &fleet, &failure);
	}
	if (r < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	return c->import.from ? import(intake, &c->import) : run_stream(intake, &c->stream);
}

int fleet_command_store(int argc, char **argv)
{
	struct command c = {
		.directory = DEFAULT_STORE_DIRECTORY,
		.limits = INTAKE_LIMITS,
		.stream = {.url = "nats://127.0.0.1:4222",
			   .stream = "CORDON",
			   .consumer = "cordon-store",
			   .ack_wait = 30 * NSEC_PER_SEC},
	};
	int option;

	if (argc > 1 && strcmp(argv[1], "skip") == 0)
		return fleet_command_store_skip(argc - 1, argv + 1);
	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_SUCCESS;
		}
		if (take_option(&c, option, optarg) < 0)
			return EXIT_USAGE;
	}
	if (optind < argc) {
		message("store: unexpected argument \"%s\"; see `cordon-fleet store --help`",
			argv[optind]);
		return EXIT_USAGE;
	}
	return is_complete(&c) ? run(&c) : EXIT_USAGE;
}
