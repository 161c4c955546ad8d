/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel in memory: all of kernel/enforcement.h and kernel/adoption.h, without BPF. It keeps the
 * promises of those headers that the daemon rests on (a slot with tasks is not released, a policy
 * that a slot refers to is not removed) and is defined in the test program, so that the linker
 * leaves the real one in its archive.
 */
#ifndef CORDON_TESTS_DAEMON_FAKE_KERNEL_H
#define CORDON_TESTS_DAEMON_FAKE_KERNEL_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/adoption.h"
#include "kernel/enforcement.h"
#include "tests/unit/daemon/fake/faults.h"

#define FAKE_POLICIES 64u
#define FAKE_EVENTS   256u
#define FAKE_NAMES    512u

/* What becomes of tasks that are killed. */
enum fake_death {
	FAKE_DIES,   /* at once */
	FAKE_LATE,   /* at the second signal */
	FAKE_ZOMBIE, /* at once, but nobody waits for it: it stays in the count, and gets no signal */
	FAKE_STUBBORN /* never */
};

struct fake_event {
	size_t size;
	unsigned char data[512];
};

struct enforcement {
	struct cordon_execution slots[CORDON_MAX_EXECUTIONS];
	uint32_t kills[CORDON_MAX_EXECUTIONS];
	enum fake_death death;
	bool exiting; /* what is left is about to end by itself */
	struct {
		uint64_t ref;
		unsigned char digest[32];
	} policies[FAKE_POLICIES];
	uint32_t policy_generation;
	struct fake_event events[FAKE_EVENTS];
	size_t event_first, event_count;
	bool writing; /* a program has taken room for one before them, and is at it */
	bool tells;   /* after the next reading, that nobody is left in the first slot */
	enforcement_event_handler handler;
	void *handler_context;
	struct cordon_ipc_list ipc;
	struct cordon_host_key host_key;
	struct cordon_host host;
	struct cordon_traffic traffic[2]; /* of whatever slot */
	int traffic_count;
	uint32_t audit;
	pid_t label_pid; /* enforcement_label_of() knows this slot's */
	uint32_t label_slot;
	uint64_t refused_question; /* the last one */
	unsigned int continued, settled, watched_sockets, denials_noted, dangling;
	/* adoption */
	struct cordon_executor executors[CORDON_MAX_EXECUTORS];
	struct cordon_adoption adoption;
	struct fake_name {
		uint32_t question, executor;
		bool whole;
		uint64_t value; /* 0 and no text: free */
		char text[CORDON_ADOPT_TEXT];
	} names[FAKE_NAMES];
	struct adoption_executor running_executor; /* the only one */
};

static struct enforcement *kernel;

static inline struct enforcement *kernel_new(void)
{
	kernel = calloc(1, sizeof(*kernel));
	return kernel;
}

static inline void kernel_free(void)
{
	free(kernel);
	kernel = NULL;
}

/* --- what programs in the kernel would do ------------------------------------------------- */

/*
 * An event of this slot, numbered as the kernel numbers it. `event` begins with a struct
 * cordon_event.
 */
static inline void kernel_emit(uint32_t slot, void *event, size_t size, uint32_t type)
{
	struct cordon_event *head = event;
	struct fake_event *to;

	head->type = type;
	head->size = (uint32_t)size;
	head->slot = slot;
	head->generation = kernel->slots[slot].generation;
	/* A question is there already. */
	if (type == CORDON_EVENT_ATTEMPT)
		head->sequence = 0;
	else if (type != CORDON_EVENT_WAITS) {
		head->sequence = ++kernel->slots[slot].sequence;
		kernel->slots[slot].emitted++;
	}
	head->policy = kernel->slots[slot].policy;
	to = &kernel->events[(kernel->event_first + kernel->event_count++) % FAKE_EVENTS];
	to->size = size;
	memcpy(to->data, event, size);
}

/* So many that reach a ring, and no daemon. */
static inline void kernel_emit_lost(uint32_t slot, unsigned int count)
{
	kernel->slots[slot].sequence += count;
	kernel->slots[slot].emitted += count;
}

/* The same with text behind its fixed part. */
static inline void kernel_emit_text(uint32_t slot, const void *event, size_t size, const char *text,
				    uint32_t type)
{
	unsigned char whole[512] = {};

	memcpy(whole, event, size);
	memcpy(whole + size, text, strlen(text));
	kernel_emit(slot, whole, size + strlen(text), type);
}

static inline size_t kernel_used_slots(void)
{
	size_t used = 0;

	for (size_t i = 0; i < CORDON_MAX_EXECUTIONS; i++)
		used += kernel->slots[i].state != CORDON_EXECUTION_FREE;
	return used;
}

static inline size_t kernel_resident_policies(void)
{
	size_t resident = 0;

	for (size_t i = 0; i < FAKE_POLICIES; i++)
		resident += kernel->policies[i].ref != 0;
	return resident;
}

/* --- the whole ---------------------------------------------------------------------------- */

int enforcement_open(int cgroup_fd, struct enforcement **ret_enforcement,
		     enum enforcement_origin *ret_origin, struct failure *failure)
{
	(void)cgroup_fd;
	(void)failure;
	FAULT_HERE();
	*ret_enforcement = kernel;
	*ret_origin = ENFORCEMENT_LOADED;
	return 0;
}

bool enforcement_is_complete(void)
{
	return true;
}

int enforcement_join(struct enforcement **ret_enforcement, struct failure *failure)
{
	(void)failure;
	FAULT_HERE();
	*ret_enforcement = kernel;
	return 0;
}

void enforcement_close(struct enforcement *e)
{
	(void)e;
}

int enforcement_unload(struct enforcement *e, struct failure *failure)
{
	(void)e;
	FAULT_HERE();
	return kernel_used_slots() ? failure_set(failure, EBUSY, "%m") : 0;
}

int enforcement_remove_pins(struct failure *failure)
{
	(void)failure;
	FAULT_HERE();
	return 0;
}

/* --- policies ----------------------------------------------------------------------------- */

static inline int kernel_find_policy(uint64_t ref)
{
	for (int i = 0; i < (int)FAKE_POLICIES; i++)
		if (ref && kernel->policies[i].ref == ref)
			return i;
	return -ENOENT;
}

int enforcement_policy_add(struct enforcement *e, const unsigned char *tables, size_t size,
			   uint64_t *ret_ref)
{
	const struct cordon_policy_header *header = (const void *)tables;

	FAULT_HERE();
	if (size < sizeof(*header))
		return -EINVAL;
	for (uint32_t i = 0; i < FAKE_POLICIES; i++) {
		if (e->policies[i].ref)
			continue;
		e->policies[i].ref = CORDON_POLICY_REF(i, ++e->policy_generation);
		memcpy(e->policies[i].digest, header->digest, sizeof(e->policies[i].digest));
		*ret_ref = e->policies[i].ref;
		return 0;
	}
	return -ENOSPC;
}

int enforcement_provide(struct enforcement *e, const unsigned char *tables, struct failure *failure)
{
	int r = faults_next(__func__);

	(void)e;
	(void)tables;
	return r < 0 ? failure_set(failure, r, "cannot be attached: %m") : 0;
}

int enforcement_provide_hooks(const unsigned char *tables, struct failure *failure)
{
	int r = faults_next(__func__);

	(void)tables;
	return r < 0 ? failure_set(failure, r, "cannot be attached: %m") : 0;
}

int enforcement_watch_sockets(struct failure *failure)
{
	int r = faults_next(__func__);

	kernel->watched_sockets++;
	return r < 0 ? failure_set(failure, r, "cannot be attached: %m") : 0;
}

int enforcement_policy_remove(struct enforcement *e, uint64_t ref)
{
	int i = kernel_find_policy(ref);

	FAULT_HERE();
	if (i < 0)
		return i;
	for (size_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++)
		if (e->slots[slot].state != CORDON_EXECUTION_FREE && e->slots[slot].policy == ref)
			e->dangling++; /* never while something refers to it */
	e->policies[i].ref = 0;
	return 0;
}

int enforcement_policy_settle(struct enforcement *e, uint64_t ref)
{
	FAULT_HERE();
	e->settled++;
	return kernel_find_policy(ref) < 0 ? -ENOENT : 0;
}

int enforcement_policy_digest(struct enforcement *e, uint64_t ref, unsigned char ret_digest[32])
{
	int i = kernel_find_policy(ref);

	FAULT_HERE();
	if (i < 0)
		return i;
	memcpy(ret_digest, e->policies[i].digest, 32);
	return 0;
}

/* --- executions --------------------------------------------------------------------------- */

int enforcement_list_ipc(struct enforcement *e, uint32_t slot, struct cordon_ipc_list *ret_list)
{
	(void)slot;
	FAULT_HERE();
	*ret_list = e->ipc;
	return 0;
}

int enforcement_identify(struct enforcement *e, int directory_fd, struct cordon_anchor *ret_anchor)
{
	struct stat st;

	(void)e;
	FAULT_HERE();
	if (fstat(directory_fd, &st) < 0)
		return -errno;
	*ret_anchor = (struct cordon_anchor){.inode = st.st_ino};
	return 0;
}

int enforcement_bind(struct enforcement *e, const struct enforcement_binding *binding,
		     uint32_t *ret_slot)
{
	FAULT_HERE();
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTIONS; i++) {
		struct cordon_execution *x = &e->slots[i];
		uint32_t generation = x->generation;

		if (x->state != CORDON_EXECUTION_FREE)
			continue;
		*x = (struct cordon_execution){
			.policy = binding->policy,
			.generation = generation + 1,
			.state = CORDON_EXECUTION_PREPARED,
			.owner_pid = binding->owner_pid,
			.owner_start = binding->owner_start,
			.executor = binding->executor,
		};
		memcpy(x->id, binding->id, sizeof(x->id));
		memcpy(x->anchors, binding->anchors, sizeof(x->anchors));
		e->kills[i] = 0;
		*ret_slot = i;
		return 0;
	}
	return -EBUSY;
}

int enforcement_label(struct enforcement *e, uint32_t slot, int pidfd)
{
	(void)pidfd;
	FAULT_HERE();
	e->slots[slot].state = CORDON_EXECUTION_LIVE;
	e->slots[slot].tasks = 1;
	return 0;
}

int enforcement_for_each_descriptor(struct enforcement *e, int pidfd,
				    int (*visit)(const struct cordon_descriptor_record *record,
						 const char *name, void *context),
				    void *context)
{
	(void)e;
	(void)pidfd;
	(void)visit;
	(void)context;
	FAULT_HERE();
	return 0;
}

const struct cordon_execution *enforcement_execution(struct enforcement *e, uint32_t slot)
{
	return slot < CORDON_MAX_EXECUTIONS ? &e->slots[slot] : NULL;
}

void enforcement_set_policy(struct enforcement *e, uint32_t slot, uint64_t ref)
{
	e->slots[slot].policy = ref;
}

void enforcement_set_deadline(struct enforcement *e, uint32_t slot, uint64_t deadline)
{
	e->slots[slot].deadline = deadline;
}

void enforcement_set_temporary_owner(struct enforcement *e, uint32_t slot, uint64_t owner)
{
	e->slots[slot].temporary_owner = owner;
}

void enforcement_set_asks(struct enforcement *e, uint32_t slot, uint32_t count)
{
	e->slots[slot].asks_left = count;
}

int enforcement_refuse_question(struct enforcement *e, uint64_t key)
{
	FAULT_HERE();
	e->refused_question = key;
	return 0;
}

bool enforcement_has_refused(struct enforcement *e, uint64_t key)
{
	return e->refused_question == key;
}

void enforcement_note_denial(struct enforcement *e, uint32_t slot, bool would,
			     uint64_t *ret_sequence)
{
	(void)would;
	e->denials_noted++;
	if (!ret_sequence)
		return;
	*ret_sequence = ++e->slots[slot].sequence;
	e->slots[slot].emitted++;
}

void enforcement_set_audit(struct enforcement *e, uint32_t levels)
{
	e->audit = levels;
}

bool enforcement_go_on(struct enforcement *e, uint32_t slot)
{
	if (e->slots[slot].state != CORDON_EXECUTION_HELD)
		return false;
	e->slots[slot].state = CORDON_EXECUTION_LIVE;
	e->continued++;
	return true;
}

void enforcement_bind_anchor(struct enforcement *e, uint32_t slot, unsigned int anchor,
			     const struct cordon_anchor *identity)
{
	e->slots[slot].anchors[anchor] = *identity;
}

int enforcement_watch_code(struct enforcement *e, uint32_t slot,
			   const struct enforcement_code *code)
{
	FAULT_HERE();
	e->slots[slot].code.watch = code->fd >= 0 ? CORDON_CODE_WATCHED : CORDON_CODE_UNWATCHED;
	return 0;
}

void enforcement_set_ending(struct enforcement *e, uint32_t slot)
{
	e->slots[slot].state = CORDON_EXECUTION_ENDING;
}

int enforcement_release(struct enforcement *e, uint32_t slot)
{
	FAULT_HERE();
	if (e->slots[slot].tasks > 0)
		return -EBUSY;
	e->slots[slot].state = CORDON_EXECUTION_FREE;
	return 0;
}

int enforcement_kill(struct enforcement *e, uint32_t slot, struct enforcement_killed *ret_killed)
{
	struct cordon_execution *x = &e->slots[slot];

	FAULT_HERE();
	*ret_killed = (struct enforcement_killed){};
	if (e->death != FAKE_ZOMBIE || e->kills[slot] == 0)
		ret_killed->signalled = (unsigned int)x->tasks;
	if (!e->exiting)
		ret_killed->running = ret_killed->signalled;
	e->kills[slot]++;
	if (e->death == FAKE_DIES || (e->death == FAKE_LATE && e->kills[slot] > 1))
		x->tasks = 0;
	return 0;
}

int enforcement_retire(struct enforcement *e, uint32_t slot)
{
	FAULT_HERE();
	if (e->slots[slot].state != CORDON_EXECUTION_ENDING)
		return -EINVAL;
	if (e->slots[slot].tasks > 0 && e->death != FAKE_ZOMBIE)
		return -EBUSY;
	e->slots[slot].state = CORDON_EXECUTION_FREE;
	e->slots[slot].tasks = 0;
	return 0;
}

int enforcement_label_of(struct enforcement *e, int pidfd, uint32_t *ret_slot,
			 uint32_t *ret_generation)
{
	(void)pidfd;
	FAULT_HERE();
	if (!e->label_pid)
		return -ENOENT;
	*ret_slot = e->label_slot;
	*ret_generation = e->slots[e->label_slot].generation;
	return 0;
}

int enforcement_for_each_task(struct enforcement *e,
			      int (*visit)(const struct cordon_task_record *task, void *context),
			      void *context)
{
	(void)e;
	(void)visit;
	(void)context;
	FAULT_HERE();
	return 0;
}

/* --- hosts by name ------------------------------------------------------------------------ */

int enforcement_set_stub(struct enforcement *e, const struct cordon_stub *ports)
{
	(void)e;
	(void)ports;
	FAULT_HERE();
	return 0;
}

int enforcement_stub_client(struct enforcement *e, const struct cordon_stub_client_key *key,
			    struct cordon_stub_client *ret_client)
{
	(void)e;
	(void)key;
	(void)ret_client;
	return -ENOENT;
}

int enforcement_host_add(struct enforcement *e, struct cordon_host_key *key,
			 const struct cordon_host *host)
{
	FAULT_HERE();
	e->host_key = *key;
	e->host = *host;
	return 0;
}

int enforcement_host_get(struct enforcement *e, const struct cordon_host_key *key,
			 struct cordon_host *ret_host)
{
	(void)key;
	(void)ret_host;
	(void)e;
	return -ENOENT;
}

bool enforcement_hosts_sweep(struct enforcement *e, uint64_t now, unsigned int most)
{
	(void)e;
	(void)now;
	(void)most;
	return false;
}

/* --- traffic ------------------------------------------------------------------------------ */

int enforcement_traffic(struct enforcement *e, uint32_t slot, struct cordon_traffic *ret_traffic)
{
	(void)slot;
	FAULT_HERE();
	memcpy(ret_traffic, e->traffic, sizeof(e->traffic));
	return e->traffic_count;
}

/* --- events ------------------------------------------------------------------------------- */

int enforcement_on_event(struct enforcement *e, enforcement_event_handler handler, void *context)
{
	FAULT_HERE();
	e->handler = handler;
	e->handler_context = context;
	return 0;
}

int enforcement_event_fd(const struct enforcement *e)
{
	(void)e;
	return -1;
}

int enforcement_drain(struct enforcement *e, unsigned int most, bool *ret_all)
{
	unsigned int done = 0;

	FAULT_HERE();
	for (; e->event_count > 0 && !e->writing && done < most; done++) {
		struct fake_event event = e->events[e->event_first];

		e->event_first = (e->event_first + 1) % FAKE_EVENTS;
		e->event_count--;
		e->handler(event.data, event.size, e->handler_context);
	}
	*ret_all = e->event_count == 0;
	if (e->tells) {
		struct cordon_event event = {};

		e->tells = false;
		kernel_emit(0, &event, sizeof(event), CORDON_EVENT_EMPTY);
	}
	return (int)done;
}

uint64_t enforcement_counter(const struct enforcement *e, unsigned int counter)
{
	(void)e;
	return counter;
}

/* --- adoption ----------------------------------------------------------------------------- */

static inline struct fake_name *kernel_name(uint32_t question, uint32_t executor, const char *text)
{
	for (size_t i = 0; i < FAKE_NAMES; i++)
		if (kernel->names[i].question == question &&
		    kernel->names[i].executor == executor &&
		    strcmp(kernel->names[i].text, text) == 0)
			return &kernel->names[i];
	return NULL;
}

int adoption_open(struct adoption **ret_adoption, struct failure *failure)
{
	(void)failure;
	FAULT_HERE();
	*ret_adoption = (struct adoption *)kernel;
	return 0;
}

void adoption_close(struct adoption *a)
{
	(void)a;
}

struct cordon_executor *adoption_entry(struct adoption *a, uint32_t index)
{
	(void)a;
	return &kernel->executors[index];
}

const struct cordon_adoption *adoption_state(const struct adoption *a)
{
	(void)a;
	return &kernel->adoption;
}

int adoption_add_name(struct adoption *a, enum cordon_adopt_question question, uint32_t executor,
		      const char *text, bool whole, uint64_t value)
{
	struct fake_name *name = kernel_name(question, executor, text);

	(void)a;
	FAULT_HERE();
	if (strlen(text) >= sizeof(name->text))
		return -ENAMETOOLONG;
	for (size_t i = 0; !name && i < FAKE_NAMES; i++)
		if (!kernel->names[i].text[0])
			name = &kernel->names[i];
	if (!name)
		return -ENOSPC;
	*name = (struct fake_name){question, executor, whole, value, ""};
	memcpy(name->text, text, strlen(text));
	return 0;
}

uint64_t adoption_whole_name(struct adoption *a, enum cordon_adopt_question question,
			     uint32_t executor, const char *text)
{
	const struct fake_name *name = kernel_name(question, executor, text);

	(void)a;
	return name && name->whole ? name->value : 0;
}

uint64_t adoption_prefix(struct adoption *a, enum cordon_adopt_question question, uint32_t executor,
			 const char *text)
{
	const struct fake_name *name = kernel_name(question, executor, text);

	(void)a;
	return name && !name->whole ? name->value : 0;
}

void adoption_remove_names(struct adoption *a, uint32_t executor)
{
	(void)a;
	for (size_t i = 0; i < FAKE_NAMES; i++)
		if (kernel->names[i].executor == executor &&
		    kernel->names[i].question != CORDON_ADOPT_EXECUTOR &&
		    kernel->names[i].question != CORDON_ADOPT_EXECUTOR_LIKE &&
		    kernel->names[i].question != CORDON_ADOPT_DIRECTORY)
			kernel->names[i] = (struct fake_name){};
}

void adoption_keep_executables(struct adoption *a, uint64_t active)
{
	(void)a;
	for (size_t i = 0; i < FAKE_NAMES; i++) {
		struct fake_name *name = &kernel->names[i];

		if (name->question != CORDON_ADOPT_EXECUTOR &&
		    name->question != CORDON_ADOPT_EXECUTOR_LIKE)
			continue;
		name->value &= active;
		if (!name->value)
			*name = (struct fake_name){};
	}
}

int adoption_list_executors(struct adoption *a, struct adoption_executor **ret_list,
			    size_t *ret_count)
{
	(void)a;
	FAULT_HERE();
	*ret_list = calloc(1, sizeof(**ret_list));
	**ret_list = kernel->running_executor;
	*ret_count = 1;
	return 0;
}

void adoption_set_root(struct adoption *a, const struct cordon_anchor *root)
{
	(void)a;
	kernel->adoption.root_inode = root->inode;
}

void adoption_switch(struct adoption *a, uint64_t active)
{
	(void)a;
	kernel->adoption.active = active;
}

void adoption_renew(struct adoption *a, uint64_t until)
{
	(void)a;
	kernel->adoption.lease = until;
}

bool adoption_offer(struct adoption *a, uint32_t index, uint32_t slot, uint32_t generation)
{
	struct cordon_executor *entry = &kernel->executors[index];

	(void)a;
	for (size_t i = 0; i < CORDON_MAX_STANDBY; i++) {
		if (entry->standby[i])
			continue;
		entry->standby[i] = CORDON_STANDBY(slot, generation);
		return true;
	}
	return false;
}

bool adoption_withdraw(struct adoption *a, uint32_t index, uint32_t slot, uint32_t generation)
{
	struct cordon_executor *entry = &kernel->executors[index];

	(void)a;
	for (size_t i = 0; i < CORDON_MAX_STANDBY; i++) {
		if (entry->standby[i] != CORDON_STANDBY(slot, generation))
			continue;
		entry->standby[i] = 0;
		return true;
	}
	return false;
}

int adoption_register(uint32_t index, pid_t pid, int pidfd, uint32_t *ret_threads,
		      uint32_t *ret_children)
{
	(void)index;
	(void)pid;
	(void)pidfd;
	FAULT_HERE();
	*ret_threads = 1;
	*ret_children = 0;
	return 0;
}

#endif
