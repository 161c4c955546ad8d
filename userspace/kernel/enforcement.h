/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Userspace's interface to the kernel side. Programs and maps are pinned below /sys/fs/bpf/cordon.
 * Executions are slots of an array, and policies are inner maps. Tasks have labels, and two rings
 * carry events.
 *
 * One process at a time owns it, the daemon, and holds the lock for that. Pinned objects outlive
 * the owner: if the daemon dies, no verdict changes.
 */
#ifndef CORDON_KERNEL_ENFORCEMENT_H
#define CORDON_KERNEL_ENFORCEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "bpf/abi.h"

struct enforcement;

enum enforcement_origin {
	ENFORCEMENT_LOADED,    /* this call loaded, attached and pinned it */
	ENFORCEMENT_RECOVERED, /* it was pinned already, complete and of this build */
	ENFORCEMENT_UPGRADED,  /* pinned by another build, and its programs were replaced */
};

/*
 * Reopens the pinned objects, or loads, attaches (one at a time) and pins them. If the pinned
 * objects are incomplete or of another build, they are removed first, unless an execution is live
 * under them. Packet programs are attached to the cgroup behind `cgroup_fd`, which is above the
 * cgroups of all executions.
 *
 * Returns 0. -EPERM: not root, or lockdown; -EOPNOTSUPP: the kernel lacks a feature, named in
 * `failure` with the remedy (see `cordon doctor`); -EBUSY: the enforcement of another build has
 * live executions; -ENOMEM; -errno of the failed step. On failure nothing is left attached or
 * pinned.
 */
int enforcement_open(int cgroup_fd, struct enforcement **ret_enforcement,
		     enum enforcement_origin *ret_origin, struct failure *failure);

/* Are the pinned objects complete, and of this build? The caller needs permission to read them. */
bool enforcement_is_complete(void);

/* Opens handles for a helper of the owner that outlives the owner. Returns 0, or -errno. */
int enforcement_join(struct enforcement **ret_enforcement, struct failure *failure);

/* Closes this process's handles. The enforcement stays active. */
void enforcement_close(struct enforcement *e);
DEFINE_CLEANUP(struct enforcement *, enforcement_close, enforcement_closep)

/*
 * Detaches and unpins everything, one link at a time. Takes seconds, because each detach waits for
 * RCU. Frees `e`. -EBUSY: executions are live, and `e` stays valid.
 */
int enforcement_unload(struct enforcement *e, struct failure *failure);

/* Removes pins without an owner (`cordon disable --force`, damaged state). */
int enforcement_remove_pins(struct failure *failure);

/* --- policies ----------------------------------------------------------------------------- */

/*
 * Adds a compiled policy's tables, which the caller has checked (compiled_policy.tables), beside
 * the active ones. *ret_ref names the policy until enforcement_policy_remove(). Takes an RCU grace
 * period. -ENOSPC: CORDON_MAX_POLICIES are resident; -E2BIG; -ENOMEM.
 */
int enforcement_policy_add(struct enforcement *e, const unsigned char *tables, size_t size,
			   uint64_t *ret_ref);

/*
 * Attaches the programs that these tables need besides those for every policy, unless they are
 * attached. Call before a task runs under them. Returns 0, or -errno of the failed step.
 */
int enforcement_provide(struct enforcement *e, const unsigned char *tables,
			struct failure *failure);

/*
 * The slow part of enforcement_provide(), for a process without the owner's descriptors: attaching
 * a program to a hook waits for every CPU. The owner then finds the programs attached.
 */
int enforcement_provide_hooks(const unsigned char *tables, struct failure *failure);

/*
 * Attaches the programs that check sendfile(2) and splice(2) of executions with foreign sockets,
 * unless they are attached. They cost every read and write on the host a little. Returns 0, or
 * -errno of the failed step.
 */
int enforcement_watch_sockets(struct failure *failure);

/* Call only when no execution refers to the policy. -ENOENT: not resident. */
int enforcement_policy_remove(struct enforcement *e, uint64_t ref);

/*
 * Waits until no program uses a policy reference that it read before this call. Until then, a
 * policy replaced by enforcement_set_policy() must stay. `ref`: any resident policy. -ENOENT: not
 * resident.
 */
int enforcement_policy_settle(struct enforcement *e, uint64_t ref);

/* The digest of a resident policy, for use after a recovery. -ENOENT: not resident. */
int enforcement_policy_digest(struct enforcement *e, uint64_t ref, unsigned char ret_digest[32]);

/* --- executions --------------------------------------------------------------------------- */

/*
 * Lists the System V objects that an execution has made in this process's IPC namespace and that
 * still exist. Call after the execution's tasks have exited, because they could make more. Returns
 * 0, or -errno of bpf(2).
 */
int enforcement_list_ipc(struct enforcement *e, uint32_t slot, struct cordon_ipc_list *ret_list);

/*
 * The identity of the directory behind an open descriptor of this process, determined in the
 * kernel. -ENOTDIR, -EBADF.
 */
int enforcement_identify(struct enforcement *e, int directory_fd, struct cordon_anchor *ret_anchor);

struct enforcement_binding {
	unsigned char id[16];
	uint64_t policy;				  /* from enforcement_policy_add() */
	struct cordon_anchor anchors[CORDON_MAX_ANCHORS]; /* inode 0: not bound */
	uint32_t owner_pid;
	uint64_t owner_start; /* boot clock, ns */
	uint32_t executor;    /* number of the entry for which it is kept ready, from 1; 0: none */
};

/*
 * Takes a free slot and fills it: state PREPARED, a new generation, counters zero. -EBUSY: all
 * CORDON_MAX_EXECUTIONS slots are in use.
 */
int enforcement_bind(struct enforcement *e, const struct enforcement_binding *binding,
		     uint32_t *ret_slot);

/*
 * Labels all threads of the process behind `pidfd`, and records its mount namespace. The slot
 * becomes LIVE. Children inherit the label. -ESRCH: the process has exited; -EBUSY: it has a label;
 * -ENOSPC, -ENOMEM: no room for labels.
 */
int enforcement_label(struct enforcement *e, uint32_t slot, int pidfd);

/*
 * Visits each descriptor that the labelled process behind `pidfd` keeps over an exec. The record
 * contains its kind, and the rights that the policy does not grant; `name` has record->name_length
 * bytes. A nonzero result of `visit` ends the iteration and is returned. -EBADMSG: malformed data;
 * -errno of the iterator.
 */
int enforcement_for_each_descriptor(struct enforcement *e, int pidfd,
				    int (*visit)(const struct cordon_descriptor_record *record,
						 const char *name, void *context),
				    void *context);

/* The slot in mapped memory; the kernel may change its fields at any time. NULL: out of range. */
const struct cordon_execution *enforcement_execution(struct enforcement *e, uint32_t slot);

/*
 * Swaps the policy of a live execution by one aligned write, without a system call. Each verdict is
 * by one of the two policies as a whole. The old policy must stay until
 * enforcement_policy_settle().
 */
void enforcement_set_policy(struct enforcement *e, uint32_t slot, uint64_t ref);

/* Sets the deadline, boot clock, ns; 0: none. The guard reads it from the slot. */
void enforcement_set_deadline(struct enforcement *e, uint32_t slot, uint64_t deadline);

/* Sets how many of its denials may wait for approval from now on. */
void enforcement_set_asks(struct enforcement *e, uint32_t slot, uint32_t count);

/*
 * Sets the owner of an execution's temporary files, see struct cordon_execution. Call before a task
 * runs in it.
 */
void enforcement_set_temporary_owner(struct enforcement *e, uint32_t slot, uint64_t owner);

/* Denies the calls that wait with this key, and repeated ones. Returns 0, or -errno of bpf(2). */
int enforcement_refuse_question(struct enforcement *e, uint64_t key);
bool enforcement_has_refused(struct enforcement *e, uint64_t key);

/*
 * The deadline, or the end of the grace period after a request to end, whichever is earlier; 0:
 * neither is set.
 */
static inline uint64_t enforcement_ends_by(const struct cordon_execution *view)
{
	uint64_t deadline = __atomic_load_n(&view->deadline, __ATOMIC_ACQUIRE);
	uint64_t end_by = __atomic_load_n(&view->end_by, __ATOMIC_ACQUIRE);

	return deadline == 0 || (end_by > 0 && end_by < deadline) ? end_by : deadline;
}

/*
 * Sets which allowed accesses are logged for all executions, the bound ones included, whatever
 * their policies require: CORDON_AUDIT_* levels, as in struct cordon_policy_header.
 */
void enforcement_set_audit(struct enforcement *e, uint32_t levels);

/*
 * Counts an access of a bound execution that the daemon denied, as the kernel programs do. Assigns
 * an event number, or counts the denial into an earlier event if `ret_sequence` is NULL.
 */
void enforcement_note_denial(struct enforcement *e, uint32_t slot, bool would,
			     uint64_t *ret_sequence);

/*
 * Releases a held execution once the daemon has finished its preparation. False: it is not held, or
 * is ending.
 */
bool enforcement_go_on(struct enforcement *e, uint32_t slot);

/* Binds a directory of an execution in which no task runs: one that is kept ready, or is held. */
void enforcement_bind_anchor(struct enforcement *e, uint32_t slot, unsigned int anchor,
			     const struct cordon_anchor *identity);

struct enforcement_code {
	int fd; /* descriptor of the hashed file; -1: none */
	uint64_t size;
	uint64_t changed;		   /* ctime when it was hashed, ns since the epoch */
	uint64_t names[CORDON_CODE_NAMES]; /* name_hash() of each name that may open it */
};

/*
 * Makes the kernel compare the files that an execution opens by these names with the hashed file.
 * Call before a task runs in it. The descriptor may be closed afterwards. Returns 0, or -errno of
 * bpf(2) or fstat(2).
 */
int enforcement_watch_code(struct enforcement *e, uint32_t slot,
			   const struct enforcement_code *code);

/* From here on the execution can neither fork nor exec, because it is being killed. */
void enforcement_set_ending(struct enforcement *e, uint32_t slot);

/* Frees the slot. -EBUSY: tasks still have the label. */
int enforcement_release(struct enforcement *e, uint32_t slot);

struct enforcement_killed {
	unsigned int signalled; /* processes that were not dead */
	unsigned int running;	/* of these, processes that were not exiting already */
};

/*
 * Kills (SIGKILL by pidfd) every process with the slot's label, in any cgroup. Call until the
 * slot's `tasks` is 0.
 */
int enforcement_kill(struct enforcement *e, uint32_t slot, struct enforcement_killed *ret_killed);

/*
 * Frees the slot of an ending execution even if zombies still have its label, because a parent
 * outside does not wait for them. Call once enforcement_kill() has found no process: a fork that
 * began before the end may add its child only then. -EBUSY: one of the tasks is alive; -EINVAL: it
 * is not ending; or the error of reading the list.
 */
int enforcement_retire(struct enforcement *e, uint32_t slot);

/* The label of the process behind `pidfd`; only its threads are read. -ENOENT: it has none. */
int enforcement_label_of(struct enforcement *e, int pidfd, uint32_t *ret_slot,
			 uint32_t *ret_generation);

/*
 * Visits every labelled task on the host. A nonzero result of `visit` ends the iteration and is
 * returned.
 */
int enforcement_for_each_task(struct enforcement *e,
			      int (*visit)(const struct cordon_task_record *task, void *context),
			      void *context);

/* --- hosts by name ------------------------------------------------------------------------ */

/* Sets the ports to which DNS of executions is redirected; 0: none. */
int enforcement_set_stub(struct enforcement *e, const struct cordon_stub *ports);

/* The socket that sent from this address. -ENOENT: no socket of an execution. */
int enforcement_stub_client(struct enforcement *e, const struct cordon_stub_client_key *key,
			    struct cordon_stub_client *ret_client);

/* Most addresses stored for host names, of one execution. */
#define ENFORCEMENT_HOSTS_EACH 512u

/*
 * Stores an address for a name until its expiry; key->index is chosen here. -E2BIG: no room for
 * this execution; -ENOSPC: no room at all.
 */
int enforcement_host_add(struct enforcement *e, struct cordon_host_key *key,
			 const struct cordon_host *host);

/* The name of an address at key->index, expired or not. -ENOENT: none. */
int enforcement_host_get(struct enforcement *e, const struct cordon_host_key *key,
			 struct cordon_host *ret_host);

/*
 * Examines the next `most` addresses, and removes entries that have expired or belong to ended
 * executions. True: others may remain.
 */
bool enforcement_hosts_sweep(struct enforcement *e, uint64_t now, unsigned int most);

/* --- traffic ------------------------------------------------------------------------------ */

/*
 * The traffic of an execution by destination; `ret_traffic` has room for CORDON_MAX_DESTINATIONS.
 * Returns their number, or -errno of bpf(2).
 */
int enforcement_traffic(struct enforcement *e, uint32_t slot, struct cordon_traffic *ret_traffic);

/* --- events ------------------------------------------------------------------------------- */

typedef void (*enforcement_event_handler)(const void *data, size_t size, void *context);

/* Sets the receiver of the events of both rings; once, before polling. */
int enforcement_on_event(struct enforcement *e, enforcement_event_handler handler, void *context);

/* An epoll descriptor that is readable when a ring has events. */
int enforcement_event_fd(const struct enforcement *e);

/*
 * Passes on the events in the rings without waiting, but at most `most` (at least 1), so that a
 * fast producer cannot block the caller. Returns the number of events, or -errno. `*ret_all`: these
 * are all events that were sent before the call. A result below `most` does not imply that. A
 * program may have reserved room in a ring and been interrupted before it wrote. That delays the
 * events behind it.
 */
int enforcement_drain(struct enforcement *e, unsigned int most, bool *ret_all);

/* enum cordon_counter. */
uint64_t enforcement_counter(const struct enforcement *e, unsigned int counter);

#endif
