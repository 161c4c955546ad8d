/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Names of kernel objects: climb from a dentry to the root of the mount namespace, then run the
 * automaton downwards, component by component. No path buffer and no length limit but the number of
 * components; never the string that a system call was given.
 *
 * Fail closed: a climb that does not end at the root of the mount namespace that was recorded for
 * the execution (detached trees, other namespaces, lazily unmounted trees), that is too deep, or
 * that a rename disturbed again and again has no name, and what has no name is denied.
 */
#ifndef CORDON_BPF_PATH_BPF_H
#define CORDON_BPF_PATH_BPF_H

#include "bpf/tables.bpf.h"

/* Question flags */
#define NAME_LISTING  0x1u  /* a directory to be listed: a slash follows its name */
#define NAME_PROC     0x2u  /* in procfs: directories of own processes read "self" */
#define NAME_SOURCE   0x4u  /* source of a rename or link: remember the states reached */
#define NAME_TREE     0x10u /* also of interest: everything below it */
#define NAME_NO_MOUNT 0x8u  /* no mount is known: only what lies below an anchor has a name */

#define NAME_ATTEMPTS	4
#define MOUNT_CROSSINGS 64

extern const void rename_lock __ksym;
extern const void mount_lock __ksym;

/* The first members that follow d_parent; read in one go where they are neighbours. */
struct dentry_link {
	__u64 parent;
	__u32 hash;
	__u32 length;
	__u64 name;
	__u64 inode;
};

struct mount_link {
	__u64 parent;	  /* struct mount */
	__u64 mountpoint; /* struct dentry */
};

static __always_inline __u64 read_u64(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const void *)address);
	return value;
}

static __always_inline __u32 read_u32(__u64 address)
{
	__u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const void *)address);
	return value;
}

#define FIELD(type, base, field) ((__u64)(base) + bpf_core_field_offset(type, field))

static __always_inline bool read_dentry(__u64 dentry, struct dentry_link *link)
{
	const __u32 at = bpf_core_field_offset(struct dentry, d_parent);

	if (bpf_core_field_offset(struct dentry, d_name) == at + 8 &&
	    bpf_core_field_offset(struct dentry, d_inode) == at + 24)
		return bpf_probe_read_kernel(link, sizeof(*link), (const void *)(dentry + at)) == 0;
	link->parent = read_u64(dentry + at);
	link->inode = read_u64(FIELD(struct dentry, dentry, d_inode));
	return bpf_probe_read_kernel(&link->hash, 16,
				     (const void *)FIELD(struct dentry, dentry, d_name)) == 0;
}

static __always_inline __u64 mount_of(__u64 vfsmount)
{
	return vfsmount - bpf_core_field_offset(struct mount, mnt);
}

/* Sequence counts that every rename and every change of the mount tree moves. */
static __always_inline __u64 name_sequence(void)
{
	return (__u64)read_u32((__u64)&rename_lock) << 32 | read_u32((__u64)&mount_lock);
}

/* Odd while a writer is inside. */
static __always_inline bool sequence_busy(__u64 sequence)
{
	return sequence & 0x100000001ull;
}

/*
 * Is this inode of procfs the directory of a process of the same execution? -1: of another process,
 * 0: of no process, 1: yes. struct pid outlives its inode's dentry, tasks[] is empty once the
 * process is gone.
 */
static __always_inline int proc_owner(const struct subject *s, __u64 inode)
{
	__u64 proc = inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	__u64 pid = read_u64(FIELD(struct proc_inode, proc, pid));
	const struct label *label;
	__u64 node;

	if (!pid)
		return 0;
	/* tasks[PIDTYPE_PID]: the leader; it stays hashed until the whole group is reaped. */
	node = read_u64(FIELD(struct pid, pid, tasks));
	if (!node)
		return -1;
	label = label_of_address(node - bpf_core_field_offset(struct task_struct, pid_links));
	return label && same_label(label, &s->label) ? 1 : -1;
}

enum climb_result {
	CLIMB_GOING = 0,
	CLIMB_TOP = 1,
	CLIMB_LOST = 2,
};

/*
 * Notes each anchor that this inode is. Addresses settle nearly every component; the numbers are
 * read only where one agrees.
 */
static __always_inline void note_anchors(const struct subject *s, __u64 inode)
{
	const struct cordon_anchor *anchors = s->execution->anchors;
	__u32 device, generation, candidate;
	__u64 super_block, number;

	for (candidate = 0; candidate < CORDON_MAX_ANCHORS; candidate++)
		if (anchors[candidate].address == inode)
			break;
	if (candidate == CORDON_MAX_ANCHORS || !inode)
		return;
	super_block = read_u64(FIELD(struct inode, inode, i_sb));
	number = read_u64(FIELD(struct inode, inode, i_ino));
	generation = read_u32(FIELD(struct inode, inode, i_generation));
	device = read_u32(FIELD(struct super_block, super_block, s_dev));
	for (__u32 n = 0; n < CORDON_MAX_ANCHORS; n++)
		if (anchors[n].address == inode && anchors[n].inode == number &&
		    anchors[n].generation == generation && anchors[n].device == device)
			s->walk->anchor_depth[n] = s->walk->depth;
}

/* From the root of a mount to where it is mounted. */
static __always_inline enum climb_result cross_mount(struct walk *walk)
{
	__u64 parent = read_u64(FIELD(struct mount, walk->mount, mnt_parent));

	if (!parent)
		return CLIMB_LOST;
	if (parent == walk->mount)
		return CLIMB_TOP;
	walk->at = read_u64(FIELD(struct mount, walk->mount, mnt_mountpoint));
	walk->mount = parent;
	walk->mount_root = read_u64(FIELD(struct mount, parent, mnt.mnt_root));
	/* The rest of the way lies outside procfs. */
	walk->in_proc = 0;
	return CLIMB_GOING;
}

static __always_inline enum climb_result record_component(const struct subject *s,
							  const struct dentry_link *link)
{
	struct walk *walk = s->walk;
	struct name_component *component;
	__u32 depth = walk->depth;
	int owner = 0;

	if (depth >= CORDON_MAX_COMPONENTS)
		return CLIMB_GOING; /* the loop ends first, and finds no top */
	if (walk->in_proc && link->parent == walk->mount_root) {
		owner = proc_owner(s, link->inode);
		/* The climb goes on, for the record's sake. */
		if (owner < 0) {
			walk->foreign = 1;
			owner = 0;
		}
	}
	component = &walk->components[depth & (CORDON_MAX_COMPONENTS - 1)];
	component->name = link->name;
	component->length = link->length;
	component->self = owner;
	walk->depth = depth + 1;
	walk->at = link->parent;
	return CLIMB_GOING;
}

static long climb_step(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct dentry_link link;

	if (!read_dentry(walk->at, &link)) {
		walk->climbed = CLIMB_LOST;
		return 1;
	}
	note_anchors(s, link.inode);
	if (walk->at == walk->mount_root)
		walk->climbed = cross_mount(walk);
	else if (link.parent == walk->at)
		walk->climbed = walk->flags & NAME_NO_MOUNT ? CLIMB_TOP : CLIMB_LOST;
	else
		walk->climbed = record_component(s, &link);
	return walk->climbed != CLIMB_GOING;
}

/* Fills walk->components and anchor depths. Returns an enum cordon_reason, 0 if there is a name. */
static __always_inline __u32 climb(const struct subject *s)
{
	struct walk *walk = s->walk;

	walk->depth = 0;
	walk->climbed = CLIMB_GOING;
	walk->at = walk->dentry;
	walk->mount = 0;
	walk->mount_root = 0;
	walk->in_proc = walk->flags & NAME_PROC;
	walk->foreign = 0;
	for (__u32 n = 0; n < CORDON_MAX_ANCHORS; n++)
		walk->anchor_depth[n] = ANCHOR_ABSENT;
	if (!(walk->flags & NAME_NO_MOUNT)) {
		walk->mount = mount_of(walk->vfsmount);
		walk->mount_root = read_u64(FIELD(struct vfsmount, walk->vfsmount, mnt_root));
	}
	bpf_loop(CORDON_MAX_COMPONENTS + MOUNT_CROSSINGS, climb_step, (void *)s, 0);
	if (walk->foreign)
		return CORDON_REASON_FOREIGN;
	if (walk->climbed == CLIMB_GOING) {
		count(CORDON_COUNTER_TOO_DEEP);
		return CORDON_REASON_UNRESOLVED;
	}
	/* A mount that is its own parent is a root; it must be that of the recorded namespace. */
	if (walk->climbed == CLIMB_LOST ||
	    (!(walk->flags & NAME_NO_MOUNT) &&
	     read_u64(FIELD(struct mount, walk->mount, mnt_ns)) != s->execution->mount_namespace)) {
		count(CORDON_COUNTER_UNRESOLVED);
		return CORDON_REASON_UNRESOLVED;
	}
	return 0;
}

static __always_inline void answer_clear(struct answer *a, __u32 wanted)
{
	a->verdict.allow = 0;
	a->verdict.deny = 0;
	a->verdict.may_allow = 0;
	a->verdict.must_allow = 0;
	a->verdict.may_deny = 0;
	a->rule = CORDON_NO_RULE;
	a->reason = CORDON_REASON_DEFAULT;
	a->missing = wanted;
}

static __always_inline void answer_unnamed(struct answer *a, __u32 wanted, __u32 reason)
{
	answer_clear(a, wanted);
	a->reason = reason;
}

/* Adds one run's outcome, or what it says of everything below. false: damaged tables. */
static __always_inline bool answer_add(const struct subject *s, struct answer *a, __u32 state,
				       __u32 wanted, bool tree)
{
	const struct cordon_verdict *outcome;
	const struct cordon_final *final;
	__u16 rule;

	if (state == CORDON_STATE_BROKEN || !tables_outcome(s, state, &outcome, &final))
		return false;
	if (tree) {
		verdict_add_final(&a->verdict, final);
		return true;
	}
	verdict_add(&a->verdict, outcome);
	/* Of several runs that deny, the first rule is named; CORDON_NO_RULE is the largest. */
	rule = deciding_rule(outcome, wanted);
	if (rule < a->rule)
		a->rule = rule;
	if (a->rule != CORDON_NO_RULE)
		a->reason = CORDON_REASON_RULE;
	return true;
}

/*
 * How many of the innermost components run number `run` is about, and where it starts. false: this
 * name has no such run.
 */
static __always_inline bool run_scope(const struct walk *walk, __u32 run, __u32 *ret_start,
				      __u32 *ret_depth)
{
	if (run >= 2) {
		*ret_start = CORDON_START_ANCHOR + run - 2;
		*ret_depth = walk->anchor_depth[(run - 2) & (CORDON_MAX_ANCHORS - 1)];
		return *ret_depth != ANCHOR_ABSENT;
	}
	*ret_start = run == 0 ? CORDON_START_PATH : CORDON_START_FLOATING;
	*ret_depth = walk->depth;
	return !(walk->flags & NAME_NO_MOUNT);
}

/*
 * One run of the automaton over the name, added to the answer. Runs from NAME_RUNS on are the same
 * over again with a slash behind the name, for what lies below it.
 */
static long judge_run(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	bool tree = index >= NAME_RUNS;
	__u32 run = tree ? index - NAME_RUNS : index, start, depth;

	if (run >= NAME_RUNS)
		return 1;
	walk->finals[run] = 0;
	if (!run_scope(walk, run, &start, &depth))
		return 0;
	run_prepare(s, start);
	walk->next = depth;
	/* The root directory has no components, and is named by the slash alone. */
	walk->slash = tree || (walk->flags & NAME_LISTING) || (depth == 0 && run < 2);
	bpf_loop(CORDON_MAX_COMPONENTS * CHUNKS_PER_NAME, run_chunk, (void *)s, 0);
	if (!answer_add(s, &walk->answer, walk->state, walk->wanted, tree)) {
		walk->broken = 1;
		return 1;
	}
	walk->finals[run] = walk->state & CORDON_STATE_MASK;
	return 0;
}

static long ask_attempt(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct answer *a = &walk->answer;
	__u64 sequence = name_sequence();
	__u32 reason;

	if (sequence_busy(sequence))
		return 0;
	answer_clear(a, walk->wanted);
	reason = climb(s);
	if (reason) {
		answer_unnamed(a, walk->wanted, reason);
	} else {
		walk->broken = 0;
		bpf_loop(walk->flags & NAME_TREE ? 2 * NAME_RUNS : NAME_RUNS, judge_run, (void *)s,
			 0);
		if (walk->broken) {
			count(CORDON_COUNTER_BAD_TABLE);
			answer_unnamed(a, walk->wanted, CORDON_REASON_UNRESOLVED);
		} else {
			a->missing = verdict_missing(&a->verdict, walk->wanted);
		}
	}
	if (name_sequence() != sequence)
		return 0;
	walk->settled = 1;
	return 1;
}

/* What tells the object asked about last from others, while it lives. */
static __always_inline __u64 question_identity(const struct subject *s)
{
	return s->walk->dentry;
}

#define NAME_QUESTION(rights, flags) ((__u32)(rights) | (__u32)(flags) << 16)

/*
 * Asks for rights on the object named by dentry and mount; the answer stands in walk->answer. It is
 * always complete: what cannot be resolved is missing altogether.
 */
static __always_inline void ask_name(const struct subject *s, __u64 dentry, __u64 vfsmount,
				     __u32 question)
{
	struct walk *walk = s->walk;

	*(volatile __u64 *)&walk->dentry = dentry;
	*(volatile __u64 *)&walk->vfsmount = vfsmount;
	walk->wanted = question & 0xffffu;
	walk->flags = question >> 16;
	walk->settled = 0;
	bpf_loop(NAME_ATTEMPTS, ask_attempt, (void *)s, 0);
	if (!walk->settled) {
		count(CORDON_COUNTER_RENAME_RACE);
		answer_unnamed(&walk->answer, walk->wanted, CORDON_REASON_UNRESOLVED);
	}
	if (walk->flags & NAME_SOURCE) {
		walk->from = walk->answer;
		__builtin_memcpy(walk->from_finals, walk->finals, sizeof(walk->finals));
	}
}

/* May everything below a directory move from the source asked last to this destination? */
static __always_inline bool same_tree_rights(const struct walk *walk)
{
	for (__u32 n = 0; n < NAME_RUNS; n++)
		if (walk->finals[n] != walk->from_finals[n])
			return false;
	return true;
}

#endif
