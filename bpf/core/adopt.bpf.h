/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Adoption from executors that were not changed for cordon. A task gets a role when its program is
 * recognised. The executor's own processes have one role, and processes that they fork have
 * another. A program that such a child executes may be agent code.
 *
 * Roles are in a hash map by task address, not in task storage. Only fork, exec and exit of a task
 * read them, and a failed lookup there would let a child escape.
 */
#ifndef CORDON_BPF_ADOPT_BPF_H
#define CORDON_BPF_ADOPT_BPF_H

#include "bpf/core/label.bpf.h"
#include "bpf/core/machine.bpf.h"
#include "bpf/core/own_namespaces.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ROLES_ALL);
	__type(key, __u64);
	__type(value, struct cordon_role);
} roles SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CORDON_MAX_EXECUTORS);
	__type(key, __u32);
	__type(value, struct cordon_executor);
} executors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cordon_adoption);
} adoption SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct cordon_adopt_key);
	__type(value, __u64);
} adopt_names SEC(".maps");

/* Dentry of the task's root directory. */
static __always_inline __u64 root_of(const struct task_struct *task)
{
	return read_u64(FIELD(struct fs_struct, read_task(task)->fs, root.dentry));
}

#define ADOPT_KEY_BITS (8u * (sizeof(struct cordon_adopt_key) - sizeof(__u32)))

static __always_inline struct cordon_adoption *adoption_state(void)
{
	__u32 key = 0;
	struct cordon_adoption *a = bpf_map_lookup_elem(&adoption, &key);

	return a && a->recognise ? a : 0;
}

/*
 * Sets a role. Roles belong to no execution, so processes of a user share the user's part. False:
 * there is no room, or none is left for the user.
 */
static __always_inline bool set_role(__u64 task, struct cordon_role *role, __u32 user)
{
	const struct cordon_role *found = bpf_map_lookup_elem(&roles, &task);

	if (found) {
		role->user = found->user;
		return bpf_map_update_elem(&roles, &task, role, BPF_EXIST) == 0;
	}
	role->user = user;
	if (!share_take(user, CORDON_SHARE_ROLES, ROLES_ALL, 0))
		return false;
	if (bpf_map_update_elem(&roles, &task, role, BPF_NOEXIST) == 0)
		return true;
	share_give_back(user, CORDON_SHARE_ROLES);
	return false;
}

static __always_inline void remove_role(__u64 task)
{
	const struct cordon_role *found = bpf_map_lookup_elem(&roles, &task);
	__u32 user = found ? found->user : 0;

	if (found && bpf_map_delete_elem(&roles, &task) == 0)
		share_give_back(user, CORDON_SHARE_ROLES);
}

/*
 * Copies a task's role to its child. Returns 0, or -EAGAIN if there is no room, which makes the
 * fork fail.
 */
static __always_inline int inherit_role(struct task_struct *child, unsigned long clone_flags)
{
	__u64 parent = (__u64)bpf_get_current_task_btf(), address = (__u64)child;
	const struct cordon_role *role;
	struct cordon_role own;

	if (!adoption_state())
		return 0;
	role = bpf_map_lookup_elem(&roles, &parent);
	if (!role)
		return 0;
	own = *role;
	if (!(clone_flags & CLONE_THREAD))
		own.kind = CORDON_ROLE_CHILD;
	if (!set_role(address, &own, share_user_of(bpf_get_current_task_btf()))) {
		count(CORDON_COUNTER_FORK_REFUSED);
		return -EAGAIN;
	}
	return 0;
}

static __always_inline void drop_role(__u64 task)
{
	if (adoption_state())
		remove_role(task);
}

/* The active entry for a role. A changed entry uses the other index of its pair. */
static __always_inline struct cordon_executor *
executor_of(const struct cordon_adoption *a, const struct cordon_role *role, __u32 *ret_index)
{
	__u32 index = role->executor & (CORDON_MAX_EXECUTORS - 1);
	/*
	 * Read once: between two reads, a reload could switch the pair, and neither entry would be
	 * found.
	 */
	__u64 active = *(volatile __u64 *)&a->active;

	if (!((active >> index) & 1))
		index ^= 1;
	if (!((active >> index) & 1))
		return 0;
	/* The daemon writes an entry before it activates it. */
	order();
	*ret_index = index;
	return bpf_map_lookup_elem(&executors, &index);
}

/* --- patterns ----------------------------------------------------------------------------- */

#define GLOB_TEXT 1024u
#define GLOB_NONE 0xffffffffu
/*
 * The kernel accepts arguments of at most 32 pages (MAX_ARG_STRLEN). A pattern with one `*` takes
 * about one step per byte.
 */
#define GLOB_STEPS (1u << 20)

/* Uses the scratch for events, which is free at this time. */
struct adopt_scratch {
	struct cordon_adopt_key key;
	__u32 at, pattern, star, star_at, matched;
	__u32 begin, end; /* the part of the argument that is in `text` */
	__u32 complete;	  /* the argument ends in this part */
	__u32 unsure;	  /* some argument could not be read, or not compared completely */
	char text[GLOB_TEXT];
};

/* After the paths of the exec. */
static __always_inline struct adopt_scratch *adopt_scratch_in(struct event_scratch *events)
{
	return (struct adopt_scratch *)(events->data + 2048);
}

struct glob_question {
	struct adopt_scratch *scratch;
	const struct cordon_glob *glob;
	__u64 argv;
	__u64 string;	 /* the argument */
	__u32 component; /* `*` ends at a slash; the text is complete */
};

/* Reads the part of the argument that begins at m->at. False: it cannot be read. */
static __always_inline bool read_piece(const struct glob_question *q, struct adopt_scratch *m)
{
	long n = read_user_string(m->text, sizeof(m->text), q->string + m->at);

	if (n <= 0) {
		m->unsure = 1;
		return false;
	}
	m->begin = m->at;
	m->end = m->at + (__u32)n - 1;
	m->complete = n < (long)sizeof(m->text);
	return true;
}

static long glob_step(__u32 index, void *context)
{
	struct glob_question *q = context;
	struct adopt_scratch *m = q->scratch;
	__u32 at = m->at, pattern = m->pattern, length = q->glob->length;
	char c = 0;

	if (pattern < length && pattern < CORDON_ADOPT_GLOB)
		c = q->glob->text[pattern & (CORDON_ADOPT_GLOB - 1)];
	if (c == '*') {
		/* A final `*` matches the rest, unless it ends at a slash. */
		m->matched = !q->component && pattern + 1 >= length;
		m->star = pattern;
		m->star_at = at;
		m->pattern = pattern + 1;
		return m->matched & 1;
	}
	if (at < m->begin || at > m->end || (at == m->end && !m->complete))
		return !read_piece(q, m);
	if (at == m->end) {
		m->matched = pattern >= length;
		return 1;
	}
	if (c && m->text[(at - m->begin) & (GLOB_TEXT - 1)] == c) {
		m->at = at + 1;
		m->pattern = pattern + 1;
		return 0;
	}
	if (m->star == GLOB_NONE)
		return 1;
	if (q->component && m->text[m->star_at & (GLOB_TEXT - 1)] == '/')
		return 1;
	m->pattern = m->star + 1;
	m->star_at++;
	m->at = m->star_at;
	return 0;
}

/* More than the kernel accepts: each argument and its pointer count towards the size limit. */
#define ARGUMENTS_MAX (1u << 20)

/*
 * Compares one argument string of the exec. The strings are in the caller's memory. The caller is
 * an executor, which has no reason to change them meanwhile, and the kernel has just copied them.
 */
static long match_argument(__u32 index, void *context)
{
	struct glob_question *q = context;
	struct adopt_scratch *m = q->scratch;

	if (bpf_probe_read_user(&q->string, sizeof(q->string), (void *)(q->argv + 8ull * index))) {
		m->unsure = 1;
		return 1;
	}
	if (!q->string)
		return 1;
	m->at = 0;
	m->pattern = 0;
	m->star = GLOB_NONE;
	m->star_at = 0;
	/* Nothing is read yet. */
	m->begin = GLOB_NONE;
	m->end = GLOB_NONE;
	if (bpf_loop(GLOB_STEPS, glob_step, q, 0) >= GLOB_STEPS)
		m->unsure = 1;
	/* Shows the verifier of 6.1 that the value is 0 or 1. */
	return m->matched & 1;
}

enum glob_answer {
	GLOB_NO = 0,
	GLOB_YES = 1,
	GLOB_UNKNOWN = 2, /* not all arguments could be read or compared */
};

/* Does an argument of the exec in progress match? */
__noinline int match_arguments(const struct cordon_glob *glob, struct adopt_scratch *scratch)
{
	const struct pt_regs *regs = entry_registers();
	struct glob_question q = {.scratch = scratch, .glob = glob};
	__u64 string = 0;

	if (!scratch || !glob)
		return GLOB_UNKNOWN;
	if (!glob->length)
		return GLOB_YES;
	if (is_32bit_call(regs))
		return GLOB_UNKNOWN;
	if (call_number(regs) == NR_EXECVE)
		q.argv = CALL_ARGUMENT_1(regs);
	else if (call_number(regs) == NR_EXECVEAT)
		q.argv = CALL_ARGUMENT_2(regs);
	else
		return GLOB_UNKNOWN;
	if (!q.argv)
		return GLOB_NO;
	scratch->matched = 0;
	scratch->unsure = 0;
	/* The first argument is the program's name. Without it there are none. */
	if (bpf_probe_read_user(&string, sizeof(string), (void *)q.argv))
		return GLOB_UNKNOWN;
	if (!string)
		return GLOB_NO;
	q.argv += sizeof(string);
	if (bpf_loop(ARGUMENTS_MAX, match_argument, &q, 0) >= ARGUMENTS_MAX)
		scratch->unsure = 1;
	if (scratch->matched)
		return GLOB_YES;
	return scratch->unsure ? GLOB_UNKNOWN : GLOB_NO;
}

/* --- names -------------------------------------------------------------------------------- */

static __always_inline __u64 adopt_lookup(struct adopt_scratch *scratch, __u32 question,
					  __u32 executor)
{
	const __u64 *value;

	scratch->key.prefix = ADOPT_KEY_BITS;
	scratch->key.question = question;
	scratch->key.executor = executor;
	value = bpf_map_lookup_elem(&adopt_names, &scratch->key);
	return value ? *value : 0;
}

/* Does the path in the key match the pattern of the executor's program? */
__noinline int is_like(const struct cordon_executor *executor, struct adopt_scratch *scratch)
{
	struct glob_question q = {.scratch = scratch, .component = 1};
	__u32 from;
	long n;

	if (!executor || !scratch || !executor->program.length)
		return 0;
	q.glob = &executor->program;
	from = executor->program_from;
	if (from >= CORDON_ADOPT_TEXT)
		return 0;
	n = bpf_probe_read_kernel_str(scratch->text, sizeof(scratch->text),
				      scratch->key.text + from);
	if (n <= 0)
		return 0;
	scratch->at = 0;
	scratch->pattern = 0;
	scratch->star = GLOB_NONE;
	scratch->star_at = 0;
	scratch->begin = 0;
	scratch->end = n - 1;
	scratch->complete = 1;
	scratch->matched = 0;
	bpf_loop(2 * GLOB_TEXT * CORDON_ADOPT_GLOB, glob_step, &q, 0);
	return scratch->matched & 1;
}

/* --- cgroups ------------------------------------------------------------------------------ */

#define CGROUP_NAME_MAX 256u
#define CGROUP_DEPTH	32u

struct cgroup_walk {
	struct adopt_scratch *scratch;
	__u64 cgroup;
	__u32 level, at;
};

static long add_cgroup_name(__u32 index, void *context)
{
	struct cgroup_walk *w = context;
	__u64 ancestor, node;
	__u32 at = w->at;
	long n;

	barrier_var(at);
	if (index >= w->level || at >= CORDON_ADOPT_TEXT)
		return 1;
	ancestor = read_u64(w->cgroup + bpf_core_field_offset(struct cgroup, ancestors) +
			    8ull * (index + 1));
	node = read_u64(FIELD(struct cgroup, ancestor, kn));
	w->scratch->text[at] = '/';
	n = bpf_probe_read_kernel_str(
		&w->scratch->text[at + 1], CGROUP_NAME_MAX,
		(const void *)read_u64(FIELD(struct kernfs_node, node, name)));
	if (n <= 0)
		return 1;
	w->at = at + n;
	return 0;
}

/*
 * Is the task in the entry's cgroup or below it? Compares names: a restarted service has a new
 * cgroup with the same name, and runs its program before the daemon could look up the cgroup.
 */
__noinline int is_in_its_cgroup(__u32 executor)
{
	__u64 groups = (__u64)read_task(bpf_get_current_task_btf())->cgroups;
	struct event_scratch *events = event_scratch();
	struct adopt_scratch *scratch;
	struct cgroup_walk w = {};
	__u32 at;

	if (!events)
		return 0;
	/* Not an argument: 6.1 accepts no map key from one. */
	scratch = adopt_scratch_in(events);
	w.scratch = scratch;
	w.cgroup = read_u64(FIELD(struct css_set, groups, dfl_cgrp));
	w.level = read_u32(FIELD(struct cgroup, w.cgroup, level));
	bpf_loop(CGROUP_DEPTH, add_cgroup_name, &w, 0);
	at = w.at;
	barrier_var(at);
	at &= GLOB_TEXT / 2 - 1;
	scratch->text[at] = '/';
	scratch->text[at + 1] = 0;
	bpf_probe_read_kernel(scratch->key.text, sizeof(scratch->key.text), scratch->text);
	return adopt_lookup(scratch, CORDON_ADOPT_CGROUP, executor) != 0;
}

/* The event is at the end of the header, because the paths follow it in the data. */
static __always_inline struct cordon_adopt_event *adopt_event(struct event_scratch *scratch)
{
	return (struct cordon_adopt_event *)(scratch->header + sizeof(scratch->header) -
					     sizeof(struct cordon_adopt_event));
}

#endif
