/* SPDX-License-Identifier: Apache-2.0 */
/* cordon daemon: in the foreground, for systemd or a terminal. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "daemon/daemon.h"

#define MAX_POLICY_DIRECTORIES 32
#define MAX_IDLE_SECONDS       86400

static const char help[] =
	"Usage: cordon daemon [OPTION...]\n"
	"\n"
	"Owns enforcement and the audit log, and serves `cordon run`. Stays in the foreground and\n"
	"says on standard error what happens to itself. SIGTERM and SIGINT end it; enforcement and\n"
	"executions outlive it, and the next daemon ends those that nobody waits for any more.\n"
	"\n"
	"  --log DIR        write the audit log there (default: " DAEMON_DEFAULT_LOG ")\n"
	"  --policies DIR   look for policies there; may be given several times (default:\n"
	"                   /etc/cordon/policies, /usr/local/share/cordon/policies,\n"
	"                   /usr/share/cordon/policies)\n"
	"  --idle SECONDS   an embedded daemon leaves after that long without work (default: 30)\n"
	"  --embedded       as `cordon run` starts it: for its use only\n"
	"  --help           show this\n";

/* One write(2) a line; with a time, for systemd's journal is not the only reader. */
static void say(const char *line)
{
	char when[CLOCK_TEXT_SIZE];

	clock_format(clock_nsec(CLOCK_REALTIME), when);
	fprintf(stderr, "%s cordon daemon: %s\n", when, line);
}

static int parse_idle(const char *text, unsigned int *ret_seconds)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value > MAX_IDLE_SECONDS)
		return -EINVAL;
	*ret_seconds = (unsigned int)value;
	return 0;
}

static int parse(int argc, char **argv, struct daemon_options *options, const char **directories)
{
	static const struct option long_options[] = {
		{"log", required_argument, NULL, 'l'},	{"policies", required_argument, NULL, 'p'},
		{"idle", required_argument, NULL, 'i'}, {"embedded", no_argument, NULL, 'e'},
		{"help", no_argument, NULL, 'h'},	{},
	};
	size_t count = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		switch (c) {
		case 'l':
			options->log = optarg;
			break;
		case 'p':
			if (count == MAX_POLICY_DIRECTORIES) {
				message("daemon: at most %d times --policies",
					MAX_POLICY_DIRECTORIES);
				return EXIT_FAILURE;
			}
			directories[count++] = optarg;
			options->policies = directories;
			break;
		case 'i':
			if (parse_idle(optarg, &options->idle_seconds) < 0) {
				message("daemon: --idle %s: seconds, 0 to %d", optarg,
					MAX_IDLE_SECONDS);
				return EXIT_FAILURE;
			}
			break;
		case 'e':
			options->embedded = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			message("see `cordon daemon --help`");
			return EXIT_FAILURE;
		}
	}
	if (optind < argc) {
		message("daemon: unexpected argument \"%s\"; see `cordon daemon --help`",
			argv[optind]);
		return EXIT_FAILURE;
	}
	return -1;
}

int cmd_daemon(int argc, char **argv)
{
	const char *directories[MAX_POLICY_DIRECTORIES + 1] = {};
	struct daemon_options options = {
		.idle_seconds = DAEMON_DEFAULT_IDLE_SECONDS,
		.log = DAEMON_DEFAULT_LOG,
		.say = say,
	};
	struct failure failure = {};
	int status = parse(argc, argv, &options, directories);

	if (status >= 0)
		return status;
	if (geteuid() != 0) {
		message("the daemon must run as root");
		return EXIT_FAILURE;
	}
	if (daemon_run(&options, &failure) < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
