/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel side as userspace sees it: programs and maps pinned below /sys/fs/bpf/cordon,
 * executions as slots of an array, policies as inner maps, labels, and the two event rings.
 *
 * One process at a time owns it (the daemon); the caller holds that lock. Everything pinned
 * outlives the owner: a dead daemon changes no verdict.
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
	ENFORCEMENT_UPGRADED, /* it was pinned by another build, whose programs gave way to this one's */
};

/*
 * Reopens what is pinned, or loads, attaches (serially) and pins. What is pinned but incomplete or
 * of another build is removed first if no execution lives under it, refused otherwise. All
 * executions' cgroups lie below the one behind `cgroup_fd`: the programs that see packets are
 * attached there.
 *
 * -EPERM: not root, or lockdown; -EOPNOTSUPP: the kernel lacks something (`failure` names it and
 * says
 * what to do: see `cordon doctor`); -EBUSY: another build's enforcement has live executions;
 * -ENOMEM; -errno of the step that failed. Nothing is left attached or pinned on failure.
 */
int enforcement_open(int cgroup_fd, struct enforcement **ret_enforcement,
		     enum enforcement_origin *ret_origin, struct failure *failure);

/* Is what is pinned complete, and of this build? For who may read it. */
bool enforcement_is_complete(void);

/* Handles for a helper of the owner, which outlives it. -errno. */
int enforcement_join(struct enforcement **ret_enforcement, struct failure *failure);

/* Closes this process's handles. Enforcement goes on. */
void enforcement_close(struct enforcement *e);
DEFINE_CLEANUP(struct enforcement *, enforcement_close, enforcement_closep)

/*
 * Detaches and unpins everything, one link after the other (takes seconds: each detach waits for
 * RCU). Frees `e`. -EBUSY: executions are live; e stays valid.
 */
int enforcement_unload(struct enforcement *e, struct failure *failure);

/* Removes pins without an owner (`cordon disable --force`, broken state). */
int enforcement_remove_pins(struct failure *failure);

/* --- policies ----------------------------------------------------------------------------- */

/*
 * Puts a compiled policy's tables (see compiled_policy.tables; checked by the caller) beside those
 * in force.
 * *ret_ref names it until enforcement_policy_remove(). Costs an RCU grace period.
 * -ENOSPC: CORDON_MAX_POLICIES are resident; -E2BIG; -ENOMEM.
 */
int enforcement_policy_add(struct enforcement *e, const unsigned char *tables, size_t size,
			   uint64_t *ret_ref);

/*
 * Attaches what these tables need besides what every policy needs, unless it is there. Before
 * anything runs under them. -errno of the step that failed.
 */
int enforcement_provide(struct enforcement *e, const unsigned char *tables,
			struct failure *failure);

/*
 * The part of it that takes long, by a process that has none of the owner's descriptors: attaching
 * a program to a hook waits for every processor. The owner then finds it done.
 */
int enforcement_provide_hooks(const unsigned char *tables, struct failure *failure);

/*
 * Attaches what judges sendfile(2) and splice(2) of executions with sockets that others made,
 * unless it is there. Costs every read and write of the host a little. -errno of the step that
 * failed.
 */
int enforcement_watch_sockets(struct failure *failure);

/* Only when no execution refers to it any more. -ENOENT: not resident. */
int enforcement_policy_remove(struct enforcement *e, uint64_t ref);

/*
 * Waits until no program still decides by a reference that it read before this call: until then,
 * what enforcement_set_policy() replaced must stay. `ref`: any resident policy. -ENOENT: not
 * resident.
 */
int enforcement_policy_settle(struct enforcement *e, uint64_t ref);

/* After a recovery: the digest of a resident policy. -ENOENT. */
int enforcement_policy_digest(struct enforcement *e, uint64_t ref, unsigned char ret_digest[32]);

/* --- executions --------------------------------------------------------------------------- */

/*
 * The System V objects that an execution has made in this process's IPC namespace and that exist.
 * To be asked when its tasks are gone: else there may be more a moment later. -errno of bpf(2).
 */
int enforcement_list_ipc(struct enforcement *e, uint32_t slot, struct cordon_ipc_list *ret_list);

/*
 * The identity of the directory behind an open descriptor of this process, taken inside the
 * kernel. -ENOTDIR, -EBADF.
 */
int enforcement_identify(struct enforcement *e, int directory_fd, struct cordon_anchor *ret_anchor);

struct enforcement_binding {
	unsigned char id[16];
	uint64_t policy;				  /* from enforcement_policy_add() */
	struct cordon_anchor anchors[CORDON_MAX_ANCHORS]; /* inode 0: not bound */
	uint32_t owner_pid;
	uint64_t owner_start; /* boot clock, ns */
	uint32_t executor;    /* number of the entry that it stands ready for, from 1; 0: none */
};

/*
 * Takes a free slot and fills it: PREPARED, with a fresh generation, counters zero.
 * -EBUSY: CORDON_MAX_EXECUTIONS are taken.
 */
int enforcement_bind(struct enforcement *e, const struct enforcement_binding *binding,
		     uint32_t *ret_slot);

/*
 * Labels all threads of the process behind `pidfd` and records its mount namespace; the slot
 * becomes LIVE. What they fork from then on inherits the label.
 * -ESRCH: gone; -EBUSY: carries a label already; -ENOSPC, -ENOMEM: no room for labels.
 */
int enforcement_label(struct enforcement *e, uint32_t slot, int pidfd);

/*
 * Each descriptor that the labelled process behind `pidfd` keeps over an exec, with what it is and
 * what its policy does not grant of it; `name` has record->name_length bytes. `visit` returns 0 to
 * go on, else that is returned. -EBADMSG: not what the program writes; -errno of the iterator.
 */
int enforcement_for_each_descriptor(struct enforcement *e, int pidfd,
				    int (*visit)(const struct cordon_descriptor_record *record,
						 const char *name, void *context),
				    void *context);

/*
 * The slot as the kernel counts it, mapped memory: fields change while they are read. NULL: out of
 * range.
 */
const struct cordon_execution *enforcement_execution(struct enforcement *e, uint32_t slot);

/*
 * Swaps the policy of a live execution: one aligned write, no system call. Each verdict is by one
 * of the two policies as a whole. The old one must stay until enforcement_policy_settle().
 */
void enforcement_set_policy(struct enforcement *e, uint32_t slot, uint64_t ref);

/*
 * When it is to end, on the boot clock in ns; 0: never. Whoever looks after deadlines reads it
 * there.
 */
void enforcement_set_deadline(struct enforcement *e, uint32_t slot, uint64_t deadline);

/* How many of its questions may wait for an answer from now on. */
void enforcement_set_asks(struct enforcement *e, uint32_t slot, uint32_t count);

/*
 * Whose temporary files an execution's own are, see struct cordon_execution. Nothing runs in it
 * yet.
 */
void enforcement_set_temporary_owner(struct enforcement *e, uint32_t slot, uint64_t owner);

/*
 * The answer to a question that calls wait for, or that are made again: they are refused.
 * -errno of bpf(2).
 */
int enforcement_refuse_question(struct enforcement *e, uint64_t key);
bool enforcement_has_refused(struct enforcement *e, uint64_t key);

/*
 * The earlier of that and of when the grace of one that was asked to end is over; 0: neither is
 * set.
 */
static inline uint64_t enforcement_ends_by(const struct cordon_execution *view)
{
	uint64_t deadline = __atomic_load_n(&view->deadline, __ATOMIC_ACQUIRE);
	uint64_t end_by = __atomic_load_n(&view->end_by, __ATOMIC_ACQUIRE);

	return deadline == 0 || (end_by > 0 && end_by < deadline) ? end_by : deadline;
}

/*
 * What every execution, those that are bound already included, has on record of what it is allowed,
 * whatever its policy says: CORDON_AUDIT_* levels, as in struct cordon_policy_header.
 */
void enforcement_set_audit(struct enforcement *e, uint32_t levels);

/*
 * Counts what the daemon itself has refused a bound execution, as the kernel's programs do; with a
 * number for its event, or, without `ret_sequence`, counted into an earlier one.
 */
void enforcement_note_denial(struct enforcement *e, uint32_t slot, bool would,
			     uint64_t *ret_sequence);

/*
 * The daemon has done all that comes before the first instruction. False: it is not held, or ends.
 */
bool enforcement_go_on(struct enforcement *e, uint32_t slot);

/* Names an anchor of an execution in which nothing runs: one that stands ready, or is held. */
void enforcement_bind_anchor(struct enforcement *e, uint32_t slot, unsigned int anchor,
			     const struct cordon_anchor *identity);

struct enforcement_code {
	int fd; /* of the file that was hashed; -1: there was none */
	uint64_t size;
	uint64_t changed;		   /* ctime when it was hashed, ns since the epoch */
	uint64_t names[CORDON_CODE_NAMES]; /* name_hash() of what it may be asked for by */
};

/*
 * Has what an execution opens by these names compared with what was hashed; before anything of it
 * runs. Nothing needs to stay open. -errno of bpf(2) or fstat(2).
 */
int enforcement_watch_code(struct enforcement *e, uint32_t slot,
			   const struct enforcement_code *code);

/* From here on the execution can neither fork nor exec: it is being killed. */
void enforcement_set_ending(struct enforcement *e, uint32_t slot);

/* Frees the slot. -EBUSY: tasks still carry the label. */
int enforcement_release(struct enforcement *e, uint32_t slot);

struct enforcement_killed {
	unsigned int signalled; /* processes that were not dead */
	unsigned int running;	/* those of them that were not about to end by themselves */
};

/*
 * Kills (SIGKILL by pidfd) every process that carries the slot's label, wherever it has moved to.
 * Call until the slot's `tasks` is 0.
 */
int enforcement_kill(struct enforcement *e, uint32_t slot, struct enforcement_killed *ret_killed);

/*
 * Frees the slot of an execution that is ending, though tasks carry the label that are dead:
 * zombies, which somebody outside does not wait for. Call once enforcement_kill() has found nothing
 * more, as a fork that had begun before the end may show its child only then. -EBUSY: one of them
 * is alive; -EINVAL: it is not ending; or what reading the list said.
 */
int enforcement_retire(struct enforcement *e, uint32_t slot);

/*
 * The label of the process behind `pidfd`, of whose threads alone something is read. -ENOENT: it
 * carries none.
 */
int enforcement_label_of(struct enforcement *e, int pidfd, uint32_t *ret_slot,
			 uint32_t *ret_generation);

/* Every labelled task on the host. `visit` returns 0 to go on, else that is returned. */
int enforcement_for_each_task(struct enforcement *e,
			      int (*visit)(const struct cordon_task_record *task, void *context),
			      void *context);

/* --- hosts by name ------------------------------------------------------------------------ */

/* Where DNS of executions goes; ports 0: nowhere. */
int enforcement_set_stub(struct enforcement *e, const struct cordon_stub *ports);

/* Which socket sent from this address. -ENOENT: none of an execution. */
int enforcement_stub_client(struct enforcement *e, const struct cordon_stub_client_key *key,
			    struct cordon_stub_client *ret_client);

/* Addresses that may stand for names at once, of one execution. */
#define ENFORCEMENT_HOSTS_EACH 512u

/*
 * Lets an address stand for a name until its expiry; key->index is chosen here. -E2BIG, -ENOSPC: no
 * room, for this execution or at all.
 */
int enforcement_host_add(struct enforcement *e, struct cordon_host_key *key,
			 const struct cordon_host *host);

/* What an address stands for by key->index, expired or not. -ENOENT: nothing. */
int enforcement_host_get(struct enforcement *e, const struct cordon_host_key *key,
			 struct cordon_host *ret_host);

/*
 * Looks at the next `most` of these addresses and removes what has expired or belongs to executions
 * that are no more. True: there may be others left.
 */
bool enforcement_hosts_sweep(struct enforcement *e, uint64_t now, unsigned int most);

/* --- traffic ------------------------------------------------------------------------------ */

/*
 * What an execution has sent and received, by the other end, in room for CORDON_MAX_DESTINATIONS.
 * How many there are, or -errno of bpf(2).
 */
int enforcement_traffic(struct enforcement *e, uint32_t slot, struct cordon_traffic *ret_traffic);

/* --- events ------------------------------------------------------------------------------- */

typedef void (*enforcement_event_handler)(const void *data, size_t size, void *context);

/* Who gets the events of both rings; set once, before polling. */
int enforcement_on_event(struct enforcement *e, enforcement_event_handler handler, void *context);

/* An epoll descriptor that is readable when a ring has events. */
int enforcement_event_fd(const struct enforcement *e);

/*
 * Hands over the events that are there, without waiting, but no more than `most` (at least 1):
 * whoever makes them faster than they are handled must not keep the caller from all else. Number of
 * events, or -errno. `*ret_all`: those are all that tasks have told before the call. Fewer than
 * `most` may be less than that: a program that has taken room in a ring and not written yet, its
 * processor being busy with something else, holds up what was written behind it.
 */
int enforcement_drain(struct enforcement *e, unsigned int most, bool *ret_all);

/* enum cordon_counter. */
uint64_t enforcement_counter(const struct enforcement *e, unsigned int counter);

#endif
