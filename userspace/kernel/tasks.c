/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels, lists and kills tasks with task iterators (kernel/bpf/task_iter.c). They visit every
 * thread of the host, or only the process behind a pidfd.
 */
#include <bpf/bpf.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>

#include "kernel/handle.h"
#include "kernel/traffic.h"

/* Returns a descriptor to read the iterator's output from; pidfd -1: all tasks. */
static int start_iterator(int program_fd, int pidfd)
{
	_cleanup_(closep) int link = -1;
	union bpf_iter_link_info info = {};
	LIBBPF_OPTS(bpf_link_create_opts, options);
	int iterator;

	if (pidfd >= 0) {
		info.task.pid_fd = (__u32)pidfd;
		options.iter_info = &info;
		options.iter_info_len = sizeof(info);
	}
	link = bpf_link_create(program_fd, 0, BPF_TRACE_ITER, &options);
	if (link < 0)
		return -errno;
	iterator = bpf_iter_create(link);
	return iterator < 0 ? -errno : iterator;
}

int tasks_iterate(int program_fd, int pidfd,
		  int (*visit)(const struct cordon_task_record *task, void *context), void *context)
{
	_cleanup_(closep) int iterator = start_iterator(program_fd, pidfd);
	struct cordon_task_record records[256];
	size_t held = 0;

	if (iterator < 0)
		return iterator;
	for (;;) {
		ssize_t n = read(iterator, (char *)records + held, sizeof(records) - held);
		size_t count;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		held += (size_t)n;
		count = held / sizeof(records[0]);
		for (size_t i = 0; visit && i < count; i++) {
			int r = visit(&records[i], context);

			if (r != 0)
				return r;
		}
		held %= sizeof(records[0]);
		memmove(records, records + count, held);
	}
}

int enforcement_for_each_task(struct enforcement *e,
			      int (*visit)(const struct cordon_task_record *task, void *context),
			      void *context)
{
	return tasks_iterate(e->list_tasks_fd, -1, visit, context);
}

static int note_label(const struct cordon_task_record *task, void *context)
{
	*(struct cordon_task_record *)context = *task;
	return 1;
}

int enforcement_label_of(struct enforcement *e, int pidfd, uint32_t *ret_slot,
			 uint32_t *ret_generation)
{
	struct cordon_task_record task;
	int r = tasks_iterate(e->list_tasks_fd, pidfd, note_label, &task);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret_slot = task.slot;
	*ret_generation = task.generation;
	return 0;
}

int enforcement_label(struct enforcement *e, uint32_t slot, int pidfd)
{
	struct cordon_label_request request = {.slot = slot};
	const __u32 key = 0;
	int r;

	if (slot >= CORDON_MAX_EXECUTIONS)
		return -EINVAL;
	request.generation = e->executions[slot].generation;
	if (bpf_map_update_elem(e->label_request_fd, &key, &request, BPF_ANY) < 0)
		return -errno;
	/* The slot must be LIVE before its first task is labelled. */
	__atomic_store_n(&e->executions[slot].state, CORDON_EXECUTION_LIVE, __ATOMIC_RELEASE);
	r = tasks_iterate(e->label_tasks_fd, pidfd, NULL, NULL);
	if (r == 0 && bpf_map_lookup_elem(e->label_request_fd, &key, &request) < 0)
		r = -errno;
	if (r == 0)
		r = request.error;
	if (r == 0 && request.labelled == 0)
		r = -ESRCH;
	if (r < 0 && request.labelled == 0)
		__atomic_store_n(&e->executions[slot].state, CORDON_EXECUTION_PREPARED,
				 __ATOMIC_RELEASE);
	return r;
}

struct wanted {
	uint32_t slot;
	uint32_t generation;
	uint32_t *processes;
	size_t count;
	size_t capacity;
	bool found, running;
};

static bool is_wanted(const struct cordon_task_record *task, const struct wanted *wanted)
{
	return task->slot == wanted->slot && task->generation == wanted->generation;
}

static int collect_process(const struct cordon_task_record *task, void *context)
{
	struct wanted *wanted = context;

	if (!is_wanted(task, wanted))
		return 0;
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->processes[i] == task->tgid)
			return 0;
	if (wanted->count == wanted->capacity) {
		size_t capacity = wanted->capacity ? 2 * wanted->capacity : 64;
		uint32_t *grown = realloc(wanted->processes, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		wanted->processes = grown;
		wanted->capacity = capacity;
	}
	wanted->processes[wanted->count++] = task->tgid;
	return 0;
}

static int note_found(const struct cordon_task_record *task, void *context)
{
	struct wanted *wanted = context;

	if (!is_wanted(task, wanted))
		return 0;
	wanted->found = true;
	wanted->running |= !task->exiting;
	return 0;
}

/* The pid may have been reused since the list was read, so check again with a pidfd. */
static void kill_process(struct enforcement *e, uint32_t pid, struct wanted *wanted,
			 struct enforcement_killed *killed)
{
	_cleanup_(closep) int pidfd = pidfd_open((pid_t)pid, 0);

	if (pidfd < 0)
		return;
	wanted->found = wanted->running = false;
	if (tasks_iterate(e->list_tasks_fd, pidfd, note_found, wanted) < 0 || !wanted->found ||
	    pidfd_send_signal(pidfd, SIGKILL, NULL, 0) < 0)
		return;
	killed->signalled++;
	killed->running += wanted->running;
}

int enforcement_kill(struct enforcement *e, uint32_t slot, struct enforcement_killed *ret_killed)
{
	struct wanted wanted = {.slot = slot};
	struct enforcement_killed killed = {};
	int r;

	if (slot >= CORDON_MAX_EXECUTIONS)
		return -EINVAL;
	wanted.generation = e->executions[slot].generation;
	r = enforcement_for_each_task(e, collect_process, &wanted);
	for (size_t i = 0; r == 0 && i < wanted.count; i++)
		kill_process(e, wanted.processes[i], &wanted, &killed);
	free(wanted.processes);
	if (r < 0)
		return r;
	*ret_killed = killed;
	return 0;
}

int enforcement_retire(struct enforcement *e, uint32_t slot)
{
	struct wanted wanted = {.slot = slot};
	struct cordon_execution *execution;
	int r;

	if (slot >= CORDON_MAX_EXECUTIONS)
		return -EINVAL;
	execution = &e->executions[slot];
	if (__atomic_load_n(&execution->state, __ATOMIC_ACQUIRE) != CORDON_EXECUTION_ENDING)
		return -EINVAL;
	wanted.generation = execution->generation;
	r = enforcement_for_each_task(e, note_found, &wanted);
	if (r < 0)
		return r;
	if (wanted.found)
		return -EBUSY;
	/*
	 * The remaining labels belong to no execution from here on, so that the exit of their tasks
	 * changes no counter.
	 */
	__atomic_store_n(&execution->generation, execution->generation + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&execution->tasks, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&execution->state, CORDON_EXECUTION_FREE, __ATOMIC_RELEASE);
	traffic_forget(e, slot);
	/* Listing removes the labels of zombies. */
	(void)enforcement_for_each_task(e, NULL, NULL);
	return 0;
}
