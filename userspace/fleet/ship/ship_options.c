/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the shipper's command line. */
#include "fleet/ship/ship_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/next_option.h"
#include "fleet/ship/clear_text.h"
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
	"Sends this host's audit log to the fleet's store, through the NATS JetStream\n"
	"stream " PUBLISHER_STREAM
	". Continues after the last acknowledged record. docs/fleet.md describes\n"
	"the setup.\n"
	"\n"
	"      --server URL     nats://HOST:PORT or tls://HOST:PORT\n"
	"                       (" DEFAULT_SERVER ")\n"
	"      --otlp URL       send to an OpenTelemetry collector instead:\n"
	"                       https://HOST:4318/v1/logs\n"
	"      --log DIR        the log's directory (" DEFAULT_LOG ")\n"
	"      --state DIR      directory for the position (" DEFAULT_STATE ")\n"
	"      --creds FILE     NATS credentials\n"
	"      --ca FILE        CA certificates for the server\n"
	"      --cert FILE, --key FILE\n"
	"                       certificate and key of this client\n"
	"      --rate N         maximum of records per second (20000; 0: unlimited);\n"
	"                       urgent records are sent before a backlog\n"
	"      --presence N     seconds between presence messages (15; 0: none)\n"
	"      --plain          send lines uncompressed\n"
	"      --plaintext      permit unencrypted records to another machine, for networks\n"
	"                       that only trusted parties can read\n"
	"      --once           exit after all current records are acknowledged\n"
	"  -h, --help           print this help\n"
	"  -V, --version        print the version\n"
	"\n"
	"Exit status: 0 if stopped or done, 1 if failed, 2 if the options are wrong, 3 if\n"
	"the log was rewritten or replaced.\n";

/* Returns the default port of the URL's scheme, or 0 if the scheme is not supported. */
static uint16_t default_port(const char *url, bool otlp)
{
	static const struct {
		const char *scheme;
		bool otlp;
		uint16_t port;
	} schemes[] = {
		{"nats://", false, NATS_PORT},
		{"tls://", false, NATS_PORT},
		{"http://", true, 80},
		{"https://", true, 443},
	};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (schemes[i].otlp == otlp &&
		    strncmp(url, schemes[i].scheme, strlen(schemes[i].scheme)) == 0)
			return schemes[i].port;
	return 0;
}

int ship_options_port(const char *url, bool otlp, uint16_t *ret_port)
{
	uint16_t port_meant = default_port(url, otlp);
	const char *host, *at, *colon, *bracket, *path;
	char *end;
	unsigned long port;

	if (!port_meant || strpbrk(url, ", \t\n"))
		return -EINVAL;
	host = strstr(url, "://") + 3;
	path = strchr(host, '/');
	at = memrchr(host, '@', path ? (size_t)(path - host) : strlen(host));
	host = at ? at + 1 : host;
	bracket = host[0] == '[' ? strchr(host, ']') : NULL;
	if (!host[0] || host[0] == ':' || host[0] == '/' || (host[0] == '[' && !bracket))
		return -EINVAL;
	colon = strchr(bracket ? bracket : host, ':');
	if (!colon || (path && colon > path)) {
		*ret_port = port_meant;
		return 0;
	}
	errno = 0;
	port = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || errno || port == 0 || port > UINT16_MAX ||
	    (otlp ? *end && *end != '/' : *end && strcmp(end, "/") != 0))
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
	if (ship_options_port(publisher->url, options->otlp, &options->port) < 0)
		return options->otlp
			       ? refuse("--otlp takes https://HOST:PORT/v1/logs or http://...",
					publisher->url)
			       : refuse("--server takes nats://HOST:PORT or tls://HOST:PORT, one of them",
					publisher->url);
	if (options->otlp && publisher->credentials)
		return refuse("--creds is for NATS, and --otlp takes --cert", publisher->url);
	if (!options->plaintext && (options->otlp || (!publisher->ca && !publisher->certificate)) &&
	    clear_text_leaves_machine(publisher->url)) {
		fprintf(stderr,
			"cordon-ship: cannot send to %s: records would cross the network unencrypted. Use %s, or "
			"--plaintext if only trusted parties can read there.\n",
			publisher->url, options->otlp ? "https://" : "tls://");
		return 2;
	}
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
		{"otlp", required_argument, NULL, 'O'},
		{"presence", required_argument, NULL, 'P'},
		{"plain", no_argument, NULL, 'p'},
		{"plaintext", no_argument, NULL, 'T'},
		{"once", no_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{},
	};
	struct ship_options *o = ret_options;
	struct failure failure = {};
	uint64_t number;
	int option;

	*o = (struct ship_options){
		.log = DEFAULT_LOG,
		.state = DEFAULT_STATE,
		.records_second = DEFAULT_RATE,
		.presence = PRESENCE_SECONDS,
		.publisher.url = DEFAULT_SERVER,
	};
	while ((option = next_option(argc, argv, "hV", table, &failure)) >= 0) {
		switch (option) {
		case 's':
			o->publisher.url = optarg;
			o->otlp = false;
			break;
		case 'l':
			o->log = optarg;
			break;
		case 'O':
			o->publisher.url = optarg;
			o->otlp = true;
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
		case 'T':
			o->plaintext = true;
			break;
		case 'o':
			o->once = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		case 'V':
			puts("cordon-ship " CORDON_VERSION);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "cordon-ship: %s\ncordon-ship: see `cordon-ship --help`\n",
				failure.text);
			return 2;
		}
	}
	return check(o, argc, argv);
}
