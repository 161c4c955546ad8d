/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Every map of the enforcement, and how memory is bounded in each. */
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

/* The outcome of one question, for the verdict and for the record. */
struct answer {
	struct verdict verdict;
	__u32 missing; /* rights that were wanted and are not granted */
	__u16 rule;    /* that decided against a wanted right, or CORDON_NO_RULE */
	__u8 reason;   /* enum cordon_reason if something is missing */
	__u8 below;    /* components of the name below the innermost anchor; 0: it is below none */
};

/* Runs of the automaton that judge one name: absolute, floating, and one per anchor. */
#define NAME_RUNS  (2 + CORDON_MAX_ANCHORS)
#define RUN_SLOTS  16
#define RUN_ANCHOR 2 /* number of the first anchor's run */

struct name_run {
	__u32 state;
	__u32 depth;  /* innermost components that it is about */
	__u32 number; /* 0: absolute, 1: floating, RUN_ANCHOR + n: below anchor n */
};

/* Names of an object besides the one that was used: see every_name.bpf.h. */
struct other_names {
	__u64 once; /* struct super_block that is mounted once in the execution's namespace; 0: none known */
	__u64 used;	/* struct vfsmount of the name that was used */
	__u64 at;	/* where the search for mounts goes on, see struct mount_search */
	__u64 sequence; /* name_sequence() that all names have to be read under */
	__u64 below;	/* a sum over the states below a directory that moves, by all other names */
	__u64 from_below;
	__u32 once_mounts; /* of mount_lock, when `once` was */
	__u16 deny;	   /* by the other names */
	__u16 may_deny;
	__u32 spoken; /* rules speak of what is below one of them: see below.bpf.h */
	__u32 reserved;
};

/* The first members of struct dentry; read in one go where they stand like this. */
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
	RECALL_COUNTED = 1,  /* at the directory, whose entry has RENAMES_COUNTED */
	RECALL_COMPARED = 2, /* at the directory, whose entry has a count of rename_lock */
	RECALL_ABOVE = 3,    /* at the directory that the directory stands in: RENAMES_COUNTED */
};

/* What a climb found of the name: of other names in the same directory, it says nothing. */
#define UNSTABLE_NAME 0x1u
/* A directory of it may be moved with no hook to see that, or was being moved. */
#define UNSTABLE_MOVES 0x2u

/* Is the object in a file system that the execution has made? See elsewhere.bpf.h. */
enum own_climb {
	OWN_NOT = 0,
	OWN_PROC = 1,	/* as if it stood under /proc */
	OWN_MEMORY = 2, /* named from its root on, for the record alone */
};

/*
 * Is what the question is about its own, or free to be taken, in a directory for everybody's
 * temporary files? See temporary.bpf.h.
 */
enum temporary_place {
	TEMPORARY_NOT = 0,
	TEMPORARY_BELOW = 1,
	TEMPORARY_DIRECTLY = 2,
};

/* Following the text of a symbolic link, see special.bpf.h. */
enum link_state {
	LINK_UP = 0,	    /* nothing but ".." yet; `next`: how often it may still go up */
	LINK_DOWN = 1,	    /* below the bound directory, and going down */
	LINK_DIRECTORY = 2, /* absolute: `next`: components of the directory's name not yet read */
};

struct link_text {
	__u64 address;
	__u32 next;
	__u8 state; /* enum link_state */
	__u8 inside;
	__u16 length; /* of the component at hand */
	__u32 dots;   /* in it */
	__u32 reserved;
};

/* The last component of a name, and the directory that it stands in. */
struct leaf {
	__u64 directory;       /* struct dentry; 0: not known */
	__u64 directory_inode; /* struct inode */
	__u64 inode;	       /* struct inode; 0: the name is free */
	__u64 name;	       /* address of the bytes */
	__u32 length;
	__u32 sequence; /* of the component's dentry, before all that */
};

/* See directory_cache.bpf.h. Names below more anchors than there is room for are not remembered. */
#define DIRECTORY_STATES	4
#define DIRECTORY_CACHE_SHIFT	4
#define DIRECTORY_CACHE_ENTRIES (1u << DIRECTORY_CACHE_SHIFT)

struct directory {
	__u64 dentry; /* 0: free */
	__u64 mount;  /* struct vfsmount */
	__u64 inode;
	__u64 freed;		       /* directories_freed() of `inode` */
	__u32 state[DIRECTORY_STATES]; /* of each run, after the directory's name */
	/* what the runs say whose outcome no further component changes; their states read DEAD */
	__u16 allow;
	__u16 deny;
	__u32 renames; /* of rename_lock; RENAMES_COUNTED: the hooks see all that bear on it */
};

struct directory_cache {
	__u64 policy;  /* CORDON_POLICY_REF() */
	__u64 changes; /* directory_changes() */
	__u32 mounts;  /* mount_sequence() */
	__u32 reserved;
	struct directory entries[DIRECTORY_CACHE_ENTRIES];
};

/*
 * The last question about a socket's kind, and the last about an address, that were granted. What a
 * policy says to them depends on its tables and on these bytes, and on nothing else.
 */
#define SHORT_WORDS 3

struct short_grant {
	__u64 policy;		  /* CORDON_POLICY_REF(); 0: none */
	__u64 words[SHORT_WORDS]; /* the question; what is behind its end is not looked at */
	__u32 length;
	__u32 rights;
};

/* From one name to another: half a rename, or a link. */
struct move {
	__u64 from; /* struct dentry */
	__u64 from_mount;
	__u64 to;
	__u64 to_mount;
	__u32 wanted_from; /* rights */
	__u32 wanted_to;
	__u32 type;	 /* S_IFMT of what moves */
	__u32 temporary; /* enum temporary_place of the new name */
};

/* A file system's mounts in one namespace, one after the other: see mountless.bpf.h. */
struct mount_search {
	__u64 list; /* the file system's own link, see kernel.bpf.h */
	__u64 at; /* the last one looked at; the first link: before the first, or behind the last */
	__u64 namespace;
	__u64 found; /* struct mount; 0: none */
	__u64 whole; /* root of the file system: a mount of all of it, else the oldest; 0: the next */
};

/* An object whose mount a hook does not say: by all names that it could have. */
struct mountless_search {
	struct mount_search mounts;
	__u64 dentry;
	__u64 best; /* struct mount: the one whose name is to be on record */
	__u32 question;
	__u32 sequence; /* of mount_lock, before */
	__u32 names;	/* of the object, so far */
	__u32 complete; /* all names were asked about, or what remains changes nothing */
	__u32 reason;	/* enum cordon_reason: the object has no verdict; 0: it has */
	__u32 settled;
	__u32 allow; /* of all names */
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
	/*
	 * the question; addresses that have been through memory are plain numbers to the verifier
	 */
	__u64 dentry;
	__u64 vfsmount;
	__u32 wanted;
	__u32 flags; /* NAME_* */
	__u32 settled;
	__u32 broken;
	__u32 partial;	 /* enum recall */
	__u32 keep;	 /* the states noted may be remembered */
	__u32 reason;	 /* enum cordon_reason: there is no name; 0: there is */
	__u32 ask_until; /* boot clock, 2^20 ns; 0: not yet looked at */
	__u64 sequence;	 /* name_sequence() and directory_changes() before the climb */
	__u64 changes;
	struct leaf leaf;
	union {
		struct directory noted;
		struct link_text text; /* once the question is settled */
	};
	/* the climb */
	__u64 at;	  /* struct dentry */
	__u64 mount;	  /* struct mount */
	__u64 mount_root; /* struct dentry */
	__u32 in_proc;
	__u32 foreign;	 /* passed the procfs directory of another's process */
	__u32 climbed;	 /* enum climb_result */
	__u32 depth;	 /* components recorded */
	__u16 unstable;	 /* UNSTABLE_* */
	__u16 temporary; /* enum temporary_place */
	__u16 crossed;	 /* left the mount that the climb began on */
	__u16 covered;	 /* what stands at `at` is covered by the mount that was left last */
	__u16 ended;	 /* 1: settled, or there is no time for another attempt */
	__u16 disturbed; /* attempts, at most NAME_PATIENCE */
	__u16 unseen;	 /* no hook sees all moves in the file system of `mount` */
	__u16 own;	 /* enum own_climb */
	struct dentry_link link; /* what stands at `at` */
	/* runs of the automaton, side by side: each component is read once */
	struct matcher matcher;
	union {
		struct name_run runs[RUN_SLOTS];
		struct {
			struct name_run used[NAME_RUNS];
			/* what `noted` is, of the directory's own directory */
			struct directory above;
			/*
			 * inodes of the outermost components, outermost first, or MOUNT_POINT: see
			 * temporary.bpf.h
			 */
			__u64 passed[3];
		};
	};
	__u32 run_count;
	__u32 run;		 /* at work on the component that stands in `name` */
	__u32 going;		 /* runs whose outcome the rest of the name can still change */
	__u32 next;		 /* components that remain */
	__u32 offset;		 /* bytes done, from `slash` or `name` on */
	__u32 length;		 /* of what stands there */
	__u32 finals[NAME_RUNS]; /* states reached below a directory that moves, by run number */
	/* a rename's source, asked about before its destination */
	__u32 from_finals[NAME_RUNS];
	struct answer from;
	struct answer answer;
	struct other_names others;
	/* a question is about a move or about an object without a mount, never both */
	union {
		struct {
			struct move moves[2]; /* the second: the way back of an exchange */
			__s32 move_error;
		};
		struct mountless_search search;
	};
	union {
		/* spelling a name out for an event */
		struct {
			__u32 spelled;
			__u32 spelled_total;
		};
		/*
		 * before that, below a name that no rule mentions: the state on the way, and the
		 * first that was come to
		 */
		struct {
			__u32 way;
			__u32 beside;
		};
	};
	struct components components;
	__u8 room[6];
	__u8 code;  /* enum code_found, where the execution's code is watched */
	__u8 slash; /* '/', so that a component is one run of bytes */
	__u8 name[CORDON_NAME_MAX + 1];
	struct directory_cache directories;
	struct short_grant grants[2]; /* of START_SOCKET, of START_NET */
};

struct label {
	__u32 slot;
	__u32 generation;
};

struct labelled_task {
	struct label label; /* at 8 bytes, so that it is written and read at once */
	struct walk walk;
};

_Static_assert(CORDON_RIGHT_COUNT <= 16, "struct directory has room for 16 rights");

/*
 * Kept for each labelled task. The kernel adds what it knows it by (struct bpf_local_storage_elem
 * and the allocator's link: 80 bytes) and takes the next power of two: one page, not two.
 */
#define LABEL_OVERHEAD 96
_Static_assert(sizeof(struct labelled_task) + LABEL_OVERHEAD <= 4096,
	       "the storage of a labelled task must fit a page");

/* The label. Userspace never writes it: label.bpf.h does, from inside the kernel. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct labelled_task);
} labels SEC(".maps");

/* The process that forked this one; pid 0: it was not in an execution. */
struct forker {
	__u64 start; /* boot clock, ns */
	__u32 tgid;
	__u32 reserved;
};

struct known_task {
	struct label label;
	struct forker forker;
	__u32 user; /* whose share it is charged to */
	__u32 reserved;
};

/* What an execution has made: whose it is, and whose share it is charged to. */
struct owned {
	struct label label;
	__u32 user;
	__u32 reserved;
};

/*
 * The same label by task address. Task storage lookups can fail under preemption on older
 * kernels (bpf_task_storage_trylock() in kernel/bpf/bpf_task_storage.c); this map cannot. It also
 * answers for tasks that are known by address only. Preallocated: when it is full, fork fails.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LABELS_ALL);
	__type(key, __u64);
	__type(value, struct known_task);
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

/*
 * How many directories were about to be moved: each may have another name since. See
 * hooks/directories.bpf.h.
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

/*
 * The same for most events: a task of its own storage would pay for two pages at its first. Taken
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

/* Denials already reported a moment ago, by a hash of what was denied. */
struct recent_denial {
	__u64 reported; /* boot clock, ns */
	__u64 repeats;
};

/* Tests build with another number what must not take over from this build. */
#ifndef RECENT_DENIALS
#define RECENT_DENIALS 8192
#endif

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RECENT_DENIALS);
	__type(key, __u64);
	__type(value, struct recent_denial);
} recent_denials SEC(".maps");

/* What waits for an answer, or is not asked again: see waiting.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CORDON_MAX_QUESTIONS);
	__type(key, __u64);
	__type(value, __u32); /* enum cordon_question */
} asked_questions SEC(".maps");

/* Written by the daemon, which removes what has expired. */
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
