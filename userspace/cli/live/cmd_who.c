/* SPDX-License-Identifier: Apache-2.0 */
/* cordon who: which execution a process or a connection belongs to. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/sockets.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "control/client.h"

enum who_exit {
	WHO_FOUND = 0,
	WHO_FAILED = 1,
	WHO_NOBODY = 3,
};

static const char help[] =
	"usage: cordon who [--json] PID\n"
	"       cordon who [--json] [--cookie N] ADDRESS:PORT [ADDRESS:PORT]\n"
	"\n"
	"Says which execution, agent, session and policy a process belongs to, or the\n"
	"socket with this local address, connected to the second one: for a proxy, the\n"
	"address that a connection comes from, and its own. TCP and UDP of this network\n"
	"namespace; IPv6 addresses in brackets. A socket is the execution's that made it,\n"
	"where that has a cgroup of its own: all that `cordon run` starts, and of what\n"
	"executors start, what may use the network. Root and members of the group\n"
	"cordon-who are told of every execution, members of cordon of their own.\n"
	"\n"
	"Of a TCP connection between two addresses, both sockets must be connected before\n"
	"and after the answer. A proxy gives the SO_COOKIE of the socket that it\n"
	"accepted: no other connection from the same address is taken for that one.\n"
	"\n"
	"      --cookie N  of the socket at the second address\n"
	"      --json      for programs: an array of objects, as `cordon ps --json` has\n"
	"                  them\n"
	"  -h, --help      this text\n"
	"\n"
	"Exit status: 0 it is an execution's; 1 failed; 3 no live execution has it.\n";

struct question {
	bool json;
	pid_t pid; /* 0: the address is asked about */
	struct socket_ends ends;
	uint64_t cookie; /* of the socket at ends.remote; 0: not given */
};

static bool parse_cookie(const char *text, uint64_t *ret_cookie)
{
	char *end;

	errno = 0;
	*ret_cookie = strtoull(text, &end, 10);
	return !errno && !*end && *text >= '0' && *text <= '9' && *ret_cookie;
}

static bool parse_target(const char *text, struct question *question)
{
	unsigned long pid;
	char *end;

	if (strchr(text, ':'))
		return socket_address_parse(text, &question->ends.local) == 0;
	errno = 0;
	pid = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || pid == 0 || pid > INT32_MAX)
		return false;
	question->pid = (pid_t)pid;
	return true;
}

static bool parse_targets(int count, char **words, struct question *question)
{
	if (count < 1 || count > 2 || !parse_target(words[0], question))
		return false;
	return count == 1 ||
	       (!question->pid && socket_address_parse(words[1], &question->ends.remote) == 0);
}

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct question *ret_question)
{
	static const struct option long_options[] = {
		{"json", no_argument, NULL, 'j'},
		{"cookie", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c;

	while ((c = read_option(argc, argv, "h", long_options)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_SUCCESS;
		}
		if (c == 'c' && !parse_cookie(optarg, &ret_question->cookie)) {
			message("who: --cookie takes the number of a socket, not %s", optarg);
			return EXIT_USAGE;
		}
		if (c != 'j' && c != 'c') {
			message("see `cordon who --help`");
			return EXIT_USAGE;
		}
		ret_question->json |= c == 'j';
	}
	if (parse_targets(argc - optind, argv + optind, ret_question) &&
	    (!ret_question->cookie || ret_question->ends.remote.port))
		return -1;
	message("who: takes a process id, or an address and a port such as 127.0.0.1:41234 or [::1]:41234, and those "
		"of the other end");
	return EXIT_USAGE;
}

/* Adds the execution, if there is one. 0 or as client_who(). */
static int ask(int socket, pid_t pid, uint64_t cgroup, json_t *found, struct failure *failure)
{
	json_t *execution;
	int r = client_who(socket, pid, cgroup, &execution, failure);

	if (r == 0)
		return json_array_append_new(found, execution) < 0
			       ? failure_set(failure, ENOMEM, "out of memory")
			       : 0;
	return r == -ENOENT ? 0 : r;
}

static int no_list(int error, struct failure *failure)
{
	return failure_set(failure, -error, "cannot list the sockets of this host: %s",
			   error == -ENOENT ? "the kernel lacks tcp_diag and udp_diag"
					    : strerror(-error));
}

static int ask_owners(int socket, const struct question *question, json_t *found,
		      struct failure *failure)
{
	struct socket_owners owners;
	int r = socket_owners_find(&question->ends, &owners);

	if (r < 0)
		return no_list(r, failure);
	for (size_t i = 0; i < owners.count && r == 0; i++)
		r = ask(socket, 0, owners.cgroups[i], found, failure);
	return r;
}

/*
 * A connection that was reset frees its address for another execution, while the proxy can still
 * read what it has received. So the answer counts only if the connection was there all the time.
 */
static int ask_connection(int socket, const struct question *question, json_t *found,
			  struct failure *failure)
{
	struct socket_connection before, after;
	int r = socket_connection_look(&question->ends, &before);

	if (r < 0)
		return no_list(r, failure);
	r = ask_owners(socket, question, found, failure);
	if (r < 0)
		return r;
	r = socket_connection_look(&question->ends, &after);
	if (r < 0)
		return no_list(r, failure);
	if (!socket_connection_stayed(&before, &after, question->cookie))
		(void)json_array_clear(found);
	return 0;
}

static int ask_all(int socket, const struct question *question, json_t *found,
		   struct failure *failure)
{
	if (question->pid)
		return ask(socket, question->pid, 0, found, failure);
	return question->ends.remote.port ? ask_connection(socket, question, found, failure)
					  : ask_owners(socket, question, found, failure);
}

static void show(const json_t *execution)
{
	const struct style style = terminal_style(stdout);
	static const char *const keys[] = {"policy",   "agent",	  "session",
					   "executor", "program", "workdir"};

	printf("%s\n", json_string_value(json_object_get(execution, "id")));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *value = json_string_value(json_object_get(execution, keys[i]));

		if (!value)
			continue;
		printf("  %-9s ", keys[i]);
		style_text(stdout, &style, value);
		putchar('\n');
	}
}

int cmd_who(int argc, char **argv)
{
	_cleanup_(json_decrefp) json_t *found = json_array();
	_cleanup_(closep) int socket = -1;
	struct question question = {};
	struct failure failure = {};
	json_t *execution;
	size_t i;
	int r;

	r = parse(argc, argv, &question);
	if (r >= 0)
		return r;
	r = client_connect_who(&socket, &failure);
	if (r == -ENOENT || r == -ECONNREFUSED)
		message("no daemon runs, which alone knows: start it with `systemctl start cordon`");
	else if (r < 0 || (r = ask_all(socket, &question, found, &failure)) < 0)
		message("%s", failure.text);
	if (r < 0)
		return WHO_FAILED;
	if (question.json) {
		json_dumpf(found, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		json_array_foreach(found, i, execution)
			show(execution);
		if (json_array_size(found) == 0)
			message("no execution's: it is not confined");
	}
	return terminal_finish(stdout, json_array_size(found) > 0 ? WHO_FOUND : WHO_NOBODY);
}
