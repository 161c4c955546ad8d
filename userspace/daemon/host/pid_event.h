/* SPDX-License-Identifier: Apache-2.0 */
/* An event that fires when a process ends, which owns its pidfd. */
#ifndef CORDON_DAEMON_PID_EVENT_H
#define CORDON_DAEMON_PID_EVENT_H

#include <event2/event.h>

/* Added to `base`. Takes `*pidfd`, which reads -1 afterwards, on success. -ENOMEM. */
int pid_event_new(struct event_base *base, int *pidfd, event_callback_fn call, void *context,
		  struct event **ret_event);

/* NULL there: nothing; NULL afterwards. */
void pid_event_free(struct event **event);

#endif
