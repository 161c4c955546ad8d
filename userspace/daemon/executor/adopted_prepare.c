/* SPDX-License-Identifier: Apache-2.0 */
/* What is looked at and set while a process is held, before its first instruction. */
#include <fcntl.h>
#include <string.h>
#include <sys/pidfd.h>

#include "adopt/environment_room.h"
#include "adopt/process_code.h"
#include "base/proc.h"
#include "daemon/adopted_prepare.h"
#include "daemon/host/container.h"
#include "daemon/executor/executors.h"
#include "daemon/execution/label.h"
#include "daemon/execution/prepare.h"
#include "daemon/host/tmpdir.h"
#include "daemon/host/workdir.h"
#include "launch/environment.h"
#include "launch/resource.h"

static int note_process(struct execution *e, struct failure *failure)
{
	struct process_code code;
	int r = process_code_read(e->leader, e->record.policy->arguments == POLICY_ARGUMENTS_FULL,
				  &code, failure);

	if (r < 0)
		return r;
	free(e->record.program);
	e->record.program = code.program;
	e->record.argument_count = code.argument_count;
	e->record.arguments = code.arguments;
	e->record.arguments_length = code.arguments_length;
	memcpy(e->record.arguments_digest, code.arguments_digest, sizeof(code.arguments_digest));
	e->record.code = code.code;
	e->record.language = code.language ? strdup(code.language) : NULL;
	e->record.uid = code.uid;
	e->record.gid = code.gid;
	if (code.contradicted)
		return failure_set(failure, EBADMSG,
				   "the name of %s says another SHA-256 digest than the file has",
				   e->record.code.path);
	return 0;
}

static int check_place(struct execution *e, struct failure *failure)
{
	const char *const own[] = {PROTOCOL_DIRECTORY, logs_directory(e->log), NULL};
	_cleanup_(closep) int fd = proc_open(e->leader, "cwd", O_RDONLY | O_DIRECTORY);
	struct cordon_anchor anchor;
	int r;

	if (fd < 0)
		return failure_set(failure, fd, "the directory %s: %m", e->record.workdir);
	r = workdir_check(fd, DAEMON_PASSWD, own, failure);
	if (r < 0)
		return r;
	r = enforcement_identify(e->daemon->enforcement, fd, &anchor);
	if (r < 0 || memcmp(&anchor, &e->view->anchors[CORDON_ANCHOR_WORKDIR], sizeof(anchor)) != 0)
		return failure_set(failure, r < 0 ? r : ESTALE,
				   "the directory %s cannot be identified: %m", e->record.workdir);
	e->directories[e->directory_count++] = TAKE_FD(fd);
	return execution_note_directory(e, "workdir", e->directories[e->directory_count - 1]);
}

static int make_tmp(struct execution *e, struct failure *failure)
{
	struct cordon_anchor anchor;
	int fd, r;

	r = tmpdir_create(DAEMON_TMP_PARENT, e->name, e->record.uid, e->record.gid, &fd, failure);
	if (r < 0)
		return r;
	e->directories[e->directory_count++] = fd;
	e->have_tmp = true;
	r = enforcement_identify(e->daemon->enforcement, fd, &anchor);
	if (r == 0) {
		enforcement_bind_anchor(e->daemon->enforcement, e->slot, CORDON_ANCHOR_TMP,
					&anchor);
		r = execution_note_directory(e, "tmp", fd);
	}
	return r < 0 ? failure_set(failure, r, "${tmp}: %m") : 0;
}

static int apply_limits(struct execution *e, bool cgroup, struct failure *failure)
{
	_cleanup_(closep) int procs = -1;
	char text[32];
	int r = resource_limits_apply_to(e->leader, &e->record.limits);

	if (r < 0)
		return failure_set(failure, r, "limits of process %d: %m", e->leader);
	if (!cgroup)
		return 0;
	r = cgroup_create(&e->daemon->cgroups, e->id, &e->record.limits, &e->cgroup_fd,
			  &e->record.limits_missing, failure);
	if (r < 0)
		return r;
	procs = openat(e->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	snprintf(text, sizeof(text), "%d\n", e->leader);
	if (procs < 0 || write(procs, text, strlen(text)) < 0)
		return failure_set(failure, errno, "process %d cannot be moved to its cgroup: %m",
				   e->leader);
	return 0;
}

/* What the kernel was not allowed to do. */
static int clean_environment(struct execution *e, struct failure *failure)
{
	const struct policy_environment *environment = &e->record.policy->environment;
	int r;

	if ((e->view->begun & CORDON_BEGUN_CLEAN) || environment->keep_all)
		return process_environment_note(e->leader, &e->record.environment_kept, failure);
	r = process_environment_clean(e->leader, environment, &e->record.environment_removed,
				      failure);
	if (r == 0)
		r = process_environment_note(e->leader, &e->record.environment_kept, failure);
	return r;
}

static bool sets(const struct policy_environment *environment, const char *name)
{
	char *const *set = environment->set_names;

	while (*set && strcmp(*set, name) != 0)
		set++;
	return *set != NULL;
}

/* What is set replaces what was kept. */
static int note_replaced(struct execution *e)
{
	char **kept = e->record.environment_kept, **removed = e->record.environment_removed, **to;
	size_t count = 0;

	for (to = kept; kept && *kept; kept++) {
		char **grown;

		if (!sets(&e->record.policy->environment, *kept)) {
			*to++ = *kept;
			continue;
		}
		while (removed && removed[count])
			count++;
		grown = reallocarray(removed, count + 2, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		removed = e->record.environment_removed = grown;
		removed[count] = *kept;
		removed[count + 1] = NULL;
	}
	if (to)
		*to = NULL;
	return 0;
}

/* What the policy sets and is not set, beside the limits that are not in force. */
static int note_unset(struct execution *e, char *const *variables)
{
	char **list = e->record.limits_missing;
	size_t count = 0;

	while (list && list[count])
		count++;
	for (; *variables; variables++) {
		list = reallocarray(list, count + 2, sizeof(*list));
		if (!list)
			return -ENOMEM;
		e->record.limits_missing = list;
		list[count + 1] = NULL;
		if (asprintf(&list[count], "environment: %.*s is not set",
			     (int)strcspn(*variables, "="), *variables) < 0) {
			list[count] = NULL;
			return -ENOMEM;
		}
		count++;
	}
	return 0;
}

static size_t strings_count(char *const *list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

/* Only while it is held: what runs may be looking at its environment. */
static int set_environment(struct execution *e, struct failure *failure)
{
	const struct policy_environment *environment = &e->record.policy->environment;
	struct environment_anchor anchors[ARRAY_SIZE(e->directories)];
	char **directories = e->record.directories, **variables = NULL;
	size_t count = 0, left;
	int r;

	if (!environment->set_names[0])
		return 0;
	for (; directories && *directories && count < ARRAY_SIZE(anchors); directories += 2)
		anchors[count++] = (struct environment_anchor){directories[0], directories[1]};
	r = environment_set(environment, anchors, count, &variables, failure);
	if (r < 0)
		return r;
	left = strings_count(variables);
	if (e->view->state == CORDON_EXECUTION_HELD) {
		r = process_environment_set(e->leader, variables, &left, failure);
		if (r == 0 && note_replaced(e) < 0)
			r = failure_set(failure, ENOMEM, "%m");
	}
	if (r == 0 && note_unset(e, variables + strings_count(variables) - left) < 0)
		r = failure_set(failure, ENOMEM, "%m");
	protocol_strings_free(variables);
	return r;
}

/* The policy's own directories: they stay what they are as long as somebody has them open. */
static int keep_directories(struct execution *e, const struct executor_entry *entry,
			    struct failure *failure)
{
	size_t most = ARRAY_SIZE(e->directories) - 2; /* without work directory and ${tmp} */

	for (size_t i = 0; entry && i < CORDON_MAX_ANCHORS && e->directory_count < most; i++) {
		const char *name = entry->policy->policy->anchor_names[i];
		int fd, r;

		if (entry->directories[i] < 0 || !name)
			continue;
		fd = fcntl(entry->directories[i], F_DUPFD_CLOEXEC, 3);
		r = fd < 0 ? -errno : execution_note_directory(e, name, fd);
		if (fd >= 0)
			e->directories[e->directory_count++] = fd;
		if (r < 0)
			return failure_set(failure, r, "${%s}: %m", name);
	}
	return 0;
}

int adopted_prepare(struct execution *e, struct failure *failure)
{
	const struct executor_entry *entry =
		executors_entry(e->daemon->executors, e->view->executor - 1);
	bool container = entry && entry->is->kind == CONFIG_CONTAINER;
	bool itself = entry && entry->is->is_itself;
	_cleanup_(closep) int pidfd = pidfd_open(e->leader, 0);
	int r = pidfd < 0 ? failure_set(failure, errno, "process %d: %m", e->leader) : 0;

	(void)(r < 0 || (r = clean_environment(e, failure)) < 0 ||
	       (r = note_process(e, failure)) < 0 ||
	       (r = keep_directories(e, entry, failure)) < 0 ||
	       (r = container ? container_check_volumes(e->leader, entry->is->volumes, failure)
		    : itself  ? 0
			      : check_place(e, failure)) < 0 ||
	       (!container && (r = make_tmp(e, failure)) < 0) ||
	       (r = set_environment(e, failure)) < 0 ||
	       (r = execution_check_descriptors(e, pidfd, failure)) < 0 ||
	       (r = apply_limits(e, entry && entry->cgroup, failure)) < 0);
	return r;
}
