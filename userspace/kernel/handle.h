/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct enforcement, for the files of this folder only. */
#ifndef CORDON_KERNEL_HANDLE_H
#define CORDON_KERNEL_HANDLE_H

#include <bpf/libbpf.h>

#include "kernel/enforcement.h"

/* Addresses that stand for names, of the execution in a slot. */
struct host_count {
	uint32_t generation;
	uint32_t count;
};

struct enforcement {
	int cgroup_fd; /* above the executions' cgroups; -1: of a helper */
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
	struct cordon_host_key swept;	/* where enforcement_hosts_sweep() goes on */
	bool sweeping;			/* `swept` is set */
	bool swept_some;		/* of this round are left */
	struct host_count *host_counts; /* per slot */
	int identify_fd;		/* programs */
	int label_tasks_fd;
	int list_tasks_fd;
	int list_descriptors_fd;
	int list_ipc_fd;
	struct cordon_execution *executions; /* mapped, CORDON_MAX_EXECUTIONS */
	__u64 *counters;		     /* mapped, CORDON_COUNTER_SLOTS */
	uint32_t audit;			     /* levels that this host has at least */
	uint32_t next_slot;		     /* where the search for a free one goes on */
	struct ring_buffer *rings;
	char *positions[2]; /* mapped, of the rings */
	enforcement_event_handler handler;
	void *handler_context;
	unsigned int handed_over_at_most; /* during a drain: how many more */
};

/* Whoever has no rings yet may call it, too. */
void enforcement_close_rings(struct enforcement *e);

/*
 * Reads a task iterator to its end; pidfd -1: all tasks. The records go to `visit`, if there is
 * one.
 */
int tasks_iterate(int program_fd, int pidfd,
		  int (*visit)(const struct cordon_task_record *task, void *context),
		  void *context);

#endif
