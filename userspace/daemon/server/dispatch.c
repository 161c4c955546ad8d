/* SPDX-License-Identifier: Apache-2.0 */
/* What clients ask for: one function per operation of the protocol. */
#include "daemon/server/dispatch.h"

#include <string.h>
#include <unistd.h>

#include "audit/record/names.h"
#include "base/clock.h"
#include "daemon/server/applying.h"
#include "daemon/server/approve.h"
#include "daemon/server/propose.h"
#include "daemon/dns/dns_stub.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/ending.h"
#include "daemon/executor/executors.h"
#include "daemon/execution/label.h"
#include "daemon/host/pid_event.h"
#include "daemon/execution/prepare.h"
#include "daemon/host/process.h"
#include "daemon/host/turn.h"
#include "control/request.h"
#include "daemon/execution/resume.h"
#include "daemon/server/server.h"
#include "daemon/execution/whose.h"

/* Hello is said by those who are about to run something. */
static bool do_hello(struct connection *c)
{
	if (server_connections(c->server) > PROTOCOL_MAX_CLIENTS) {
		connection_refuse(c, EUSERS, "too many clients are connected; try again later");
		return false;
	}
	connection_answer(c, json_pack("{s:b,s:i}", "ok", 1, "version", PROTOCOL_VERSION), NULL, 0);
	return true;
}

static void do_prepare(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	_cleanup_(logs_putp) struct log_use *log = TAKE_PTR(c->log);
	_cleanup_(freep) struct places *places = TAKE_PTR(c->places);
	struct daemon *daemon = c->daemon;
	_cleanup_(freep) char *text = NULL;
	struct failure failure = {};
	const struct policy_environment *environment;
	const struct compiled_policy *policy;
	struct cordon_policy_header header;
	struct execution *e;
	json_t *set, *reply;
	int reply_fds[2], r;

	if (daemon->leaving)
		return connection_refuse(c, ESHUTDOWN,
					 "cordon is being disabled; no execution can start");
	if (server_connections(c->server) > PROTOCOL_MAX_CLIENTS)
		return connection_refuse(c, EUSERS, "too many clients are connected");
	if (c->execution || c->have_outcome)
		return connection_refuse(c, EINVAL, "a connection owns one execution at most");
	if (!places)
		return connection_refuse(c, ENOMEM, strerror(ENOMEM));
	r = execution_prepare(daemon, message, fds, &c->peer, log, places, c, &e, &text, &failure);
	if (r < 0)
		return connection_refuse(c, r, text && *text ? text : failure.text);
	c->execution = e;
	policy = e->record.policy;
	environment = &policy->environment;
	memcpy(&header, policy->tables, sizeof(header));
	set = json_object();
	for (size_t i = 0; set && environment->set_names[i]; i++)
		json_object_set_new(set, environment->set_names[i],
				    json_string(environment->set_values[i]));
	reply = json_pack(
		"{s:b,s:s,s:{s:b,s:o,s:o},s:o,s:o,s:I,s:b,s:b,s:s+,s:b,s:s,s:b,s:b}", "ok", 1, "id",
		e->id, "environment", "keep_all", environment->keep_all, "keep",
		protocol_strings(environment->keep), "set", set, "limits",
		protocol_limits(&e->record.limits, true), "limits_missing",
		protocol_strings(e->record.limits_missing), "capabilities",
		/* What is only observed keeps what it has, or it would not be seen to be used. */
		e->record.observe ? INT64_MAX : (json_int_t)header.capabilities, "filter",
		e->policy->filter_fd >= 0, "keep_descriptors",
		(header.flags & CORDON_POLICY_DESCRIPTORS_MASK) != 0, "tmp", DAEMON_TMP_PARENT "/",
		e->name, "observe", e->record.observe, "arguments",
		policy->arguments == POLICY_ARGUMENTS_FULL ? "full" : "digest", "asks",
		asking_is_possible(e), "moves", e->owner.member);
	reply_fds[0] = e->cgroup_fd;
	reply_fds[1] = e->policy->filter_fd;
	connection_answer(c, reply, reply_fds, e->policy->filter_fd >= 0 ? 2 : 1);
}

/*
 * Root's are seen and ended by root alone, others by their user as well. Whoever may ask for
 * nothing but whose something is, as a proxy that serves all, is told of each.
 */
static bool may_see(const struct connection *c, const struct execution *e)
{
	return c->peer.root || c->only == REQUEST_WHO ||
	       (e->owner.member && e->owner.uid == c->peer.ucred.uid);
}

static void do_label(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	struct execution *e = c->execution;
	struct failure failure = {};
	int r;

	if (!e)
		return connection_refuse(c, EINVAL, "nothing was prepared, or it has ended");
	r = execution_label(e, message, fds, &c->peer, &failure);
	/* Else it is answered when the start record is written: tell_begun(). */
	if (r < 0) {
		connection_refuse(c, r, failure.text);
		ending_begin(e, AUDIT_END_NOT_STARTED);
	}
}

/* The client tells its child's end; the answer comes when all is dead and recorded. */
static bool await_outcome(struct connection *c)
{
	if (c->have_outcome) {
		connection_answer_outcome(c);
		return false;
	}
	if (!c->execution) {
		connection_refuse(c, EINVAL, "nothing was prepared");
		return false;
	}
	c->awaits_outcome = true;
	return true;
}

/*
 * An execution that an earlier daemon began: its owner, and nobody else, is still to tell its end.
 */
static int take_over(struct connection *c, const char *id, struct failure *failure)
{
	struct execution *e = execution_find(c->daemon, id);
	struct process_status peer;

	if (c->execution || c->have_outcome)
		return failure_set(failure, EINVAL, "a connection owns one execution at most");
	if (!e || e->owner.connection || !e->recovered || e->adopted ||
	    e->state >= EXECUTION_FINISHED)
		return failure_set(failure, ENOENT, "no such execution waits to be told its end");
	if (e->owner.pid != c->peer.ucred.pid || process_status(c->peer.ucred.pid, &peer) < 0 ||
	    peer.start_nsec != e->owner.start)
		return failure_set(failure, EPERM, "execution %s is another process's", id);
	pid_event_free(&e->owner.event);
	e->owner.connection = c;
	c->execution = e;
	return 0;
}

static void do_ended(struct connection *c, json_t *message)
{
	struct ended_request request;
	struct failure failure = {};
	int r = ended_request_parse(message, &request, &failure);

	if (r == 0 && request.id[0])
		r = take_over(c, request.id, &failure);
	if (r < 0)
		return connection_refuse(c, r, failure.text);
	if (await_outcome(c))
		ending_told(c->execution, &request);
}

static void do_abort(struct connection *c, json_t *message)
{
	struct abort_request request;
	struct failure failure = {};
	int r = abort_request_parse(message, &request, &failure);

	if (r < 0)
		return connection_refuse(c, r, failure.text);
	if (await_outcome(c))
		ending_aborted(c->execution, &request);
}

static json_t *counters_json(struct daemon *daemon)
{
	json_t *counters = json_object();

	for (unsigned int i = 0; counters && i < CORDON_COUNTER_COUNT; i++)
		json_object_set_new(
			counters, name_of_counter(i),
			json_integer((json_int_t)enforcement_counter(daemon->enforcement, i)));
	return counters;
}

static void do_status(struct connection *c)
{
	struct daemon *daemon = c->daemon;
	struct failure failure = {};
	int writable = logs_writable(daemon->log, &failure);

	connection_answer(
		c,
		json_pack(
			"{s:b,s:s,s:i,s:i,s:b,s:b,s:I,s:I,s:I,s:s,s:b,s:s,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
			"ok", 1, "version", CORDON_VERSION, "protocol", PROTOCOL_VERSION, "pid",
			(int)getpid(), "embedded", daemon->embedded, "enforcing", 1, "uptime_nsec",
			(json_int_t)(clock_nsec(CLOCK_BOOTTIME) - daemon->start_time), "executions",
			(json_int_t)daemon->executions, "policies",
			(json_int_t)policies_count(daemon->policies), "log",
			logs_directory(daemon->log), "log_writable", writable >= 0, "log_problem",
			failure.text, "records_lost", (json_int_t)logs_lost(daemon->logs),
			"stray_events", (json_int_t)daemon->strays, "malformed_events",
			(json_int_t)daemon->malformed, "connections",
			(json_int_t)server_connections(c->server), "counters",
			counters_json(daemon), "dns", dns_stub_json(daemon->dns), "executors",
			executors_status_json(daemon->executors), "turns", turn_json(), "totals",
			execution_totals_json(daemon), "log_figures",
			logs_figures_json(daemon->log), "gaps", protocol_strings(daemon->gaps)),
		NULL, 0);
}

/* For one answer: what an execution uses, its cgroup has to add up. */
#define LIST_NSEC (10 * NSEC_PER_MSEC)

static size_t packed_size(const json_t *entry)
{
	return json_dumpb(entry, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) + 1;
}

/* An entry by itself fits into a packet without its two texts that have no bound of their own. */
static json_t *list_entry(const struct execution *e, size_t limit)
{
	json_t *entry = execution_json(e);

	if (entry && packed_size(entry) > limit) {
		json_object_set_new(entry, "workdir", json_null());
		json_object_set_new(entry, "program", json_null());
	}
	return entry;
}

/*
 * One packet is one answer, of what one turn of the loop has time for: where the list does not fit,
 * it says from which slot on to ask again.
 */
static void do_ps(struct connection *c, json_t *message)
{
	const struct daemon *daemon = c->daemon;
	_cleanup_(json_decrefp) json_t *list = json_array(), *next = json_null();
	const uint64_t end = clock_nsec(CLOCK_MONOTONIC) + LIST_NSEC;
	const size_t limit = PROTOCOL_MAX_PACKET - 256;
	struct failure failure = {};
	size_t room = limit;
	uint32_t from;
	int r = ps_request_parse(message, &from, &failure);

	if (r < 0)
		return connection_refuse(c, r, failure.text);
	for (size_t i = from; i < ARRAY_SIZE(daemon->by_slot); i++) {
		_cleanup_(json_decrefp) json_t *entry = NULL;
		size_t size;

		/*
		 * Of one that has ended a slot may be left, for as long as nobody waits for its
		 * zombies.
		 */
		if (!daemon->by_slot[i] || daemon->by_slot[i]->state == EXECUTION_FINISHED ||
		    !may_see(c, daemon->by_slot[i]))
			continue;
		entry = list_entry(daemon->by_slot[i], limit);
		if (!entry || !list)
			return connection_refuse(c, ENOMEM, "no memory for the list");
		size = packed_size(entry);
		if (size > room || (room < limit && clock_nsec(CLOCK_MONOTONIC) > end)) {
			next = json_integer((json_int_t)i);
			break;
		}
		room -= size;
		json_array_append(list, entry);
	}
	connection_answer(c, json_pack("{s:b,s:O,s:O}", "ok", 1, "executions", list, "next", next),
			  NULL, 0);
}

static void do_who(struct connection *c, json_t *message)
{
	struct who_request request;
	struct failure failure = {};
	struct execution *e = NULL;
	int r = who_request_parse(message, &request, &failure);

	if (r < 0)
		return connection_refuse(c, r, failure.text);
	r = request.pid ? whose_process(c->daemon, request.pid, &e)
			: whose_cgroup(c->daemon, request.cgroup, &e);
	/* What is another's is told like what is nobody's. */
	if (r == 0 && !may_see(c, e))
		r = -ENOENT;
	if (r < 0)
		return connection_refuse(c, r,
					 r == -ENOENT  ? "no live execution has it"
					 : r == -ESRCH ? "there is no such process"
						       : strerror(-r));
	connection_answer(c,
			  json_pack("{s:b,s:o}", "ok", 1, "execution",
				    list_entry(e, PROTOCOL_MAX_PACKET - 256)),
			  NULL, 0);
}

static void do_kill(struct connection *c, json_t *message)
{
	struct failure failure = {};
	unsigned char id[16];
	struct execution *e;
	int r = kill_request_parse(message, id, &failure);

	if (r < 0)
		return connection_refuse(c, r, failure.text);
	uuid_format(id, c->awaits_kill);
	e = execution_find(c->daemon, c->awaits_kill);
	if (!e || e->state == EXECUTION_FINISHED || !may_see(c, e)) {
		c->awaits_kill[0] = '\0';
		return connection_refuse(c, ENOENT, "no such execution is live");
	}
	ending_begin(e, AUDIT_END_KILLED);
}

static void list_live(struct daemon *daemon, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot) && used < size; i++) {
		const struct execution *e = daemon->by_slot[i];

		if (e)
			used += (size_t)snprintf(text + used, size - used, "\n  %s  %s  %s", e->id,
						 e->record.policy->name, e->record.workdir);
	}
}

static void do_stop(struct connection *c, json_t *message)
{
	struct daemon *daemon = c->daemon;
	struct failure failure = {};
	bool force;
	int r = stop_request_parse(message, &force, &failure);

	if (r < 0)
		return connection_refuse(c, r, failure.text);
	if (daemon->executions > 0 && !force) {
		char text[8192];
		size_t used = (size_t)snprintf(
			text, sizeof(text),
			"%zu executions are live (--force kills them):", daemon->executions);

		list_live(daemon, text + used, sizeof(text) - used);
		return connection_refuse(c, EBUSY, text);
	}
	if (!force) {
		char list[4096], text[8192];
		size_t living = executors_living(daemon->executors, list, sizeof(list));

		snprintf(
			text, sizeof(text),
			"%zu executors live, and what they start would not be confined any more; end "
			"them, or use --force:%s",
			living, list);
		if (living > 0)
			return connection_refuse(c, EBUSY, text);
	}
	if (daemon->executors)
		executors_clear(daemon->executors);
	c->awaits_stop = true;
	server_request_stop(c->server);
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i])
			ending_begin(daemon->by_slot[i], AUDIT_END_KILLED);
	daemon->idle(daemon);
}

static void do_reload(struct connection *c)
{
	struct daemon *daemon = c->daemon;
	struct failure failure = {};
	size_t count = 0;
	int r;

	if (!daemon->executors)
		return connection_refuse(
			c, EOPNOTSUPP, "an embedded daemon has no executors; see `cordon daemon`");
	if (!c->gathering)
		return connection_refuse(c, EAGAIN, "the configuration was not read; try again");
	r = executors_load(daemon->executors, c->gathering, &count, &failure);
	if (r < 0)
		return connection_refuse(c, r, failure.text);
	connection_answer(
		c, json_pack("{s:b,s:o}", "ok", 1, "executors", executors_json(daemon->executors)),
		NULL, 0);
}

/* Whoever is not root runs, sees and ends what is its own; whoever came to look, looks. */
static int authorise(const struct connection *c, enum request_op op, struct failure *failure)
{
	static const bool of_members[REQUEST_OP_COUNT] = {
		[REQUEST_HELLO] = true,	  [REQUEST_PREPARE] = true, [REQUEST_LABEL] = true,
		[REQUEST_ENDED] = true,	  [REQUEST_ABORT] = true,   [REQUEST_STATUS] = true,
		[REQUEST_PS] = true,	  [REQUEST_KILL] = true,    [REQUEST_WHO] = true,
		[REQUEST_PROPOSE] = true,
	};

	if (c->only != REQUEST_OP_COUNT)
		return op == c->only ? 0
				     : failure_set(failure, EPERM,
						   "nothing but %s may be asked for on this socket",
						   request_op_name(c->only));
	if (c->peer.root || of_members[op])
		return 0;
	if ((op == REQUEST_DECIDE || op == REQUEST_APPROVALS) && approve_is_authorised(&c->peer))
		return 0;
	return failure_set(failure, EPERM, "only root may ask the cordon daemon for that");
}

static void do_adopt(struct connection *c, json_t *message)
{
	_cleanup_(adopt_request_release) struct adopt_request request = {};
	struct failure failure = {};
	json_t *reply = NULL;
	int r;

	if (!c->daemon->executors)
		return connection_refuse(
			c, EOPNOTSUPP, "an embedded daemon has no executors; see `cordon daemon`");
	r = adopt_request_parse(message, &request, &failure);
	if (r == 0)
		r = executors_adopt(c->daemon->executors, &request, &c->peer.ucred, &reply,
				    &failure);
	if (r < 0)
		return connection_refuse(c, r, failure.text);
	connection_answer(c, reply, NULL, 0);
}

bool dispatch(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	struct failure failure = {};
	enum request_op op;
	int r;

	if (c->awaits_outcome || c->awaits_stop || c->awaits_kill[0] || c->applying ||
	    c->approve_pending || c->propose_pending) {
		connection_refuse(c, EPROTO,
				  "one request at a time: the last one is not answered yet");
		return false;
	}
	r = request_op(message, &op, &failure);
	if (r == 0)
		r = authorise(c, op, &failure);
	if (r == 0 && (op == REQUEST_STATUS || op == REQUEST_RELOAD))
		r = plain_request_parse(message, &failure);
	else if (r == 0 && op == REQUEST_HELLO)
		r = hello_request_parse(message, &failure);
	if (r < 0) {
		connection_refuse(c, r, failure.text);
		return false;
	}
	switch (op) {
	case REQUEST_HELLO:
		return do_hello(c);
	case REQUEST_PREPARE:
		do_prepare(c, message, fds);
		break;
	case REQUEST_LABEL:
		do_label(c, message, fds);
		break;
	case REQUEST_ENDED:
		do_ended(c, message);
		break;
	case REQUEST_ABORT:
		do_abort(c, message);
		break;
	case REQUEST_STATUS:
		do_status(c);
		break;
	case REQUEST_PS:
		do_ps(c, message);
		break;
	case REQUEST_KILL:
		do_kill(c, message);
		break;
	case REQUEST_STOP:
		do_stop(c, message);
		break;
	case REQUEST_APPLY:
		applying_begin(c, message);
		break;
	case REQUEST_RELOAD:
		do_reload(c);
		break;
	case REQUEST_DECIDE:
		approve_decide(c, message);
		break;
	case REQUEST_APPROVALS:
		approve_list(c, message);
		break;
	case REQUEST_ADOPT:
		do_adopt(c, message);
		break;
	case REQUEST_WHO:
		do_who(c, message);
		break;
	case REQUEST_PROPOSE:
		propose(c, message);
		break;
	case REQUEST_OP_COUNT:
		break;
	}
	return true;
}
