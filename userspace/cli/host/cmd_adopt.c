/* SPDX-License-Identifier: Apache-2.0 */
/* cordon adopt: makes an executor of a process that runs already. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "control/client.h"

static const char help[] =
	"usage: cordon adopt [--executor NAME] [--json] PID\n"
	"\n"
	"Makes an executor of a process that runs already: what it starts from here on is\n"
	"agent code, by the entry NAME of /etc/cordon/cordon.yaml; without NAME, by the\n"
	"only entry for the program that the process runs. What it has started before\n"
	"goes on unconfined, and what that starts from here on is agent code, too. An\n"
	"executor that is started later is recognised by itself.\n"
	"\n"
	"  --executor NAME   the entry\n"
	"  --json            for programs\n"
	"  -h, --help        this text\n"
	"\n"
	"Exit status: 0 done; 1 refused, and it was said why; 2 asked wrongly.\n";

struct arguments {
	const char *executor;
	pid_t pid;
	bool json;
};

static bool parse_pid(const char *text, pid_t *ret_pid)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 1 || value > INT_MAX)
		return false;
	*ret_pid = (pid_t)value;
	return true;
}

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"executor", required_argument, NULL, 'e'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c;

	while ((c = read_option(argc, argv, "h", options)) >= 0) {
		switch (c) {
		case 'e':
			arguments->executor = optarg;
			break;
		case 'j':
			arguments->json = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			message("see `cordon adopt --help`");
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 1 || !parse_pid(argv[optind], &arguments->pid)) {
		message("adopt: takes the number of one process");
		return EXIT_USAGE;
	}
	return -1;
}

static void print(const json_t *reply, bool json)
{
	const char *executor = "";
	int pid = 0, threads = 0, children = 0;

	if (json) {
		json_dumpf(reply, stdout, JSON_COMPACT);
		putchar('\n');
		return;
	}
	(void)json_unpack((json_t *)(uintptr_t)reply, "{s:s,s:i,s:i,s:i}", "executor", &executor,
			  "pid", &pid, "threads", &threads, "children", &children);
	printf("process %d is an executor (%s): %d threads", pid, executor, threads);
	if (children)
		printf("; %d that it has started go on as they are, and what they start is agent "
		       "code",
		       children);
	putchar('\n');
}

int cmd_adopt(int argc, char **argv)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	_cleanup_(closep) int socket = -1;
	struct arguments arguments = {};
	struct failure failure = {};
	int r = parse(argc, argv, &arguments);

	if (r >= 0)
		return r;
	r = client_connect(&socket, &failure);
	if (r == 0)
		r = client_adopt(socket, arguments.pid, arguments.executor, &reply, &failure);
	if (r < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	print(reply, arguments.json);
	return EXIT_SUCCESS;
}
