/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a daemon, with or without its enforcement. Parts are released in the order of their
 * dependencies.
 */
#include <unistd.h>

#include "daemon/execution/events.h"
#include "daemon/execution/refused.h"
#include "daemon/start_names.h"
#include "daemon/policy/approvals.h"
#include "daemon/dns/dns_stub.h"
#include "daemon/execution/leftovers.h"
#include "daemon/execution/recovery_work.h"
#include "daemon/executor/executors.h"
#include "daemon/executor/gathering.h"
#include "control/protocol.h"
#include "daemon/privsep/errand.h"
#include "daemon/running.h"
#include "daemon/server/server.h"
#include "policy/source/search.h"

static void close_dns(struct daemon *daemon)
{
	if (daemon->dns)
		dns_stub_free(daemon->dns);
	daemon->dns = NULL;
}

int running_unload(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	int r;

	close_dns(daemon);
	if (daemon->executors) {
		executors_clear(daemon->executors);
		executors_free(daemon->executors);
		daemon->executors = NULL;
	}
	policies_free(daemon->policies);
	daemon->policies = NULL;
	r = enforcement_unload(daemon->enforcement, failure);
	if (r >= 0)
		daemon->enforcement = NULL;
	daemon_record(daemon, "unload",
		      json_pack("{s:s}", "outcome", r < 0 ? failure->text : "unloaded"));
	return r;
}

static void free_execution_handles(struct daemon *daemon)
{
	/* They stay in the kernel and in their state files, for the next daemon to end. */
	events_leave(daemon);
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		daemon->by_slot[i] = NULL;
}

/* Records that are not written by now are lost; a log that can be written has a record of it. */
static void record_unwritten(struct daemon *daemon)
{
	struct log_use *log = NULL;

	logs_settle_all(daemon->logs);
	while (logs_next_failing(daemon->logs, &log)) {
		daemon_say(daemon, "records for %s could not be written and are lost",
			   logs_directory(log));
		if (log != daemon->log)
			daemon_record(daemon, "lost",
				      json_pack("{s:s}", "log", logs_directory(log)));
	}
}

void running_stop(struct running *running)
{
	struct daemon *daemon = &running->daemon;

	if (daemon->server)
		server_free(daemon->server);
	close_dns(daemon);
	gathering_free(TAKE_PTR(running->gathering));
	start_names_free(TAKE_PTR(running->names));
	recovery_work_stop(daemon);
	free_execution_handles(daemon);
	leftovers_free(daemon->leftovers);
	if (daemon->executors)
		executors_free(daemon->executors);
	if (daemon->policies)
		policies_free(daemon->policies);
	if (daemon->enforcement)
		enforcement_close(daemon->enforcement);
	if (daemon->log) {
		record_unwritten(daemon);
		if (running->on_record)
			daemon_record(daemon, "stop", NULL);
	}
	if (daemon->approvals)
		approvals_free(daemon->approvals);
	refused_list_free(daemon->refused);
	if (daemon->logs)
		logs_free(daemon->logs);
	event_text_release(&daemon->event_text);
	names_release(&daemon->names);
	protocol_strings_free(daemon->gaps);
	errands_forget();
	running_free_loop(running);
	cgroup_tree_close(&daemon->cgroups);
	closep(&daemon->state_fd);
	closep(&running->notes_fd);
	policy_search_free(running->directories);
	closep(&running->guard_fd);
	if (running->pid_written)
		(void)unlink(running->options.pid_file);
	/* The lock comes last, so that its next holder finds everything complete. */
	closep(&running->lock_fd);
}
