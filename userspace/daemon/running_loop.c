/* SPDX-License-Identifier: Apache-2.0 */
/* What turns while the daemon runs: events of the kernel, timers, signals. */
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/events.h"
#include "daemon/execution/heartbeat.h"
#include "daemon/executor/executors.h"
#include "daemon/handover.h"
#include "daemon/host/notify.h"
#include "daemon/host/turn.h"
#include "daemon/running.h"
#include "daemon/server/server.h"

/* Coalesced denials make no event: the counters are looked at, too. */
#define TICK_MSEC  200
#define SYNC_TICKS 5
/* What comes stays in the rings for so long while a log's writer has more than it can take. */
#define BEHIND_MSEC 10

/* --- timers ------------------------------------------------------------------------------- */

static void on_flush(evutil_socket_t fd, short what, void *context)
{
	TURN("flush");
	struct daemon *daemon = context;

	(void)fd;
	(void)what;
	daemon->flush_pending = false;
	(void)logs_flush_all(daemon->logs, false);
}

/* Ticks only while there is something to look after: an idle daemon sleeps. */
static void start_ticking(struct running *running)
{
	const struct timeval after = {.tv_usec = TICK_MSEC * 1000};

	if (running->tick && !evtimer_pending(running->tick, NULL))
		evtimer_add(running->tick, &after);
}

void running_busy(struct daemon *daemon)
{
	start_ticking((struct running *)daemon);
}

static void on_events(evutil_socket_t fd, short what, void *context)
{
	TURN("events");
	const struct timeval after = {.tv_usec = BEHIND_MSEC * 1000};
	struct running *running = context;

	(void)fd;
	(void)what;
	if (!logs_are_behind(running->daemon.logs)) {
		events_drain(&running->daemon, EVENTS_AT_A_TIME);
	} else {
		event_del(running->events);
		evtimer_add(running->catch_up, &after);
	}
}

/* Executions have more to be put on record than there was time for. */
static void on_backlog(evutil_socket_t fd, short what, void *context)
{
	TURN("events");
	const struct timeval after = {.tv_usec = BEHIND_MSEC * 1000};
	struct daemon *daemon = context;

	(void)fd;
	(void)what;
	if (logs_are_behind(daemon->logs))
		evtimer_add(daemon->backlog_timer, &after);
	else
		events_drain(daemon, EVENTS_AT_A_TIME);
}

static void on_catch_up(evutil_socket_t fd, short what, void *context)
{
	struct running *running = context;

	(void)fd;
	(void)what;
	event_add(running->events, NULL);
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	TURN("tick");
	struct running *running = context;
	struct daemon *daemon = &running->daemon;
	bool again = true;

	(void)fd;
	(void)what;
	if (++running->ticks % SYNC_TICKS == 0) {
		again = logs_flush_all(daemon->logs, true) || daemon->unfinished > 0;
		again |= logs_tick_all(daemon->logs);
	}
	if (again)
		start_ticking(running);
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i])
			ending_check_denials(daemon->by_slot[i]);
}

static void on_heartbeat(evutil_socket_t fd, short what, void *context)
{
	TURN("heartbeat");
	struct running *running = context;

	(void)fd;
	(void)what;
	heartbeat_record(&running->daemon, running->options.heartbeat_seconds);
}

/* Told from the loop: one that does not turn is not alive. */
static void on_watchdog(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
	(void)notify("WATCHDOG=1");
}

static void leave(struct running *running, bool unload)
{
	(void)notify("STOPPING=1");
	running->unload = unload;
	server_stop_accepting(running->daemon.server);
	event_base_loopbreak(running->daemon.base);
}

static void on_signal(evutil_socket_t signal, short what, void *context)
{
	struct running *running = context;
	struct daemon *daemon = &running->daemon;

	(void)what;
	daemon_say(daemon, "%s: leaving%s", strsignal((int)signal),
		   daemon->executions > 0 ? "; executions stay confined" : "");
	leave(running, signal != HANDOVER_SIGNAL && daemon->embedded && daemon->unfinished == 0);
}

static void on_reload(evutil_socket_t signal, short what, void *context)
{
	TURN("reload");
	struct running *running = context;

	(void)signal;
	(void)what;
	if (running->daemon.executors)
		executors_reload(running->daemon.executors);
}

static bool nothing_to_do(const struct daemon *daemon)
{
	return daemon->unfinished == 0 && server_connections(daemon->server) == 0;
}

static void on_idle_timer(evutil_socket_t fd, short what, void *context)
{
	struct running *running = context;

	(void)fd;
	(void)what;
	if (nothing_to_do(&running->daemon))
		leave(running, true);
}

void running_idle(struct daemon *daemon)
{
	struct running *running = (struct running *)daemon;
	const struct timeval after = {.tv_sec = daemon->idle_nsec
							? (time_t)(daemon->idle_nsec / NSEC_PER_SEC)
							: running->options.idle_seconds};

	if (!daemon->server)
		return;
	if (daemon->unfinished == 0 && server_stop_requested(daemon->server)) {
		running->unload = true;
		event_base_loopbreak(daemon->base);
	} else if (daemon->embedded && nothing_to_do(daemon)) {
		evtimer_add(running->idle_timer, &after);
	}
}

/* --- setting up --------------------------------------------------------------------------- */

static struct event *add_event(struct running *running, evutil_socket_t fd, short what,
			       event_callback_fn callback, void *context,
			       const struct timeval *after)
{
	struct event *event = event_new(running->daemon.base, fd, what, callback, context);

	if (event && event_add(event, after) < 0) {
		event_free(event);
		event = NULL;
	}
	return event;
}

int running_make_loop(struct running *running, struct failure *failure)
{
	struct event_config *config = event_config_new();
	struct daemon *daemon = &running->daemon;

	if (config && event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
		daemon->base = event_base_new_with_config(config);
	if (config)
		event_config_free(config);
	if (!daemon->base)
		return failure_set(failure, ENOMEM, "cannot make an event loop");
	daemon->flush_timer = evtimer_new(daemon->base, on_flush, daemon);
	daemon->backlog_timer = evtimer_new(daemon->base, on_backlog, daemon);
	running->idle_timer = evtimer_new(daemon->base, on_idle_timer, running);
	running->tick = evtimer_new(daemon->base, on_tick, running);
	running->catch_up = evtimer_new(daemon->base, on_catch_up, running);
	if (!daemon->flush_timer || !daemon->backlog_timer || !running->idle_timer ||
	    !running->tick || !running->catch_up)
		return failure_set(failure, ENOMEM, "%m");
	return 0;
}

static int watch_signals(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;

	running->signals[0] =
		add_event(running, SIGTERM, EV_SIGNAL | EV_PERSIST, on_signal, running, NULL);
	running->signals[1] =
		add_event(running, SIGINT, EV_SIGNAL | EV_PERSIST, on_signal, running, NULL);
	running->signals[3] = add_event(running, HANDOVER_SIGNAL, EV_SIGNAL | EV_PERSIST, on_signal,
					running, NULL);
	running->events = add_event(running, enforcement_event_fd(daemon->enforcement),
				    EV_READ | EV_PERSIST, on_events, running, NULL);
	running->signals[2] =
		add_event(running, SIGHUP, EV_SIGNAL | EV_PERSIST, on_reload, running, NULL);
	if (!running->signals[0] || !running->signals[1] || !running->signals[2] ||
	    !running->signals[3] || !running->events)
		return failure_set(failure, ENOMEM, "cannot watch for events");
	return 0;
}

static int start_watchdog(struct running *running, struct failure *failure)
{
	uint64_t nsec = notify_watchdog_nsec();
	const struct timeval every = {
		.tv_sec = (time_t)(nsec / NSEC_PER_SEC),
		.tv_usec = (suseconds_t)(nsec % NSEC_PER_SEC / 1000),
	};

	if (nsec == 0)
		return 0;
	running->watchdog = add_event(running, -1, EV_PERSIST, on_watchdog, NULL, &every);
	return running->watchdog ? 0 : failure_set(failure, ENOMEM, "cannot watch the time");
}

static int start_heartbeat(struct running *running, struct failure *failure)
{
	const struct timeval every = {.tv_sec = running->options.heartbeat_seconds};

	/* Nobody misses one that leaves when it has nothing to do. */
	if (every.tv_sec == 0 || running->daemon.embedded)
		return 0;
	running->heartbeat = add_event(running, -1, EV_PERSIST, on_heartbeat, running, &every);
	return running->heartbeat ? 0 : failure_set(failure, ENOMEM, "cannot watch the time");
}

int running_watch(struct running *running, struct failure *failure)
{
	int r = watch_signals(running, failure);

	if (r == 0)
		r = start_watchdog(running, failure);
	return r < 0 ? r : start_heartbeat(running, failure);
}

/* --- its end ------------------------------------------------------------------------------ */

void running_free_loop(struct running *running)
{
	struct daemon *daemon = &running->daemon;
	struct event *events[] = {
		running->signals[0], running->signals[1], running->signals[2],
		running->signals[3], running->events,	  running->tick,
		running->catch_up,   running->idle_timer, running->watchdog,
		running->heartbeat,  daemon->flush_timer, daemon->backlog_timer,
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i])
			event_free(events[i]);
	if (daemon->base)
		event_base_free(daemon->base);
}
