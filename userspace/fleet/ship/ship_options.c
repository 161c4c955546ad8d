/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the shipper's command line. */
#include "fleet/ship/ship_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/ship/presence.h"

#define DEFAULT_LOG    "/var/log/cordon"
#define DEFAULT_STATE  "/var/lib/cordon-ship"
#define DEFAULT_SERVER "nats://localhost:4222"
#define DEFAULT_RATE   20000
#define NATS_PORT      4222
#define RATE_MAX       10000000

static const char help[] =
	"usage: cordon-ship [OPTION]...\n"
	"\n"
	"Sends this host's audit log to the fleet's store, through the NATS JetStream stream " PUBLISHER_STREAM
	".\n"
	"Goes on behind what the stream has acknowledged; stops with status 3 where the log is not\n"
	"as it was. docs/fleet.md says how to set it up.\n"
	"\n"
	"      --server URL     nats://HOST:PORT or tls://HOST:PORT (" DEFAULT_SERVER ")\n"
	"      --log DIR        the log's directory (" DEFAULT_LOG ")\n"
	"      --state DIR      notes there how far it is (" DEFAULT_STATE ")\n"
	"      --creds FILE     credentials of NATS\n"
	"      --ca FILE        trusts servers whose certificates these have signed\n"
	"      --cert FILE, --key FILE\n"
	"                       its own certificate\n"
	"      --rate N         records a second, at most, of a backlog (20000; 0: any number);\n"
	"                       denials, ends, gaps and seals of now go ahead of it\n"
	"      --presence N     says each N seconds that it is there, and how the daemon is (15; 0: never)\n"
	"      --plain          sends lines as they are, not as gzip\n"
	"      --once           leaves when all that is there now is acknowledged\n"
	"  -h, --help           this text\n";

int ship_options_port(const char *url, uint16_t *ret_port)
{
	const char *host = strstr(url, "://"), *at, *colon, *bracket;
	char *end;
	unsigned long port;

	if (!host || (strncmp(url, "nats://", 7) != 0 && strncmp(url, "tls://", 6) != 0) ||
	    strpbrk(url, ", \t\n"))
		return -EINVAL;
	host += 3;
	at = strrchr(host, '@');
	host = at ? at + 1 : host;
	bracket = host[0] == '[' ? strchr(host, ']') : NULL;
	if (!host[0] || host[0] == ':' || (host[0] == '[' && !bracket))
		return -EINVAL;
	colon = strchr(bracket ? bracket : host, ':');
	if (!colon) {
		*ret_port = NATS_PORT;
		return 0;
	}
	errno = 0;
	port = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || errno || (*end && strcmp(end, "/") != 0) ||
	    port == 0 || port > UINT16_MAX)
		return -EINVAL;
	*ret_port = (uint16_t)port;
	return 0;
}

static int refuse(const char *what, const char *value)
{
	fprintf(stderr, "cordon-ship: %s, not \"%s\"\n", what, value);
	return 2;
}

static int check(struct ship_options *options, int argc, char **argv)
{
	const struct publisher_options *publisher = &options->publisher;

	if (optind < argc)
		return refuse("takes options only", argv[optind]);
	if (ship_options_port(publisher->url, &options->port) < 0)
		return refuse("--server takes nats://HOST:PORT or tls://HOST:PORT, one of them",
			      publisher->url);
	if (!publisher->certificate != !publisher->key) {
		fputs("cordon-ship: --cert and --key go together\n", stderr);
		return 2;
	}
	return -1;
}

static int parse_number(const char *text, uint64_t max, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return text[0] < '0' || text[0] > '9' || *end || errno || *ret > max ? -EINVAL : 0;
}

int ship_options_parse(int argc, char **argv, struct ship_options *ret_options)
{
	static const struct option table[] = {
		{"server", required_argument, NULL, 's'},
		{"log", required_argument, NULL, 'l'},
		{"state", required_argument, NULL, 'S'},
		{"creds", required_argument, NULL, 'c'},
		{"ca", required_argument, NULL, 'a'},
		{"cert", required_argument, NULL, 'C'},
		{"key", required_argument, NULL, 'k'},
		{"rate", required_argument, NULL, 'r'},
		{"presence", required_argument, NULL, 'P'},
		{"plain", no_argument, NULL, 'p'},
		{"once", no_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	struct ship_options *o = ret_options;
	uint64_t number;
	int option;

	*o = (struct ship_options){
		.log = DEFAULT_LOG,
		.state = DEFAULT_STATE,
		.records_second = DEFAULT_RATE,
		.presence = PRESENCE_SECONDS,
		.publisher.url = DEFAULT_SERVER,
	};
	while ((option = getopt_long(argc, argv, "h", table, NULL)) >= 0) {
		switch (option) {
		case 's':
			o->publisher.url = optarg;
			break;
		case 'l':
			o->log = optarg;
			break;
		case 'S':
			o->state = optarg;
			break;
		case 'c':
			o->publisher.credentials = optarg;
			break;
		case 'a':
			o->publisher.ca = optarg;
			break;
		case 'C':
			o->publisher.certificate = optarg;
			break;
		case 'k':
			o->publisher.key = optarg;
			break;
		case 'r':
			if (parse_number(optarg, RATE_MAX, &o->records_second) < 0)
				return refuse("--rate takes a number up to 10000000", optarg);
			break;
		case 'P':
			if (parse_number(optarg, PRESENCE_SECONDS_MAX, &number) < 0)
				return refuse("--presence takes seconds, 0 to 3600", optarg);
			o->presence = (unsigned int)number;
			break;
		case 'p':
			o->publisher.plain = true;
			break;
		case 'o':
			o->once = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs("see `cordon-ship --help`\n", stderr);
			return 2;
		}
	}
	return check(o, argc, argv);
}
