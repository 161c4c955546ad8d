/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Every map of the enforcement, and how memory is bounded in each. */
#ifndef CORDON_BPF_MAPS_BPF_H
#define CORDON_BPF_MAPS_BPF_H

#include "bpf/matcher.h"
#include "bpf/verdict.h"

/* One component of a resolved name, outermost last. */
struct name_component {
	__u64 name; /* kernel address of the bytes */
	__u32 length;
	__u32 self; /* 1: to be read as "self" (procfs, a process of the same execution) */
};

/* The outcome of one question, for the verdict and for the record. */
struct answer {
	struct verdict verdict;
	__u32 missing; /* rights that were wanted and are not granted */
	__u16 rule;    /* that decided against a wanted right, or CORDON_NO_RULE */
	__u8 reason;   /* enum cordon_reason if something is missing */
	__u8 reserved;
};

/* Runs of the automaton that judge one name: absolute, floating, and one per anchor. */
#define NAME_RUNS (2 + CORDON_MAX_ANCHORS)

/* From one name to another: half a rename, or a link. */
struct move {
	__u64 from; /* struct dentry */
	__u64 from_mount;
	__u64 to;
	__u64 to_mount;
	__u32 wanted_from; /* rights */
	__u32 wanted_to;
	__u32 directory;
	__u32 reserved;
};

/*
 * Scratch for one question at a time. It belongs to the task: LSM programs can be preempted, so a
 * scratch per CPU would let two tasks share a verdict.
 *
 * Everything that a loop changes stands here and not on the stack: the stack has no room, and the
 * verifier, which does not follow the contents of maps, then sees that each iteration is like
 * the one before.
 */
struct walk {
	/* the question; addresses that have been through memory are plain numbers to the verifier */
	__u64 dentry;
	__u64 vfsmount;
	__u32 wanted;
	__u32 flags; /* NAME_* */
	__u32 settled;
	__u32 broken;
	/* the climb */
	__u64 at;	  /* struct dentry */
	__u64 mount;	  /* struct mount */
	__u64 mount_root; /* struct dentry */
	__u32 in_proc;
	__u32 foreign; /* passed the procfs directory of another's process */
	__u32 climbed; /* enum climb_result */
	__u32 depth;   /* components recorded */
	__u32 reserved0;
	__u32 anchor_depth[CORDON_MAX_ANCHORS]; /* components below anchor n; ANCHOR_ABSENT */
	/* one run of the automaton */
	struct matcher matcher;
	__u32 state;
	__u32 next;		 /* components that remain */
	__u32 offset;		 /* in `name`: bytes done */
	__u32 length;		 /* of what stands there */
	__u32 slash;		 /* 1: a slash is still to follow the last component */
	__u32 finals[NAME_RUNS]; /* states reached: absolute, floating, then per anchor */
	/* a rename's source, asked about before its destination */
	__u32 from_finals[NAME_RUNS];
	struct answer from;
	struct answer answer;
	struct move moves[2]; /* the second: the way back of an exchange */
	__s32 move_error;
	/* spelling a name out for an event */
	__u32 spelled;
	__u32 spelled_total;
	struct name_component components[CORDON_MAX_COMPONENTS];
	__u8 name[CORDON_NAME_MAX + 1] __attribute__((aligned(8)));
};

#define ANCHOR_ABSENT 0xffffffffu

struct label {
	__u32 slot;
	__u32 generation;
};

struct labelled_task {
	struct label label;
	struct walk walk;
};

/* The label. Userspace never writes it: label.bpf.h does, from inside the kernel. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct labelled_task);
} labels SEC(".maps");

/*
 * The same label by task address. Task storage lookups can fail under preemption on older
 * kernels (bpf_task_storage_trylock() in kernel/bpf/bpf_task_storage.c); this map cannot. It also
 * answers for tasks that are known by address only. Preallocated: when it is full, fork fails.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CORDON_MAX_LABELS);
	__type(key, __u64);
	__type(value, struct label);
} labels_by_address SEC(".maps");

/* For the rare walk whose task storage could not be had: taken and given back atomically. */
#define SPARE_WALKS 64u
struct spare_walk {
	__u32 taken;
	__u32 reserved;
	struct walk walk;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPARE_WALKS);
	__type(key, __u32);
	__type(value, struct spare_walk);
} spare_walks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CORDON_MAX_EXECUTIONS);
	__type(key, __u32);
	__type(value, struct cordon_execution);
} executions SEC(".maps");

struct policy_page {
	__u8 bytes[CORDON_PAGE_SIZE];
};

/* Inner maps have as many pages as their policy: memory follows the policy's size. */
struct policy_pages {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct policy_page));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CORDON_MAX_POLICIES);
	__uint(key_size, sizeof(__u32));
	__array(values, struct policy_pages);
} policies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CORDON_COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8u << 20);
} critical SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4u << 20);
} activity SEC(".maps");

/* Events are put together here, then copied to a ring. Made at a task's first event. */
struct event_scratch {
	__u8 header[sizeof(struct cordon_denial_event)];
	__u8 data[CORDON_EVENT_LARGE + CORDON_NAME_MAX + 1];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct event_scratch);
} event_scratches SEC(".maps");

/* Denials already reported a moment ago, by a hash of what was denied. */
struct recent_denial {
	__u64 reported; /* boot clock, ns */
	__u64 repeats;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct recent_denial);
} recent_denials SEC(".maps");

/* One request at a time, from the one process that owns the enforcement. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cordon_label_request);
} label_request SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cordon_meta);
} meta SEC(".maps");

static __always_inline void count(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		__sync_fetch_and_add(value, 1);
}

#endif
