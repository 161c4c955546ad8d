/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/execution.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/policy_store.h"
#include "base/clock.h"
#include "daemon/adopted.h"
#include "daemon/descriptors.h"
#include "daemon/ending.h"
#include "daemon/limits.h"
#include "daemon/process.h"
#include "daemon/server.h"
#include "daemon/state.h"
#include "daemon/tmpdir.h"
#include "daemon/workdir.h"

/* --- making one --------------------------------------------------------------------------- */

static struct execution *execution_new(struct daemon *daemon, json_t *message, pid_t owner,
				       void *connection)
{
	struct execution *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->daemon = daemon;
	e->owner = owner;
	e->connection = connection;
	e->cgroup_fd = -1;
	e->report_fd = -1;
	e->request = json_incref(message);
	e->denials = calloc(EXECUTION_MAX_REPORTED, sizeof(*e->denials));
	e->timer = evtimer_new(daemon->base, ending_timer, e);
	return e;
}

/* The request's own part; what it asks of policy, log and directories comes after. */
static int take_request(struct execution *e, struct protocol_fds *fds,
			struct prepare_request *ret_request, struct failure *failure)
{
	struct prepare_request request;
	size_t wanted;
	int r;

	r = prepare_request_parse(e->request, &request, failure);
	if (r < 0)
		return r;
	e->record = request.execution;
	request.execution = (struct audit_execution){};
	wanted = 1 + (request.home ? 1u : 0u) + request.bind_count;
	if (fds->count != wanted) {
		prepare_request_release(&request);
		return failure_set(failure, EINVAL, "%zu descriptors came along, not %zu",
				   fds->count, wanted);
	}
	for (size_t i = 0; i < fds->count; i++)
		e->directories[e->directory_count++] = fds->fd[i];
	fds->count = 0;
	*ret_request = request;
	return 0;
}

static int take_policy(struct execution *e, const struct prepare_request *request,
		       char **ret_message, struct failure *failure)
{
	int r = policies_get(e->daemon->policies, request->policy, e->record.observe, &e->policy,
			     ret_message, failure);

	if (r < 0)
		return r;
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

static uint32_t policy_flags(const struct execution *e)
{
	struct cordon_policy_header header;

	memcpy(&header, e->record.policy->tables, sizeof(header));
	return header.flags;
}

static int check_coverage(const struct execution *e, struct failure *failure)
{
	const char *gap = e->daemon->gaps[0];

	if (!gap || e->record.observe || !(policy_flags(e) & CORDON_POLICY_FULL_COVERAGE))
		return 0;
	return failure_set(failure, EOPNOTSUPP,
			   "policy %s asks for full coverage, which this host does not give: %s%s; "
			   "see `cordon doctor`",
			   e->record.policy->name, gap, e->daemon->gaps[1] ? ", and more" : "");
}

static int take_log(struct execution *e, const struct prepare_request *request,
		    struct failure *failure)
{
	const char *directory = request->log ? request->log : logs_directory(e->daemon->log);
	int r = logs_get(e->daemon->logs, directory, &e->log, failure);

	if (r == 0)
		r = logs_writable(e->log, failure);
	if (r < 0)
		return r;
	/* Records name the policy by its digest: what that stands for has its place beside them. */
	r = policy_store_put(logs_directory(e->log), e->policy->policy, failure);
	return r < 0 ? r : 0;
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

/* For the start record: where the directory is now. */
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

		if (anchor < 0)
			return failure_set(failure, EINVAL, "policy %s has no directory ${%s}",
					   e->policy->policy->name, request->binds[i]);
		r = identify(e, binding, anchor, e->directories[next++], request->binds[i],
			     failure);
	}
	if (r == 0)
		r = identify(e, binding, CORDON_ANCHOR_TMP, e->directories[next], "tmp", failure);
	return r;
}

static int bind_slot(struct execution *e, const struct prepare_request *request,
		     struct failure *failure)
{
	struct daemon *daemon = e->daemon;
	struct enforcement_binding binding = {
		.policy = e->policy->ref,
		.owner_pid = (uint32_t)e->owner,
		.owner_start = e->owner_start,
	};
	int r;

	memcpy(binding.id, e->record.id, sizeof(binding.id));
	if (e->record.limits.wall_nsec > 0)
		binding.deadline = clock_nsec(CLOCK_BOOTTIME) + e->record.limits.wall_nsec;
	r = bind_anchors(e, request, &binding, failure);
	if (r < 0)
		return r;
	/* A crash from here on leaves a slot whose execution the next daemon can name. */
	r = state_save(daemon->state_fd, e, failure);
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
	return 0;
}

static int check_workdir(struct execution *e, struct failure *failure)
{
	const char *const own[] = {PROTOCOL_DIRECTORY, logs_directory(e->log), NULL};

	return workdir_check(e->directories[0], DAEMON_PASSWD, own, failure);
}

static int build(struct execution *e, struct prepare_request *request, char **ret_message,
		 struct failure *failure)
{
	struct process_status owner;
	int r;

	e->policy_name = TAKE_PTR(request->policy);
	request->policy = e->policy_name ? strdup(e->policy_name) : NULL;
	if (!request->policy || !e->denials || !e->timer)
		return failure_set(failure, ENOMEM, "%m");
	r = process_status(e->owner, &owner);
	if (r < 0)
		return failure_set(failure, r, "the client, process %d, is gone", e->owner);
	e->owner_start = owner.start_nsec;
	r = uuid_generate_v7(e->record.id);
	if (r < 0)
		return failure_set(failure, r, "no randomness for an id: %m");
	uuid_format(e->record.id, e->id);
	(void)((r = take_policy(e, request, ret_message, failure)) < 0 ||
	       (r = check_coverage(e, failure)) < 0 || (r = take_log(e, request, failure)) < 0 ||
	       (r = check_workdir(e, failure)) < 0 || (r = make_tmp(e, failure)) < 0 ||
	       (r = cgroup_create(&e->daemon->cgroups, e->id, &e->record.limits, &e->cgroup_fd,
				  &e->record.limits_missing, failure)) < 0 ||
	       (r = bind_slot(e, request, failure)) < 0);
	return r;
}

/* What was refused is on record, too, wherever a log can take it. */
static void record_refusal(struct execution *e, const char *policy, const char *text)
{
	struct log_use *log = e->log ? e->log : e->daemon->log;
	json_t *record = audit_record_refused(policy ? policy : "", text, e->record.uid,
					      clock_nsec(CLOCK_REALTIME));

	(void)logs_append(log, record);
	daemon_flush_soon(e->daemon);
}

int execution_prepare(struct daemon *daemon, json_t *message, struct protocol_fds *fds, pid_t owner,
		      void *connection, struct execution **ret_execution, char **ret_message,
		      struct failure *failure)
{
	struct execution *e = execution_new(daemon, message, owner, connection);
	struct prepare_request request = {};
	int r;

	*ret_message = NULL;
	if (!e) {
		protocol_fds_close(fds);
		return failure_set(failure, ENOMEM, "%m");
	}
	daemon->executions++;
	daemon->unfinished++;
	r = take_request(e, fds, &request, failure);
	if (r == 0)
		r = build(e, &request, ret_message, failure);
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

struct execution *execution_adopted(struct daemon *daemon, uint32_t slot,
				    const struct cordon_execution *view)
{
	struct execution *e = execution_recovered(daemon, slot, view);

	if (!e)
		return NULL;
	e->adopted = true;
	e->have_tmp = false;
	e->sequence.anywhere = false;
	return e;
}

struct execution *execution_recovered(struct daemon *daemon, uint32_t slot,
				      const struct cordon_execution *view)
{
	struct execution *e = execution_new(daemon, NULL, (pid_t)view->owner_pid, NULL);

	if (!e)
		return NULL;
	daemon->unfinished++;
	if (!e->denials || !e->timer) {
		execution_free(e);
		return NULL;
	}
	daemon->executions++;
	e->state = EXECUTION_LIVE;
	memcpy(e->record.id, view->id, sizeof(e->record.id));
	uuid_format(e->record.id, e->id);
	snprintf(e->name, sizeof(e->name), "cordon-%s", e->id);
	e->have_tmp = true;
	e->owner_start = view->owner_start;
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

/* --- labelling ---------------------------------------------------------------------------- */

/* Is it what the owner says: its own held child, in the cgroup that was made for it? */
static int check_child(struct execution *e, int pidfd, pid_t *ret_pid, struct failure *failure)
{
	struct process_status status;
	char suffix[sizeof("/" CGROUP_TREE_NAME "/") + UUID_TEXT_SIZE];
	pid_t pid, again;
	int r;

	r = process_of_pidfd(pidfd, &pid);
	if (r < 0)
		return failure_set(failure, r, "the child to be labelled: %m");
	r = process_status(pid, &status);
	if (r < 0)
		return failure_set(failure, r, "process %d, to be labelled: %m", pid);
	if (status.parent != e->owner)
		return failure_set(failure, EPERM, "process %d is not a child of the client", pid);
	snprintf(suffix, sizeof(suffix), "/" CGROUP_TREE_NAME "/%s", e->id);
	r = process_in_cgroup(pid, suffix);
	if (r < 0)
		return failure_set(failure, r, "cannot read the cgroup of process %d: %m", pid);
	if (r == 0)
		return failure_set(failure, EPERM,
				   "process %d is not in the cgroup of execution %s", pid, e->id);
	/* The pid was the pidfd's all the time, so what /proc said was about this process. */
	r = process_of_pidfd(pidfd, &again);
	if (r < 0 || again != pid)
		return failure_set(failure, ESRCH, "process %d is gone", pid);
	*ret_pid = pid;
	return 0;
}

/* What was open before the label has passed no hook: it is on record, or nothing starts. */
int execution_check_descriptors(struct execution *e, int pidfd, struct failure *failure)
{
	uint32_t kept = (policy_flags(e) & CORDON_POLICY_DESCRIPTORS_MASK) >>
			CORDON_POLICY_DESCRIPTORS_SHIFT;
	struct descriptor_check check;
	int r = descriptors_check(e->daemon->enforcement, pidfd, &check);

	if (r < 0)
		return failure_set(failure, r, "cannot look at the descriptors of process %d: %m",
				   e->leader);
	e->record.descriptors = check.outside;
	if (check.internet) {
		r = enforcement_watch_sockets(failure);
		if (r < 0)
			return r;
	}
	if (!check.refused || kept == CORDON_DESCRIPTORS_RECORD || e->record.observe)
		return 0;
	/* `cordon run` has closed them; for others nobody can. */
	if (kept == CORDON_DESCRIPTORS_CLOSE && !e->adopted)
		return 0;
	for (char **text = check.outside; *text; text++)
		if (strtoul(*text, NULL, 10) > STDERR_FILENO)
			return failure_set(failure, EPERM,
					   "the caller has descriptor %s open, which policy %s "
					   "does not grant: close it, or allow it",
					   *text, e->record.policy->name);
	return 0;
}

int execution_write_start(struct execution *e, struct failure *failure)
{
	int r = logs_append(e->log, audit_record_start(&e->record, clock_nsec(CLOCK_REALTIME)));

	if (r >= 0)
		r = logs_flush_start(e->log);
	if (r < 0)
		return failure_set(failure, r,
				   "the start record cannot be written to %s (%m), and nothing "
				   "runs without one",
				   logs_directory(e->log));
	e->started = true;
	daemon_flush_soon(e->daemon);
	return 0;
}

void execution_start_deadline(struct execution *e)
{
	struct timeval after;
	uint64_t wall = e->record.limits.wall_nsec, now = clock_nsec(CLOCK_BOOTTIME), left;

	evtimer_del(e->timer);
	if (wall == 0)
		return;
	e->deadline = e->start + wall;
	left = e->deadline > now ? e->deadline - now : 0;
	after.tv_sec = (time_t)(left / NSEC_PER_SEC);
	after.tv_usec = (suseconds_t)(left % NSEC_PER_SEC / 1000);
	evtimer_add(e->timer, &after);
}

int execution_label(struct execution *e, json_t *message, struct protocol_fds *fds,
		    struct failure *failure)
{
	struct label_request request;
	int r;

	if (e->state != EXECUTION_PREPARED)
		return failure_set(failure, EINVAL, "execution %s is not waiting for a label",
				   e->id);
	if (fds->count != 1)
		return failure_set(failure, EINVAL, "a label request brings one pidfd");
	r = label_request_parse(message, &request, failure);
	if (r < 0)
		return r;
	e->record.environment_kept = request.kept;
	e->record.environment_removed = request.removed;
	r = check_child(e, fds->fd[0], &e->leader, failure);
	if (r < 0)
		return r;
	r = enforcement_label(e->daemon->enforcement, e->slot, fds->fd[0]);
	if (r < 0)
		return failure_set(failure, r, "process %d cannot be labelled: %m", e->leader);
	e->state = EXECUTION_LIVE;
	e->start = clock_nsec(CLOCK_BOOTTIME);
	r = execution_check_descriptors(e, fds->fd[0], failure);
	if (r == 0)
		r = execution_write_start(e, failure);
	if (r == 0)
		r = state_save(e->daemon->state_fd, e, failure);
	if (r < 0)
		return r;
	execution_start_deadline(e);
	return 0;
}

/* --- the rest ----------------------------------------------------------------------------- */

void execution_free(struct execution *e)
{
	struct daemon *daemon = e->daemon;

	if (e->timer)
		event_free(e->timer);
	adopted_release(e);
	free(e->early);
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
	closep(&e->report_fd);
	for (size_t i = 0; i < e->directory_count; i++)
		closep(&e->directories[i]);
	if (e->policy)
		policies_put(daemon->policies, e->policy);
	if (e->recovered_policy)
		compiled_policy_free(e->recovered_policy);
	logs_put(e->log);
	audit_execution_release(&e->record);
	free(e->policy_name);
	json_decref(e->request);
	for (size_t i = 0; i < e->denial_count; i++)
		json_decref(e->denials[i]);
	daemon->denials_kept -= e->denial_count;
	free(e->denials);
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

json_t *execution_json(const struct execution *e)
{
	static const char *const states[] = {
		[EXECUTION_PREPARED] = "prepared", [EXECUTION_LIVE] = "live",
		[EXECUTION_ENDING] = "ending",	   [EXECUTION_DEAD] = "dead",
		[EXECUTION_FINISHED] = "finished",
	};
	uint64_t now = clock_nsec(CLOCK_BOOTTIME);

	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s?,s:s?,s:s,s:i,s:i,s:I,s:I,s:I,s:I,s:I,s:b}",
			 "id", e->id, "state", states[e->state], "policy", e->record.policy->name,
			 "workdir", e->record.workdir, "program", e->record.program, "session",
			 e->record.session, "agent", e->record.agent, "executor",
			 e->record.executor, "pid", (int)e->leader, "owner", (int)e->owner,
			 "age_nsec", (json_int_t)(e->start ? now - e->start : 0), "deadline_nsec",
			 (json_int_t)(e->deadline > now ? e->deadline - now : 0), "tasks",
			 (json_int_t)e->view->tasks, "denials", (json_int_t)e->view->denials,
			 "would_denials", (json_int_t)e->view->would_denials, "observe",
			 e->record.observe);
}
