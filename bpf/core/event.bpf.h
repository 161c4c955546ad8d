/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Events for userspace. They cannot change a verdict: an event that cannot be sent is counted.
 *
 * Sequence numbers are assigned here, so that userspace detects every gap. Identical denials within
 * a second are counted instead of sent. Each execution has a budget of events per second, so that
 * it cannot displace the records of others.
 */
#ifndef CORDON_BPF_EVENT_BPF_H
#define CORDON_BPF_EVENT_BPF_H

#include "bpf/core/path.bpf.h"

#define NSEC_PER_SEC	  1000000000ull
#define EVENTS_PER_SECOND 2000ull
/* In observe mode, the start of one program alone causes hundreds of events. */
#define OBSERVED_EVENTS_PER_SECOND 20000ull
/* Per kind and execution: the rings hold 8 and 4 MiB for all executions. */
#define BYTES_PER_SECOND	  (1ull << 20)
#define OBSERVED_BYTES_PER_SECOND (8ull << 20)
#define RULE_EVENTS_PER_SECOND	  32u

/* The object of an event, besides the name in the subject's walk. */
struct object {
	__u32 kind;   /* enum cordon_object_kind */
	__u32 length; /* bytes in walk->name of a short key; unused for paths */
	__u64 number; /* CORDON_OBJECT_NUMBER, and the id for coalescing */
	struct cordon_process_object process;
};

static __always_inline struct event_scratch *event_scratch(void)
{
	return bpf_task_storage_get(&event_scratches, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/*
 * Takes scratch for an event. Returns NULL if none is available. The caller returns it with
 * put_scratch(*ret_shared).
 */
static __always_inline struct event_scratch *take_scratch(struct shared_scratch **ret_shared)
{
	__u32 start = bpf_get_smp_processor_id();

	for (__u32 i = 0; i < 4; i++) {
		__u32 key = (start + i) & (SHARED_SCRATCHES - 1);
		struct shared_scratch *shared = bpf_map_lookup_elem(&shared_scratches, &key);

		if (shared && __sync_val_compare_and_swap(&shared->taken, 0, 1) == 0) {
			*ret_shared = shared;
			return &shared->scratch;
		}
	}
	*ret_shared = 0;
	return event_scratch();
}

/* If no scratch is available, counts a lost critical event of the execution. */
static __always_inline struct event_scratch *
take_scratch_or_drop(struct cordon_execution *execution, struct shared_scratch **ret_shared)
{
	struct event_scratch *scratch = take_scratch(ret_shared);

	if (!scratch) {
		__sync_fetch_and_add(&execution->dropped, 1);
		count(CORDON_COUNTER_CRITICAL_DROPPED);
	}
	return scratch;
}

static __always_inline void put_scratch(struct shared_scratch *shared)
{
	if (shared)
		__sync_val_compare_and_swap(&shared->taken, 1, 0);
}

/* In observe mode nothing is denied, and all would-be denials are logged. */
static __always_inline bool observes(const struct subject *s)
{
	return s->policy->flags & CORDON_POLICY_OBSERVE;
}

/*
 * Is there room in this second's budget? The window restarts at the first event after its end.
 * Bytes are charged after the event is built: charge_bytes().
 */
static __always_inline bool has_budget(struct cordon_execution *execution, bool observed, __u64 now,
				       enum cordon_budget kind)
{
	struct cordon_event_window *window = &execution->windows[kind];
	__u64 events = observed ? OBSERVED_EVENTS_PER_SECOND : EVENTS_PER_SECOND;
	__u64 bytes = observed ? OBSERVED_BYTES_PER_SECOND : BYTES_PER_SECOND;

	if (now - window->start >= NSEC_PER_SEC) {
		window->start = now;
		window->events = 0;
		window->bytes = 0;
	}
	if (__sync_fetch_and_add(&window->events, 1) < events && window->bytes < bytes)
		return true;
	__sync_fetch_and_add(&execution->limited, 1);
	return false;
}

static __always_inline void charge_bytes(struct cordon_execution *execution,
					 enum cordon_budget kind, __u32 size)
{
	__sync_fetch_and_add(&execution->windows[kind].bytes, size);
}

/*
 * Denials by a rule have a budget for each rule, so that other denials do not displace them. Above
 * it, they use the common budget.
 */
static __always_inline bool has_rule_budget(struct cordon_execution *execution, __u16 rule,
					    __u64 now)
{
	__u8 *events = &execution->rule_events[rule & (CORDON_RULE_BUDGETS - 1)];

	if (now - execution->rule_window >= NSEC_PER_SEC) {
		execution->rule_window = now;
		__builtin_memset(execution->rule_events, 0, sizeof(execution->rule_events));
	}
	if (*events >= RULE_EVENTS_PER_SECOND)
		return false;
	*events += 1;
	return true;
}

static __always_inline bool may_report_denial(struct cordon_execution *execution, bool observed,
					      __u16 rule, __u8 reason, __u64 now)
{
	return (reason == CORDON_REASON_RULE && has_rule_budget(execution, rule, now)) ||
	       has_budget(execution, observed, now, CORDON_BUDGET_ACCESS);
}

static __always_inline bool within_budget(const struct subject *s, __u64 now,
					  enum cordon_budget kind)
{
	return has_budget(s->execution, observes(s), now, kind);
}

/*
 * Reports the forker as the parent, even if the process was reparented since, or was created with
 * CLONE_PARENT. The forker is responsible for the process.
 */
static __always_inline void fill_parent(struct cordon_event *event)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	__u64 address = (__u64)bpf_get_current_task_btf();
	const struct known_task *known = bpf_map_lookup_elem(&labels_by_address, &address);
	__u32 tgid = known ? known->forker.tgid : 0;
	__u64 start = known ? known->forker.start : 0;

	/* Keeps the compiler from merging loads through map pointers and kernel pointers. */
	barrier_var(tgid);
	barrier_var(start);
	if (!tgid) {
		tgid = task->real_parent->tgid;
		start = task->real_parent->group_leader->start_boottime;
	}
	event->parent_tgid = tgid;
	event->parent_start = start;
}

static __always_inline void fill_process(struct cordon_event *event)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	__u64 ids = bpf_get_current_uid_gid();

	event->tgid = task->tgid;
	event->tid = task->pid;
	event->uid = (__u32)ids;
	event->gid = (__u32)(ids >> 32);
	event->process_start = task->group_leader->start_boottime;
	fill_parent(event);
	bpf_get_current_comm(event->comm, sizeof(event->comm));
}

/* For events that may make no record: a sequence number would leave a gap. */
static __always_inline void fill_unnumbered(struct cordon_event *event, const struct label *label,
					    __u64 policy, __u32 type, __u32 size, __u64 now)
{
	event->type = type;
	event->size = size;
	event->slot = label->slot;
	event->generation = label->generation;
	event->sequence = 0;
	event->time = now;
	event->policy = policy;
	event->reserved = 0;
}

static __always_inline void fill_event(struct cordon_event *event, const struct label *label,
				       struct cordon_execution *execution, __u32 type, __u32 size,
				       __u64 now)
{
	fill_unnumbered(event, label, execution->policy, type, size, now);
	event->sequence = __sync_fetch_and_add(&execution->sequence, 1) + 1;
}

static __always_inline void note_sent(struct cordon_execution *execution, long error,
				      __u32 drop_counter)
{
	if (error) {
		__sync_fetch_and_add(&execution->dropped, 1);
		count(drop_counter);
	} else {
		__sync_fetch_and_add(&execution->emitted, 1);
	}
}

struct spelling {
	struct walk *walk;
	__u8 *data; /* CORDON_EVENT_LARGE bytes, followed by room for one name */
};

static long spell_component(__u32 index, void *context)
{
	struct spelling *spelling = context;
	struct walk *walk = spelling->walk;
	__u32 at = walk->spelled, length;
	__u64 name;

	if (walk->next == 0)
		return 1;
	walk->next--;
	name = component_name(walk, walk->next);
	length = component_length(walk, walk->next) & CORDON_NAME_MAX;
	if (component_marks(walk, walk->next) & COMPONENT_FOLDED)
		walk->case_insensitive = 1;
	walk->spelled_total += 1 + length;
	if (at >= CORDON_EVENT_LARGE - 1)
		return 0;
	spelling->data[at] = '/';
	if (bpf_probe_read_kernel(spelling->data + at + 1, length, (const void *)name))
		return 1;
	at += 1 + length;
	walk->spelled = at < CORDON_EVENT_LARGE ? at : CORDON_EVENT_LARGE;
	return 0;
}

/* CORDON_OBJECT_* flags in the upper bits of a path's length. */
#define SPELLED_SHIFT		 28
#define SPELLED_MOVED		 ((__u32)CORDON_OBJECT_MOVED << SPELLED_SHIFT)
#define SPELLED_TEMPORARY	 ((__u32)CORDON_OBJECT_TEMPORARY << SPELLED_SHIFT)
#define SPELLED_OWN_TERMINAL	 ((__u32)CORDON_OBJECT_OWN_TERMINAL << SPELLED_SHIFT)
#define SPELLED_CASE_INSENSITIVE ((__u32)CORDON_OBJECT_CASE_INSENSITIVE << SPELLED_SHIFT)
#define SPELLED_LENGTH		 ((1u << SPELLED_SHIFT) - 1)

/*
 * Formats the resolved path. A directory to be listed gets a trailing slash, as in the check.
 * Returns the bytes written. *ret_total is the full length. It includes SPELLED_MOVED if the text
 * may differ from the checked name, because it is read from the kernel's current names.
 */
static __noinline __u32 spell_path(struct walk *walk, __u8 *data, __u32 *ret_total)
{
	struct spelling spelling = {.walk = walk, .data = data};

	walk->next = walk->depth;
	walk->spelled = 0;
	walk->spelled_total = 0;
	walk->case_insensitive = 0;
	bpf_loop(CORDON_MAX_COMPONENTS, spell_component, &spelling, 0);
	if (walk->spelled == 0) {
		data[0] = '/';
		walk->spelled = 1;
		walk->spelled_total = 1;
	} else if (walk->flags & NAME_LISTING) {
		__u32 at = walk->spelled;

		if (at < CORDON_EVENT_LARGE) {
			data[at] = '/';
			walk->spelled = at + 1;
		}
		walk->spelled_total++;
	}
	if (name_sequence() != walk->sequence)
		walk->spelled_total |= SPELLED_MOVED;
	if (walk->temporary)
		walk->spelled_total |= SPELLED_TEMPORARY;
	if (walk->own_terminal)
		walk->spelled_total |= SPELLED_OWN_TERMINAL;
	if (walk->case_insensitive)
		walk->spelled_total |= SPELLED_CASE_INSENSITIVE;
	/* Stored through memory, so that the verifier checks the following code once. */
	barrier();
	*ret_total = walk->spelled_total;
	return walk->spelled;
}

/* Writes the object after an event's fixed part. Returns its length. */
static __always_inline __u32 fill_object(struct walk *walk, const struct object *object, __u8 *data,
					 __u32 *ret_total)
{
	__u32 length;

	switch (object->kind) {
	case CORDON_OBJECT_PATH:
		if (!walk)
			break;
		return spell_path(walk, data, ret_total);
	case CORDON_OBJECT_SPECIAL:
	case CORDON_OBJECT_NET:
	case CORDON_OBJECT_SOCKET:
	case CORDON_OBJECT_ABSTRACT:
		if (!walk)
			break;
		length = object->length & CORDON_NAME_MAX;
		bpf_probe_read_kernel(data, length, walk->name);
		*ret_total = length;
		return length;
	case CORDON_OBJECT_NUMBER:
		*(__u64 *)data = object->number;
		*ret_total = 8;
		return 8;
	case CORDON_OBJECT_PROCESS:
		*(struct cordon_process_object *)data = object->process;
		*ret_total = sizeof(object->process);
		return sizeof(object->process);
	}
	*ret_total = 0;
	return 0;
}

/*
 * Uses both multipliers of MurmurHash3's finalizer. The hash is spread before the value is mixed
 * in: otherwise two small numbers, such as slot and generation, would cancel out.
 */
static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash *= 0xc4ceb9fe1a85ec53ull;
	hash ^= hash >> 32;
	hash ^= value;
	hash *= 0xff51afd7ed558ccdull;
	return hash ^ hash >> 33;
}

/*
 * Counts the denial into an earlier event if an identical one was sent within the last second.
 * *ret_repeats: denials counted since that event.
 */
static __always_inline bool is_repeated(__u64 key, __u64 now, __u32 *ret_repeats)
{
	struct recent_denial *recent = bpf_map_lookup_elem(&recent_denials, &key);

	*ret_repeats = 0;
	if (recent && now - recent->reported < NSEC_PER_SEC) {
		__sync_fetch_and_add(&recent->repeats, 1);
		return true;
	}
	if (recent) {
		*ret_repeats = (__u32)recent->repeats;
		recent->repeats = 0;
		recent->reported = now;
	} else {
		struct recent_denial fresh = {.reported = now};

		bpf_map_update_elem(&recent_denials, &key, &fresh, BPF_ANY);
	}
	return false;
}

static __always_inline bool coalesce(struct cordon_execution *execution, __u64 key, __u64 now,
				     __u32 *ret_repeats)
{
	if (!is_repeated(key, now, ret_repeats))
		return false;
	__sync_fetch_and_add(&execution->coalesced, 1);
	return true;
}

/*
 * Identifies a name besides the dentry's address, because freed dentries are reused soon, in /proc
 * at once. Hashes the name and its parent's name.
 */
static __always_inline __u64 name_hash(__u64 dentry)
{
	__u64 parent = read_u64(FIELD(struct dentry, dentry, d_parent));

	return mix(read_u64(FIELD(struct dentry, dentry, d_name.hash_len)),
		   read_u64(FIELD(struct dentry, parent, d_name.hash_len)));
}

/* Data of one event. Without padding, so that the whole struct can be passed on. */
struct report {
	__u64 policy; /* policy of the check: another one may be active now */
	struct label label;
	__u64 identity; /* of the object, for coalescing */
	struct object object;
	__u32 type; /* of the event */
	__u32 operation;
	__u32 rights;
	__s32 error;
	__u16 rule;
	__u8 reason;
	__u8 would;
	__u32 observed;
};

static __always_inline void fill_report(struct report *report, const struct subject *s,
					__u32 operation, const struct object *object,
					const struct answer *answer)
{
	report->policy = s->policy_ref;
	report->label = s->label;
	report->identity = 0;
	report->object = *object;
	report->type = 0;
	report->operation = operation;
	report->rights = answer->missing;
	report->error = 0;
	report->rule = answer->rule;
	report->reason = answer->reason;
	report->would = 0;
	report->observed = observes(s);
}

/* Equal for identical denials. `walk` is NULL if none was available. */
static __always_inline __u64 refusal_hash(const struct walk *walk, const struct report *r)
{
	__u64 hash = mix(r->label.slot, r->label.generation);

	hash = mix(hash, (__u64)r->operation << 32 | r->rights);
	hash = mix(hash, r->identity);
	if (r->object.kind == CORDON_OBJECT_PATH && walk)
		hash = mix(hash, name_hash(walk->dentry));
	return hash;
}

/* Returns the size of the whole event. The caller fills in its common part. */
static __always_inline __u32 fill_refusal(struct walk *walk, struct event_scratch *scratch,
					  const struct report *r)
{
	struct cordon_denial_event *event = (struct cordon_denial_event *)scratch->header;
	__u32 total = 0, length; /* `total`: with SPELLED_* flags */

	length = fill_object(walk, &r->object, scratch->data, &total);
	fill_process(&event->event);
	event->operation = r->operation;
	event->rights = r->rights;
	event->error = r->error;
	event->rule = r->rule;
	event->reason = r->reason;
	event->would = r->would;
	event->object_kind = r->object.kind;
	event->object_flags = total >> SPELLED_SHIFT;
	event->object_length = length;
	event->object_total = total & SPELLED_LENGTH;
	event->repeats = 0;
	length &= 2 * CORDON_EVENT_LARGE - 1;
	if (length > CORDON_EVENT_LARGE)
		length = CORDON_EVENT_LARGE;
	return sizeof(*event) + length;
}

STUB int report_denial(struct walk *walk, struct cordon_execution *execution,
		       const struct report *r)
{
	if (execution)
		__sync_fetch_and_add(&execution->dropped, 1);
	return 0;
}

__noinline int report_denial_body(struct walk *walk, struct cordon_execution *execution,
				  const struct report *r)
{
	struct cordon_denial_event *event;
	struct shared_scratch *shared;
	struct event_scratch *scratch;
	__u64 now = bpf_ktime_get_boot_ns(), key;
	__u32 repeats, size;

	if (!execution || !r)
		return 0;
	/* Denials under different policies are not coalesced. */
	key = mix(refusal_hash(walk, r), r->policy);
	if (coalesce(execution, key, now, &repeats))
		return 0;
	if (!may_report_denial(execution, r->observed, r->rule, r->reason, now))
		return 0;
	scratch = take_scratch_or_drop(execution, &shared);
	if (!scratch)
		return 0;
	size = fill_refusal(walk, scratch, r);
	charge_bytes(execution, CORDON_BUDGET_ACCESS, size);
	event = (struct cordon_denial_event *)scratch->header;
	fill_event(&event->event, &r->label, execution, CORDON_EVENT_DENIAL, size, now);
	event->event.policy = r->policy;
	event->repeats = repeats;
	note_sent(execution, bpf_ringbuf_output(&critical, scratch, size, 0),
		  CORDON_COUNTER_CRITICAL_DROPPED);
	put_scratch(shared);
	return 0;
}

/* Logs an allowed access that the policy requires to be logged. */
STUB int report_access(struct walk *walk, struct cordon_execution *execution,
		       const struct report *r)
{
	if (execution)
		__sync_fetch_and_add(&execution->dropped, 1);
	return 0;
}

__noinline int report_access_body(struct walk *walk, struct cordon_execution *execution,
				  const struct report *r)
{
	struct cordon_access_event *event;
	struct shared_scratch *shared;
	struct event_scratch *scratch;
	__u64 now = bpf_ktime_get_boot_ns();
	__u32 length, total = 0;

	if (!execution || !r || !has_budget(execution, r->observed, now, CORDON_BUDGET_ACCESS))
		return 0;
	scratch = take_scratch(&shared);
	if (!scratch) {
		__sync_fetch_and_add(&execution->dropped, 1);
		count(CORDON_COUNTER_ACTIVITY_DROPPED);
		return 0;
	}
	/* `data` must follow the smaller header directly, so the header starts later. */
	length = fill_object(walk, &r->object, scratch->data, &total);
	event = (struct cordon_access_event *)(scratch->header + sizeof(scratch->header) -
					       sizeof(*event));
	fill_process(&event->event);
	fill_event(&event->event, &r->label, execution, r->type, sizeof(*event) + length, now);
	event->event.policy = r->policy;
	event->operation = r->operation;
	event->rights = r->rights;
	event->rule = r->rule;
	event->reserved = 0;
	event->object_kind = r->object.kind;
	event->object_flags = total >> SPELLED_SHIFT;
	event->object_length = length;
	event->object_total = total & SPELLED_LENGTH;
	length &= 2 * CORDON_EVENT_LARGE - 1;
	if (length > CORDON_EVENT_LARGE)
		length = CORDON_EVENT_LARGE;
	charge_bytes(execution, CORDON_BUDGET_ACCESS, sizeof(*event) + length);
	note_sent(execution, bpf_ringbuf_output(&activity, event, sizeof(*event) + length, 0),
		  CORDON_COUNTER_ACTIVITY_DROPPED);
	put_scratch(shared);
	return 0;
}

#endif
