/* SPDX-License-Identifier: Apache-2.0 */
/* The first step of an execution: all that it needs before there is a process. */
#include "daemon/execution/prepare.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/execution/approval_check.h"
#include "daemon/execution/indirect.h"
#include "launch/lower_limits.h"
#include "daemon/peer/member.h"
#include "daemon/host/process.h"
#include "daemon/execution/state.h"
#include "daemon/execution/approved.h"
#include "daemon/execution/temporary.h"
#include "daemon/host/tmpdir.h"

/* The request's own part; what it asks of policy, log and directories comes after. */
static int take_request(struct execution *e, struct protocol_fds *fds, const struct peer *peer,
			struct prepare_request *ret_request, struct failure *failure)
{
	struct prepare_request request;
	bool has_code;
	size_t wanted;
	int r;

	r = prepare_request_parse(e->request, &request, failure);
	if (r < 0)
		return r;
	if (e->owner.member)
		r = member_check_request(peer, &request, failure);
	if (r < 0) {
		prepare_request_release(&request);
		return r;
	}
	e->record = request.execution;
	request.execution = (struct audit_execution){};
	has_code = e->record.code.source == AUDIT_CODE_FILE && e->record.code.have_digest;
	wanted = 1 + (request.home ? 1u : 0u) + request.bind_count + (has_code ? 1u : 0u);
	if (fds->count != wanted) {
		prepare_request_release(&request);
		return failure_set(failure, EINVAL, "%zu descriptors came along, not %zu",
				   fds->count, wanted);
	}
	if (has_code)
		e->code_fd = fds->fd[--fds->count];
	for (size_t i = 0; i < fds->count; i++)
		e->directories[e->directory_count++] = fds->fd[i];
	fds->count = 0;
	*ret_request = request;
	return 0;
}

static int take_policy(struct execution *e, const struct prepare_request *request,
		       const struct peer *peer, char **ret_message, struct failure *failure)
{
	int r = policies_get(e->daemon->policies, request->policy, e->record.observe, &e->policy,
			     ret_message, failure);

	if (r < 0)
		return e->owner.member
			       ? member_hide_diagnostics(e->policy_name, r, ret_message, failure)
			       : r;
	if (e->owner.member)
		r = member_check_policy(peer, e->policy->policy, failure);
	if (r == 0)
		r = approval_check(e->daemon, e->policy->policy, NULL, e->owner.uid, ret_message,
				   failure);
	if (r < 0)
		return r;
	if (!e->record.observe)
		approved_amend(e->daemon, e->record.session, e->owner.uid, &e->policy);
	r = indirect_amend(e, request->indirections, ret_message, failure);
	if (r < 0)
		return r;
	/* What was approved for a work directory like this one amends that policy. */
	if (e->record.indirections && !e->record.observe)
		approved_amend(e->daemon, e->record.session, e->owner.uid, &e->policy);
	e->record.policy = e->policy->policy;
	e->record.observe = e->policy->policy->observe;
	if (e->record.policy->arguments != POLICY_ARGUMENTS_FULL && e->record.arguments) {
		/* Not to be recorded: not to be kept, either. */
		for (size_t i = 0; i < e->record.argument_count; i++)
			free(e->record.arguments[i]);
		free(e->record.arguments);
		e->record.arguments = NULL;
		json_object_set_new(e->request, "arguments", json_null());
	}
	return limits_lower(&e->policy->policy->limits, &request->limits, &e->record.limits,
			    failure);
}

static int check_coverage(const struct execution *e, struct failure *failure)
{
	const char *gap = e->daemon->gaps[0];

	if (!gap || e->record.observe || !(execution_policy_flags(e) & CORDON_POLICY_FULL_COVERAGE))
		return 0;
	return failure_set(failure, EOPNOTSUPP,
			   "policy %s asks for full coverage, which this host does not give: %s%s; "
			   "see `cordon doctor`",
			   e->record.policy->name, gap, e->daemon->gaps[1] ? ", and more" : "");
}

static int take_log(struct execution *e, const struct prepare_request *request, struct log_use *log,
		    struct failure *failure)
{
	int r = 0;

	if (request->log && !log)
		r = failure_set(failure, EPROTO, "the log in %s is not open", request->log);
	else
		e->log = logs_share(log ? log : e->daemon->log);
	if (r == 0)
		r = logs_writable(e->log, failure);
	/* Records name the policy by its digest: what that stands for has its place beside them. */
	return r < 0 ? r : logs_keep_policy(e->log, e->policy->policy, failure);
}

static int make_tmp(struct execution *e, struct failure *failure)
{
	int fd, r;

	snprintf(e->name, sizeof(e->name), "cordon-%s", e->id);
	r = tmpdir_create(DAEMON_TMP_PARENT, e->name, e->record.uid, e->record.gid, &fd, failure);
	if (r < 0)
		return r;
	e->directories[e->directory_count++] = fd;
	e->have_tmp = true;
	return 0;
}

static int anchor_of(const struct compiled_policy *policy, const char *name)
{
	for (int i = 0; i < (int)CORDON_MAX_ANCHORS; i++)
		if (policy->anchor_names[i] && strcmp(policy->anchor_names[i], name) == 0)
			return i;
	return -ENOENT;
}

int execution_note_directory(struct execution *e, const char *name, int fd)
{
	char **list = e->record.directories, link[64], path[PATH_MAX];
	size_t count = 0;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	while (list && list[count])
		count++;
	list = reallocarray(list, count + 3, sizeof(*list));
	if (!list)
		return -ENOMEM;
	e->record.directories = list;
	list[count] = strdup(name);
	list[count + 1] = list[count] ? strdup(path) : NULL;
	list[count + 2] = NULL;
	return list[count + 1] ? 0 : -ENOMEM;
}

static int identify(struct execution *e, struct enforcement_binding *binding, int anchor, int fd,
		    const char *name, struct failure *failure)
{
	int r = enforcement_identify(e->daemon->enforcement, fd, &binding->anchors[anchor]);

	if (r == 0)
		r = execution_note_directory(e, name, fd);
	if (r < 0)
		return failure_set(failure, r, "${%s}: the directory cannot be identified: %m",
				   name);
	return 0;
}

/* Nobody asked for it, and the policy has no variable for it. */
static bool is_unwanted(const struct execution *e, const struct prepare_request *request,
			size_t bind)
{
	return bind + request->found_count >= request->bind_count &&
	       anchor_of(e->policy->policy, request->binds[bind]) < 0;
}

/* directories[] holds: work directory, home if any, bindings, and the temporary one last. */
static int bind_anchors(struct execution *e, const struct prepare_request *request,
			struct enforcement_binding *binding, struct failure *failure)
{
	size_t next = 0;
	int r;

	r = identify(e, binding, CORDON_ANCHOR_WORKDIR, e->directories[next++], "workdir", failure);
	if (r == 0 && request->home)
		r = identify(e, binding, CORDON_ANCHOR_HOME, e->directories[next++], "home",
			     failure);
	for (size_t i = 0; r == 0 && i < request->bind_count; i++) {
		int anchor = anchor_of(e->policy->policy, request->binds[i]);
		int directory = e->directories[next++];

		if (is_unwanted(e, request, i))
			continue;
		if (anchor < 0)
			return failure_set(failure, EINVAL, "policy %s has no directory ${%s}",
					   e->policy->policy->name, request->binds[i]);
		r = identify(e, binding, anchor, directory, request->binds[i], failure);
	}
	if (r == 0)
		r = identify(e, binding, CORDON_ANCHOR_TMP, e->directories[next], "tmp", failure);
	return r;
}

int execution_watch_code(struct execution *e, struct failure *failure)
{
	const struct audit_code *code = &e->record.code;
	struct enforcement_code watch = {
		.fd = e->code_fd,
		.size = code->length,
		.changed = code->changed,
	};
	int r;

	if (code->source != AUDIT_CODE_FILE)
		return 0;
	if (e->code_fd < 0 && execution_policy_flags(e) & CORDON_POLICY_PINNED)
		return failure_set(failure, ENOENT,
				   "policy %s pins the code, and no file %s was hashed",
				   e->record.policy->name, code->path);
	memcpy(watch.names, code->names, sizeof(watch.names));
	r = enforcement_watch_code(e->daemon->enforcement, e->slot, &watch);
	closep(&e->code_fd);
	e->code_fd = -1;
	return r < 0 ? failure_set(failure, r, "the code %s cannot be identified: %m", code->path)
		     : 0;
}

static int bind_slot(struct execution *e, const struct prepare_request *request,
		     struct failure *failure)
{
	struct daemon *daemon = e->daemon;
	struct enforcement_binding binding = {
		.policy = e->policy->ref,
		.owner_pid = (uint32_t)e->owner.pid,
		.owner_start = e->owner.start,
	};
	int r;

	memcpy(binding.id, e->record.id, sizeof(binding.id));
	r = bind_anchors(e, request, &binding, failure);
	if (r < 0)
		return r;
	r = enforcement_bind(daemon->enforcement, &binding, &e->slot);
	if (r == -EBUSY)
		return failure_set(failure, EBUSY, "%u executions live, and no more can",
				   CORDON_MAX_EXECUTIONS);
	if (r < 0)
		return failure_set(failure, r, "cannot take an execution slot: %m");
	e->bound = true;
	e->view = enforcement_execution(daemon->enforcement, e->slot);
	e->generation = e->view->generation;
	daemon->by_slot[e->slot] = e;
	return execution_watch_code(e, failure);
}

/* Records shall name the directory that it is, whatever a member calls it. */
static int name_workdir(struct execution *e, struct failure *failure)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", e->directories[0]);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return failure_set(failure, errno, "the work directory has no name: %m");
	path[n] = '\0';
	free(e->record.workdir);
	e->record.workdir = strdup(path);
	return e->record.workdir ? 0 : failure_set(failure, ENOMEM, "%m");
}

static int check_directory(const struct places *places, size_t index, struct failure *failure)
{
	if (index >= places->count)
		return failure_set(failure, EBADMSG, "a directory was not checked");
	*failure = places->of[index].failure;
	return places->of[index].result;
}

/* Whatever the member has a variable stand for must be as fit as a work directory. */
static int check_member_directories(struct execution *e, const struct prepare_request *request,
				    const struct peer *peer, const struct places *places,
				    struct failure *failure)
{
	size_t first = 1 + (request->home ? 1u : 0u);
	int r = member_check_directories(peer, request, e->directories, e->directory_count,
					 failure);

	for (size_t i = 0; r == 0 && i < request->bind_count; i++) {
		struct failure why = {};

		if (is_unwanted(e, request, i))
			continue;
		r = check_directory(places, first + i, &why);
		if (r < 0)
			failure_set(failure, r, "${%s}: %s", request->binds[i], why.text);
	}
	return r < 0 ? r : name_workdir(e, failure);
}

static int check_directories(struct execution *e, const struct prepare_request *request,
			     const struct peer *peer, const struct places *places,
			     struct failure *failure)
{
	if (e->owner.member) {
		int r = check_member_directories(e, request, peer, places, failure);

		if (r < 0)
			return r;
	}
	return check_directory(places, 0, failure);
}

static int make_cgroup(struct execution *e, struct failure *failure)
{
	int r = cgroup_create(&e->daemon->cgroups, e->id, &e->record.limits, &e->cgroup_fd,
			      &e->record.limits_missing, failure);

	/*
	 * The second guard of its deadline is the client, who ends what is in it where the daemon
	 * hangs.
	 */
	if (r == 0 && e->owner.member)
		(void)cgroup_let_kill(e->cgroup_fd, e->owner.uid);
	return r;
}

static int build(struct execution *e, struct prepare_request *request, const struct peer *peer,
		 struct log_use *log, const struct places *places, char **ret_message,
		 struct failure *failure)
{
	struct process_status owner;
	int r;

	e->policy_name = TAKE_PTR(request->policy);
	request->policy = e->policy_name ? strdup(e->policy_name) : NULL;
	if (!request->policy || !e->timer)
		return failure_set(failure, ENOMEM, "%m");
	r = process_status(e->owner.pid, &owner);
	/* Another process may have its number by now. */
	if (r < 0 || owner.start_nsec != peer->start_nsec)
		return failure_set(failure, ESRCH, "the client, process %d, is gone", e->owner.pid);
	e->owner.start = owner.start_nsec;
	r = uuid_generate_v7(e->record.id);
	if (r < 0)
		return failure_set(failure, r, "no randomness for an id: %m");
	uuid_format(e->record.id, e->id);
	(void)((r = take_policy(e, request, peer, ret_message, failure)) < 0 ||
	       (r = check_coverage(e, failure)) < 0 ||
	       (r = take_log(e, request, log, failure)) < 0 ||
	       (r = check_directories(e, request, peer, places, failure)) < 0 ||
	       /* What a crash leaves from here on, the next daemon can name. */
	       (r = state_save(e->daemon->state_fd, e, failure)) < 0 ||
	       (r = make_tmp(e, failure)) < 0 || (r = make_cgroup(e, failure)) < 0 ||
	       (r = bind_slot(e, request, failure)) < 0 ||
	       (r = execution_set_temporary_owner(e, failure)) < 0);
	return r;
}

/* What was refused is on record, too, wherever a log can take it. */
static void record_refusal(struct execution *e, const char *policy, const char *text)
{
	struct log_use *log = e->log ? e->log : e->daemon->log;
	json_t *record = audit_record_refused(policy ? policy : "", text, e->record.uid,
					      clock_nsec(CLOCK_REALTIME));

	e->daemon->totals.refused++;
	(void)logs_append(log, record);
	daemon_flush_soon(e->daemon);
}

int execution_prepare(struct daemon *daemon, json_t *message, struct protocol_fds *fds,
		      const struct peer *peer, struct log_use *log, const struct places *places,
		      void *connection, struct execution **ret_execution, char **ret_message,
		      struct failure *failure)
{
	struct execution *e = execution_new(daemon, message, peer->ucred.pid, connection);
	struct prepare_request request = {};
	int r;

	*ret_message = NULL;
	if (!e) {
		protocol_fds_close(fds);
		return failure_set(failure, ENOMEM, "%m");
	}
	daemon->executions++;
	daemon->unfinished++;
	e->owner.uid = peer->ucred.uid;
	e->owner.member = !peer->root;
	/* A refusal is on record as of who it is, not of who it says. */
	e->record.uid = e->owner.uid;
	r = take_request(e, fds, peer, &request, failure);
	if (r == 0)
		r = build(e, &request, peer, log, places, ret_message, failure);
	if (r < 0) {
		record_refusal(e, request.policy,
			       *ret_message && **ret_message ? *ret_message : failure->text);
		daemon->executions--;
		execution_free(e);
	} else {
		const struct timeval patience = {.tv_sec = PROTOCOL_LABEL_SECONDS};

		evtimer_add(e->timer, &patience);
		*ret_execution = e;
	}
	prepare_request_release(&request);
	return r;
}
