/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Everything the kernel programs and userspace share: rights, the layout of a
 * compiled policy, executions, events and control requests.
 *
 * Fixed widths, explicit padding, little endian (both sides run on one host).
 * Every struct's size is asserted below by both compilers.
 */
#ifndef CORDON_BPF_ABI_H
#define CORDON_BPF_ABI_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define CORDON_ABI_VERSION 12u

/* Capacity. Arrays of these sizes are allocated once, when cordon is loaded. */
#define CORDON_MAX_EXECUTIONS	  16384u
#define CORDON_MAX_POLICIES	  1024u
#define CORDON_MAX_LABELS	  65536u
#define CORDON_MAX_TASKS	  8192u /* of one execution */
#define CORDON_MAX_IPC		  128u	/* System V objects of one execution */
#define CORDON_MAX_NET_NAMESPACES 256u	/* of one user, all executions and others together */
#define CORDON_MAX_WATCHERS	  32u	/* instances of inotify and fanotify; a user has 128 */
#define CORDON_MAX_ANCHORS	  8u
#define CORDON_MAX_COMPONENTS	  128u
#define CORDON_NAME_MAX		  255u

/* ------------------------------------------------------------------------------------------
 * Rights: bit numbers in every allow and deny mask.
 * ------------------------------------------------------------------------------------------ */
enum cordon_right {
	/* files; a directory is listed by READ on its name with a trailing slash */
	CORDON_READ = 0,
	CORDON_WRITE = 1,  /* content, size, mode, owner, times, extended attributes */
	CORDON_CREATE = 2, /* any new name: file, directory, link, node, rename target */
	CORDON_DELETE = 3, /* any name taken away: unlink, rmdir, rename source */
	CORDON_METADATA = 4,
	/* exec */
	CORDON_RUN = 5, /* program, script and each interpreter level */
	CORDON_MAP = 6, /* executable mapping, the program loader included */
	/* unix sockets, by path or abstract name */
	CORDON_UNIX_CONNECT = 7, /* stream connect and datagram send */
	CORDON_UNIX_BIND = 8,	 /* abstract names; a path needs CREATE instead */
	/* internet */
	CORDON_NET_CONNECT = 9, /* connect and every send that names a destination */
	CORDON_NET_BIND = 10,
	CORDON_NET_LISTEN = 11,
	/* any socket, by family, type and protocol */
	CORDON_SOCKET = 12,
	/* with NET_CONNECT: though the address is the host's own, or everybody's on a link */
	CORDON_NET_HOST = 13,
	/*
	 * files, under CORDON_POLICY_SPECIAL: a new name may be a symbolic link that leads out, a
	 * FIFO, a socket
	 */
	CORDON_SPECIAL = 14,
	/* with WRITE: the file has further names that the execution did not make */
	CORDON_LINKS = 15,
	CORDON_RIGHT_COUNT = 16,
};

#define CORDON_RIGHT(r)	   (1u << (r))
#define CORDON_RIGHT_SLOTS 16
#define CORDON_FILE_RIGHTS 0xc01fu
#define CORDON_EXEC_RIGHTS 0x60u
#define CORDON_UNIX_RIGHTS 0x180u
#define CORDON_NET_RIGHTS  0xe00u
/* What a name says of the object itself, whatever it is. */
#define CORDON_NAMED_RIGHTS                                                                        \
	((CORDON_FILE_RIGHTS & ~CORDON_RIGHT(CORDON_SPECIAL)) | CORDON_EXEC_RIGHTS |               \
	 CORDON_UNIX_RIGHTS)

/* ------------------------------------------------------------------------------------------
 * A compiled policy: one automaton over byte strings, in pages of equal size that become the
 * elements of one inner array map. No object straddles a page: every section starts on a
 * multiple of its element size and CORDON_PAGE_SIZE is a multiple of every element size.
 *
 * Questions and their start states:
 *   START_PATH      "/usr/bin/python3"; a directory to be listed: "/usr/lib/"; and the special
 *                   objects "@anonymous" (executable memory without a file), "@memfd" (memory
 *                   and deleted files). In procfs the directory of a process of the same
 *                   execution is spelled "self".
 *   START_NET       family (4 or 6), protocol (IPPROTO_*), address (4 or 16 bytes, network
 *                   order), port (2 bytes, network order). IPv4-mapped IPv6 is asked as IPv4.
 *                   For a host by name the family is NET_NAME, and the name stands for the
 *                   address: its labels from the last to the first with '/' between them, and
 *                   a NUL.
 *   START_SOCKET    family (AF_*), type (SOCK_*), protocol (2 bytes, network order; for
 *                   internet stream and datagram sockets 0 is asked as TCP or UDP)
 *   START_ABSTRACT  an abstract unix name without its leading NUL
 *   START_FLOATING  the same question as START_PATH, asked of the rules that may match at any depth
 *                   ("** /x" without the blank); apart, because in one automaton with the others
 *                   each region of an allow rule would need its own copy of them
 *   START_ANCHOR+n  what follows anchor n: "" for the anchor itself as a name, "/" for listing
 *                   it, "/a/b" below it
 * ------------------------------------------------------------------------------------------ */
#define CORDON_PAGE_SIZE      262144u
#define CORDON_PAGE_SHIFT     18
#define CORDON_POLICY_MAGIC   0x31706463u /* "cdp1" */
#define CORDON_POLICY_VERSION 1u
#define CORDON_MAX_PAGES      1024u

#define CORDON_NET_NAME 1u

enum cordon_start {
	CORDON_START_PATH = 0,
	CORDON_START_NET = 1,
	CORDON_START_SOCKET = 2,
	CORDON_START_ABSTRACT = 3,
	CORDON_START_FLOATING = 4,
	CORDON_START_ANCHOR = 5,
	CORDON_START_COUNT = 5 + CORDON_MAX_ANCHORS,
};
#define CORDON_START_SLOTS 16

/*
 * Transitions are packed by row displacement (Tarjan and Yao 1979): the edge for byte b of
 * state s is edges[states[s].base + b] if its `check` equals s, otherwise states[s].otherwise.
 * base + 255 is always inside the edge array. The top bit of a state reference says that no
 * further byte changes the outcome: the walk may stop there. State 0 is the dead state: absorbing,
 * nothing allowed, nothing denied.
 */
#define CORDON_ABSORBING  0x80000000u
#define CORDON_STATE_MASK 0x7fffffffu
#define CORDON_STATE_DEAD (0u | CORDON_ABSORBING)

struct cordon_state {
	__u32 base;
	__u32 otherwise; /* state reference */
};

struct cordon_edge {
	__u32 check; /* state number; 0xffffffff in unused entries */
	__u32 next;  /* state reference */
};

/*
 * What a state decides. `verdict` is for a name that ends here; the three masks speak of all
 * strings that continue from here (the empty one included) and settle whether moving a whole
 * directory could grant more, or bring what may not be made: may_allow is allowed for at least one
 * of them, must_allow for all of them, may_deny denied for at least one.
 */
struct cordon_final {
	__u32 verdict; /* index into the verdicts */
	__u32 may_allow;
	__u32 must_allow;
	__u32 may_deny;
};

#define CORDON_NO_RULE 0xffffu

struct cordon_verdict {
	__u32 allow;			/* rights with an allow rule */
	__u32 deny;			/* rights with a deny rule: these win */
	__u16 rule[CORDON_RIGHT_SLOTS]; /* the deciding rule per right, or CORDON_NO_RULE */
	__u8 reserved[24];
};

/* Header flags */
#define CORDON_POLICY_OBSERVE	 0x1u	/* allow, but report what enforce would deny */
#define CORDON_POLICY_SIGNAL_ANY 0x2u	/* may signal processes outside the execution */
#define CORDON_POLICY_TRACE_OWN	 0x4u	/* may trace processes of the same execution */
#define CORDON_POLICY_NAMESPACES 0x8u	/* may make user namespaces */
#define CORDON_POLICY_HOSTS	 0x800u /* some rule names hosts: DNS goes to the daemon's stub */
#define CORDON_POLICY_SPECIAL	 0x1000u /* links that lead out, FIFOs, sockets need CORDON_SPECIAL */
#define CORDON_POLICY_PINNED	 0x2000u /* code that is not what was hashed is not opened */
#define CORDON_POLICY_ATTEMPTS	 0x4000u /* some deny rule marks names: what modes refuse is told */
#define CORDON_POLICY_OWN_NAMESPACES                                                               \
	0x8000u /* with NAMESPACES: mounts in namespaces of its own; names are the reference's */
/* What it has made in /tmp, /var/tmp and /dev/shm is judged as if it lay in ${tmp}. */
#define CORDON_POLICY_OWN_TEMPORARY 0x10000u
/* For whoever starts the execution: */
#define CORDON_POLICY_ALL_SYSTEM_CALLS 0x10u /* no seccomp filter */
#define CORDON_POLICY_IO_URING	       0x20u /* the filter lets io_uring through */
#define CORDON_POLICY_FULL_COVERAGE    0x40u /* not on a kernel with gaps */
#define CORDON_POLICY_METADATA	       0x80u /* stat and the like are asked about, too */
/* Descriptors that come along: CORDON_DESCRIPTORS_* */
#define CORDON_POLICY_DESCRIPTORS_SHIFT 8
#define CORDON_POLICY_DESCRIPTORS_MASK	0x300u
#define CORDON_POLICY_STRICT_CALLS	0x400u /* the filter also refuses what hooks would */
#define CORDON_DESCRIPTORS_CLOSE	0u     /* all but standard input, output and error */
#define CORDON_DESCRIPTORS_DENY		1u /* nothing starts with one that the policy does not grant */
#define CORDON_DESCRIPTORS_RECORD                                                                  \
	2u /* they stay, and are on record; sockets of others may arrive */
#define CORDON_KEPT_DESCRIPTORS(flags)                                                             \
	(((flags) & CORDON_POLICY_DESCRIPTORS_MASK) >> CORDON_POLICY_DESCRIPTORS_SHIFT)

/* What is reported besides denials: two bits each, see CORDON_AUDIT_* */
#define CORDON_AUDIT_NONE		0u
#define CORDON_AUDIT_WRITES		1u /* opens only: those for writing */
#define CORDON_AUDIT_ALL		2u
#define CORDON_AUDIT_OPENS_SHIFT	0
#define CORDON_AUDIT_CONNECTS_SHIFT	2
#define CORDON_AUDIT_EXECS_SHIFT	4
#define CORDON_AUDIT_CALLS_SHIFT	6 /* ALL: those that the seccomp filter refused */
#define CORDON_AUDIT_LEVEL(flags, what) (((flags) >> CORDON_AUDIT_##what##_SHIFT) & 3u)

#define CORDON_LOG_RATE_NONE 0xffffffffu /* no limit */

struct cordon_policy_header {
	__u32 magic;
	__u32 version;
	__u32 pages;			 /* of CORDON_PAGE_SIZE, the header's included */
	__u32 flags;			 /* CORDON_POLICY_* */
	__u32 start[CORDON_START_SLOTS]; /* state references */
	/* byte offset in the policy, element count */
	__u32 states_offset;
	__u32 states_count;
	__u32 edges_offset;
	__u32 edges_count;
	__u32 finals_offset;
	__u32 finals_count; /* == states_count */
	__u32 verdicts_offset;
	__u32 verdicts_count;
	__u64 capabilities; /* ceiling: bit n is capability n */
	__u32 audit;	    /* CORDON_AUDIT_* levels */
	__u32 denial_limit; /* kill the execution after so many denials; 0: never */
	__u32 anchors_used; /* bit n: some rule names anchor n */
	__u32 ask_msec;	    /* how long what no rule allows waits for an answer; 0: not at all */
	__u32 log_rate;	    /* KiB of records a second; 0: the default, see log_budget.h */
	__u32 reserved[21];
	__u8 digest[32]; /* SHA-256 of the whole policy with this field zero */
};

/* ------------------------------------------------------------------------------------------
 * Executions. The array is mapped into the daemon; each field has one writer.
 * ------------------------------------------------------------------------------------------ */
enum cordon_anchor_name {
	CORDON_ANCHOR_WORKDIR = 0,
	CORDON_ANCHOR_TMP = 1,
	CORDON_ANCHOR_HOME = 2,
	CORDON_ANCHOR_USER = 3, /* first of those that policies define themselves */
};

/*
 * A directory's identity as the kernel sees it; inode 0: not bound. All four must agree. Whoever
 * bound it holds a descriptor, so that neither the number nor the address can pass to another
 * inode.
 */
struct cordon_anchor {
	__u64 inode;
	__u64 address;	  /* of struct inode */
	__u32 device;	  /* super_block.s_dev */
	__u32 generation; /* inode.i_generation */
};

/* A file as it was at some time: which one it is, and what changes whenever its content does. */
struct cordon_file_state {
	__u64 inode; /* 0: there was none */
	__u64 size;
	__u64 changed;	  /* ctime, ns since the epoch */
	__u32 device;	  /* super_block.s_dev */
	__u32 generation; /* inode.i_generation */
};

#define CORDON_CODE_NAMES 3u

enum cordon_code_watch {
	CORDON_CODE_UNWATCHED = 0, /* its code is in no file */
	CORDON_CODE_WATCHED = 1,
	CORDON_CODE_CHANGED = 2, /* by one of its names something else was opened */
	CORDON_CODE_OWN = 3,	 /* it had read its code, and opened it to write to it */
};

/*
 * The file that an execution was started with as its code. What it was is on record by its digest.
 */
struct cordon_code {
	/* written by the daemon before anything runs */
	struct cordon_file_state hashed;
	__u64 names[CORDON_CODE_NAMES]; /* name_hash() of what it may be asked for by; 0: none */
	/* written by the kernel programs */
	struct cordon_file_state opened; /* what was opened instead, once CHANGED */
	__u64 opens;			 /* that found it as it was hashed */
	__u32 watch;			 /* enum cordon_code_watch; WATCHED is the daemon's */
	__u32 reserved;
};

enum cordon_execution_state {
	CORDON_EXECUTION_FREE = 0,
	CORDON_EXECUTION_PREPARED = 1, /* bound, nobody carries the label yet */
	CORDON_EXECUTION_LIVE = 2,
	CORDON_EXECUTION_ENDING = 3, /* no fork, no exec: being killed */
	CORDON_EXECUTION_HELD = 4,   /* adopted, and the daemon is not done yet: all denied */
};

/*
 * Kinds of events that do not take each other's share of the log: denials that no rule explains
 * come by the thousand, and must not hide what ran.
 */
enum cordon_budget {
	CORDON_BUDGET_ACCESS = 0,  /* default denials, allowed accesses */
	CORDON_BUDGET_LIFE = 1,	   /* execs, exits */
	CORDON_BUDGET_ATTEMPT = 2, /* DAC denials, most of which make no record */
	CORDON_BUDGET_COUNT = 3,
};

/* Denials by a rule, by the rule's number, so that one rule does not hide another. */
#define CORDON_RULE_BUDGETS 64u

struct cordon_event_window {
	__u64 start; /* boot clock, ns */
	__u32 events;
	__u32 bytes;
};

struct cordon_execution {
	/* written by the daemon */
	__u64 policy;	  /* CORDON_POLICY_REF(): one aligned write changes the whole policy */
	__u32 generation; /* a label of another generation is of no execution: all denied */
	__u32 state;
	__u8 id[16];
	__u64 mount_namespace; /* taken in the kernel when the label is set */
	struct cordon_anchor anchors[CORDON_MAX_ANCHORS];
	__u64 owner_start; /* start time of the owner (boot clock, ns) */
	__u32 owner_pid;   /* who dies with it: the `cordon run` process */
	__u32 executor;	   /* number of the entry that it is kept ready for, from 1; 0: none */
	__u64 deadline;	   /* boot clock, ns; 0: none */
	/* written by the kernel programs */
	__u64 sequence; /* of the last event */
	__u64 tasks;	/* alive now, threads included */
	__u64 forks;
	__u64 execs;
	__u64 denials;
	__u64 would_denials;
	__u64 emitted;	  /* events that reached a ring */
	__u64 coalesced;  /* denials counted into an earlier event */
	__u64 dropped;	  /* events lost for want of ring space */
	__u64 unresolved; /* denials because the object had no resolvable name */
	struct cordon_event_window windows[CORDON_BUDGET_COUNT]; /* event rate limits */
	__u64 rule_window;		       /* start of the window of rule_events, ns */
	__u8 rule_events[CORDON_RULE_BUDGETS]; /* of denials by a rule, by its number */
	__u64 limited;			       /* events held back by these limits */
	/*
	 * IP packets of the execution's sockets, headers included, as the host's stack handles them
	 */
	__u64 bytes_sent;
	__u64 bytes_received;
	__u64 packets_sent;
	__u64 packets_received;
	__u64 packets_denied;
	__u64 ipc_objects;  /* System V objects that it made and that exist */
	__u64 adopted;	    /* when its first task was taken over, boot clock, ns; 0: it was not */
	__u32 leader;	    /* that task's process */
	__u32 begun;	    /* CORDON_BEGUN_*; 0: its program is not on its way yet */
	__u64 credentials;  /* that its tasks made and that exist */
	__u32 off_terminal; /* 1: adopted, and no standard stream was its controlling terminal */
	__u32 watchers;	    /* instances of inotify and fanotify that it made and that exist */
	struct cordon_code code;
	__u32 variables;    /* of its environment, how many were overwritten when it was adopted */
	__u32 destinations; /* that have had a place of their own in the counts of traffic */
	/*
	 * Adopted, and asked to end by whoever started it: when its grace is over, boot clock, ns;
	 * 0: it was not.
	 */
	__u64 end_by;
	__u32 audit; /* CORDON_AUDIT_* levels that this host has at least; the daemon's */
	/* Questions that may still wait for an answer: given by the daemon, taken by the kernel. */
	__u32 asks_left;
	__u32 superblocks; /* that it made and that exist; the kernel programs' */
	__u32 mounted;	   /* 1: it has changed mounts of a namespace of its own */
	/*
	 * Taken with mount_namespace: the user namespace that its first task is in, and the one
	 * that owns mount_namespace (0: that is not above the former).
	 */
	__u64 user_namespace;
	__u64 mount_owner;
	/*
	 * Whose temporary files its own are, and whose it shares; 0: nobody's. The daemon's, and
	 * the same for executions that share them.
	 */
	__u64 temporary_owner;
	/* Whose share of the maps of all executions it uses: see core/share.bpf.h. The kernel's. */
	__u32 user;
	__u32 reserved;
};

/* The maps of which each user has a share, see pure/shares.h. */
enum cordon_share {
	CORDON_SHARE_LABELS = 0,
	CORDON_SHARE_CREDENTIALS = 1,
	CORDON_SHARE_TEMPORARY = 2,
	CORDON_SHARE_WATCHERS = 3,
	CORDON_SHARE_IPC = 4,
	CORDON_SHARE_SUPERBLOCKS = 5,
	CORDON_SHARE_ROLES = 6,
	CORDON_SHARE_COUNT = 7,
	CORDON_SHARE_SLOTS = 8,
};

#define CORDON_SHARE_USERS 1024u

struct cordon_shares {
	__u64 held[CORDON_SHARE_SLOTS];
};

#define CORDON_MAX_QUESTIONS 4096u /* of all executions, answered ones included */
#define CORDON_ASKS_EACH     16u   /* of one execution */

/* Values of the map `asked_questions`. A key is a hash of what was refused, and to whom. */
enum cordon_question {
	CORDON_QUESTION_OPEN = 1,
	CORDON_QUESTION_REFUSED = 2, /* or nobody has answered in time */
};

#define CORDON_MAX_TRAFFIC	32768u
#define CORDON_MAX_DESTINATIONS 256u /* of one execution */

/*
 * Traffic of one execution by the other end. `index` is one of CORDON_MAX_DESTINATIONS places; who
 * stands in which follows from a hash.
 */
struct cordon_traffic_key {
	__u32 slot;
	__u32 index;
};

/* IP packets, as in struct cordon_execution. */
struct cordon_traffic {
	__u32 generation; /* of the execution; of another one: left over */
	__u32 served;	  /* 1: whoever it is connected to this execution, at `name`'s port */
	__u64 name[3];	  /* START_NET question; zero behind its end */
	__u64 bytes_sent;
	__u64 bytes_received;
	__u64 packets_sent;
	__u64 packets_received;
	__u64 connections; /* of TCP */
};

#define CORDON_POLICY_REF(slot, generation) ((__u64)(slot) | ((__u64)(generation) << 32))
#define CORDON_POLICY_SLOT(ref)		    ((__u32)(ref))
#define CORDON_POLICY_GENERATION(ref)	    ((__u32)((ref) >> 32))

/* ------------------------------------------------------------------------------------------
 * Events. `critical` carries lifecycle and denials, `activity` what policies ask for besides.
 * ------------------------------------------------------------------------------------------ */
enum cordon_event_type {
	CORDON_EVENT_LABEL = 1, /* an execution got its first task */
	CORDON_EVENT_EXEC = 2,
	CORDON_EVENT_EXIT = 3, /* a process ended: its last thread left */
	CORDON_EVENT_DENIAL = 4,
	CORDON_EVENT_EMPTY = 5, /* the execution's last task is gone */
	CORDON_EVENT_OPEN = 6,
	CORDON_EVENT_CONNECT = 7,
	/* struct cordon_adopt_event; these make no record by themselves */
	CORDON_EVENT_ADOPT = 8,	   /* an executor's child became an execution */
	CORDON_EVENT_BEGIN = 9,	   /* and its program is in place: nothing of it has run */
	CORDON_EVENT_REFUSED = 10, /* an executor's child was refused its exec; of no execution */
	CORDON_EVENT_CHANGE =
		11, /* a name or what belongs to it was to be made, moved, changed or taken away */
	CORDON_EVENT_ASKED = 12, /* whoever started it asked it to end; makes no record by itself */
	/* struct cordon_adopt_event, too, and no record by itself: before BEGIN */
	CORDON_EVENT_ENVIRONMENT = 13,
	/*
	 * struct cordon_denial_event: the modes of a file or directory refused what was asked for
	 * by a name, before any hook. It has no sequence number, as most make no record.
	 */
	CORDON_EVENT_ATTEMPT = 14,
	/*
	 * A call that no rule allows waits for an answer, and its process is stopped: as a denial,
	 * with the question in place of a number. No record.
	 */
	CORDON_EVENT_WAITS = 15,
	CORDON_EVENT_TYPE_COUNT = 16,
};

enum cordon_operation {
	CORDON_OP_NONE = 0,
	CORDON_OP_OPEN = 1,
	CORDON_OP_TRUNCATE = 2,
	CORDON_OP_CREATE = 3,
	CORDON_OP_MKDIR = 4,
	CORDON_OP_MKNOD = 5,
	CORDON_OP_SYMLINK = 6,
	CORDON_OP_LINK = 7,
	CORDON_OP_RENAME = 8,
	CORDON_OP_UNLINK = 9,
	CORDON_OP_RMDIR = 10,
	CORDON_OP_CHMOD = 11,
	CORDON_OP_CHOWN = 12,
	CORDON_OP_SETATTR = 13,
	CORDON_OP_SETXATTR = 14,
	CORDON_OP_EXEC = 15,
	CORDON_OP_MMAP = 16,
	CORDON_OP_MPROTECT = 17,
	CORDON_OP_SOCKET = 18,
	CORDON_OP_CONNECT = 19,
	CORDON_OP_SEND = 20,
	CORDON_OP_BIND = 21,
	CORDON_OP_LISTEN = 22,
	CORDON_OP_CAPABLE = 23,
	CORDON_OP_SIGNAL = 24,
	CORDON_OP_TRACE = 25,
	CORDON_OP_USERNS = 26,
	CORDON_OP_MOUNT = 27,
	CORDON_OP_CHROOT = 28,
	CORDON_OP_BPF = 29,
	CORDON_OP_PERF = 30,
	CORDON_OP_IO_URING = 31,
	CORDON_OP_IPC = 32,
	CORDON_OP_KEYRING = 33,
	CORDON_OP_SCHED = 34,
	CORDON_OP_IOCTL = 35,
	CORDON_OP_KERNEL_LOAD = 36,
	CORDON_OP_RECEIVE = 37,
	CORDON_OP_FORK = 38,
	CORDON_OP_SETEXEC = 39,	    /* exec that would gain privilege */
	CORDON_OP_SYSTEM_CALL = 40, /* refused by the execution's seccomp filter */
	CORDON_OP_METADATA = 41,    /* stat, readlink, watching */
	CORDON_OP_PACKET = 42,	    /* found on its way out; no call is known */
	CORDON_OP_RESOLVE = 43,	    /* a name asked of the DNS stub */
	CORDON_OP_LOOKUP = 44,	    /* a name was walked, for whatever was to be done with it */
	CORDON_OP_COUNT = 45,
};

/*
 * A path: something was renamed or mounted since it was judged, so that parts of its text may be of
 * another name.
 */
#define CORDON_OBJECT_MOVED 0x1u
/* A path: below a directory for temporary files, judged as if that were ${tmp} as well. */
#define CORDON_OBJECT_TEMPORARY 0x2u
#define CORDON_OBJECT_FLAGS	(CORDON_OBJECT_MOVED | CORDON_OBJECT_TEMPORARY)

enum cordon_object_kind {
	CORDON_OBJECT_NONE = 0,
	CORDON_OBJECT_PATH = 1,	    /* object: the path, no NUL */
	CORDON_OBJECT_SPECIAL = 2,  /* object: "@anonymous", "@memfd" */
	CORDON_OBJECT_NET = 3,	    /* object: the START_NET question */
	CORDON_OBJECT_SOCKET = 4,   /* object: the START_SOCKET question */
	CORDON_OBJECT_ABSTRACT = 5, /* object: the name */
	CORDON_OBJECT_NUMBER = 6,   /* object: __u64 (capability, signal, command) */
	CORDON_OBJECT_PROCESS = 7,  /* object: struct cordon_process_object */
	CORDON_OBJECT_HOST = 8,	    /* object: a host's name */
	CORDON_OBJECT_COUNT = 9,
};

enum cordon_reason {
	CORDON_REASON_DEFAULT = 0,    /* no rule allows it */
	CORDON_REASON_RULE = 1,	      /* a deny rule */
	CORDON_REASON_WIDENS = 2,     /* a move to where more is granted, or less may be made */
	CORDON_REASON_UNRESOLVED = 3, /* no name, too deep, or outside the mount namespace */
	CORDON_REASON_UNKNOWN = 4,    /* the label names no live execution */
	CORDON_REASON_BUILTIN = 5,    /* no policy can allow this */
	CORDON_REASON_FOREIGN = 6,    /* belongs to another execution or to the host */
	CORDON_REASON_ENDING = 7,
	CORDON_REASON_HOST = 8,	   /* leads to the host itself, and no rule names the address */
	CORDON_REASON_CHANGED = 9, /* not the code whose digest is on record */
	CORDON_REASON_PERMISSIONS = 10, /* the modes of the file or of a directory above it */
	CORDON_REASON_COUNT = 11,
};

struct cordon_process_object {
	__u32 pid;
	__u32 slot;   /* of the target's execution; 0xffffffff: none */
	__u64 number; /* signal, or ptrace mode */
};

struct cordon_event {
	__u32 type;
	__u32 size; /* of the whole event */
	__u32 slot;
	__u32 generation;
	__u64 sequence; /* per execution, without holes as assigned; WAITS: key in `asked_questions` */
	__u64 time;	/* CLOCK_BOOTTIME, ns */
	__u64 policy;	     /* CORDON_POLICY_REF() in force */
	__u64 process_start; /* boot clock, ns: with tgid this names the process */
	__u32 tgid;	     /* pids as the initial pid namespace sees them */
	__u32 tid;
	__u32 parent_tgid;
	__u32 uid; /* as the initial user namespace sees them */
	__u32 gid;
	__u32 reserved;
	__u64 parent_start;
	char comm[16]; /* chosen by the process: never a basis of decisions */
};

struct cordon_denial_event {
	struct cordon_event event;
	__u32 operation;     /* enum cordon_operation */
	__u32 rights;	     /* those that were missing */
	__s32 error;	     /* negative errno returned, or that enforce would return */
	__u16 rule;	     /* deciding rule, CORDON_NO_RULE */
	__u8 reason;	     /* enum cordon_reason */
	__u8 would;	     /* 1: observe mode, the access went ahead */
	__u16 object_kind;   /* enum cordon_object_kind */
	__u16 object_flags;  /* CORDON_OBJECT_* */
	__u32 object_length; /* bytes in `object`, at most its class's capacity */
	__u32 object_total;  /* bytes the object really has */
	__u32 repeats;	     /* identical denials counted into this event since the last one */
	__u8 object[];
};

struct cordon_exec_event {
	struct cordon_event event;
	__u32 path_length; /* of the program as resolved, first in `data` */
	__u32 args_length; /* captured bytes of the argument strings, behind the path */
	__u32 args_total;  /* bytes the arguments really have */
	__u32 reserved;
	__u8 data[];
};

struct cordon_exit_event {
	struct cordon_event event;
	__s32 exit_code; /* as wait(2) reports it */
	__u32 reserved;
	__u64 user_ns;
	__u64 system_ns;
};

/* CORDON_EVENT_OPEN, CORDON_EVENT_CHANGE and CORDON_EVENT_CONNECT */
struct cordon_access_event {
	struct cordon_event event;
	__u32 operation;
	__u32 rights;
	__u16 rule;
	__u16 reserved;
	__u16 object_kind;  /* enum cordon_object_kind */
	__u16 object_flags; /* CORDON_OBJECT_* */
	__u32 object_length;
	__u32 object_total;
	__u8 object[];
};

/* Bytes of names of variables that were overwritten, their NULs included, that are told at most. */
#define CORDON_ENVIRONMENT_NAMES 1024u

/*
 * CORDON_EVENT_ADOPT, _BEGIN, _REFUSED. `data`: the current directory, then the program as it was
 * asked for, none of which is there with BEGIN. CORDON_EVENT_ENVIRONMENT: names of variables, each
 * with its NUL, in place of the program, and no values.
 */
struct cordon_adopt_event {
	struct cordon_event event; /* REFUSED: slot 0xffffffff */
	__u32 executor;		   /* index of the entry */
	__u32 reason;		   /* enum cordon_adopt_reason */
	__u32 workdir_length;
	__u32 program_length;
	__u32 variables; /* BEGIN, ENVIRONMENT: how many were overwritten */
	__u32 begun;	 /* BEGIN: CORDON_BEGUN_* */
	__u8 data[];
};

/* Bytes of an object that an event carries at most, and of these what arguments may take. */
#define CORDON_EVENT_LARGE 4096u
#define CORDON_EXEC_ARGS   1024u

/* ------------------------------------------------------------------------------------------
 * Hosts by name: what the daemon's DNS stub has answered to an execution, written by the daemon
 * before it answers, and where DNS goes.
 * ------------------------------------------------------------------------------------------ */
#define CORDON_HOST_ADDRESSES	  65536u
#define CORDON_NAMES_PER_ADDRESS  4u
#define CORDON_HOST_QUESTION_SIZE 256u

struct cordon_host_key {
	__u32 slot;
	__u32 generation;
	__u32 family; /* 4 or 6 */
	__u32 index;  /* below CORDON_NAMES_PER_ADDRESS */
	__u8 address[16];
};

struct cordon_host {
	__u64 expiry; /* boot clock, ns */
	__u32 length; /* of the question without its port; at most CORDON_HOST_QUESTION_SIZE - 3 */
	__u32 reserved;
	__u8 question
		[CORDON_HOST_QUESTION_SIZE]; /* START_NET, of a name; the protocol is filled in */
};

/* Ports of the stub on loopback, network order; 0: there is none. */
struct cordon_stub {
	__u16 port_v4;
	__u16 port_v6;
	__u32 reserved;
};

/* Who asks the stub: by where the packet came from. */
struct cordon_stub_client_key {
	__u8 family; /* 4 or 6 */
	__u8 protocol;
	__u16 port; /* network order */
	__u8 address[16];
};

struct cordon_stub_client {
	__u64 time;		   /* boot clock, ns */
	struct cordon_event maker; /* of the socket; slot and generation are set */
};

/* ------------------------------------------------------------------------------------------
 * Counters of the enforcement as a whole: one array of __u64.
 * ------------------------------------------------------------------------------------------ */
enum cordon_counter {
	CORDON_COUNTER_UNKNOWN_EXECUTION = 0,
	CORDON_COUNTER_UNRESOLVED = 1,
	CORDON_COUNTER_TOO_DEEP = 2,
	CORDON_COUNTER_RENAME_RACE = 3,
	CORDON_COUNTER_LABEL_FALLBACK = 4,
	CORDON_COUNTER_SCRATCH_EXHAUSTED = 5,
	CORDON_COUNTER_LABEL_EXHAUSTED = 6,
	CORDON_COUNTER_NO_POLICY = 7,
	CORDON_COUNTER_CRITICAL_DROPPED = 8,
	CORDON_COUNTER_ACTIVITY_DROPPED = 9,
	CORDON_COUNTER_FORK_REFUSED = 10,
	CORDON_COUNTER_BAD_TABLE = 11,
	CORDON_COUNTER_PACKET_UNOWNED = 12,
	CORDON_COUNTER_LABEL_BUSY = 13,
	CORDON_COUNTER_DNS_UNSERVED = 14,
	CORDON_COUNTER_CREDENTIALS_EXHAUSTED = 15,
	CORDON_COUNTER_COUNT = 16,
	CORDON_COUNTER_SLOTS = 16,
};

/* ------------------------------------------------------------------------------------------
 * Control requests: context of `syscall` programs, records of task iterators.
 * ------------------------------------------------------------------------------------------ */
struct cordon_identify {
	__s32 fd;	 /* in: an open file or directory of the caller */
	__s32 error;	 /* out: 0, -EBADF */
	__u32 directory; /* out: 1: it is one */
	__u32 reserved;
	struct cordon_anchor anchor;
	struct cordon_file_state file;
};

/* System V objects, which outlive whoever made them. */
enum cordon_ipc_kind {
	CORDON_IPC_SHM = 1,
	CORDON_IPC_SEM = 2,
	CORDON_IPC_MSG = 3,
};

struct cordon_list_ipc {
	__u32 slot;
	__u32 generation;
};

struct cordon_ipc_object {
	__u32 kind;
	__s32 id; /* as shmctl(2) and its like take it */
};

struct cordon_ipc_list {
	__u32 count;
	__u32 reserved;
	struct cordon_ipc_object objects[CORDON_MAX_IPC];
};

struct cordon_label_request {
	__u32 slot;
	__u32 generation;
	__u32 labelled; /* out: tasks that carry the label */
	__s32 error;	/* out: 0; -EBUSY carries another label already; -ENOSPC, -ENOMEM */
};

/* Makes a process that runs an executor, and what it has started its children. */
struct cordon_role_request {
	__u64 start; /* of the process, boot clock, ns; 0, and filled in: that of the one iterated over */
	__u32 pid;
	__u32 executor; /* index of the entry */
	__u32 threads;	/* out: of the process, that have got the role; and of others */
	__u32 children;
	__s32 error; /* out: 0; -EBUSY: it is an execution, or another entry's; -ENOMEM */
	__u32 reserved;
};

struct cordon_task_record {
	__u32 tgid;
	__u32 tid;
	__u32 slot;
	__u32 generation;
	__u32 exiting; /* 1: it runs no more of its program, and is not dead yet */
	__u32 reserved;
};

/*
 * How events spell what lies in a file system that the execution has made for itself and that no
 * rule speaks of; behind it, the name from that file system's root on.
 */
#define CORDON_OWN_FILES "/@own"

/*
 * A descriptor that a task keeps over an exec; `name_length` bytes follow: the resolved path, or
 * the name of an anonymous inode.
 */
struct cordon_descriptor_record {
	__u32 fd;
	__u32 kind;    /* enum cordon_descriptor_kind */
	__u32 rights;  /* that the open file gives */
	__u32 missing; /* of these, what the policy does not grant by this name */
	__u32 magic;   /* of the file system */
	__u32 mode;    /* of the inode */
	__u32 name_length;
	__u32 family; /* AF_* of a socket */
};

enum cordon_descriptor_kind {
	CORDON_DESCRIPTOR_FILE = 0,
	CORDON_DESCRIPTOR_STREAM = 1, /* pipe, socket, anonymous inode */
	CORDON_DESCRIPTOR_MEMORY = 2,
	CORDON_DESCRIPTOR_OTHER = 3,
	CORDON_DESCRIPTOR_COUNT = 4,
};

/* ------------------------------------------------------------------------------------------
 * Adoption: which processes start agent code, and which of their children are it.
 * ------------------------------------------------------------------------------------------ */
/*
 * Bits of cordon_adoption.active. 2n and 2n + 1 belong to one entry: a changed one takes the other
 * number.
 */
#define CORDON_MAX_EXECUTORS 64u
#define CORDON_MAX_STANDBY   64u /* executions that stand ready for one entry */
#define CORDON_ADOPT_TEXT    240u
#define CORDON_ADOPT_GLOB    64u

#define CORDON_EXECUTOR_DENY_AWAY                                                                  \
	0x1u			      /* without a daemon: no exec, instead of one unrecorded yet */
#define CORDON_EXECUTOR_HOLD	 0x2u /* until the daemon has written the start record */
#define CORDON_EXECUTOR_ONLY	 0x4u /* children: those that run a listed program */
#define CORDON_EXECUTOR_EXCEPT	 0x8u /* children: those that do not */
#define CORDON_EXECUTOR_UID	 0x10u /* recognised only as this user */
#define CORDON_EXECUTOR_CGROUP	 0x20u /* recognised only below this cgroup */
#define CORDON_EXECUTOR_KEEP_ALL 0x40u /* no variable is overwritten */
#define CORDON_EXECUTOR_CONTAINER                                                                  \
	0x80u /* its agent code has mounts of its own; what starts without is refused */

#define CORDON_EXECUTOR_GATE 0x100u /* held whatever it is: somebody is to look at its code */

#define CORDON_EXECUTOR_ITSELF                                                                     \
	0x200u /* what runs under it is an executor, whose children become executions */

#define CORDON_EXECUTOR_NO_INPUT                                                                   \
	0x400u /* what comes with another standard input than the null device is refused */

#define CORDON_EXECUTOR_RUNTIME                                                                    \
	0x1000u /* of a container: it runs itself once more on the host, to make one */

#define CORDON_EXECUTOR_SESSION 0x800u /* SIGINT interrupts what it does, and asks for no end */

struct cordon_glob {
	__u32 length; /* 0: anything */
	__u32 reserved;
	char text[CORDON_ADOPT_GLOB]; /* '*' stands for any bytes */
};

/*
 * Mapped into the daemon. What it says is changed only while its bit in cordon_adoption.active is
 * off.
 */
struct cordon_executor {
	__u32 flags;
	__u32 uid;
	__u32 itself;		      /* the executor's own entry, from 1; 0: it is not confined */
	__u32 program_from;	      /* bytes of its path before what `program` is compared with */
	struct cordon_glob program;   /* '*': of one component; length 0: only listed paths match */
	struct cordon_glob arguments; /* one of the executor's own */
	struct cordon_glob child_arguments; /* one of a child's that is agent code */
	__u32 next_standby;		    /* where to look first */
	__u32 grace_msec; /* that an execution has once it was asked to end; 0: for ever */
	char name[72];	  /* so that the next daemon finds the entry again */
	/* CORDON_STANDBY(); 0: taken. The daemon fills, the kernel takes. */
	__u64 standby[CORDON_MAX_STANDBY];
};

#define CORDON_STANDBY(slot, generation) ((__u64)(slot) | ((__u64)(generation) << 32))

struct cordon_adoption {
	__u64 active;	 /* bit n: entry n; one write changes the whole configuration */
	__u64 lease;	 /* boot clock, ns: until then the daemon counts as there; 0: it has gone */
	__u32 daemon;	 /* its pid */
	__u32 recognise; /* there is or was an entry */
	__u64 adopted;
	__u64 refused;
	__u64 unclean; /* environments that could not be overwritten in the kernel */
	/* The daemon's root directory, where the names of entries are looked up; 0: not known */
	__u64 root_inode;
	__u32 root_device;
	__u32 reserved;
};

enum cordon_role_kind {
	CORDON_ROLE_EXECUTOR = 1, /* runs the executor's program */
	CORDON_ROLE_CHILD = 2,	  /* was forked by one that has a role */
};

/* What stands in the table of roles for a task that has one. */
struct cordon_role {
	__u32 executor; /* index of its entry */
	__u32 kind;
	__u64 start;  /* of the executor's process: boot clock, ns */
	__u64 mounts; /* its mount namespace */
	__u64 root;   /* its root directory's dentry */
	__u32 owner;  /* that process */
	__u32 user;   /* whose share it is charged to */
};

/* Keys of a longest-prefix map. Those that must match as a whole end with their NUL. */
enum cordon_adopt_question {
	CORDON_ADOPT_EXECUTOR = 1,  /* path of a program; executor 0; value: mask of entries */
	CORDON_ADOPT_PROGRAM = 2,   /* path of a child's program, listed */
	CORDON_ADOPT_UNDER = 3,	    /* directory with a slash behind it, to work below */
	CORDON_ADOPT_KEEP = 4,	    /* variable with '=' behind it, or how its name begins */
	CORDON_ADOPT_DIRECTORY = 5, /* path that is no work directory; executor 0 */
	/* How a path begins that is compared with a pattern; executor 0; value: mask of entries */
	CORDON_ADOPT_EXECUTOR_LIKE = 6,
	CORDON_ADOPT_CGROUP = 7, /* path of a cgroup with a slash behind it, to run below */
};

struct cordon_adopt_key {
	__u32 prefix; /* bits of what follows */
	__u32 question;
	__u32 executor; /* index */
	char text[CORDON_ADOPT_TEXT];
};

enum cordon_adopt_reason {
	CORDON_ADOPTED = 0,
	CORDON_ADOPT_AWAY = 1,	    /* no daemon */
	CORDON_ADOPT_EXHAUSTED = 2, /* no execution stands ready */
	CORDON_ADOPT_WORKDIR = 3,   /* not a directory to work in */
	CORDON_ADOPT_OUTSIDE = 4,   /* not below the entry's directories */
	CORDON_ADOPT_NO_LABEL = 5,  /* no memory for a label */
	CORDON_ADOPT_LOCAL = 6,	    /* expected in a container, and started outside */
	CORDON_ADOPT_TRACES = 7,    /* it traces a process, which no hook would see it go on with */
	CORDON_ADOPT_INPUT = 8,	    /* its entry lets it have no standard input, and it has one */
	CORDON_ADOPT_REASON_COUNT = 9,
};

#define CORDON_BEGUN	   0x1u /* its program is in place */
#define CORDON_BEGUN_HELD  0x2u
#define CORDON_BEGUN_CLEAN 0x4u /* the environment holds only what is kept */
#define CORDON_BEGUN_DECIDED                                                                       \
	0x8u /* the kernel has seen to the others, and the program is on its way */

/*
 * What stands in place of each character of a variable that is not kept, until its program is in
 * place.
 */
#define CORDON_BLOT '#'

struct cordon_meta {
	__u32 abi_version;
	__u32 reserved;
	char build_id[48]; /* digest of the BPF object, hexadecimal, NUL-terminated */
	__u64 cgroup;	   /* id of the one above all executions' */
};

#define CORDON_ASSERT_SIZE(type, size)                                                             \
	_Static_assert(sizeof(type) == (size), #type " must be " #size " bytes on both sides")

_Static_assert((int)CORDON_COUNTER_COUNT <= (int)CORDON_COUNTER_SLOTS, "each counter has a slot");

CORDON_ASSERT_SIZE(struct cordon_state, 8);
CORDON_ASSERT_SIZE(struct cordon_edge, 8);
CORDON_ASSERT_SIZE(struct cordon_final, 16);
CORDON_ASSERT_SIZE(struct cordon_verdict, 64);
CORDON_ASSERT_SIZE(struct cordon_policy_header, 256);
CORDON_ASSERT_SIZE(struct cordon_anchor, 24);
CORDON_ASSERT_SIZE(struct cordon_file_state, 32);
CORDON_ASSERT_SIZE(struct cordon_code, 104);
CORDON_ASSERT_SIZE(struct cordon_execution, 712);
CORDON_ASSERT_SIZE(struct cordon_shares, 64);
CORDON_ASSERT_SIZE(struct cordon_traffic_key, 8);
CORDON_ASSERT_SIZE(struct cordon_traffic, 72);
CORDON_ASSERT_SIZE(struct cordon_process_object, 16);
CORDON_ASSERT_SIZE(struct cordon_event, 96);
CORDON_ASSERT_SIZE(struct cordon_denial_event, 128);
CORDON_ASSERT_SIZE(struct cordon_exec_event, 112);
CORDON_ASSERT_SIZE(struct cordon_exit_event, 120);
CORDON_ASSERT_SIZE(struct cordon_access_event, 120);
CORDON_ASSERT_SIZE(struct cordon_adopt_event, 120);
CORDON_ASSERT_SIZE(struct cordon_glob, 72);
CORDON_ASSERT_SIZE(struct cordon_executor, 824);
CORDON_ASSERT_SIZE(struct cordon_adoption, 64);
CORDON_ASSERT_SIZE(struct cordon_adopt_key, 252);
CORDON_ASSERT_SIZE(struct cordon_identify, 72);
CORDON_ASSERT_SIZE(struct cordon_list_ipc, 8);
CORDON_ASSERT_SIZE(struct cordon_ipc_list, 8 + 8 * CORDON_MAX_IPC);
CORDON_ASSERT_SIZE(struct cordon_label_request, 16);
CORDON_ASSERT_SIZE(struct cordon_role_request, 32);
CORDON_ASSERT_SIZE(struct cordon_role, 40);
CORDON_ASSERT_SIZE(struct cordon_task_record, 24);
CORDON_ASSERT_SIZE(struct cordon_descriptor_record, 32);
CORDON_ASSERT_SIZE(struct cordon_meta, 64);
CORDON_ASSERT_SIZE(struct cordon_host_key, 32);
CORDON_ASSERT_SIZE(struct cordon_host, 272);
CORDON_ASSERT_SIZE(struct cordon_stub, 8);
CORDON_ASSERT_SIZE(struct cordon_stub_client_key, 20);
CORDON_ASSERT_SIZE(struct cordon_stub_client, 104);

#endif
