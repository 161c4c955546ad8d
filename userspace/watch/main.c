/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon watch: exports the daemon's `status` to Prometheus. A separate program, so that no HTTP
 * code runs in a privileged process.
 */
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "watch/address.h"
#include "watch/confine.h"
#include "watch/options.h"
#include "watch/serve.h"
#include "watch/feed.h"
#include "watch/textfile.h"

struct watch {
	struct options options;
	struct feed feed;
	struct serve *serve; /* NULL: no listener */
	struct textfile textfile;
	int socket_directory_fd; /* of the unix socket; -1: none */
	const char *socket_name; /* name in that directory */
	int signals_fd;
	uint64_t next_nsec; /* monotonic clock: next write of the textfile */
	char troubled[sizeof(((struct failure *)0)->text)]; /* the error printed last */
};

/* --- once --------------------------------------------------------------------------------- */

static int write_once(struct watch *w)
{
	int r = feed_read(&w->feed);

	if (r == 0)
		r = io_write_all(STDOUT_FILENO, w->feed.text.data, w->feed.text.size);
	if (r < 0) {
		watch_say("cannot write the series: %s", strerror(-r));
		return WATCH_FAILED;
	}
	if (w->feed.trouble.text[0])
		watch_say("%s", w->feed.trouble.text);
	return WATCH_DONE;
}

/*
 * --- opening and closing -----------------------------------------------------------------------
 */

static int open_signals(struct watch *w, struct failure *failure)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return failure_set(failure, errno, "cannot block signals: %m");
	w->signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signals_fd < 0 ? failure_set(failure, errno, "cannot wait for signals: %m") : 0;
}

/* Opens the socket's directory for its removal at exit, when paths are inaccessible. */
static int open_socket_directory(struct watch *w, struct failure *failure)
{
	const char *path = w->options.address.un.sun_path, *slash = strrchr(path, '/');
	_cleanup_(freep) char *directory = strndup(path, (size_t)(slash - path) + 1);

	if (!directory)
		return failure_set(failure, ENOMEM, "%m");
	w->socket_name = slash + 1;
	w->socket_directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->socket_directory_fd < 0
		       ? failure_set(failure, errno, "cannot open the directory %s: %m", directory)
		       : 0;
}

static int open_listener(struct watch *w, struct failure *failure)
{
	struct failure why = {};
	int fd = -1, r = 0;

	if (!w->options.listens)
		return 0;
	if (address_is_unix(&w->options.address))
		r = open_socket_directory(w, failure);
	if (r < 0)
		return r;
	r = address_listen(&w->options.address, &fd, &why);
	if (r < 0)
		return failure_set(failure, r, "--listen %s: %s", w->options.listen, why.text);
	return serve_start(fd, &w->feed, &w->serve, failure);
}

static int watch_open(struct watch *w, struct failure *failure)
{
	int r = open_signals(w, failure);

	if (r == 0 && w->options.textfile)
		r = textfile_open(w->options.textfile, &w->textfile, failure);
	if (r == 0)
		r = open_listener(w, failure);
	if (r == 0)
		r = confine_enter(&(struct confine){w->textfile.directory_fd,
						    w->socket_directory_fd},
				  failure);
	return r;
}

static void watch_close(struct watch *w)
{
	if (w->serve) {
		serve_free(w->serve);
		if (w->socket_directory_fd >= 0)
			(void)unlinkat(w->socket_directory_fd, w->socket_name, 0);
	}
	if (w->textfile.directory_fd >= 0)
		textfile_remove(&w->textfile);
	textfile_close(&w->textfile);
	closep(&w->socket_directory_fd);
	closep(&w->signals_fd);
	feed_release(&w->feed);
}

/* --- the loop ------------------------------------------------------------------------------ */

/* Prints an error when it changes, not for each scrape. */
static void tell_trouble(struct watch *w)
{
	const char *text = w->feed.trouble.text;

	if (strcmp(text, w->troubled) == 0)
		return;
	watch_say("%s", text[0] ? text : "the daemon responds again");
	snprintf(w->troubled, sizeof(w->troubled), "%s", text);
}

static int write_textfile(struct watch *w, struct failure *failure)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);
	int r;

	if (w->textfile.directory_fd < 0 || now < w->next_nsec)
		return 0;
	w->next_nsec = now + w->options.seconds * NSEC_PER_SEC;
	r = feed_read(&w->feed);
	return r < 0 ? failure_set(failure, r, "%m")
		     : textfile_write(&w->textfile, w->feed.text.data, w->feed.text.size, failure);
}

/* In ms; -1: no limit. */
static int patience(const struct watch *w)
{
	int msec = w->serve ? serve_timeout_msec(w->serve) : -1, due;
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);

	if (w->textfile.directory_fd < 0)
		return msec;
	due = w->next_nsec > now ? (int)((w->next_nsec - now) / NSEC_PER_MSEC) + 1 : 0;
	return msec < 0 || due < msec ? due : msec;
}

/*
 * Fails on an error of the first write, because the user is present. Later errors, such as a full
 * disk, may be temporary.
 */
static int go_on(struct watch *w, struct failure *failure)
{
	struct pollfd wait[] = {
		{.fd = w->signals_fd, .events = POLLIN},
		{.fd = w->serve ? serve_fd(w->serve) : -1, .events = POLLIN},
	};
	bool first = true;

	for (;;) {
		struct failure now = {};
		int r = write_textfile(w, &now);

		if (r < 0 && first)
			return failure_set(failure, r, "%s", now.text);
		if (r < 0)
			watch_say("%s", now.text);
		first = false;
		tell_trouble(w);
		if (poll(wait, ARRAY_SIZE(wait), patience(w)) < 0 && errno != EINTR)
			return failure_set(failure, errno, "cannot wait: %m");
		if (wait[0].revents)
			return 0;
		if (w->serve)
			serve_go_on(w->serve);
	}
}

int main(int argc, char **argv)
{
	struct watch w = {.textfile = TEXTFILE_INIT, .socket_directory_fd = -1, .signals_fd = -1};
	struct failure failure = {};
	int status, r;

	signal(SIGPIPE, SIG_IGN);
	status = options_parse(argc, argv, &w.options);
	if (status >= 0)
		return fflush(stdout) == 0 ? status : WATCH_FAILED;
	/* Seed the hash from the system's random numbers before the sandbox denies them. */
	json_object_seed(0);
	w.feed.socket = w.options.socket;
	if (!w.options.listens && !w.options.textfile) {
		status = write_once(&w);
	} else {
		r = watch_open(&w, &failure);
		if (r == 0)
			r = go_on(&w, &failure);
		if (r < 0)
			watch_say("%s", failure.text);
		status = r < 0 ? WATCH_FAILED : WATCH_DONE;
	}
	watch_close(&w);
	return status;
}
