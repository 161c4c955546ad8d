/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for changes of directory entries and mounts. */
#include "adopt/name_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"

#define WATCHED_MAX 1024u
#define CHANGES                                                                                    \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
/* Events about the directory itself, or about lost events. */
#define LOST (IN_Q_OVERFLOW | IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF)

struct name_watched {
	int watch;
	char *name; /* NULL: any */
};

int name_watch_open(struct name_watch *ret_watch)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return -errno;
	*ret_watch = (struct name_watch){
		.fd = fd,
		.mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC),
	};
	return 0;
}

void name_watch_close(struct name_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		free(watch->list[i].name);
	free(watch->list);
	closep(&watch->fd);
	closep(&watch->mounts);
	watch->list = NULL;
	watch->count = 0;
}

static bool concerns(const struct name_watched *watched, int number, const char *name)
{
	return watched->watch == number && (!watched->name || strcmp(watched->name, name) == 0);
}

static bool is_listed(const struct name_watch *watch, int number, const char *name)
{
	for (size_t i = 0; i < watch->count; i++) {
		const char *listed = watch->list[i].name;

		if (watch->list[i].watch == number &&
		    (name ? listed && strcmp(listed, name) == 0 : !listed))
			return true;
	}
	return false;
}

void name_watch_add(void *context, const char *directory, const char *name)
{
	struct name_watch *watch = context;
	struct name_watched *larger;
	int number = inotify_add_watch(watch->fd, directory, CHANGES | IN_ONLYDIR);

	if (number < 0 || watch->count == WATCHED_MAX || is_listed(watch, number, name))
		return;
	larger = reallocarray(watch->list, watch->count + 1, sizeof(*larger));
	if (!larger)
		return;
	watch->list = larger;
	larger[watch->count].watch = number;
	larger[watch->count].name = name ? strdup(name) : NULL;
	if (name && !larger[watch->count].name)
		return;
	watch->count++;
}

static bool is_change(const struct name_watch *watch, const struct inotify_event *event)
{
	if (event->mask & LOST)
		return true;
	for (size_t i = 0; i < watch->count; i++)
		if (concerns(&watch->list[i], event->wd, event->len ? event->name : ""))
			return true;
	return false;
}

/* Reads all pending events. */
static int read_events(const struct name_watch *watch, bool *ret_change)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	*ret_change = false;
	while ((n = read(watch->fd, buffer, sizeof(buffer))) > 0) {
		for (const char *at = buffer; at < buffer + n;) {
			const struct inotify_event *event = (const void *)at;

			*ret_change = *ret_change || is_change(watch, event);
			at += sizeof(*event) + event->len;
		}
	}
	return n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

int name_watch_wait(struct name_watch *watch, int timeout_msec)
{
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + (uint64_t)timeout_msec * NSEC_PER_MSEC;
	bool change = false;
	int r = 0;

	while (r == 0 && !change) {
		struct pollfd fds[] = {
			{.fd = watch->fd, .events = POLLIN},
			{.fd = watch->mounts, .events = POLLPRI},
		};
		uint64_t now = clock_nsec(CLOCK_MONOTONIC);

		if (now >= end)
			return 0;
		if (poll(fds, 2, (int)((end - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC)) < 0 &&
		    errno != EINTR)
			return -errno;
		if (fds[0].revents)
			r = read_events(watch, &change);
		if (fds[1].revents & (POLLPRI | POLLERR))
			change = true;
	}
	return r < 0 ? r : change;
}
