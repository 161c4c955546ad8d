/* SPDX-License-Identifier: Apache-2.0 */
/* Making an executor of a process that runs already. */
#include <limits.h>
#include <string.h>
#include <sys/pidfd.h>

#include "base/proc.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/host/process.h"

/* A thread of the kernel's runs none: -EINVAL. */
static int program_of(pid_t pid, char ret_path[PATH_MAX], struct failure *failure)
{
	int r = proc_readlink(pid, "exe", ret_path);

	return r < 0 ? failure_set(failure, r == -ENOENT ? EINVAL : r,
				   "process %d: its program cannot be told", pid)
		     : 0;
}

static const struct executor_entry *find(const struct executors *x, const char *name,
					 const char *program, size_t *ret_count)
{
	const struct executor_entry *found = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		const struct executor_entry *entry = x->entries[i];

		if (!entry || entry->is->is_itself ||
		    !(name ? strcmp(name, entry->is->name) == 0
			   : executor_entry_runs(entry, program)))
			continue;
		found = entry;
		++*ret_count;
	}
	return found;
}

static int choose(const struct executors *x, const struct adopt_request *request,
		  const char *program, const struct executor_entry **ret_entry,
		  struct failure *failure)
{
	size_t count;
	const struct executor_entry *entry = find(x, request->executor, program, &count);

	if (!entry && request->executor)
		return failure_set(failure, ENOENT, "%s has no executor %s", x->path,
				   request->executor);
	if (!entry)
		return failure_set(failure, ENOENT, "%s has no executor for %s; name one", x->path,
				   program);
	if (count > 1)
		return failure_set(failure, EINVAL, "%s has %zu executors for %s; name one",
				   x->path, count, program);
	if (entry->is->kind == CONFIG_CONTAINER)
		return failure_set(failure, EINVAL,
				   "executor %s is for containers, whose runtime does not stay",
				   entry->is->name);
	if (entry->is->itself)
		return failure_set(failure, EOPNOTSUPP,
				   "executor %s has a policy for itself, which a process can only "
				   "begin with: start it again",
				   entry->is->name);
	*ret_entry = entry;
	return 0;
}

static int refusal(int error, pid_t pid, struct failure *failure)
{
	if (error == -EBUSY)
		return failure_set(failure, EBUSY,
				   "process %d is an execution, or another executor's", pid);
	if (error == -ESRCH)
		return failure_set(failure, ESRCH, "there is no process %d", pid);
	return failure_set(failure, error, "process %d cannot be adopted: %m", pid);
}

int executors_adopt(struct executors *x, const struct adopt_request *request,
		    const struct ucred *peer, json_t **ret_reply, struct failure *failure)
{
	_cleanup_(closep) int pidfd = pidfd_open(request->pid, 0);
	const struct executor_entry *entry = NULL;
	uint32_t threads = 0, children = 0;
	char program[PATH_MAX];
	int r;

	if (pidfd < 0)
		return refusal(errno == EINVAL ? -ESRCH : -errno, request->pid, failure);
	if (request->pid == 1 || request->pid == getpid())
		return failure_set(failure, EINVAL,
				   "process %d cannot be an executor: it is %s, whose children are "
				   "the host's",
				   request->pid, request->pid == 1 ? "init" : "the cordon daemon");
	r = program_of(request->pid, program, failure);
	if (r == 0)
		r = choose(x, request, program, &entry, failure);
	if (r < 0)
		return r;
	r = adoption_register(entry->index, request->pid, pidfd, &threads, &children);
	if (r < 0)
		return refusal(r, request->pid, failure);
	executor_before_forget(x, request->pid);
	daemon_record(x->daemon, "executor-registered",
		      json_pack("{s:s,s:i,s:s,s:i,s:i,s:i}", "executor", entry->is->name, "pid",
				(int)request->pid, "program", program, "threads", (int)threads,
				"children", (int)children, "by", (int)peer->uid));
	*ret_reply = json_pack("{s:b,s:s,s:i,s:i,s:i}", "ok", 1, "executor", entry->is->name, "pid",
			       (int)request->pid, "threads", (int)threads, "children",
			       (int)children);
	return *ret_reply ? 0 : failure_set(failure, ENOMEM, "%m");
}
