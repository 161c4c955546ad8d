/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The data shared by the kernel programs and userspace: rights, the layout of a compiled policy,
 * executions, events and control requests.
 *
 * Widths are fixed, padding is explicit, byte order is little endian: both sides run on one host.
 * Both compilers assert the size of every struct below.
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
#define CORDON_MAX_NET_NAMESPACES 256u	/* of one user, in all executions and outside of them */
/* inotify and fanotify instances of one execution; the kernel's default limit for a user is 128 */
#define CORDON_MAX_WATCHERS   32u
#define CORDON_MAX_ANCHORS    8u
#define CORDON_MAX_COMPONENTS 128u
#define CORDON_NAME_MAX	      255u

/* ------------------------------------------------------------------------------------------
 * Rights: bit numbers in every allow and deny mask.
 * ------------------------------------------------------------------------------------------ */
enum cordon_right {
	/* files; listing a directory is READ on its name with a trailing slash */
	CORDON_READ = 0,
	CORDON_WRITE = 1,  /* content, size, mode, owner, times, extended attributes */
	CORDON_CREATE = 2, /* any new name: file, directory, link, node, rename target */
	CORDON_DELETE = 3, /* removal of any name: unlink, rmdir, rename source */
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
	/*
	 * besides NET_CONNECT: an address of the host itself, or one that all hosts of a link
	 * receive
	 */
	CORDON_NET_HOST = 13,
	/*
	 * files, under CORDON_POLICY_SPECIAL: create a FIFO, a socket, or a symbolic link that
	 * leads out of the execution's directories
	 */
	CORDON_SPECIAL = 14,
	/* besides WRITE: the file has further hard links that the execution did not make */
	CORDON_LINKS = 15,
	CORDON_RIGHT_COUNT = 16,
};

#define CORDON_RIGHT(r)	   (1u << (r))
#define CORDON_RIGHT_SLOTS 16
#define CORDON_FILE_RIGHTS 0xc01fu
#define CORDON_EXEC_RIGHTS 0x60u
#define CORDON_UNIX_RIGHTS 0x180u
#define CORDON_NET_RIGHTS  0xe00u
/* Rights on the object that a name refers to, whatever the object's type. */
#define CORDON_NAMED_RIGHTS                                                                        \
	((CORDON_FILE_RIGHTS & ~CORDON_RIGHT(CORDON_SPECIAL)) | CORDON_EXEC_RIGHTS |               \
	 CORDON_UNIX_RIGHTS)

/* ------------------------------------------------------------------------------------------
 * A compiled policy: one automaton over byte strings, in pages of equal size that become the
 * elements of one inner array map. No object straddles a page: every section starts on a
 * multiple of its element size and CORDON_PAGE_SIZE is a multiple of every element size.
 *
 * A check runs the automaton over a key from one or more start states:
 *   START_PATH      "/usr/bin/python3"; "/usr/lib/" to list a directory; "@anonymous" for
 *                   executable memory without a file; "@memfd" for memory files and deleted files.
 *                   In procfs the directory of a process of the same execution is "self".
 *   START_NET       family (4 or 6), protocol (IPPROTO_*), address (4 or 16 bytes, network
 *                   order), port (2 bytes, network order). IPv4-mapped IPv6 is checked as IPv4.
 *                   A host name has the family NET_NAME and takes the address's place: its
 *                   labels from the last to the first, separated by '/', then a NUL.
 *   START_SOCKET    family (AF_*), type (SOCK_*), protocol (2 bytes, network order). For internet
 *                   stream and datagram sockets, protocol 0 is checked as TCP or UDP.
 *   START_ABSTRACT  an abstract unix name without its leading NUL
 *   START_FLOATING  the key of START_PATH, for rules that may match at any depth ("** /x" without
 *                   the blank). They are separate, because in one automaton each region of an
 *                   allow rule would need its own copy of them.
 *   START_ANCHOR+n  the rest of a path below bound directory n: "" for the directory itself as a
 *                   name, "/" to list it, "/a/b" below it
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
 * Transitions are packed by row displacement (Tarjan and Yao 1979). The edge for byte b of state s
 * is edges[states[s].base + b] if its `check` equals s, otherwise states[s].otherwise. base + 255
 * is always inside the edge array.
 *
 * The top bit of a state reference is set if no further byte changes the outcome: the run may stop
 * there. State 0 is the dead state: absorbing, nothing allowed, nothing denied.
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
 * The outcome of a state. `verdict` applies to a name that ends here. The three masks cover all
 * strings that continue from here, the empty one included. A right is in may_allow if at least one
 * of these strings allows it, and in must_allow if all do. It is in may_deny if at least one denies
 * it. The masks decide whether moving a whole directory could grant more, or bring in a file that
 * must not be created there.
 */
struct cordon_final {
	__u32 verdict; /* index into the verdicts */
	__u32 may_allow;
	__u32 must_allow;
	__u32 may_deny;
};

#define CORDON_NO_RULE 0xffffu

/*
 * Rights from here on belong to exceptions. An exception takes back the deny rules of one included
 * fragment for some names. In `allow`: an exception lists this name. In `deny`: no exception takes
 * the deny back. Policies without exceptions use none of these bits. Programs that ignore the bits
 * deny more.
 */
#define CORDON_EXCEPT_SHIFT 16
#define CORDON_ALL_RIGHTS   0xffffu

struct cordon_verdict {
	__u32 allow;			/* rights that some rule allows */
	__u32 deny;			/* rights that some rule denies: a denial wins */
	__u16 rule[CORDON_RIGHT_SLOTS]; /* the deciding rule per right, or CORDON_NO_RULE */
	__u16 except;			/* 1 + the exception's rule; 0: none */
	__u8 reserved[22];
};

/* Header flags */
#define CORDON_POLICY_OBSERVE	 0x1u /* allow, but log each access that enforce mode would deny */
#define CORDON_POLICY_SIGNAL_ANY 0x2u /* may signal processes outside the execution */
#define CORDON_POLICY_TRACE_OWN	 0x4u /* may trace processes of the same execution */
#define CORDON_POLICY_NAMESPACES 0x8u /* may create user namespaces */
/* some rule names hosts: DNS is redirected to the daemon's DNS proxy */
#define CORDON_POLICY_HOSTS   0x800u
#define CORDON_POLICY_SPECIAL 0x1000u /* see CORDON_SPECIAL */
/* deny opening the code file once its content differs from the logged hash */
#define CORDON_POLICY_PINNED 0x2000u
/* some deny rule requires logs of DAC denials */
#define CORDON_POLICY_ATTEMPTS 0x4000u
/*
 * with NAMESPACES: may mount in namespaces that it creates; names are resolved in the recorded
 * mount namespace
 */
#define CORDON_POLICY_OWN_NAMESPACES 0x8000u
/*
 * Files that the execution has made in /tmp, /var/tmp and /dev/shm are checked as if below ${tmp}.
 */
#define CORDON_POLICY_OWN_TEMPORARY 0x10000u
/* May open the pseudo-terminals that it has made. The rule for /dev/ptmx is in the tables. */
#define CORDON_POLICY_OWN_TERMINALS 0x20000u
/* For the program that starts the execution: */
#define CORDON_POLICY_ALL_SYSTEM_CALLS 0x10u /* no seccomp filter */
#define CORDON_POLICY_IO_URING	       0x20u /* the filter lets io_uring through */
#define CORDON_POLICY_FULL_COVERAGE    0x40u /* reject the launch on a kernel that lacks a hook */
#define CORDON_POLICY_METADATA	       0x80u /* stat and the like are checked, too */
/* Inherited descriptors: CORDON_DESCRIPTORS_* */
#define CORDON_POLICY_DESCRIPTORS_SHIFT 8
#define CORDON_POLICY_DESCRIPTORS_MASK	0x300u
/* the filter also denies calls that hooks would deny */
#define CORDON_POLICY_STRICT_CALLS 0x400u
#define CORDON_DESCRIPTORS_CLOSE   0u /* close all except standard input, output and error */
/* reject the launch if one is open that the policy does not grant */
#define CORDON_DESCRIPTORS_DENY	  1u
#define CORDON_DESCRIPTORS_RECORD 2u /* keep and log them; sockets of other tasks may be received */
#define CORDON_KEPT_DESCRIPTORS(flags)                                                             \
	(((flags) & CORDON_POLICY_DESCRIPTORS_MASK) >> CORDON_POLICY_DESCRIPTORS_SHIFT)

/* Events besides denials: two bits each, see CORDON_AUDIT_* */
#define CORDON_AUDIT_NONE		0u
#define CORDON_AUDIT_WRITES		1u /* for opens: only opens for writing */
#define CORDON_AUDIT_ALL		2u
#define CORDON_AUDIT_OPENS_SHIFT	0
#define CORDON_AUDIT_CONNECTS_SHIFT	2
#define CORDON_AUDIT_EXECS_SHIFT	4
#define CORDON_AUDIT_CALLS_SHIFT	6 /* ALL: calls that the seccomp filter denied */
#define CORDON_AUDIT_LEVEL(flags, what) (((flags) >> CORDON_AUDIT_##what##_SHIFT) & 3u)

#define CORDON_LOG_RATE_NONE 0xffffffffu /* no limit */

struct cordon_policy_header {
	__u32 magic;
	__u32 version;
	__u32 pages;			 /* of CORDON_PAGE_SIZE, the header's page included */
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
	__u32 denial_limit; /* kill the execution after this many denials; 0: never */
	__u32 anchors_used; /* bit n: some rule names bound directory n */
	/* how long a call that no rule allows waits for approval, ms; 0: no waiting */
	__u32 ask_msec;
	__u32 log_rate; /* KiB of records per second; 0: the default, see log_budget.h */
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
	CORDON_ANCHOR_USER = 3, /* first of the directories that policies define themselves */
};

/*
 * A directory's identity as the kernel sees it; inode 0: not bound. All four members must match.
 * The process that bound the directory holds it open, so that neither the number nor the address
 * can be reused for another inode.
 */
struct cordon_anchor {
	__u64 inode;
	__u64 address;	  /* of struct inode */
	__u32 device;	  /* super_block.s_dev */
	__u32 generation; /* inode.i_generation */
};

/*
 * The state of a file at some time: its identity, and fields that change whenever its content does.
 */
struct cordon_file_state {
	__u64 inode; /* 0: no file */
	__u64 size;
	__u64 changed;	  /* ctime, ns since the epoch */
	__u32 device;	  /* super_block.s_dev */
	__u32 generation; /* inode.i_generation */
};

#define CORDON_CODE_NAMES 3u

enum cordon_code_watch {
	CORDON_CODE_UNWATCHED = 0, /* the code is in no file */
	CORDON_CODE_WATCHED = 1,
	CORDON_CODE_CHANGED = 2, /* another file was opened by one of the code's names */
	CORDON_CODE_OWN = 3,	 /* the execution had read its code, and opened it for writing */
};

/*
 * The file that holds the code with which the execution was started. The start record has the
 * digest.
 */
struct cordon_code {
	/* written by the daemon before the execution runs */
	struct cordon_file_state hashed;
	/* name_hash() of each name that may open it; 0: none */
	__u64 names[CORDON_CODE_NAMES];
	/* written by the kernel programs */
	struct cordon_file_state opened; /* the file that was opened instead, once CHANGED */
	__u64 opens;			 /* opens that found the file as it was hashed */
	__u32 watch;			 /* enum cordon_code_watch; the daemon sets WATCHED */
	__u32 reserved;
};

enum cordon_execution_state {
	CORDON_EXECUTION_FREE = 0,
	CORDON_EXECUTION_PREPARED = 1, /* bound, no task has the label yet */
	CORDON_EXECUTION_LIVE = 2,
	CORDON_EXECUTION_ENDING = 3, /* no fork, no exec: being killed */
	/* adopted, the daemon has not released it: all accesses denied */
	CORDON_EXECUTION_HELD = 4,
};

/*
 * Kinds of events with separate budgets. Denials that no rule explains come by the thousand, and
 * must not displace the events that show which programs ran.
 */
enum cordon_budget {
	CORDON_BUDGET_ACCESS = 0,  /* default denials, allowed accesses */
	CORDON_BUDGET_LIFE = 1,	   /* execs, exits */
	CORDON_BUDGET_ATTEMPT = 2, /* DAC denials; most make no record */
	CORDON_BUDGET_COUNT = 3,
};

/*
 * Budgets of denials by a rule, by the rule's number, so that one rule does not displace another.
 */
#define CORDON_RULE_BUDGETS 64u

struct cordon_event_window {
	__u64 start; /* boot clock, ns */
	__u32 events;
	__u32 bytes;
};

struct cordon_execution {
	/* written by the daemon */
	__u64 policy;	  /* CORDON_POLICY_REF(): one aligned write swaps the whole policy */
	__u32 generation; /* a label with another generation belongs to no execution: all denied */
	__u32 state;
	__u8 id[16];
	__u64 mount_namespace; /* recorded in the kernel when the label is set */
	struct cordon_anchor anchors[CORDON_MAX_ANCHORS];
	__u64 owner_start; /* start time of the owner (boot clock, ns) */
	__u32 owner_pid;   /* the `cordon run` process; the execution is killed when it exits */
	/* number of the executor entry for which the slot is reserved, from 1; 0: none */
	__u32 executor;
	__u64 deadline; /* boot clock, ns; 0: none */
	/* written by the kernel programs */
	__u64 sequence; /* of the last event */
	__u64 tasks;	/* alive, threads included */
	__u64 forks;
	__u64 execs;
	__u64 denials;
	__u64 would_denials;
	__u64 emitted;	  /* events that reached a ring */
	__u64 coalesced;  /* denials counted into an earlier event */
	__u64 dropped;	  /* events lost because the ring was full */
	__u64 unresolved; /* denials because the object had no resolvable name */
	struct cordon_event_window windows[CORDON_BUDGET_COUNT]; /* event rate limits */
	__u64 rule_window;		       /* start of the window of rule_events, ns */
	__u8 rule_events[CORDON_RULE_BUDGETS]; /* denials by a rule, by its number */
	__u64 limited;			       /* events suppressed by these limits */
	/*
	 * IP packets of the execution's sockets, headers included, as the host's network stack
	 * handles them.
	 */
	__u64 bytes_sent;
	__u64 bytes_received;
	__u64 packets_sent;
	__u64 packets_received;
	__u64 packets_denied;
	__u64 ipc_objects;  /* System V objects that it made and that still exist */
	__u64 adopted;	    /* when its first task was adopted, boot clock, ns; 0: not adopted */
	__u32 leader;	    /* pid of the process of that task */
	__u32 begun;	    /* CORDON_BEGUN_*; 0: its exec has not begun yet */
	__u64 credentials;  /* credentials that its tasks made and that still exist */
	__u32 off_terminal; /* 1: adopted, and no standard stream was its controlling terminal */
	__u32 watchers;	    /* inotify and fanotify instances that it made and that still exist */
	struct cordon_code code;
	__u32 variables;    /* environment variables that adoption overwrote */
	__u32 destinations; /* destinations that have their own entry in the traffic counts */
	/*
	 * Set when the program that started an adopted execution requests its end, for example with
	 * SIGTERM: the end of the grace period, boot clock, ns. 0: no such request.
	 */
	__u64 end_by;
	/* CORDON_AUDIT_* levels required on this host at least; written by the daemon */
	__u32 audit;
	/*
	 * Denials that may still wait for approval: added by the daemon, consumed by the kernel
	 * programs.
	 */
	__u32 asks_left;
	__u32 superblocks; /* superblocks that it made and that still exist; kernel programs */
	__u32 mounted;	   /* 1: it has changed mounts in a namespace that it created */
	/*
	 * Recorded with mount_namespace: the user namespace of its first task, and the user
	 * namespace that owns mount_namespace. The latter is 0 if it is not an ancestor of the
	 * former.
	 */
	__u64 user_namespace;
	__u64 mount_owner;
	/*
	 * Identity of the owner of its temporary files; 0: none. Written by the daemon. Executions
	 * that share temporary files have the same value.
	 */
	__u64 temporary_owner;
	/*
	 * The user charged for its entries in the global maps, see core/share.bpf.h. Written by the
	 * kernel programs.
	 */
	__u32 user;
	__u32 terminals; /* pseudo-terminals that it made and that exist; the kernel programs' */
};

/* The maps that are divided into shares per user, see pure/shares.h. */
enum cordon_share {
	CORDON_SHARE_LABELS = 0,
	CORDON_SHARE_CREDENTIALS = 1,
	CORDON_SHARE_TEMPORARY = 2,
	CORDON_SHARE_WATCHERS = 3,
	CORDON_SHARE_IPC = 4,
	CORDON_SHARE_SUPERBLOCKS = 5,
	CORDON_SHARE_ROLES = 6,
	CORDON_SHARE_TERMINALS = 7,
	CORDON_SHARE_COUNT = 8,
	CORDON_SHARE_SLOTS = 8,
};

#define CORDON_SHARE_USERS 1024u

struct cordon_shares {
	__u64 held[CORDON_SHARE_SLOTS];
};

#define CORDON_MAX_QUESTIONS 4096u /* of all executions, decided ones included */
#define CORDON_ASKS_EACH     16u   /* of one execution */

/* Values of the map `asked_questions`. A key is a hash of the denied access and the execution. */
enum cordon_question {
	CORDON_QUESTION_OPEN = 1,
	CORDON_QUESTION_REFUSED = 2, /* denied, or not decided in time */
};

#define CORDON_MAX_TRAFFIC	32768u
#define CORDON_MAX_DESTINATIONS 256u /* of one execution */

/*
 * Traffic of one execution with one remote end. `index` is one of CORDON_MAX_DESTINATIONS entries,
 * chosen by a hash of the remote end.
 */
struct cordon_traffic_key {
	__u32 slot;
	__u32 index;
};

/* IP packets, as in struct cordon_execution. */
struct cordon_traffic {
	__u32 generation; /* of the execution; another one: stale entry */
	/* 1: counts all clients that connected to this execution, at the port in `name` */
	__u32 served;
	__u64 name[3]; /* START_NET key; zero after its end */
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
 * Events. `critical` carries lifecycle and denials, `activity` the events that policies request
 * besides.
 * ------------------------------------------------------------------------------------------ */
enum cordon_event_type {
	CORDON_EVENT_LABEL = 1, /* an execution got its first task */
	CORDON_EVENT_EXEC = 2,
	CORDON_EVENT_EXIT = 3, /* the last thread of a process exited */
	CORDON_EVENT_DENIAL = 4,
	CORDON_EVENT_EMPTY = 5, /* the execution's last task exited */
	CORDON_EVENT_OPEN = 6,
	CORDON_EVENT_CONNECT = 7,
	/* struct cordon_adopt_event; these make no record by themselves */
	CORDON_EVENT_ADOPT = 8, /* an executor's child became an execution */
	CORDON_EVENT_BEGIN = 9, /* its program is loaded; none of its instructions has run */
	/* an executor's child was denied its exec; belongs to no execution */
	CORDON_EVENT_REFUSED = 10,
	CORDON_EVENT_CHANGE =
		/*
		 * a name, or an attribute of its object, was about to be created, moved, changed or
		 * removed
		 */
	11,
	/* the program that started it requested its end; no record by itself */
	CORDON_EVENT_ASKED = 12,
	/* struct cordon_adopt_event; precedes BEGIN; no record by itself */
	CORDON_EVENT_ENVIRONMENT = 13,
	/*
	 * struct cordon_denial_event: the permission bits of a file or directory denied an access
	 * by name, before any LSM hook. It has no sequence number, because most make no record.
	 */
	CORDON_EVENT_ATTEMPT = 14,
	/*
	 * A call that no rule allows waits for approval, and its process is stopped. The layout is
	 * a denial's, with the key in `asked_questions` in place of the sequence number. No record.
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
	CORDON_OP_SYSTEM_CALL = 40, /* denied by the execution's seccomp filter */
	CORDON_OP_METADATA = 41,    /* stat, readlink, watching */
	CORDON_OP_PACKET = 42,	    /* egress packet denied; the system call is not known */
	CORDON_OP_RESOLVE = 43,	    /* DNS query for a name */
	CORDON_OP_LOOKUP = 44,	    /* path lookup of a name, for any operation */
	CORDON_OP_COUNT = 45,
};

/*
 * A path: a rename or a mount has happened since the check, so that parts of the formatted path may
 * be of another name.
 */
#define CORDON_OBJECT_MOVED 0x1u
/*
 * A path below a directory for temporary files, checked as if that directory were ${tmp} as well.
 */
#define CORDON_OBJECT_TEMPORARY 0x2u
/* A path: a pseudo-terminal that the execution has made, which no rule has to name. */
#define CORDON_OBJECT_OWN_TERMINAL 0x4u
/*
 * A path with a component in a directory that compares names without case: checked with each
 * spelling of that component.
 */
#define CORDON_OBJECT_CASE_INSENSITIVE 0x8u
#define CORDON_OBJECT_FLAGS                                                                        \
	(CORDON_OBJECT_MOVED | CORDON_OBJECT_TEMPORARY | CORDON_OBJECT_OWN_TERMINAL |              \
	 CORDON_OBJECT_CASE_INSENSITIVE)

enum cordon_object_kind {
	CORDON_OBJECT_NONE = 0,
	CORDON_OBJECT_PATH = 1,	    /* object: the path, no NUL */
	CORDON_OBJECT_SPECIAL = 2,  /* object: "@anonymous", "@memfd" */
	CORDON_OBJECT_NET = 3,	    /* object: the START_NET key */
	CORDON_OBJECT_SOCKET = 4,   /* object: the START_SOCKET key */
	CORDON_OBJECT_ABSTRACT = 5, /* object: the name */
	CORDON_OBJECT_NUMBER = 6,   /* object: __u64 (capability, signal, command) */
	CORDON_OBJECT_PROCESS = 7,  /* object: struct cordon_process_object */
	CORDON_OBJECT_HOST = 8,	    /* object: a host name */
	CORDON_OBJECT_COUNT = 9,
};

enum cordon_reason {
	CORDON_REASON_DEFAULT = 0, /* no rule allows it */
	CORDON_REASON_RULE = 1,	   /* a deny rule */
	/* a move to a place that grants more, or where less may be created */
	CORDON_REASON_WIDENS = 2,
	CORDON_REASON_UNRESOLVED = 3, /* no name, too deep, or outside the mount namespace */
	CORDON_REASON_UNKNOWN = 4,    /* the label names no live execution */
	CORDON_REASON_BUILTIN = 5,    /* no policy can allow this */
	CORDON_REASON_FOREIGN = 6,    /* belongs to another execution or to the host */
	CORDON_REASON_ENDING = 7,
	CORDON_REASON_HOST = 8,	   /* leads to the host itself, and no rule names the address */
	CORDON_REASON_CHANGED = 9, /* differs from the code in the logged digest */
	CORDON_REASON_PERMISSIONS = 10, /* permission bits of the file or of a directory above it */
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
	__u64 sequence; /* per execution, assigned without gaps; WAITS: key in `asked_questions` */
	__u64 time;	/* CLOCK_BOOTTIME, ns */
	__u64 policy;	/* CORDON_POLICY_REF() of the active policy */
	__u64 process_start; /* boot clock, ns: together with tgid this identifies the process */
	__u32 tgid;	     /* pids as the initial pid namespace sees them */
	__u32 tid;
	__u32 parent_tgid;
	__u32 uid; /* as the initial user namespace sees them */
	__u32 gid;
	__u32 reserved;
	__u64 parent_start;
	char comm[16]; /* chosen by the process: no decision may depend on it */
};

struct cordon_denial_event {
	struct cordon_event event;
	__u32 operation;     /* enum cordon_operation */
	__u32 rights;	     /* the rights that were missing */
	__s32 error;	     /* negative errno returned, or that enforce mode would return */
	__u16 rule;	     /* deciding rule, CORDON_NO_RULE */
	__u8 reason;	     /* enum cordon_reason */
	__u8 would;	     /* 1: observe mode, the access was allowed */
	__u16 object_kind;   /* enum cordon_object_kind */
	__u16 object_flags;  /* CORDON_OBJECT_* */
	__u32 object_length; /* bytes in `object`, at most the capacity of its event class */
	__u32 object_total;  /* bytes of the whole object */
	__u32 repeats;	     /* identical denials counted into this event since the last one */
	__u8 object[];
};

struct cordon_exec_event {
	struct cordon_event event;
	__u32 path_length; /* of the program as resolved, first in `data` */
	__u32 args_length; /* captured bytes of the argument strings, after the path */
	__u32 args_total;  /* bytes of all arguments */
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

/* Most bytes that an event carries of the names of overwritten variables, their NULs included. */
#define CORDON_ENVIRONMENT_NAMES 1024u

/*
 * CORDON_EVENT_ADOPT, _BEGIN, _REFUSED: `data` is the current directory, then the program as
 * requested; empty with BEGIN. CORDON_EVENT_ENVIRONMENT: `data` is names of variables without
 * values, each with its NUL.
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

/* Most bytes of an object in an event, and the part of them that arguments may use. */
#define CORDON_EVENT_LARGE 4096u
#define CORDON_EXEC_ARGS   1024u

/* ------------------------------------------------------------------------------------------
 * Hosts by name: the names and addresses that the daemon's DNS proxy has resolved for an
 * execution. The daemon writes them before it replies. Also where DNS is redirected to.
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
	__u32 length; /* of the key without its port; at most CORDON_HOST_QUESTION_SIZE - 3 */
	__u32 reserved;
	__u8 question
		/* START_NET key of a name; the check fills in the protocol */
		[CORDON_HOST_QUESTION_SIZE];
};

/* Ports of the DNS proxy on loopback, network order; 0: none. */
struct cordon_stub {
	__u16 port_v4;
	__u16 port_v6;
	__u32 reserved;
};

/* A client of the DNS proxy, identified by the packet's source. */
struct cordon_stub_client_key {
	__u8 family; /* 4 or 6 */
	__u8 protocol;
	__u16 port; /* network order */
	__u8 address[16];
};

struct cordon_stub_client {
	__u64 time;		   /* boot clock, ns */
	struct cordon_event maker; /* creator of the socket; slot and generation are set */
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
	__s32 fd;	 /* in: a descriptor of the caller, of an open file or directory */
	__s32 error;	 /* out: 0, -EBADF */
	__u32 directory; /* out: 1: it is a directory */
	__u32 reserved;
	struct cordon_anchor anchor;
	struct cordon_file_state file;
};

/* System V objects, which outlive the process that made them. */
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
	__s32 id; /* as shmctl(2) and the like take it */
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
	__s32 error;	/* out: 0; -EBUSY: has another label; -ENOSPC, -ENOMEM */
};

/* Marks a running process as an executor, and the processes that it has started as its children. */
struct cordon_role_request {
	/* start of the process, boot clock, ns; if 0, set to the iterated process's start */
	__u64 start;
	__u32 pid;
	__u32 executor; /* index of the entry */
	__u32 threads;	/* out: threads of the process, and of its children, that got the role */
	__u32 children;
	__s32 error; /* out: 0; -EBUSY: it has an execution or another executor entry; -ENOMEM */
	__u32 reserved;
};

struct cordon_task_record {
	__u32 tgid;
	__u32 tid;
	__u32 slot;
	__u32 generation;
	__u32 exiting; /* 1: it is exiting, and runs no more of its program */
	__u32 reserved;
};

/*
 * Prefix, in events, of names in a file system that the execution has mounted itself and that no
 * rule covers. The name from the root of that file system follows.
 */
#define CORDON_OWN_FILES "/@own"

/*
 * A descriptor that a task keeps over an exec; `name_length` bytes follow: the resolved path, or
 * the name of an anonymous inode.
 */
struct cordon_descriptor_record {
	__u32 fd;
	__u32 kind;    /* enum cordon_descriptor_kind */
	__u32 rights;  /* rights that the open file gives */
	__u32 missing; /* of these, the rights that the policy does not grant by this name */
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
 * Adoption: which processes start agent code, and which of their children are agent code.
 * ------------------------------------------------------------------------------------------ */
/*
 * Bits of cordon_adoption.active. Bits 2n and 2n + 1 belong to one entry: a changed entry uses the
 * other bit.
 */
#define CORDON_MAX_EXECUTORS 64u
#define CORDON_MAX_STANDBY   64u /* executions kept ready for one entry */
#define CORDON_ADOPT_TEXT    240u
#define CORDON_ADOPT_GLOB    64u

#define CORDON_EXECUTOR_DENY_AWAY                                                                  \
	0x1u /* deny the exec if no daemon runs; otherwise it runs, and is logged later */
#define CORDON_EXECUTOR_HOLD	 0x2u  /* hold it until the daemon has written the start record */
#define CORDON_EXECUTOR_ONLY	 0x4u  /* only children that run a listed program */
#define CORDON_EXECUTOR_EXCEPT	 0x8u  /* only children that run no listed program */
#define CORDON_EXECUTOR_UID	 0x10u /* recognised only as this user */
#define CORDON_EXECUTOR_CGROUP	 0x20u /* recognised only below this cgroup */
#define CORDON_EXECUTOR_KEEP_ALL 0x40u /* overwrite no variable */
#define CORDON_EXECUTOR_CONTAINER                                                                  \
	0x80u /* agent code must have its own mount namespace; otherwise it is rejected */

#define CORDON_EXECUTOR_GATE 0x100u /* always hold it: the exec check reads its code */

#define CORDON_EXECUTOR_ITSELF                                                                     \
	0x200u /* programs under this entry are executors; their children become executions */

#define CORDON_EXECUTOR_NO_INPUT                                                                   \
	0x400u /* reject a program with a standard input other than the null device */

/* a container runtime, which executes itself once more on the host to make a container */
#define CORDON_EXECUTOR_RUNTIME 0x1000u

/* SIGINT interrupts its current work, and is no request to end */
#define CORDON_EXECUTOR_SESSION 0x800u

struct cordon_glob {
	__u32 length; /* 0: anything */
	__u32 reserved;
	char text[CORDON_ADOPT_GLOB]; /* '*' matches any bytes */
};

/*
 * Mapped into the daemon, which changes an entry only while its bit in cordon_adoption.active is
 * off.
 */
struct cordon_executor {
	__u32 flags;
	__u32 uid;
	__u32 itself;	    /* number of the executor's own entry, from 1; 0: it is not confined */
	__u32 program_from; /* offset in the program's path at which `program` is matched */
	/* '*': within one component; length 0: only listed paths match */
	struct cordon_glob program;
	struct cordon_glob arguments; /* pattern for one of the executor's own arguments */
	/* pattern for one argument of a child that is agent code */
	struct cordon_glob child_arguments;
	__u32 next_standby; /* index where the search begins */
	__u32 grace_msec;   /* grace period after a request to end; 0: unlimited */
	char name[72];	    /* identifies the entry to the next daemon */
	/* CORDON_STANDBY(); 0: taken. The daemon fills, the kernel programs take. */
	__u64 standby[CORDON_MAX_STANDBY];
};

#define CORDON_STANDBY(slot, generation) ((__u64)(slot) | ((__u64)(generation) << 32))

struct cordon_adoption {
	__u64 active;	 /* bit n: entry n; one write changes the whole configuration */
	__u64 lease;	 /* boot clock, ns: the daemon counts as running until then; 0: it exited */
	__u32 daemon;	 /* pid of the daemon */
	__u32 recognise; /* 1: an entry exists or existed */
	__u64 adopted;
	__u64 refused;
	__u64 unclean; /* environments that the kernel programs could not overwrite */
	/* The daemon's root directory, where names of entries are resolved; 0: not known */
	__u64 root_inode;
	__u32 root_device;
	__u32 reserved;
};

enum cordon_role_kind {
	CORDON_ROLE_EXECUTOR = 1, /* runs the executor's program */
	CORDON_ROLE_CHILD = 2,	  /* forked by a task that has a role */
};

/* Value of the table of roles. */
struct cordon_role {
	__u32 executor; /* index of the entry */
	__u32 kind;
	__u64 start;  /* start of the executor's process: boot clock, ns */
	__u64 mounts; /* mount namespace of the executor */
	__u64 root;   /* dentry of the executor's root directory */
	__u32 owner;  /* pid of the executor's process */
	__u32 user;   /* the user that is charged for the entry */
};

/* Keys of a longest-prefix map. A text that must match as a whole ends with its NUL. */
enum cordon_adopt_question {
	CORDON_ADOPT_EXECUTOR = 1, /* path of a program; executor 0; value: mask of entries */
	CORDON_ADOPT_PROGRAM = 2,  /* path of a program listed for children */
	CORDON_ADOPT_UNDER = 3, /* directory with a trailing slash, below which children may work */
	/* name of a kept variable with a trailing '=', or a prefix of such names */
	CORDON_ADOPT_KEEP = 4,
	CORDON_ADOPT_DIRECTORY = 5, /* path that must not be a work directory; executor 0 */
	/*
	 * fixed prefix of a path that is matched by a pattern; executor 0; value: mask of entries
	 */
	CORDON_ADOPT_EXECUTOR_LIKE = 6,
	/* path of a cgroup with a trailing slash, below which an executor runs */
	CORDON_ADOPT_CGROUP = 7,
};

struct cordon_adopt_key {
	__u32 prefix; /* bits of the rest of the key */
	__u32 question;
	__u32 executor; /* index */
	char text[CORDON_ADOPT_TEXT];
};

enum cordon_adopt_reason {
	CORDON_ADOPTED = 0,
	CORDON_ADOPT_AWAY = 1,	    /* no daemon */
	CORDON_ADOPT_EXHAUSTED = 2, /* no execution is ready */
	CORDON_ADOPT_WORKDIR = 3,   /* not a permitted work directory */
	CORDON_ADOPT_OUTSIDE = 4,   /* not below the entry's directories */
	CORDON_ADOPT_NO_LABEL = 5,  /* no memory for a label */
	CORDON_ADOPT_LOCAL = 6,	    /* expected in a container, and started outside */
	CORDON_ADOPT_TRACES = 7, /* it traces a process, and no hook runs when it goes on tracing */
	CORDON_ADOPT_INPUT = 8,	 /* its entry permits no standard input, and it has one */
	CORDON_ADOPT_REASON_COUNT = 9,
};

#define CORDON_BEGUN	   0x1u /* its program is loaded */
#define CORDON_BEGUN_HELD  0x2u
#define CORDON_BEGUN_CLEAN 0x4u /* the environment holds only variables that are kept */
/* begin() has treated the environment, and has decided whether to hold the program */
#define CORDON_BEGUN_DECIDED 0x8u

/* Replaces each character of a variable that is not kept, until its program is loaded. */
#define CORDON_BLOT '#'

struct cordon_meta {
	__u32 abi_version;
	__u32 reserved;
	char build_id[48]; /* digest of the BPF object, hexadecimal, NUL-terminated */
	__u64 cgroup;	   /* id of the cgroup above the cgroups of all executions */
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
