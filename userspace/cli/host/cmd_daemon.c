/* SPDX-License-Identifier: Apache-2.0 */
/* cordon daemon: in the foreground, for systemd or a terminal. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "config/config.h"
#include "config/fleet.h"
#include "daemon/daemon.h"

#define MAX_POLICY_DIRECTORIES 32
#define MAX_SECONDS	       86400
#define MAX_KEEP	       1000000000

static const char help[] =
	"usage: cordon daemon [OPTION...]\n"
	"\n"
	"Owns enforcement and the audit log, and serves `cordon run`. Stays in the\n"
	"foreground and says on standard error what happens to itself, and a service\n"
	"manager how it is (sd_notify). SIGHUP reads cordon.yaml again. SIGTERM and\n"
	"SIGINT end it; enforcement and executions outlive it, and the next daemon ends\n"
	"those that nobody waits for any more.\n"
	"\n"
	"  --log DIR        write the audit log there (default: " DAEMON_DEFAULT_LOG ")\n"
	"  --keep-segments N, --keep-size MIB, --keep-days N\n"
	"                   of the log's closed segments keep so many, so many megabytes,\n"
	"                   so long; the deletion of older ones is logged (default: a\n"
	"                   tenth of the file system, at most 4096 megabytes; --keep-size\n"
	"                   0: no such limit)\n"
	"  --keep-unshipped MIB\n"
	"                   those that cordon-ship has not had acknowledged stay all the\n"
	"                   same, until closed segments have so many megabytes in all\n"
	"                   (default: 1024; 0: they do not); what is deleted before it\n"
	"                   was shipped is on record\n"
	"  --ship-state FILE\n"
	"                   where cordon-ship says that (default:\n"
	"                   " DAEMON_DEFAULT_SHIP_STATE ")\n"
	"  --when-full WHAT refuse: no execution starts while its log cannot be written\n"
	"                   (default);\n"
	"                   continue: what cannot be recorded is counted\n"
	"  --policies DIR   look for policies there; may be given several times (default:\n"
	"                   /etc/cordon/policies, /usr/local/share/cordon/policies,\n"
	"                   /usr/share/cordon/policies)\n"
	"  --config FILE    which executors' children become executions; read again on\n"
	"                   SIGHUP (default: " CONFIG_FILE ")\n"
	"  --fleet FILE     this host's tenant and labels, which its log names (default:\n"
	"                   " CONFIG_FLEET_FILE ")\n"
	"  --require-approval\n"
	"                   policies may be used once an authorised person has approved\n"
	"                   them, see `cordon approve --help`; as `require_approval:\n"
	"                   true` in cordon.yaml\n"
	"  --state DIR      keep approvals, and the last good cordon.yaml, there\n"
	"                   (default: " DAEMON_DEFAULT_STATE ")\n"
	"  --heartbeat SECONDS\n"
	"                   how often the log says that the daemon is there, and how it\n"
	"                   stands (default: 60; 0: never)\n"
	"  --pid-file FILE  has its process id in it while it serves\n"
	"  --idle SECONDS   an embedded daemon leaves after that long without work\n"
	"                   (default: 3600)\n"
	"  --log-user USER  who writes the log, in a process without privileges (default:\n"
	"                   the user cordon, or 65530 if there is none)\n"
	"  --embedded       as `cordon run` starts it: for its use only\n"
	"  --help           show this\n";

/* One write(2) a line; with a time, for systemd's journal is not the only reader. */
static void say(const char *line)
{
	char when[CLOCK_TEXT_SIZE];

	clock_format(clock_nsec(CLOCK_REALTIME), when);
	fprintf(stderr, "%s cordon daemon: %s\n", when, line);
}

static int parse_seconds(const char *option, const char *text, unsigned int *ret_seconds)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value > MAX_SECONDS) {
		message("daemon: --%s %s: seconds, 0 to %d", option, text, MAX_SECONDS);
		return -EINVAL;
	}
	*ret_seconds = (unsigned int)value;
	return 0;
}

static int parse_keep(const char *option, const char *text, uint64_t least, uint64_t unit,
		      uint64_t *ret)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value < least || value > MAX_KEEP) {
		message("daemon: --%s %s: a number, %d to %d", option, text, (int)least, MAX_KEEP);
		return -EINVAL;
	}
	*ret = value * unit;
	return 0;
}

static int parse_when_full(const char *text, bool *ret_go_on)
{
	bool go_on = strcmp(text, "continue") == 0;

	if (!go_on && strcmp(text, "refuse") != 0) {
		message("daemon: --when-full %s: refuse or continue", text);
		return -EINVAL;
	}
	*ret_go_on = go_on;
	return 0;
}

/* What the options say of the log. 1: it is none of them. */
static int parse_log_option(int c, const char *text, struct logs_options *logs)
{
	switch (c) {
	case 'S':
		return parse_keep("keep-segments", text, 1, 1, &logs->log.keep_segments);
	case 'M':
		return parse_keep("keep-size", text, 0, 1u << 20, &logs->log.keep_bytes);
	case 'D':
		return parse_keep("keep-days", text, 1, 86400 * NSEC_PER_SEC, &logs->log.keep_nsec);
	case 'K':
		return parse_keep("keep-unshipped", text, 0, 1u << 20, &logs->log.keep_unshipped);
	case 'Z':
		logs->ship_state = text;
		return 0;
	case 'U':
		logs->user = text;
		return 0;
	case 'W':
		return parse_when_full(text, &logs->go_on_when_full);
	default:
		return 1;
	}
}

static int parse(int argc, char **argv, struct daemon_options *options, const char **directories)
{
	static const struct option long_options[] = {
		{"log", required_argument, NULL, 'l'},
		{"policies", required_argument, NULL, 'p'},
		{"config", required_argument, NULL, 'c'},
		{"fleet", required_argument, NULL, 'f'},
		{"idle", required_argument, NULL, 'i'},
		{"heartbeat", required_argument, NULL, 'b'},
		{"embedded", no_argument, NULL, 'e'},
		{"pid-file", required_argument, NULL, 'P'},
		{"require-approval", no_argument, NULL, 'A'},
		{"state", required_argument, NULL, 's'},
		{"keep-segments", required_argument, NULL, 'S'},
		{"keep-size", required_argument, NULL, 'M'},
		{"keep-days", required_argument, NULL, 'D'},
		{"keep-unshipped", required_argument, NULL, 'K'},
		{"ship-state", required_argument, NULL, 'Z'},
		{"when-full", required_argument, NULL, 'W'},
		{"log-user", required_argument, NULL, 'U'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	size_t count = 0;
	int c;

	while ((c = read_option(argc, argv, "", long_options)) >= 0) {
		switch (c) {
		case 'l':
			options->log = optarg;
			break;
		case 'p':
			if (count == MAX_POLICY_DIRECTORIES) {
				message("daemon: at most %d times --policies",
					MAX_POLICY_DIRECTORIES);
				return EXIT_USAGE;
			}
			directories[count++] = optarg;
			options->policies = directories;
			break;
		case 'i':
			if (parse_seconds("idle", optarg, &options->idle_seconds) < 0)
				return EXIT_USAGE;
			break;
		case 'b':
			if (parse_seconds("heartbeat", optarg, &options->heartbeat_seconds) < 0)
				return EXIT_USAGE;
			break;
		case 'c':
			options->config = optarg;
			break;
		case 'f':
			options->fleet = optarg;
			break;
		case 'A':
			options->require_approval = true;
			break;
		case 's':
			options->state = optarg;
			break;
		case 'P':
			options->pid_file = optarg;
			break;
		case 'e':
			options->embedded = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			if (parse_log_option(c, optarg, &options->logs) == 0)
				break;
			message("see `cordon daemon --help`");
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		message("daemon: unexpected argument \"%s\"; see `cordon daemon --help`",
			argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}

int cmd_daemon(int argc, char **argv)
{
	const char *directories[MAX_POLICY_DIRECTORIES + 1] = {};
	struct daemon_options options = {
		.idle_seconds = DAEMON_DEFAULT_IDLE_SECONDS,
		.heartbeat_seconds = DAEMON_DEFAULT_HEARTBEAT,
		.log = DAEMON_DEFAULT_LOG,
		.config = CONFIG_FILE,
		.fleet = CONFIG_FLEET_FILE,
		.state = DAEMON_DEFAULT_STATE,
		.logs = {.log = AUDIT_LOG_DEFAULTS, .ship_state = DAEMON_DEFAULT_SHIP_STATE},
		.say = say,
	};
	struct failure failure = {};
	int status;

	options.logs.log.keep_unshipped = DAEMON_DEFAULT_UNSHIPPED;
	options.logs.log.keep_bytes = AUDIT_LOG_KEEP_SHARE;
	/* As a daemon starts it: for its use only. */
	if (argc == 2 && strcmp(argv[1], "--log-writer") == 0)
		return daemon_write_log();
	if (argc == 2 && daemon_is_reader(argv[1]))
		return daemon_read();
	status = parse(argc, argv, &options, directories);
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
