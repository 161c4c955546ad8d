/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary directories that an earlier daemon left without an execution. */
#include "daemon/execution/leftovers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "daemon/execution/state.h"
#include "daemon/host/tmpdir.h"
#include "daemon/host/turn.h"

struct leftovers {
	struct daemon *daemon;
	char (*ids)[UUID_TEXT_SIZE];
	size_t count;
	struct event *timer;
};

static void on_timer(evutil_socket_t fd, short what, void *context)
{
	TURN("leftovers");
	const struct timeval now = {};
	struct leftovers *l = context;
	struct daemon *daemon = l->daemon;
	const char *id = l->ids[l->count - 1];
	char name[sizeof("cordon-") + UUID_TEXT_SIZE];
	int r;

	(void)fd;
	(void)what;
	snprintf(name, sizeof(name), "cordon-%s", id);
	r = tmpdir_remove(DAEMON_TMP_PARENT, name, LEFTOVERS_SLICE);
	if (r < 0 && r != -EAGAIN)
		daemon_say(daemon, "leftover directory %s/%s cannot be removed: %s",
			   DAEMON_TMP_PARENT, name, strerror(-r));
	if (r != -EAGAIN) {
		state_remove(daemon->state_fd, id);
		l->count--;
	}
	if (l->count > 0 && evtimer_add(l->timer, &now) == 0)
		return;
	daemon->leftovers = NULL;
	leftovers_free(l);
	if (--daemon->unfinished == 0)
		daemon->idle(daemon);
}

int leftovers_add(struct daemon *daemon, const char *id)
{
	struct leftovers *l = daemon->leftovers;
	void *larger;

	if (!l)
		l = daemon->leftovers = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->daemon = daemon;
	larger = reallocarray(l->ids, l->count + 1, sizeof(*l->ids));
	if (!larger)
		return -ENOMEM;
	l->ids = larger;
	memcpy(l->ids[l->count++], id, UUID_TEXT_SIZE);
	return 0;
}

int leftovers_start(struct daemon *daemon)
{
	const struct timeval now = {};
	struct leftovers *l = daemon->leftovers;

	if (!l || l->count == 0)
		return 0;
	l->timer = evtimer_new(daemon->base, on_timer, l);
	if (!l->timer || evtimer_add(l->timer, &now) < 0)
		return -ENOMEM;
	daemon->unfinished++;
	return 0;
}

void leftovers_free(struct leftovers *l)
{
	if (!l)
		return;
	if (l->timer)
		event_free(l->timer);
	free(l->ids);
	free(l);
}
