/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The start of an adopted execution, before its first instruction: its environment is cleaned, and
 * it is held for the daemon. An LSM hook decides this, because LSM hooks always run. A tracing
 * program is skipped if a preempted task is in it on the same CPU (bpf_prog_check_recur(),
 * include/linux/bpf_verifier.h). The tracing program here therefore only reports.
 */
#ifndef CORDON_BPF_BEGIN_BPF_H
#define CORDON_BPF_BEGIN_BPF_H

#include "bpf/core/adopt.bpf.h"

/* Set by the loader. Under lockdown, the kernel loads no program that writes to user memory. */
const volatile bool may_write_user = true;

/* Walks the strings that exec has copied: the arguments, the environment, the program's name. */
struct string_walk {
	__u64 at;
	__u32 left; /* strings left */
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
	/* A truncated string ends with a NUL that is not its own. */
	walk->at += n == (long)sizeof(walk->piece) ? n - 1 : n;
	walk->left -= n < (long)sizeof(walk->piece);
	return 0;
}

/* More than the kernel accepts: each string and its pointer count towards the size limit. */
#define STRING_PIECES (1u << 20)

/*
 * Finds the end of the arguments of the exec in progress. *ret_whole is false if not all could be
 * read. Before the program is loaded, only `bprm` shows where they are (copy_strings(), fs/exec.c).
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
	__u32 inside; /* 1: continues a variable that did not fit */
	__u64 at, end;
	__u32 dropping;
	__u32 dropped;
	__u32 broken;
	__u32 executor;
	__u32 noting; /* 1: record the names of removed variables */
	__u32 noted;  /* bytes of recorded names in `names` */
	__u32 ended;  /* offset after the last complete name */
	char filler[256];
	char names[CORDON_ENVIRONMENT_NAMES];
};

/* Most characters of a variable's name that are recorded. */
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

/* Records a name completely or not at all: text without '=' may be part of a value. */
static __always_inline void note_variable(struct environment_scan *scan)
{
	bpf_loop(VARIABLE_NAME_MAX, note_character, &scan, 0);
	scan->noted = scan->ended;
}

/* Handles a part of the environment: a variable, or the part of it that fits into the key. */
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
	/* Without its NUL. The helper accepts no empty range. */
	if (n > 1 && scan->dropping && may_write_user &&
	    bpf_probe_write_user((void *)at, scan->filler, n - 1))
		goto broken;
	/* A truncated string ends with a NUL that is not its own. */
	scan->inside = n == CORDON_ADOPT_TEXT;
	scan->at = at + (scan->inside ? n - 1 : n);
	return 0;
broken:
	scan->broken = 1;
	return 1;
}

/* Overwrites the variables that the entry does not keep. True: none of them is left. */
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

/* After the names, which an event contains. */
static __always_inline struct environment_scan *scan_of(struct event_scratch *scratch)
{
	return (struct environment_scan *)(scratch->data + CORDON_ENVIRONMENT_NAMES);
}

/*
 * During exec: overwrites variables with as many other characters, because the kernel has not yet
 * counted the strings (create_elf_tables(), fs/binfmt_elf.c).
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

/*
 * After the program is loaded: overwrites variables with NULs. The daemon does so if this program
 * cannot.
 */
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
 * Is the process a shell's job? It then leads a process group in its parent's session, and the
 * shell would be notified of the stop (do_notify_parent_cldstop()). Other parents do not request
 * this.
 */
static __always_inline bool is_job(struct task_struct *current)
{
	const struct task_struct *task = read_task(current);
	const struct signal_struct *signal = task->signal;

	return signal->pids[PIDTYPE_PGID] == task->thread_pid &&
	       signal->pids[PIDTYPE_SID] != task->thread_pid;
}

/* Sends an event with `names` bytes that follow it in the scratch. */
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

/* Reports the variables that were overwritten here. The daemon knows the others itself. */
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

/* Is this the first program of the adopted process? */
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
	 * The signal is delivered before the first instruction. The daemon may have exited since
	 * adopt() checked, while the exec waited. An entry with an exec check always has DENY_AWAY.
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

/*
 * The program is loaded. If this event is lost, the daemon finds the execution with adopted_scan().
 */
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

/* A task exits. If it was the daemon's last thread, its lease ends at once. */
static __always_inline void end_lease_of(const struct task_struct *task)
{
	struct cordon_adoption *a = adoption_state();

	if (a && a->daemon == (__u32)task->tgid && read_task(task)->signal->live.counter == 0)
		a->lease = 0;
}

#endif
