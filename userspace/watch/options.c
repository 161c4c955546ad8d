/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of `cordon watch`. */
#include "watch/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/next_option.h"
#include "control/protocol.h"

#define DEFAULT_SECONDS 15
#define MAX_SECONDS	3600

static const char help[] =
	"usage: cordon watch [--listen ADDRESS] [--textfile FILE] [--interval SECONDS]\n"
	"       [--socket PATH]\n"
	"\n"
	"Exports the data of `cordon status` to Prometheus: at most 100 series, without\n"
	"labels that code inside an execution could choose. Without --listen and\n"
	"--textfile, writes them once to standard output. Otherwise it runs until\n"
	"stopped, without capabilities, and can only request the daemon's status.\n"
	"Requires root or membership of the group cordon-watch, which grants nothing\n"
	"else.\n"
	"\n"
	"      --listen ADDRESS    serve GET /metrics on unix:/PATH, 127.0.0.1:PORT or\n"
	"                          [::1]:PORT\n"
	"      --textfile FILE     write FILE, with a name that ends in .prom, for\n"
	"                          node_exporter\n"
	"      --interval SECONDS  between two textfiles (default: 15)\n"
	"      --socket PATH       the daemon's status socket\n"
	"                          (default: " PROTOCOL_STATUS_SOCKET ")\n"
	"  -h, --help              print this help\n"
	"\n"
	"Exit status: 0 written or stopped, 1 failed, 2 if the options are wrong. A\n"
	"daemon that does not respond is not an error: cordon_up is 0 then.\n";

void watch_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("cordon: watch: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

static int parse_seconds(const char *text, unsigned int *ret_seconds)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value < 1 || value > MAX_SECONDS) {
		watch_say("--interval %s: seconds, 1 to %d", text, MAX_SECONDS);
		return -EINVAL;
	}
	*ret_seconds = (unsigned int)value;
	return 0;
}

static int parse_listen(const char *text, struct options *options)
{
	struct failure failure = {};
	int r = address_parse(text, &options->address, &failure);

	if (r < 0) {
		watch_say("--listen %s", failure.text);
		return r;
	}
	options->listens = true;
	options->listen = text;
	return 0;
}

/* Returns 0 for a valid option. */
static int take(int c, struct options *options)
{
	switch (c) {
	case 'l':
		return parse_listen(optarg, options);
	case 't':
		options->textfile = optarg;
		return 0;
	case 'i':
		return parse_seconds(optarg, &options->seconds);
	case 's':
		options->socket = optarg;
		return 0;
	default:
		return -EINVAL;
	}
}

int options_parse(int argc, char **argv, struct options *ret_options)
{
	static const struct option long_options[] = {
		{"listen", required_argument, NULL, 'l'},
		{"textfile", required_argument, NULL, 't'},
		{"interval", required_argument, NULL, 'i'},
		{"socket", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	struct options options = {.socket = PROTOCOL_STATUS_SOCKET, .seconds = DEFAULT_SECONDS};
	struct failure failure = {};
	int c;

	while ((c = next_option(argc, argv, "h", long_options, &failure)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return WATCH_DONE;
		}
		if (c == '?')
			watch_say("%s", failure.text);
		if (take(c, &options) < 0) {
			watch_say("see `cordon watch --help`");
			return WATCH_USAGE;
		}
	}
	if (optind < argc) {
		watch_say("unexpected argument \"%s\"; see `cordon watch --help`", argv[optind]);
		return WATCH_USAGE;
	}
	*ret_options = options;
	return -1;
}
