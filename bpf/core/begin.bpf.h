/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The beginning of an execution that was adopted, before its first instruction: its environment is
 * cleaned, and it is held for the daemon. Decided by an LSM hook, of which none is left out: a
 * tracing program is, wherever another task was preempted in it on the same processor
 * (bpf_prog_check_recur(), include/linux/bpf_verifier.h), and tells only.
 */
#ifndef CORDON_BPF_BEGIN_BPF_H
#define CORDON_BPF_BEGIN_BPF_H

#include "bpf/core/adopt.bpf.h"

/* Set by the loader. Under lockdown the kernel takes no program that writes to user memory. */
const volatile bool may_write_user = true;

/*
 * What exec has copied, one string behind the other: the arguments, the environment, the program's
 * name.
 */
struct string_walk {
	__u64 at;
	__u32 left; /* strings */
	char piece[128];
};

static long walk_piece(__u32 index, void *context)
{
	struct string_walk *walk = context;
	long n;

	if (!walk->left)
		return 1;
	n = read_user_string(walk->piece, sizeof(walk->piece), walk->at);
	if (n <= 0)
		return 1;
	/* Truncated, it ends with a NUL that is not the string's. */
	walk->at += n == (long)sizeof(walk->piece) ? n - 1 : n;
	walk->left -= n < (long)sizeof(walk->piece);
	return 0;
}

/* The kernel takes no more strings: each counts towards the size limit with its pointer. */
#define STRING_PIECES (1u << 20)

/*
 * Behind the arguments of the exec in progress, or as far as they could be read: *ret_whole. Before
 * the program is in place, its memory says where they lie by `bprm` alone (copy_strings(),
 * fs/exec.c).
 */
static __noinline __u64 arguments_end(const struct linux_binprm *bprm, bool *ret_whole)
{
	struct string_walk walk = {.at = bprm->p, .left = bprm->argc};

	bpf_loop(STRING_PIECES, walk_piece, &walk, 0);
	*ret_whole = !walk.left;
	return walk.at;
}

struct environment_scan {
	struct cordon_adopt_key key;
	__u32 inside; /* a variable that did not fit: go on with it */
	__u64 at, end;
	__u32 dropping;
	__u32 dropped;
	__u32 broken;
	__u32 executor;
	__u32 noting; /* the names of what is dropped */
	__u32 noted;  /* bytes of these in `names` */
	__u32 ended;  /* where the next one begins, once one is written whole */
	char filler[256];
	char names[CORDON_ENVIRONMENT_NAMES];
};

/* Characters of a variable's name that are looked at. */
#define VARIABLE_NAME_MAX 128u
_Static_assert(VARIABLE_NAME_MAX <= CORDON_ADOPT_TEXT, "names are read where pieces stand");

static long note_character(__u32 index, void *context)
{
	struct environment_scan *scan = *(struct environment_scan **)context;
	__u32 at = scan->noted + index;
	char c = scan->key.text[index & (VARIABLE_NAME_MAX - 1)];

	if (at >= CORDON_ENVIRONMENT_NAMES || !c)
		return 1;
	if (c == '=') {
		scan->names[at & (CORDON_ENVIRONMENT_NAMES - 1)] = 0;
		scan->ended = index ? at + 1 : scan->noted;
		return 1;
	}
	scan->names[at & (CORDON_ENVIRONMENT_NAMES - 1)] = c;
	return 0;
}

/* Whole, or not at all: what has no '=' might be part of a value. */
static __always_inline void note_variable(struct environment_scan *scan)
{
	bpf_loop(VARIABLE_NAME_MAX, note_character, &scan, 0);
	scan->noted = scan->ended;
}

/* A piece of the environment: a variable, or what of it fits into the key. */
static long clean_piece(__u32 index, void *context)
{
	struct environment_scan *scan = *(struct environment_scan **)context;
	__u64 at = scan->at;
	long n;

	if (at >= scan->end)
		return 1;
	n = read_user_string(scan->key.text, CORDON_ADOPT_TEXT, at);
	if (n <= 0 || n > CORDON_ADOPT_TEXT)
		goto broken;
	if (!scan->inside) {
		const __u64 *kept;

		scan->key.prefix = ADOPT_KEY_BITS;
		scan->key.question = CORDON_ADOPT_KEEP;
		scan->key.executor = scan->executor;
		kept = bpf_map_lookup_elem(&adopt_names, &scan->key);
		scan->dropping = !kept || !*kept;
		if (scan->dropping && n > 1) {
			scan->dropped++;
			if (scan->noting)
				note_variable(scan);
		}
	}
	/* Without its NUL. The helper takes no empty range. */
	if (n > 1 && scan->dropping && may_write_user &&
	    bpf_probe_write_user((void *)at, scan->filler, n - 1))
		goto broken;
	/* Truncated, it ends with a NUL that is not the string's. */
	scan->inside = n == CORDON_ADOPT_TEXT;
	scan->at = at + (scan->inside ? n - 1 : n);
	return 0;
broken:
	scan->broken = 1;
	return 1;
}

/* Overwrites what the entry does not keep. True: nothing of that is left. */
static __always_inline bool clean_environment(struct environment_scan *scan, __u32 executor,
					      __u64 start, __u64 end)
{
	scan->at = start;
	scan->end = end;
	scan->inside = 0;
	scan->dropping = 0;
	scan->dropped = 0;
	scan->broken = 0;
	scan->noted = 0;
	scan->ended = 0;
	scan->executor = executor;
	bpf_loop(STRING_PIECES, clean_piece, &scan, 0);
	return !scan->broken && scan->at >= scan->end;
}

/* Behind the names, as these are to be told. */
static __always_inline struct environment_scan *scan_of(struct event_scratch *scratch)
{
	return (struct environment_scan *)(scratch->data + CORDON_ENVIRONMENT_NAMES);
}

/*
 * While exec is in progress: by as many other characters, since the kernel is still to count these
 * strings (create_elf_tables(), fs/binfmt_elf.c).
 */
static __noinline bool blot_environment(struct event_scratch *scratch, __u32 executor,
					const struct linux_binprm *bprm)
{
	struct environment_scan *scan;
	bool whole = false;
	__u64 start;

	if (!scratch || !may_write_user)
		return false;
	scan = scan_of(scratch);
	start = arguments_end(bprm, &whole);
	__builtin_memset(scan->filler, CORDON_BLOT, sizeof(scan->filler));
	scan->noting = 1;
	return clean_environment(scan, executor, start, bprm->exec) && whole;
}

/* Once the program is in place, by nothing; so does the daemon where this was left out. */
static __noinline void empty_environment(struct event_scratch *scratch, __u32 executor)
{
	const struct mm_struct *mm = read_task(bpf_get_current_task_btf())->mm;
	struct environment_scan *scan;

	if (!scratch || !may_write_user)
		return;
	scan = scan_of(scratch);
	__builtin_memset(scan->filler, 0, sizeof(scan->filler));
	scan->noting = 0;
	clean_environment(scan, executor, mm->env_start, mm->env_end);
}

/*
 * A process that leads a group in its parent's session is a shell's job, and the shell would hear
 * of the stop (do_notify_parent_cldstop()). Nobody else asks to.
 */
static __always_inline bool is_job(struct task_struct *current)
{
	const struct task_struct *task = read_task(current);
	const struct signal_struct *signal = task->signal;

	return signal->pids[PIDTYPE_PGID] == task->thread_pid &&
	       signal->pids[PIDTYPE_SID] != task->thread_pid;
}

/* With `names` bytes of what stands behind it in the scratch. */
static __noinline int send_of_environment(struct event_scratch *scratch, const struct label *label,
					  struct cordon_execution *execution, __u32 type,
					  __u32 names)
{
	struct cordon_adopt_event *event = adopt_event(scratch);

	if (names > CORDON_ENVIRONMENT_NAMES)
		names = CORDON_ENVIRONMENT_NAMES;
	fill_process(&event->event);
	fill_event(&event->event, label, execution, type, sizeof(*event) + names,
		   bpf_ktime_get_boot_ns());
	event->executor = execution->executor - 1;
	event->reason = CORDON_ADOPTED;
	event->workdir_length = 0;
	event->program_length = names;
	event->variables = execution->variables;
	event->begun = execution->begun;
	note_sent(execution, bpf_ringbuf_output(&critical, event, sizeof(*event) + names, 0),
		  CORDON_COUNTER_CRITICAL_DROPPED);
	return 0;
}

/* Those that were overwritten here; what is left to the daemon it sees for itself. */
static __always_inline void tell_removed(struct event_scratch *scratch, const struct label *label,
					 struct cordon_execution *execution)
{
	struct environment_scan *scan = scan_of(scratch);
	__u32 names = scan->noted;

	if (!scan->dropped)
		return;
	if (names > CORDON_ENVIRONMENT_NAMES)
		names = CORDON_ENVIRONMENT_NAMES;
	bpf_probe_read_kernel(scratch->data, names, scan->names);
	send_of_environment(scratch, label, execution, CORDON_EVENT_ENVIRONMENT, names);
}

/* Is this its first program, in the process that was adopted? */
static __always_inline bool is_beginning(const struct subject *s, const struct task_struct *task,
					 __u32 begun)
{
	return s->execution->executor && s->execution->begun == begun &&
	       s->execution->leader == (__u32)task->tgid;
}

static __always_inline void begin(struct subject *s, struct cordon_adoption *a,
				  struct task_struct *task, const struct linux_binprm *bprm)
{
	struct cordon_execution *execution = s->execution;
	struct event_scratch *scratch = event_scratch();
	__u32 index = execution->executor - 1, begun = CORDON_BEGUN_DECIDED;
	struct cordon_executor *executor = bpf_map_lookup_elem(&executors, &index);
	bool there = a && bpf_ktime_get_boot_ns() <= a->lease, clean;

	if (!executor || !scratch || !a) {
		bpf_send_signal(SIGKILL);
		return;
	}
	clean = (executor->flags & CORDON_EXECUTOR_KEEP_ALL) != 0;
	if (!clean) {
		clean = blot_environment(scratch, index, bprm);
		if (may_write_user) {
			execution->variables = scan_of(scratch)->dropped;
			tell_removed(scratch, &s->label, execution);
		}
	}
	if (clean)
		begun |= CORDON_BEGUN_CLEAN;
	else
		__sync_fetch_and_add(&a->unclean, 1);
	if (there && (executor->flags & CORDON_EXECUTOR_HOLD) &&
	    (!is_job(task) || !clean || (executor->flags & CORDON_EXECUTOR_GATE)) &&
	    __sync_val_compare_and_swap(&execution->state, CORDON_EXECUTION_LIVE,
					CORDON_EXECUTION_HELD) == CORDON_EXECUTION_LIVE)
		begun |= CORDON_BEGUN_HELD;
	execution->begun = begun;
	/*
	 * Before its first instruction: the kernel looks for signals on the way there. The daemon
	 * may have gone since adopt() asked, while the exec waited; a gate is one's with `deny`.
	 */
	if (begun & CORDON_BEGUN_HELD)
		bpf_send_signal(SIGSTOP);
	else if (!clean || (!there && (executor->flags & CORDON_EXECUTOR_DENY_AWAY)))
		bpf_send_signal(SIGKILL);
}

static __always_inline void begin_if_adopted(struct subject *s, struct task_struct *task,
					     const struct linux_binprm *bprm)
{
	if (is_beginning(s, task, 0))
		begin(s, adoption_state(), task, bprm);
}

/* The program is in place. The daemon finds one that it is not told of: adopted_scan(). */
static __always_inline void tell_begin(struct subject *s, struct task_struct *task)
{
	struct cordon_execution *execution = s->execution;
	__u32 index = execution->executor - 1, decided = execution->begun;
	const struct cordon_executor *executor;
	struct event_scratch *scratch;

	if (!(decided & CORDON_BEGUN_DECIDED) || (decided & CORDON_BEGUN) ||
	    !is_beginning(s, task, decided))
		return;
	executor = bpf_map_lookup_elem(&executors, &index);
	scratch = event_scratch();
	if (!executor || !scratch)
		return;
	if ((decided & CORDON_BEGUN_CLEAN) && !(executor->flags & CORDON_EXECUTOR_KEEP_ALL))
		empty_environment(scratch, index);
	execution->begun = decided | CORDON_BEGUN;
	send_of_environment(scratch, &s->label, execution, CORDON_EVENT_BEGIN, 0);
}

/*
 * A task exits. If the daemon is gone with it, that is known at once, not when its lease runs out.
 */
static __always_inline void end_lease_of(const struct task_struct *task)
{
	struct cordon_adoption *a = adoption_state();

	if (a && a->daemon == (__u32)task->tgid && read_task(task)->signal->live.counter == 0)
		a->lease = 0;
}

#endif
