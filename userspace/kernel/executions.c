/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of the executions array. Fields that the kernel programs write are not changed once LIVE.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"

#include "kernel/handle.h"
#include "kernel/traffic.h"

static struct cordon_execution *slot_at(struct enforcement *e, uint32_t slot)
{
	return slot < CORDON_MAX_EXECUTIONS ? &e->executions[slot] : NULL;
}

static uint32_t slot_state(const struct cordon_execution *execution)
{
	return __atomic_load_n(&execution->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct cordon_execution *execution, uint32_t state)
{
	__atomic_store_n(&execution->state, state, __ATOMIC_RELEASE);
}

static int find_free(struct enforcement *e, uint32_t *ret_slot)
{
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTIONS; i++) {
		uint32_t slot = (e->next_slot + i) % CORDON_MAX_EXECUTIONS;

		if (slot_state(&e->executions[slot]) == CORDON_EXECUTION_FREE) {
			e->next_slot = (slot + 1) % CORDON_MAX_EXECUTIONS;
			*ret_slot = slot;
			return 0;
		}
	}
	return -EBUSY;
}

int enforcement_bind(struct enforcement *e, const struct enforcement_binding *binding,
		     uint32_t *ret_slot)
{
	struct cordon_execution *execution;
	uint32_t slot, generation;
	int r;

	r = find_free(e, &slot);
	if (r < 0)
		return r;
	execution = &e->executions[slot];
	/* 0 marks a slot that was never used. */
	generation = execution->generation + 1;
	if (generation == 0)
		generation = 1;
	memset(execution, 0, sizeof(*execution));
	execution->generation = generation;
	execution->policy = binding->policy;
	memcpy(execution->id, binding->id, sizeof(execution->id));
	memcpy(execution->anchors, binding->anchors, sizeof(execution->anchors));
	execution->owner_pid = binding->owner_pid;
	execution->owner_start = binding->owner_start;
	execution->deadline = 0;
	execution->executor = binding->executor;
	execution->audit = e->audit;
	set_state(execution, CORDON_EXECUTION_PREPARED);
	*ret_slot = slot;
	return 0;
}

const struct cordon_execution *enforcement_execution(struct enforcement *e, uint32_t slot)
{
	return slot_at(e, slot);
}

void enforcement_set_policy(struct enforcement *e, uint32_t slot, uint64_t ref)
{
	struct cordon_execution *execution = slot_at(e, slot);

	if (execution)
		__atomic_store_n(&execution->policy, ref, __ATOMIC_RELEASE);
}

void enforcement_set_deadline(struct enforcement *e, uint32_t slot, uint64_t deadline)
{
	struct cordon_execution *execution = slot_at(e, slot);

	if (execution)
		__atomic_store_n(&execution->deadline, deadline, __ATOMIC_RELEASE);
}

void enforcement_set_asks(struct enforcement *e, uint32_t slot, uint32_t count)
{
	struct cordon_execution *execution = slot_at(e, slot);

	if (execution)
		__atomic_store_n(&execution->asks_left, count, __ATOMIC_RELEASE);
}

void enforcement_set_temporary_owner(struct enforcement *e, uint32_t slot, uint64_t owner)
{
	struct cordon_execution *execution = slot_at(e, slot);

	if (execution)
		__atomic_store_n(&execution->temporary_owner, owner, __ATOMIC_RELEASE);
}

int enforcement_refuse_question(struct enforcement *e, uint64_t key)
{
	const __u32 refused = CORDON_QUESTION_REFUSED;

	return bpf_map_update_elem(e->questions_fd, &key, &refused, BPF_ANY) < 0 ? -errno : 0;
}

bool enforcement_has_refused(struct enforcement *e, uint64_t key)
{
	__u32 answer;

	return bpf_map_lookup_elem(e->questions_fd, &key, &answer) == 0 &&
	       answer == CORDON_QUESTION_REFUSED;
}

void enforcement_set_audit(struct enforcement *e, uint32_t levels)
{
	e->audit = levels;
	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++)
		if (slot_state(&e->executions[slot]) != CORDON_EXECUTION_FREE)
			__atomic_store_n(&e->executions[slot].audit, levels, __ATOMIC_RELEASE);
}

bool enforcement_go_on(struct enforcement *e, uint32_t slot)
{
	struct cordon_execution *execution = slot_at(e, slot);
	__u32 held = CORDON_EXECUTION_HELD;

	return execution &&
	       __atomic_compare_exchange_n(&execution->state, &held, CORDON_EXECUTION_LIVE, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void enforcement_bind_anchor(struct enforcement *e, uint32_t slot, unsigned int anchor,
			     const struct cordon_anchor *identity)
{
	struct cordon_execution *execution = slot_at(e, slot);

	if (execution && anchor < CORDON_MAX_ANCHORS)
		execution->anchors[anchor] = *identity;
}

void enforcement_set_ending(struct enforcement *e, uint32_t slot)
{
	struct cordon_execution *execution = slot_at(e, slot);

	if (execution && slot_state(execution) != CORDON_EXECUTION_FREE)
		set_state(execution, CORDON_EXECUTION_ENDING);
}

int enforcement_release(struct enforcement *e, uint32_t slot)
{
	struct cordon_execution *execution = slot_at(e, slot);

	if (!execution)
		return -EINVAL;
	if (__atomic_load_n(&execution->tasks, __ATOMIC_ACQUIRE) != 0)
		return -EBUSY;
	set_state(execution, CORDON_EXECUTION_FREE);
	traffic_forget(e, slot);
	return 0;
}

static int identify(struct enforcement *e, struct cordon_identify *request)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = request, .ctx_size_in = sizeof(*request));

	return bpf_prog_test_run_opts(e->identify_fd, &options) < 0 ? -errno : request->error;
}

int enforcement_identify(struct enforcement *e, int directory_fd, struct cordon_anchor *ret_anchor)
{
	struct cordon_identify request = {.fd = directory_fd};
	int r = identify(e, &request);

	if (r < 0)
		return r;
	if (!request.directory)
		return -ENOTDIR;
	*ret_anchor = request.anchor;
	return 0;
}

int enforcement_watch_code(struct enforcement *e, uint32_t slot,
			   const struct enforcement_code *code)
{
	struct cordon_execution *execution = slot_at(e, slot);
	struct cordon_identify request = {.fd = code->fd};
	struct statx st = {};
	int r = 0;

	if (!execution)
		return -EINVAL;
	if (code->fd >= 0) {
		r = identify(e, &request);
		/* Uses the kernel's cached attributes, because the file system may not respond. */
		if (r == 0 && statx(code->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
				    STATX_SIZE | STATX_CTIME, &st) < 0)
			r = -errno;
		if (r < 0)
			return r;
		/*
		 * The kernel's own size and time, which stat(2) does not return on every file
		 * system. If the file has changed since it was hashed, store the old values, so
		 * that it stays changed.
		 */
		if (st.stx_size != code->size ||
		    (uint64_t)st.stx_ctime.tv_sec * NSEC_PER_SEC + st.stx_ctime.tv_nsec !=
			    code->changed) {
			request.file.size = code->size;
			request.file.changed = code->changed;
		}
	}
	execution->code.hashed = request.file;
	memcpy(execution->code.names, code->names, sizeof(execution->code.names));
	__atomic_store_n(&execution->code.watch, CORDON_CODE_WATCHED, __ATOMIC_RELEASE);
	return 0;
}

int enforcement_list_ipc(struct enforcement *e, uint32_t slot, struct cordon_ipc_list *ret_list)
{
	struct cordon_list_ipc request = {.slot = slot};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));
	const __u32 key = 0;

	if (slot >= CORDON_MAX_EXECUTIONS)
		return -EINVAL;
	request.generation = e->executions[slot].generation;
	if (bpf_prog_test_run_opts(e->list_ipc_fd, &options) < 0 ||
	    bpf_map_lookup_elem(e->ipc_list_fd, &key, ret_list) < 0)
		return -errno;
	return 0;
}

void enforcement_note_denial(struct enforcement *e, uint32_t slot, bool would,
			     uint64_t *ret_sequence)
{
	struct cordon_execution *execution = &e->executions[slot];

	__atomic_fetch_add(would ? &execution->would_denials : &execution->denials, 1,
			   __ATOMIC_RELAXED);
	if (!ret_sequence) {
		__atomic_fetch_add(&execution->coalesced, 1, __ATOMIC_RELAXED);
		return;
	}
	*ret_sequence = __atomic_add_fetch(&execution->sequence, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&execution->emitted, 1, __ATOMIC_RELAXED);
}
