/* SPDX-License-Identifier: Apache-2.0 */
/* Members of struct enforcement, for files of this folder only. */
#ifndef CORDON_KERNEL_HANDLE_H
#define CORDON_KERNEL_HANDLE_H

#include <bpf/libbpf.h>

#include "kernel/enforcement.h"

/* Number of addresses stored for host names, of the execution in a slot. */
struct host_count {
	uint32_t generation;
	uint32_t count;
};

struct enforcement {
	int cgroup_fd; /* above the executions' cgroups; -1: handle of a helper */
	int executions_fd;
	int policies_fd;
	int counters_fd;
	int critical_fd;
	int activity_fd;
	int label_request_fd;
	int ipc_list_fd;
	int host_addresses_fd;
	int stub_fd;
	int stub_clients_fd;
	int traffic_fd;
	int questions_fd;
	struct cordon_host_key swept;	/* last key of enforcement_hosts_sweep() */
	bool sweeping;			/* `swept` is set */
	bool swept_some;		/* some entries of this round remain */
	struct host_count *host_counts; /* per slot */
	int identify_fd;		/* programs */
	int label_tasks_fd;
	int list_tasks_fd;
	int list_descriptors_fd;
	int list_ipc_fd;
	struct cordon_execution *executions; /* mapped, CORDON_MAX_EXECUTIONS */
	__u64 *counters;		     /* mapped, CORDON_COUNTER_SLOTS */
	uint32_t audit;			     /* levels required on this host at least */
	uint32_t next_slot;		     /* where the search for a free slot begins */
	struct ring_buffer *rings;
	char *positions[2]; /* mapped, of the rings */
	enforcement_event_handler handler;
	void *handler_context;
	unsigned int handed_over_at_most; /* during a drain: most events still to be passed on */
};

/* May also be called before the rings are opened. */
void enforcement_close_rings(struct enforcement *e);

/*
 * Reads a task iterator to its end; pidfd -1: all tasks. Passes the records to `visit`, unless
 * NULL.
 */
int tasks_iterate(int program_fd, int pidfd,
		  int (*visit)(const struct cordon_task_record *task, void *context),
		  void *context);

#endif
