/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* All maps of the enforcement, with their limits. */
#ifndef CORDON_BPF_MAPS_BPF_H
#define CORDON_BPF_MAPS_BPF_H

#include "bpf/pure/matcher.h"
#include "bpf/core/share.bpf.h"
#include "bpf/pure/verdict.h"

/* The components of a resolved name, outermost last: see components.bpf.h. */
struct components {
	__u64 name[CORDON_MAX_COMPONENTS]; /* kernel addresses of the bytes */
	__u16 length[CORDON_MAX_COMPONENTS];
};

/* The outcome of one check. */
struct answer {
	struct verdict verdict;
	__u32 missing; /* requested rights that are not granted */
	__u16 rule;    /* rule that denies a requested right, or CORDON_NO_RULE */
	__u8 reason;   /* enum cordon_reason if something is missing */
	__u8 below;    /* components below the innermost bound directory; 0: below none */
};

/* Runs of the automaton on one name: absolute, floating, and one per bound directory. */
#define NAME_RUNS  (2 + CORDON_MAX_ANCHORS)
#define RUN_SLOTS  16
#define RUN_ANCHOR 2 /* number of the first bound directory's run */

struct name_run {
	__u32 state;
	__u32 depth;  /* number of innermost components that the run covers */
	__u32 number; /* 0: absolute, 1: floating, RUN_ANCHOR + n: below bound directory n */
};

/* State of the check of path aliases, see every_name.bpf.h. */
struct other_names {
	/* a struct super_block that is mounted once in the execution's namespace; 0: none known */
	__u64 once;
	__u64 used;	/* struct vfsmount of the name in the access */
	__u64 at;	/* where the search for mounts continues, see struct mount_search */
	__u64 sequence; /* name_sequence() under which all names must be read */
	__u64 below;	/* hash of the states below a directory that moves, over all other names */
	__u64 from_below;
	__u32 once_mounts; /* mount_lock sequence when `once` was set */
	__u16 deny;	   /* rights that other names deny */
	__u16 may_deny;
	__u32 spoken; /* rules apply to names below one of the names: see below.bpf.h */
	__u32 reserved;
};

/* The first members of struct dentry, read with one copy if the kernel has this layout. */
struct dentry_link {
	__u32 flags;
	__u32 sequence;
	__u64 hash_chain[2];
	__u64 parent;
	__u32 hash;
	__u32 length;
	__u64 name;
	__u64 inode;
};

/* Where an attempt starts, see directory_cache.bpf.h. */
enum recall {
	RECALL_NONE = 0,     /* at the root */
	RECALL_COUNTED = 1,  /* at the parent directory; its entry has RENAMES_COUNTED */
	RECALL_COMPARED = 2, /* at the parent directory; its entry has a rename_lock sequence */
	RECALL_ABOVE = 3,    /* at the parent's parent directory; RENAMES_COUNTED */
};

/* Reason of a path walk not to cache: the result does not apply to other names in the directory. */
#define UNSTABLE_NAME 0x1u
/* A directory of the name may move without a hook call, or was being moved. */
#define UNSTABLE_MOVES 0x2u

/* Is the object in a file system that the execution has made? See elsewhere.bpf.h. */
enum own_climb {
	OWN_NOT = 0,
	OWN_PROC = 1,	/* procfs: checked as if below /proc */
	OWN_MEMORY = 2, /* any other: named from its root on, for events only */
};

/*
 * Is the checked object in a directory for temporary files of all users, and is it the execution's
 * own, or is the name free? See temporary.bpf.h.
 */
enum temporary_place {
	TEMPORARY_NOT = 0,
	TEMPORARY_BELOW = 1,
	TEMPORARY_DIRECTLY = 2,
};

/* States while reading the text of a symbolic link, see special.bpf.h. */
enum link_state {
	LINK_UP = 0,   /* only ".." so far; `next`: how often it may still go up */
	LINK_DOWN = 1, /* below the bound directory, going down */
	/* absolute: `next`: components of the bound directory's name still to be matched */
	LINK_DIRECTORY = 2,
};

struct link_text {
	__u64 address;
	__u32 next;
	__u8 state; /* enum link_state */
	__u8 inside;
	__u16 length; /* length of the current component */
	__u32 dots;   /* dots in the current component */
	__u32 reserved;
};

/* The last component of a name, and its parent directory. */
struct leaf {
	__u64 directory;       /* struct dentry; 0: not known */
	__u64 directory_inode; /* struct inode */
	__u64 inode;	       /* struct inode; 0: the name is free */
	__u64 name;	       /* address of the bytes */
	__u32 length;
	__u32 sequence; /* sequence of the dentry, read before the other members */
};

/* See directory_cache.bpf.h. Names below more bound directories than this are not cached. */
#define DIRECTORY_STATES	4
#define DIRECTORY_CACHE_SHIFT	4
#define DIRECTORY_CACHE_ENTRIES (1u << DIRECTORY_CACHE_SHIFT)

struct directory {
	__u64 dentry; /* 0: free */
	__u64 mount;  /* struct vfsmount */
	__u64 inode;
	__u64 freed;		       /* directories_freed() of `inode` */
	__u32 state[DIRECTORY_STATES]; /* of each run, after the directory's name */
	/* outcome of the runs that no further component changes; their states are DEAD */
	__u16 allow;
	__u16 deny;
	__u32 renames; /* rename_lock sequence; RENAMES_COUNTED: hooks count all relevant moves */
};

struct directory_cache {
	__u64 policy;  /* CORDON_POLICY_REF() */
	__u64 changes; /* directory_changes() */
	__u32 mounts;  /* mount_sequence() */
	__u32 reserved;
	struct directory entries[DIRECTORY_CACHE_ENTRIES];
};

/*
 * The last check of a socket's kind and the last check of an address that were granted. Their
 * outcome depends only on the policy's tables and on these bytes.
 */
#define SHORT_WORDS 3

struct short_grant {
	__u64 policy;		  /* CORDON_POLICY_REF(); 0: none */
	__u64 words[SHORT_WORDS]; /* the key; the bytes after its end are ignored */
	__u32 length;
	__u32 rights;
};

/* See folded.bpf.h. */
#define FOLD_STATES 8

struct fold {
	__u32 state[2][FOLD_STATES]; /* before and behind a byte, by turns */
	__u32 count[2];
	__u32 at;     /* bytes done */
	__u32 member; /* states done before this byte */
	__u32 marks;  /* COMPONENT_* of the component in `name` */
	__u32 failed;
};

/* A move from one name to another: a rename in one direction, or a link. */
struct move {
	__u64 from; /* struct dentry */
	__u64 from_mount;
	__u64 to;
	__u64 to_mount;
	__u32 wanted_from; /* rights */
	__u32 wanted_to;
	__u32 type;	 /* S_IFMT bits of the object */
	__u32 temporary; /* enum temporary_place of the new name */
};

/* Iterates over a file system's mounts in one namespace: see mountless.bpf.h. */
struct mount_search {
	__u64 list; /* the file system's list link, see kernel.bpf.h */
	__u64 at;   /* the last mount examined; the first link: none yet, or the end was reached */
	__u64 namespace;
	__u64 found; /* struct mount; 0: none */
	/* root of the file system: find a mount of all of it, else the oldest; 0: find the next */
	__u64 whole;
};

/* An object in a hook without a mount: checked by all names that it could have. */
struct mountless_search {
	struct mount_search mounts;
	__u64 dentry;
	__u64 best; /* struct mount with the name for the event */
	__u32 question;
	__u32 sequence; /* mount_lock sequence, read before */
	__u32 names;	/* names found so far */
	__u32 complete; /* all names were checked, or the remaining ones change nothing */
	__u32 reason;	/* enum cordon_reason if the object has no verdict, else 0 */
	__u32 settled;
	__u32 allow; /* rights that any name allows */
	__u32 reserved;
};

/*
 * Scratch for one check at a time. It belongs to the task, because LSM programs can be preempted:
 * with a scratch per CPU, two tasks could share a verdict.
 *
 * All variables that a loop changes are here instead of on the stack, which has no room. The
 * verifier does not track the contents of maps, so that all iterations look the same to it.
 */
struct walk {
	/* the check; addresses that were stored in memory are plain numbers to the verifier */
	__u64 dentry;
	__u64 vfsmount;
	__u32 wanted;
	__u32 flags; /* NAME_* */
	__u32 settled;
	__u32 broken;
	__u32 partial;	 /* enum recall */
	__u32 keep;	 /* the noted states may be cached */
	__u32 reason;	 /* enum cordon_reason if there is no name, else 0 */
	__u32 ask_until; /* boot clock, 2^20 ns; 0: not set yet */
	__u64 sequence;	 /* name_sequence() and directory_changes() before the path walk */
	__u64 changes;
	struct leaf leaf;
	union {
		struct directory noted;
		struct link_text text; /* once the check is settled */
	};
	/* the path walk */
	__u64 at;	  /* struct dentry */
	__u64 mount;	  /* struct mount */
	__u64 mount_root; /* struct dentry */
	__u32 in_proc;
	__u32 foreign; /* 1: it passed the procfs directory of a process outside of the execution */
	__u32 climbed; /* enum climb_result */
	__u32 depth;   /* components recorded */
	__u16 unstable;	 /* UNSTABLE_* */
	__u16 temporary; /* enum temporary_place */
	__u16 crossed;	 /* 1: it left the mount where it began */
	__u16 covered;	 /* 1: the dentry in `at` is covered by the mount that was left last */
	__u16 ended;	 /* 1: settled, or no time for another attempt */
	__u16 disturbed; /* attempts so far, at most NAME_PATIENCE */
	__u16 unseen;	 /* 1: no hook sees all moves in the file system of `mount` */
	__u16 own;	 /* enum own_climb */
	struct dentry_link link; /* content of the dentry in `at` */
	/* runs of the automaton, in parallel: each component is read once */
	struct matcher matcher;
	union {
		struct name_run runs[RUN_SLOTS];
		struct {
			struct name_run used[NAME_RUNS];
			/* like `noted`, for the parent's parent directory */
			struct directory above;
			/*
			 * inodes of the outermost components, outermost first, or MOUNT_POINT: see
			 * temporary.bpf.h
			 */
			__u64 passed[3];
		};
	};
	__u32 run_count;
	__u32 run;		 /* current run on the component in `name` */
	__u32 going;		 /* runs that the rest of the name can still change */
	__u32 next;		 /* components that remain */
	__u32 offset;		 /* bytes done, from `slash` or `name` on */
	__u32 length;		 /* length of the component */
	__u32 finals[NAME_RUNS]; /* states below a directory that moves, by run number */
	/* results for a rename's source, which is checked before its destination */
	__u32 from_finals[NAME_RUNS];
	struct answer from;
	struct answer answer;
	struct other_names others;
	/* a check is of a move or of an object without a mount, never both */
	union {
		struct {
			struct move moves[2]; /* the second one: an exchange's other direction */
			__s32 move_error;
		};
		struct mountless_search search;
	};
	union {
		/* formatting the path for an event */
		struct {
			__u32 spelled;
			__u32 spelled_total;
		};
		/*
		 * before that, below a name that no rule mentions: the current state, and the first
		 * state reached
		 */
		struct {
			__u32 way;
			__u32 beside;
		};
	};
	__u32 run_end; /* runs that take the component in `name`; those behind began in it */
	__u32 forked;  /* some run became several: see folded.bpf.h */
	struct fold fold;
	struct components components;
	__u8 room[4];
	__u8 case_insensitive; /* formatting the path: a component is COMPONENT_FOLDED */
	__u8 own_terminal;     /* see own_terminals.bpf.h */
	__u8 code;	       /* enum code_found, if the execution's code is watched */
	__u8 slash;	       /* '/', so that slash and component are one sequence of bytes */
	__u8 name[CORDON_NAME_MAX + 1];
	struct directory_cache directories;
	struct short_grant grants[2]; /* for START_SOCKET and START_NET */
};

struct label {
	__u32 slot;
	__u32 generation;
};

struct labelled_task {
	struct label label; /* aligned to 8 bytes, so that it is read and written at once */
	struct walk walk;
};

_Static_assert(CORDON_RIGHT_COUNT <= 16, "struct directory has room for 16 rights");

/*
 * One per labelled task. The kernel adds 80 bytes (struct bpf_local_storage_elem and the
 * allocator's link), and rounds up to a power of two: one page, not two.
 */
#define LABEL_OVERHEAD 96
_Static_assert(sizeof(struct labelled_task) + LABEL_OVERHEAD <= 4096,
	       "the storage of a labelled task must fit a page");

/* The label. Written only by label.bpf.h, never by userspace. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct labelled_task);
} labels SEC(".maps");

/* The process that forked a process; pid 0: that one belonged to no execution. */
struct forker {
	__u64 start; /* boot clock, ns */
	__u32 tgid;
	__u32 reserved;
};

struct known_task {
	struct label label;
	struct forker forker;
	__u32 user; /* user that is charged for it */
	__u32 reserved;
};

/* Owner of an object that an execution has made: its label, and the user that is charged. */
struct owned {
	struct label label;
	__u32 user;
	__u32 reserved;
};

/*
 * The same labels by task address. On older kernels, task storage lookups can fail under preemption
 * (bpf_task_storage_trylock() in kernel/bpf/bpf_task_storage.c). This map cannot. It also serves
 * tasks that are known by address only. Preallocated: fork fails when it is full.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LABELS_ALL);
	__type(key, __u64);
	__type(value, struct known_task);
} labels_by_address SEC(".maps");

/* Scratch for the rare task without accessible storage: taken and returned atomically. */
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

/* An inner map has as many pages as its policy, so memory follows the policy's size. */
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

/*
 * Number of directory moves that were about to begin. After one, a directory may have another name.
 * See hooks/directories.bpf.h.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} changed_directories SEC(".maps");

/*
 * How many inodes of directories the kernel has freed, by a hash of the inode's address: each
 * address may belong to another directory since.
 */
#define FREED_SHIFT 12

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1u << FREED_SHIFT);
	__type(key, __u32);
	__type(value, __u64);
} freed_directories SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8u << 20);
} critical SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4u << 20);
} activity SEC(".maps");

/* An event is assembled here, then copied to a ring. Allocated at a task's first event. */
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

/*
 * Scratch for most events, because two pages per task would be allocated at its first event. Taken
 * like spare walks.
 */
#define SHARED_SCRATCHES 64u
struct shared_scratch {
	__u32 taken;
	__u32 reserved;
	struct event_scratch scratch;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SHARED_SCRATCHES);
	__type(key, __u32);
	__type(value, struct shared_scratch);
} shared_scratches SEC(".maps");

/* Denials reported within the last second, by a hash of the denial. */
struct recent_denial {
	__u64 reported; /* boot clock, ns */
	__u64 repeats;
};

/* Tests build with another value to get a build that this one must not replace. */
#ifndef RECENT_DENIALS
#define RECENT_DENIALS 8192
#endif

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RECENT_DENIALS);
	__type(key, __u64);
	__type(value, struct recent_denial);
} recent_denials SEC(".maps");

/* Denials that wait for approval, or were decided: see waiting.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CORDON_MAX_QUESTIONS);
	__type(key, __u64);
	__type(value, __u32); /* enum cordon_question */
} asked_questions SEC(".maps");

/* Written by the daemon, which removes expired entries. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CORDON_HOST_ADDRESSES);
	__type(key, struct cordon_host_key);
	__type(value, struct cordon_host);
} host_addresses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cordon_stub);
} stub SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct cordon_stub_client_key);
	__type(value, struct cordon_stub_client);
} stub_clients SEC(".maps");

/* One request at a time, made by the daemon. */
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
	__type(value, struct cordon_role_request);
} role_request SEC(".maps");

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
