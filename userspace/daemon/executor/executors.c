/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the entries of cordon.yaml in force, and executions ready for each. */
#include "daemon/executor/executors.h"

#include <fcntl.h>

#include "base/clock.h"
#include "daemon/executor/adopted.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/host/process.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/errand.h"

#define RENEW_USEC 1000000

void executors_look_after(struct executors *x)
{
	if (!x || !x->active)
		return;
	adoption_renew(x->adoption, clock_nsec(CLOCK_BOOTTIME) + EXECUTORS_LEASE_NSEC);
	if (x->daemon->leaving)
		return;
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if ((x->active >> i) & 1 && x->entries[i])
			standby_refill(x, x->entries[i]);
}

void executors_turn(struct executors *x)
{
	const struct timeval after = {.tv_sec = RENEW_USEC / 1000000};

	executors_look_after(x);
	/* An approval may have expired. */
	executors_check_approvals(x);
	executor_retry(x);
	executor_follow(x);
	adopted_scan(x->daemon);
	if (x->active)
		evtimer_add(x->timer, &after);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
	TURN("executors");

	(void)fd;
	(void)what;
	executors_turn(context);
}

/* Without it, containers' programs of an entry's name are taken for the entry's, too. */
static void note_root(const struct executors *x)
{
	_cleanup_(closep) int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cordon_anchor root = {};

	if (fd >= 0 && enforcement_identify(x->daemon->enforcement, fd, &root) == 0)
		adoption_set_root(x->adoption, &root);
}

int executors_start(struct daemon *daemon, const char *path, struct executors **ret_executors,
		    struct failure *failure)
{
	struct executors *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return failure_set(failure, ENOMEM, "%m");
	x->daemon = daemon;
	x->path = path;
	x->follow_nsec = EXECUTOR_FOLLOW_NSEC;
	x->timer = evtimer_new(daemon->base, on_timer, x);
	r = x->timer ? adoption_open(&x->adoption, failure) : -ENOMEM;
	if (r < 0) {
		executors_free(x);
		return r;
	}
	note_root(x);
	/* What an earlier daemon put into force. */
	x->active = adoption_state(x->adoption)->active;
	*ret_executors = x;
	return 0;
}

void executors_free(struct executors *x)
{
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		executor_entry_free(x, x->entries[i]);
	if (x->config)
		config_free(x->config);
	executors_forget_reload(x);
	errand_cancel(x->looking);
	errand_cancel(x->saving);
	executor_before_clear(x);
	free(x->trouble);
	if (x->timer)
		event_free(x->timer);
	if (x->adoption)
		adoption_close(x->adoption);
	free(x);
}

const struct executor_entry *executors_entry(const struct executors *x, uint32_t index)
{
	if (!x || index >= CORDON_MAX_EXECUTORS)
		return NULL;
	return x->entries[index] ? x->entries[index] : x->entries[index ^ 1];
}

size_t executors_count(const struct executors *x)
{
	size_t count = 0;

	for (size_t i = 0; x && i < CORDON_MAX_EXECUTORS; i++)
		count += x->entries[i] && !x->entries[i]->is->is_itself;
	return count;
}

/* As those who ask know them: the executor's own entry is part of its. */
static const struct executor_entry *entry_at(const struct executors *x, size_t index)
{
	const struct executor_entry *entry = x ? x->entries[index] : NULL;

	return entry && !entry->is->is_itself ? entry : NULL;
}

struct executor_entry *executor_itself_of(const struct executors *x,
					  const struct executor_entry *entry)
{
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if (entry->is->itself && x->entries[i] && x->entries[i]->is == entry->is->itself)
			return x->entries[i];
	return NULL;
}

const char *executor_refuses(const struct executors *x, const struct executor_entry *entry)
{
	const struct executor_entry *itself = executor_itself_of(x, entry);

	return entry->why ? entry->why : itself ? itself->why : NULL;
}

json_t *executors_json(const struct executors *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		const struct executor_entry *entry = entry_at(x, i);
		const struct config_executor *is = entry ? entry->is : NULL;

		if (!is)
			continue;
		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:s,s:s,s:s,s:b,s:s*,s:s*}", "name", is->name, "kind",
				  config_kind_name(is->kind), "stage", config_stage_name(is->stage),
				  "executable", is->executable, "policy",
				  entry->policy ? entry->policy->policy->name : is->policy, "waits",
				  entry->waits, "itself", is->itself ? is->itself->policy : NULL,
				  "refuses", executor_refuses(x, entry)));
	}
	return list;
}

static const char *state_of(const struct executors *x, const struct executor_entry *entry)
{
	const struct executor_entry *itself = executor_itself_of(x, entry);

	if (executor_refuses(x, entry))
		return "refuses";
	return entry->waits || (itself && itself->waits) ? "waits" : "in-force";
}

static json_t *states_json(const struct executors *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		const struct executor_entry *entry = entry_at(x, i);

		if (entry)
			json_array_append_new(list, json_pack("{s:s,s:s,s:i,s:s*,s:b}", "name",
							      entry->is->name, "state",
							      state_of(x, entry), "line",
							      (int)entry->is->line, "error",
							      executor_refuses(x, entry),
							      "followed", !entry->unfollowed));
	}
	return list;
}

json_t *executors_status_json(const struct executors *x)
{
	const struct cordon_adoption none = {};
	const struct cordon_adoption *state = x ? adoption_state(x->adoption) : &none;

	return json_pack("{s:I,s:I,s:I,s:I,s:s?,s:s?,s:o,s:o,s:I}", "entries",
			 (json_int_t)executors_count(x), "adopted", (json_int_t)state->adopted,
			 "refused", (json_int_t)state->refused, "cleaned_late",
			 (json_int_t)state->unclean, "file", x ? x->path : NULL, "trouble",
			 x ? x->trouble : NULL, "list", states_json(x), "before",
			 executor_before_json(x), "before_more",
			 (json_int_t)(x ? x->before_all - x->before_count : 0));
}

static bool is_told(const struct adoption_executor *list, size_t count, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].pid == pid)
			return true;
	return false;
}

size_t executors_living(struct executors *x, char *text, size_t size)
{
	_cleanup_(freep) struct adoption_executor *running = NULL;
	size_t count = 0, used = 0, living = 0;

	text[0] = '\0';
	if (!x || adoption_list_executors(x->adoption, &running, &count) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct executor_entry *entry = executors_entry(x, running[i].executor);

		/* Once for all of its threads. */
		if (is_told(running, i, running[i].pid) || !entry ||
		    !process_alive_since((pid_t)running[i].pid, running[i].start_nsec))
			continue;
		living++;
		if (used < size)
			used += (size_t)snprintf(text + used, size - used,
						 "\n  executor %s: process %u", entry->is->name,
						 running[i].pid);
	}
	return living;
}
