/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon mcp: the tools run, why and propose for a model, by the Model Context Protocol on standard
 * input and output.
 */
#include <stdio.h>
#include <sys/random.h>

#include "base/hex.h"
#include "cli/mcp/server.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"

#define SESSION_SIZE 32

static const char help[] =
	"usage: cordon mcp [--policy NAME|FILE]... [--workdir DIR] [--session NAME]\n"
	"       [--agent NAME] [--log DIR]\n"
	"\n"
	"Serves the Model Context Protocol (2025-06-18) on standard input and output, for\n"
	"the program that a model works in. Its tools are\n"
	"  run      a command under a policy: output, exit status, and what was denied,\n"
	"           a sentence each with the rule that would allow it\n"
	"  why      the same of an execution that has ended\n"
	"  propose  asks a person for what was denied, for the session or for the policy\n"
	"Nothing here approves. It runs as who starts it, with no more rights than\n"
	"`cordon run`; all that it started ends with it.\n"
	"\n"
	"      --policy NAME|FILE  what commands may do; may be given again, and the\n"
	"                          model chooses among these. Default: what `cordon run`\n"
	"                          takes, and there is no choice\n"
	"      --workdir DIR       where commands run (the current directory)\n"
	"      --session NAME      executions that belong together; default: those of\n"
	"                          this server\n"
	"      --agent NAME        the agent whose code this is\n"
	"      --log DIR           the log's directory\n"
	"  -h, --help              this text\n"
	"\n"
	"Exit status: 0 the client has closed its end; 1 failed; 2 asked wrongly; 128+n\n"
	"by signal n.\n";

static int add_policy(struct tool_settings *settings, const char *name)
{
	if (settings->policy_count == TOOL_POLICIES_MAX) {
		message("mcp: --policy can be given %d times at most", TOOL_POLICIES_MAX);
		return EXIT_USAGE;
	}
	settings->policies[settings->policy_count++] = name;
	return -1;
}

/* Returns an exit status, or -1 to go on. */
static int take(int option, struct tool_settings *settings)
{
	switch (option) {
	case 'p':
		return add_policy(settings, optarg);
	case 'w':
		settings->workdir = optarg;
		return -1;
	case 's':
		settings->session = optarg;
		return -1;
	case 'a':
		settings->agent = optarg;
		return -1;
	case 'l':
		settings->log = optarg;
		return -1;
	case 'h':
		fputs(help, stdout);
		return EXIT_SUCCESS;
	default:
		message("see `cordon mcp --help`");
		return EXIT_USAGE;
	}
}

static int parse(int argc, char **argv, struct tool_settings *settings)
{
	static const struct option options[] = {
		{"policy", required_argument, NULL, 'p'},
		{"workdir", required_argument, NULL, 'w'},
		{"session", required_argument, NULL, 's'},
		{"agent", required_argument, NULL, 'a'},
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c, status = -1;

	while (status < 0 && (c = read_option(argc, argv, "h", options)) >= 0)
		status = take(c, settings);
	if (status < 0 && optind < argc) {
		message("mcp: takes options only, not '%s'", argv[optind]);
		return EXIT_USAGE;
	}
	return status;
}

/* What is asked for the session is for what this server runs, and for nobody else's. */
static int name_session(char name[SESSION_SIZE])
{
	unsigned char random[8];
	char text[2 * sizeof(random) + 1];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -errno;
	hex_encode(random, sizeof(random), text);
	snprintf(name, SESSION_SIZE, "mcp-%s", text);
	return 0;
}

int cmd_mcp(int argc, char **argv)
{
	struct tool_settings settings = {};
	char session[SESSION_SIZE];
	struct failure failure = {};
	int status = parse(argc, argv, &settings), number;

	if (status >= 0)
		return status;
	if (!settings.session) {
		if (name_session(session) < 0) {
			message("mcp: no randomness for a session: %m");
			return EXIT_FAILURE;
		}
		settings.session = session;
	}
	if (server_run(&settings, STDIN_FILENO, STDOUT_FILENO, &number, &failure) < 0) {
		message("mcp: %s", failure.text);
		return EXIT_FAILURE;
	}
	return number ? EXIT_SIGNAL + number : EXIT_SUCCESS;
}
