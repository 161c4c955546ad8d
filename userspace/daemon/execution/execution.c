/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, finds and frees executions, and says how each is. */
#include "daemon/execution/execution.h"

#include <fcntl.h>
#include <string.h>

#include "audit/text/text.h"
#include "base/clock.h"
#include "daemon/execution/adopted_calls.h"
#include "daemon/execution/ending_report.h"
#include "daemon/execution/state.h"
#include "daemon/host/tmpdir.h"
#include "daemon/privsep/errand.h"

struct execution *execution_new(struct daemon *daemon, json_t *message, pid_t owner,
				void *connection)
{
	struct execution *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->daemon = daemon;
	e->owner.pid = owner;
	e->owner.connection = connection;
	e->cgroup_fd = -1;
	e->code_fd = -1;
	e->ending.report_fd = -1;
	e->request = json_incref(message);
	e->timer = evtimer_new(daemon->base, daemon->execution_timer, e);
	return e;
}

struct execution *execution_recovered(struct daemon *daemon, uint32_t slot,
				      const struct cordon_execution *view)
{
	struct execution *e = execution_new(daemon, NULL, (pid_t)view->owner_pid, NULL);

	if (!e)
		return NULL;
	daemon->unfinished++;
	if (!e->timer) {
		execution_free(e);
		return NULL;
	}
	daemon->executions++;
	e->state = EXECUTION_LIVE;
	e->recovered = true;
	memcpy(e->record.id, view->id, sizeof(e->record.id));
	uuid_format(e->record.id, e->id);
	snprintf(e->name, sizeof(e->name), "cordon-%s", e->id);
	e->have_tmp = true;
	e->owner.start = view->owner_start;
	e->bound = true;
	e->slot = slot;
	e->view = view;
	e->generation = view->generation;
	e->sequence.anywhere = true;
	/* Without its cgroup the label alone finds its tasks. */
	e->cgroup_fd =
		openat(daemon->cgroups.fd, e->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	daemon->by_slot[slot] = e;
	return e;
}

struct execution *execution_adopted(struct daemon *daemon, uint32_t slot,
				    const struct cordon_execution *view)
{
	struct execution *e = execution_recovered(daemon, slot, view);

	if (!e)
		return NULL;
	e->adopted = true;
	e->recovered = false;
	e->have_tmp = false;
	e->sequence.anywhere = false;
	return e;
}

uint32_t execution_policy_flags(const struct execution *e)
{
	struct cordon_policy_header header;

	memcpy(&header, e->record.policy->tables, sizeof(header));
	return header.flags;
}

void execution_put_previous(struct execution *e)
{
	policies_put(e->daemon->policies, e->previous);
	e->previous = NULL;
	e->daemon->with_previous--;
}

void execution_free(struct execution *e)
{
	struct daemon *daemon = e->daemon;

	if (e->timer)
		event_free(e->timer);
	daemon->adopted->release(e);
	free(e->adoption.early);
	backlog_free(&daemon->backlogs, &e->backlog);
	if (e->previous)
		execution_put_previous(e);
	if (e->bound) {
		int r = enforcement_release(daemon->enforcement, e->slot);

		if (r < 0)
			daemon_say(daemon, "execution %s: its slot cannot be released: %s", e->id,
				   strerror(-r));
		daemon->by_slot[e->slot] = NULL;
	}
	if (e->id[0])
		state_remove(daemon->state_fd, e->id);
	if (e->cgroup_fd >= 0)
		(void)cgroup_remove(&daemon->cgroups, e->id);
	/* Where it is empty, as after a refusal; else it was removed in steps before. */
	if (e->have_tmp)
		(void)tmpdir_remove(DAEMON_TMP_PARENT, e->name, 1);
	closep(&e->cgroup_fd);
	closep(&e->code_fd);
	errand_cancel(e->holding);
	ending_report_cancel(e);
	closep(&e->ending.report_fd);
	for (size_t i = 0; i < e->directory_count; i++)
		closep(&e->directories[i]);
	if (e->policy)
		policies_put(daemon->policies, e->policy);
	if (e->recovered_policy)
		compiled_policy_free(e->recovered_policy);
	if (e->writing)
		logs_cancel(e->log, e->writing);
	logs_put(e->log);
	audit_execution_release(&e->record);
	free(e->policy_name);
	json_decref(e->request);
	daemon->denials_kept -= e->reported.count;
	reported_release(&e->reported);
	protocol_strings_free(e->wiped);
	daemon->unfinished--;
	free(e);
}

struct execution *execution_find(struct daemon *daemon, const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i] && strcmp(daemon->by_slot[i]->id, id) == 0)
			return daemon->by_slot[i];
	return NULL;
}

static json_t *number_or_null(bool have, uint64_t value)
{
	return have ? json_integer((json_int_t)value) : json_null();
}

static json_t *use_json(const struct execution *e)
{
	struct cgroup_use use = {};

	if (e->cgroup_fd >= 0)
		cgroup_use(e->cgroup_fd, &use);
	return json_pack("{s:o,s:o,s:o}", "cpu_nsec", number_or_null(use.have_cpu, use.cpu_nsec),
			 "memory_bytes", number_or_null(use.have_memory, use.memory_bytes), "pids",
			 number_or_null(use.have_pids, use.pids));
}

json_t *execution_text(const char *text)
{
	return text ? text_lossy(text, strlen(text)) : json_null();
}

json_t *execution_json(const struct execution *e)
{
	static const char *const states[] = {
		[EXECUTION_PREPARED] = "prepared",
		[EXECUTION_LIVE] = "live",
		[EXECUTION_ENDING] = "ending",
		[EXECUTION_DEAD] = "dead",
	};
	uint64_t now = clock_nsec(CLOCK_BOOTTIME);

	return json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:i,s:i,s:I,s:I,s:I,s:I,s:I,s:I,"
			 "s:b,s:I,s:o,s:o}",
			 "id", e->id, "state", states[e->state], "policy", e->record.policy->name,
			 "workdir", execution_text(e->record.workdir), "program",
			 execution_text(e->record.program), "session",
			 execution_text(e->record.session), "agent",
			 execution_text(e->record.agent), "executor",
			 execution_text(e->record.executor), "pid", (int)e->leader, "owner",
			 (int)e->owner.pid, "age_nsec", (json_int_t)(e->start ? now - e->start : 0),
			 "deadline_nsec", (json_int_t)(e->deadline > now ? e->deadline - now : 0),
			 "tasks", (json_int_t)e->view->tasks, "denials",
			 (json_int_t)e->view->denials, "would_denials",
			 (json_int_t)e->view->would_denials, "attempts",
			 (json_int_t)e->end.attempts, "observe", e->record.observe, "uid",
			 (json_int_t)e->record.uid, "limits",
			 protocol_limits(&e->record.limits, false), "use", use_json(e));
}

json_t *execution_totals_json(const struct daemon *daemon)
{
	struct totals now = daemon->totals;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		const struct execution *e = daemon->by_slot[i];

		/* One that is finished is in the sums, though its slot may wait for zombies. */
		if (e && e->state != EXECUTION_FINISHED && e->view)
			totals_add_live(&now, e->view);
	}
	return totals_json(&now);
}
