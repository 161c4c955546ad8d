/* SPDX-License-Identifier: Apache-2.0 */
/* An event that fires when a process ends, which owns its pidfd. */
#include "daemon/host/pid_event.h"

#include "base/cleanup.h"

int pid_event_new(struct event_base *base, int *pidfd, event_callback_fn call, void *context,
		  struct event **ret_event)
{
	struct event *event = event_new(base, *pidfd, EV_READ, call, context);

	if (!event || event_add(event, NULL) < 0) {
		if (event)
			event_free(event);
		return -ENOMEM;
	}
	*pidfd = -1;
	*ret_event = event;
	return 0;
}

void pid_event_free(struct event **event)
{
	int fd;

	if (!*event)
		return;
	fd = event_get_fd(*event);
	event_free(*event);
	*event = NULL;
	close(fd);
}
