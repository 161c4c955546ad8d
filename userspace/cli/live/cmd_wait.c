/* SPDX-License-Identifier: Apache-2.0 */
/* cordon wait: until the daemon enforces and executors' entries are in force. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "control/client.h"
#include "policy/source/units.h"

#define DEFAULT_SECONDS 60
#define POLL_NSEC	(200 * NSEC_PER_MSEC)
#define NAMES_MAX	64

static const char help[] =
	"usage: cordon wait [--timeout TIME] [--executor NAME]...\n"
	"\n"
	"Waits until a daemon that stays enforces, and the entries of its cordon.yaml are\n"
	"in force: for what starts executors and is no unit of systemd's. An entry that\n"
	"waits for approval, or refuses all that its executor starts because something\n"
	"that it names is not there, is not.\n"
	"\n"
	"  --timeout TIME    give up after so long: 10s, 5m; default: 60s\n"
	"  --executor NAME   not all entries, but this one; may be given several times\n"
	"  -h, --help        show this\n"
	"\n"
	"Exit status: 0 they are; 1 not in that time, and it says why.\n";

struct waiting {
	uint64_t nsec;
	const char *names[NAMES_MAX];
	size_t count;
};

/* --- options -------------------------------------------------------------------------------- */

static bool parse_timeout(const char *text, uint64_t *ret_nsec)
{
	uint64_t seconds;

	if (units_duration(text, ret_nsec) == 0)
		return true;
	if (units_number(text, &seconds) < 0 || seconds > UINT32_MAX)
		return false;
	*ret_nsec = seconds * NSEC_PER_SEC;
	return true;
}

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct waiting *ret_waiting)
{
	static const struct option options[] = {
		{"timeout", required_argument, NULL, 't'},
		{"executor", required_argument, NULL, 'e'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c;

	ret_waiting->nsec = DEFAULT_SECONDS * NSEC_PER_SEC;
	while ((c = read_option(argc, argv, "h", options)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_SUCCESS;
		}
		if (c == 't' && !parse_timeout(optarg, &ret_waiting->nsec)) {
			message("wait: --timeout %s: a time, such as 10s or 5m", optarg);
			return EXIT_USAGE;
		}
		if (c == 'e' && ret_waiting->count == NAMES_MAX) {
			message("wait: at most %d times --executor", NAMES_MAX);
			return EXIT_USAGE;
		}
		if (c == 'e')
			ret_waiting->names[ret_waiting->count++] = optarg;
		if (c != 't' && c != 'e') {
			message("see `cordon wait --help`");
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		message("wait: unexpected argument \"%s\"", argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}

/* --- how it stands ---------------------------------------------------------------------------- */

static const json_t *entry_named(const json_t *list, const char *name)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		const char *own = json_string_value(json_object_get(entry, "name"));

		if (own && strcmp(own, name) == 0)
			return entry;
	}
	return NULL;
}

/* `failure` says why not. */
static bool is_in_force(const json_t *entry, struct failure *failure)
{
	const char *name = json_string_value(json_object_get(entry, "name")),
		   *state = json_string_value(json_object_get(entry, "state")),
		   *error = json_string_value(json_object_get(entry, "error"));

	if (!name || !state)
		return failure_set(failure, EPROTO, "the daemon's answer makes no sense") == 0;
	if (strcmp(state, "in-force") == 0)
		return true;
	if (strcmp(state, "waits") == 0)
		return failure_set(failure, EAGAIN,
				   "executor %s waits for approval; see `cordon approvals`",
				   name) == 0;
	return failure_set(failure, EAGAIN, "executor %s refuses all that it starts: %s", name,
			   error ? error : state) == 0;
}

static bool are_in_force(const json_t *status, const struct waiting *waiting,
			 struct failure *failure)
{
	const json_t *executors = json_object_get(status, "executors"),
		     *list = json_object_get(executors, "list"), *entry;
	const char *file = json_string_value(json_object_get(executors, "file"));
	size_t i;

	if (!file)
		return failure_set(failure, EAGAIN,
				   "the daemon that runs is one of `cordon run`, which knows no "
				   "executors and leaves") == 0;
	for (i = 0; i < waiting->count; i++) {
		entry = entry_named(list, waiting->names[i]);
		if (!entry)
			return failure_set(failure, ENOENT, "%s has no executor %s", file,
					   waiting->names[i]) == 0;
		if (!is_in_force(entry, failure))
			return false;
	}
	if (waiting->count > 0)
		return true;
	json_array_foreach(list, i, entry)
		if (!is_in_force(entry, failure))
			return false;
	return true;
}

/* 1: in force; 0: `failure` is why not, as the daemon says; -errno: it did not say anything. */
static int look(const struct waiting *waiting, uint64_t left, struct failure *failure)
{
	const struct timeval patience = {
		.tv_sec = (time_t)(left / NSEC_PER_SEC),
		.tv_usec = (suseconds_t)(left % NSEC_PER_SEC / 1000) + 1,
	};
	_cleanup_(json_decrefp) json_t *status = NULL;
	_cleanup_(closep) int fd = -1;
	int r = client_connect(&fd, failure);

	if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		r = failure_set(failure, errno, "cannot set up the connection: %m");
	if (r == 0)
		r = client_status(fd, &status, failure);
	return r < 0 ? r : are_in_force(status, waiting, failure);
}

int cmd_wait(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = POLL_NSEC};
	struct waiting waiting = {};
	struct failure failure = {};
	uint64_t now, end;
	int status = parse(argc, argv, &waiting);

	if (status >= 0)
		return status;
	now = clock_nsec(CLOCK_MONOTONIC);
	end = now + waiting.nsec;
	for (;;) {
		struct failure why = {};
		int r = look(&waiting, end - now, &why);

		if (r > 0)
			return EXIT_SUCCESS;
		/* The last look may leave no time for an answer: the one before stands. */
		if (r != -ETIMEDOUT || !failure.text[0])
			failure = why;
		now = clock_nsec(CLOCK_MONOTONIC);
		if (now + POLL_NSEC >= end)
			break;
		nanosleep(&pause, NULL);
		now = clock_nsec(CLOCK_MONOTONIC);
	}
	message("wait: %s", failure.text);
	return EXIT_FAILURE;
}
