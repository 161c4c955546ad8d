/* SPDX-License-Identifier: Apache-2.0 */
/* cordon status: one line, and an exit status that a probe can use. */
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/live/executor_troubles.h"
#include "cli/term/commands.h"
#include "cli/term/message.h"
#include "cli/term/one_flag.h"
#include "control/client.h"
#include "kernel/pins.h"

#define PATIENCE_SECONDS 10

enum status_exit {
	STATUS_ENFORCING = 0,
	STATUS_NOT_ENFORCING = 1,
	STATUS_NO_DAEMON = 2, /* pinned and in force, but nobody records */
	STATUS_UNKNOWN = 3,
};

static const char help[] =
	"usage: cordon status [--json]\n"
	"\n"
	"Reports in one line whether cordon enforces. One more line for each problem:\n"
	"an entry of cordon.yaml that denies all that its executor starts, because a\n"
	"file or directory of the entry is missing; an executor that ran before its\n"
	"entry was active.\n"
	"\n"
	"      --json           one JSON object, for programs\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 enforcing; 1 not enforcing; 2 enforcing, but no daemon runs: live\n"
	"executions stay confined, and nothing is logged; 3 unknown.\n";

static int say(bool json, enum status_exit status, const char *text)
{
	_cleanup_(json_decrefp) json_t *object = NULL;

	if (!json) {
		puts(text);
		return status;
	}
	object = json_pack("{s:b,s:b,s:s}", "enforcing", status == STATUS_NO_DAEMON, "daemon", 0,
			   "message", text);
	if (!object || json_dumpf(object, stdout, JSON_COMPACT) < 0)
		return STATUS_UNKNOWN;
	putchar('\n');
	return status;
}

static int without_daemon(bool json, int error, const struct failure *failure)
{
	if (error != -ENOENT && error != -ECONNREFUSED && error != -ECONNRESET) {
		message("%s", failure->text);
		return STATUS_UNKNOWN;
	}
	if (access(ENFORCEMENT_PIN_DIRECTORY, F_OK) == 0)
		return say(json, STATUS_NO_DAEMON,
			   "enforcing without a daemon: what is live stays confined, nothing is "
			   "recorded");
	if (errno != ENOENT) {
		message("cannot look at %s: %m", ENFORCEMENT_PIN_DIRECTORY);
		return STATUS_UNKNOWN;
	}
	return say(json, STATUS_NOT_ENFORCING,
		   "not enforcing: no daemon runs and nothing is pinned");
}

static void print_status(const json_t *status)
{
	uint64_t uptime = (uint64_t)json_integer_value(json_object_get(status, "uptime_nsec"));
	const char *problem = json_string_value(json_object_get(status, "log_problem"));
	const json_t *turns = json_object_get(status, "turns"),
		     *longest = json_object_get(turns, "longest"),
		     *busiest = json_object_get(turns, "busiest");
	const char *what = json_string_value(json_object_get(longest, "what")),
		   *busy = json_string_value(json_object_get(busiest, "what"));

	printf("enforcing: %" JSON_INTEGER_FORMAT " execution(s) live, %" JSON_INTEGER_FORMAT
	       " policies resident; %s daemon, pid %" JSON_INTEGER_FORMAT ", up %" PRIu64
	       " s, longest turn %.1f ms (%s), %.1f ms of processor time (%s); log in %s%s%s\n",
	       json_integer_value(json_object_get(status, "executions")),
	       json_integer_value(json_object_get(status, "policies")),
	       json_is_true(json_object_get(status, "embedded")) ? "embedded" : "standing",
	       json_integer_value(json_object_get(status, "pid")),
	       (uint64_t)(uptime / NSEC_PER_SEC),
	       (double)json_integer_value(json_object_get(longest, "nsec")) / (double)NSEC_PER_MSEC,
	       what ? what : "none",
	       (double)json_integer_value(json_object_get(busiest, "nsec")) / (double)NSEC_PER_MSEC,
	       busy ? busy : "none", json_string_value(json_object_get(status, "log")),
	       problem && *problem ? ": " : "", problem ? problem : "");
}

static void say_trouble(const char *line, void *context)
{
	(void)context;
	puts(line);
}

int cmd_status(int argc, char **argv)
{
	_cleanup_(json_decrefp) json_t *status = NULL;
	_cleanup_(closep) int fd = -1;
	const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
	struct failure failure = {};
	bool json = false;
	int r;

	r = parse_one_flag(argc, argv, "json", help, STATUS_UNKNOWN, &json);
	if (r >= 0)
		return r;
	r = client_connect(&fd, &failure);
	/* A probe must not hang with what it probes. */
	if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		r = failure_set(&failure, errno, "cannot set up the connection: %m");
	if (r == 0)
		r = client_status(fd, &status, &failure);
	if (r < 0)
		return without_daemon(json, r, &failure);
	if (json) {
		json_object_del(status, "ok");
		json_object_set_new(status, "daemon", json_true());
		json_dumpf(status, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		print_status(status);
		(void)executor_troubles(json_object_get(status, "executors"), say_trouble, NULL);
	}
	return STATUS_ENFORCING;
}
