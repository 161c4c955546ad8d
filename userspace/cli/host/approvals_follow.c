/* SPDX-License-Identifier: Apache-2.0 */
/* cordon approvals --follow: what begins to wait, as it does. */
#include "cli/host/approvals_follow.h"

#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "cli/host/decide.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"

/* A daemon drops whom it hears nothing of for a minute. */
#define LOOK_SECONDS 1

static const char *text_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text ? text : "";
}

static bool waits(const json_t *entry)
{
	return strcmp(text_of(entry, "state"), "waiting") == 0;
}

json_t *approvals_new(const json_t *entries, json_t *seen)
{
	json_t *found = json_array(), *now = json_object(), *entry;
	bool failed = !found || !now;
	size_t i;

	json_array_foreach(entries, i, entry) {
		const char *digest = text_of(entry, "digest");

		if (failed || !waits(entry))
			continue;
		if (!json_object_get(seen, digest))
			failed |= json_array_append(found, entry) < 0;
		failed |= json_object_set_new(now, digest, json_true()) < 0;
	}
	if (!failed) {
		json_object_clear(seen);
		failed = json_object_update(seen, now) < 0;
	}
	json_decref(now);
	if (!failed)
		return found;
	json_decref(found);
	return NULL;
}

/* --- the command -------------------------------------------------------------------------- */

static int give_input(const json_t *entry)
{
	_cleanup_(closep) int fd = memfd_create("cordon-approval", MFD_CLOEXEC);
	_cleanup_(freep) char *text = json_dumps(entry, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (fd < 0)
		return -errno;
	if (!text)
		return -ENOMEM;
	if (io_write_all(fd, text, strlen(text)) < 0 || io_write_all(fd, "\n", 1) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return -EIO;
	return TAKE_FD(fd);
}

static int spawn(const char *command, int input, pid_t *ret_pid)
{
	char shell[] = "/bin/sh", option[] = "-c";
	char *argv[] = {shell, option, (char *)command, NULL};
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r == 0) {
		r = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		if (r == 0)
			r = posix_spawn(ret_pid, shell, &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	return -r;
}

/* One after the other; what a command of theirs fails at is its own to say. */
static void run_command(const char *command, const json_t *entry)
{
	_cleanup_(closep) int input = give_input(entry);
	pid_t pid;
	int status, r = input < 0 ? input : spawn(command, input, &pid);

	if (r < 0) {
		message("approvals: cannot run the command for %.16s: %s", text_of(entry, "digest"),
			strerror(-r));
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		message("approvals: the command failed for %.16s", text_of(entry, "digest"));
}

/* --- following ---------------------------------------------------------------------------- */

static void show(const json_t *entries, const json_t *entry, bool json)
{
	const struct style style = terminal_style(stdout);

	if (json) {
		(void)json_dumpf(entry, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		decide_write_entry(stdout, &style, entries, entry);
	}
}

static int take_new(const json_t *entries, json_t *seen, const char *command, bool json)
{
	json_t *found = approvals_new(entries, seen), *entry;
	size_t i;

	if (!found)
		return -ENOMEM;
	json_array_foreach(found, i, entry) {
		show(entries, entry, json);
		if (fflush(stdout) == 0 && command)
			run_command(command, entry);
	}
	json_decref(found);
	return ferror(stdout) ? -EPIPE : 0;
}

static void pause_a_while(void)
{
	const struct timespec time = {.tv_sec = LOOK_SECONDS};

	nanosleep(&time, NULL);
}

/*
 * The daemon has gone: it may be restarting. Whether one is there is looked at as often as else
 * what waits.
 */
static void reconnect(int *socket)
{
	struct failure ignored = {};

	closep(socket);
	*socket = -1;
	message("approvals: the daemon went away; waiting for the next one");
	while (client_connect(socket, &ignored) < 0)
		pause_a_while();
}

static int follow(int *socket, json_t *seen, const char *command, bool json)
{
	for (;;) {
		_cleanup_(json_decrefp) json_t *entries = NULL;
		struct failure failure = {};
		int r = client_approvals(*socket, &entries, &failure);

		if (r == -ECONNRESET || r == -EPIPE) {
			reconnect(socket);
			continue;
		}
		if (r < 0) {
			message("%s", failure.text);
			return DECIDE_FAILED;
		}
		if (take_new(entries, seen, command, json) < 0)
			return DECIDE_FAILED;
		pause_a_while();
	}
}

int approvals_follow(const char *command, bool json)
{
	_cleanup_(json_decrefp) json_t *seen = json_object();
	_cleanup_(closep) int socket = -1;

	if (!seen || decide_connect(&socket) < 0)
		return DECIDE_FAILED;
	return follow(&socket, seen, command, json);
}
