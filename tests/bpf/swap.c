/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swaps policies as fast as a store can be repeated, under many live executions with tasks that
 * cause checks on all CPUs meanwhile:
 *
 *    swap [--executions N] [--seconds N]
 *
 * Accesses that both policies allow must never be denied, and accesses that both deny never
 * allowed, even if a mixture of both would do so. Of two names that one policy each allows, exactly
 * the active policy's must be allowed while no swap happens. Each reported denial must name a
 * policy that denies the access, and its rule. Needs root, and a kernel that can enforce.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "kernel/enforcement.h"
#include "policy/compile/compile.h"

#define EXECUTIONS_DEFAULT 1000u
#define SECONDS_DEFAULT	   5u
/* The other tasks rest most of the time. Otherwise the emulated machine would only schedule. */
#define BUSY_TASKS    16u
#define REST_NSEC     (900 * NSEC_PER_MSEC)
#define PATIENCE_NSEC (60 * NSEC_PER_SEC)
#define COPIES_MAX    4096u

enum access {
	BOTH,	     /* allowed by both */
	NONE,	     /* by neither */
	ONLY_A,	     /* allowed by one of them only */
	ONLY_B,	     /* directly after ONLY_A: the pair */
	ATTRIBUTE,   /* A denies it by a rule, B has no rule that allows it */
	SPLIT_ALLOW, /* A allows it by an absolute rule, B by a floating rule */
	SPLIT_DENY, /* A allows it by an absolute rule and denies it by a floating one, B neither */
	RIGHTS,	    /* reading and writing: A allows one, B the other */
	RENAME,	    /* A allows deleting the old name, B creating the new one */
	ACCESSES,
};

static const struct {
	const char *name;
	int must; /* 1: always allowed, -1: never, 0: depends on the active policy */
} accesses[ACCESSES] = {
	[BOTH] = {"both", 1},
	[NONE] = {"none", -1},
	[ONLY_A] = {"only-a", 0},
	[ONLY_B] = {"only-b", 0},
	[ATTRIBUTE] = {"attribute", -1},
	[SPLIT_ALLOW] = {"split-allow", 1},
	[SPLIT_DENY] = {"split-deny", -1},
	[RIGHTS] = {"rights", -1},
	[RENAME] = {"rename", -1},
};

/* Rule 0 of A denies `attribute`; `@` is the directory. */
static const char text_a[] = "version: 1\nname: a\nfiles:\n"
			     "  - {deny: [read], paths: ['@/attribute']}\n"
			     "  - {allow: [read], paths: ['@/{both,only-a,split-allow}']}\n"
			     "  - {allow: [read], paths: ['@/split-deny', '@/rights']}\n"
			     "  - {deny: [read], paths: ['**/split-deny']}\n"
			     "  - {allow: [delete], paths: ['@/rename']}\n";
static const char text_b[] = "version: 1\nname: b\nfiles:\n"
			     "  - {allow: [read], paths: ['@/{both,only-b}']}\n"
			     "  - {allow: [read], paths: ['**/split-allow']}\n"
			     "  - {allow: [write], paths: ['@/rights']}\n"
			     "  - {allow: [create], paths: ['@/renamed']}\n";
/* A mixture of the two, to show that only the policy prevents the accesses. */
static const char text_mixture[] = "version: 1\nname: mixture\nfiles:\n"
				   "  - {allow: [read, write, create, delete], paths: ['@/**']}\n";

struct execution {
	pid_t pid;
	uint32_t slot;
};

/* Shared by this process and its children. */
struct shared {
	uint32_t go; /* futex: the children wait for it */
	uint32_t stop;
	uint64_t allowed[ACCESSES], refused[ACCESSES], odd[ACCESSES];
	uint64_t pairs, pairs_wrong;
	/* Per execution: odd during a swap; bit 1: which policy. */
	uint32_t epoch[CORDON_MAX_EXECUTIONS];
};

struct test {
	struct enforcement *enforcement;
	struct shared *shared;
	char directory[64];
	char path[ACCESSES][96], renamed[96];
	struct compiled_policy *policy[2], *mixture;
	uint64_t mixture_ref;
	/* every reference that was ever active, and its policy */
	struct {
		uint64_t ref;
		unsigned int which;
	} copies[COPIES_MAX];
	size_t copy_count;
	uint64_t now[2]; /* the resident ones */
	struct execution *executions;
	unsigned int wanted, count, seconds;
	uint64_t swaps, denials, misattributed;
	unsigned int passed, failed;
};

static void outcome(struct test *t, bool good, const char *format, ...) _printf_(3, 4);

static void outcome(struct test *t, bool good, const char *format, ...)
{
	va_list arguments;

	if (good)
		t->passed++;
	else
		t->failed++;
	fputs(good ? "ok - " : "not ok - ", stdout);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

static void __attribute__((noreturn)) give_up(const char *what, int error)
{
	printf("not ok - %s: %s\n# swap: 0 passed, 1 failed\n", what, strerror(abs(error)));
	fflush(stdout);
	/* The enforcement stays loaded for the children, which end with this process. */
	exit(1);
}

static int futex(uint32_t *word, int operation, uint32_t value)
{
	return (int)syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* --- accesses of the tasks ---------------------------------------------------------------- */

static bool try_access(const struct test *t, enum access which)
{
	int fd;

	if (which == RENAME)
		return rename(t->path[which], t->renamed) == 0;
	fd = open(t->path[which], which == RIGHTS ? O_RDWR : O_RDONLY);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool access_once(const struct test *t, enum access which)
{
	struct shared *s = t->shared;
	bool allowed = try_access(t, which);

	if (!allowed && errno != EACCES && errno != EPERM)
		__atomic_add_fetch(&s->odd[which], 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(allowed ? &s->allowed[which] : &s->refused[which], 1, __ATOMIC_RELAXED);
	return allowed;
}

/* Checks both names while one policy is active: exactly that policy's must be allowed. */
static void access_pair(const struct test *t, unsigned int number)
{
	struct shared *s = t->shared;
	uint32_t before = __atomic_load_n(&s->epoch[number], __ATOMIC_SEQ_CST), after;
	bool a = access_once(t, ONLY_A), b = access_once(t, ONLY_B);
	bool is_b = before & 2;

	after = __atomic_load_n(&s->epoch[number], __ATOMIC_SEQ_CST);
	if (before != after || before & 1)
		return;
	__atomic_add_fetch(&s->pairs, 1, __ATOMIC_RELAXED);
	if (a == is_b || b != is_b)
		__atomic_add_fetch(&s->pairs_wrong, 1, __ATOMIC_RELAXED);
}

static void __attribute__((noreturn)) live(const struct test *t, unsigned int number)
{
	const struct timespec rest = {.tv_nsec = REST_NSEC};
	struct shared *s = t->shared;
	cpu_set_t cpus;

	/* Causes no check before the label is complete, as `cordon run` holds its child. */
	while (!__atomic_load_n(&s->go, __ATOMIC_ACQUIRE))
		futex(&s->go, FUTEX_WAIT, 0);
	CPU_ZERO(&cpus);
	CPU_SET(number % 2, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
		for (enum access which = 0; which < ACCESSES; which++) {
			if (which == ONLY_A)
				access_pair(t, number);
			else if (which != ONLY_B)
				access_once(t, which);
		}
		if (number >= BUSY_TASKS)
			(void)nanosleep(&rest, NULL);
	}
	_exit(0);
}

/* --- executions --------------------------------------------------------------------------- */

static pid_t spawn(const struct test *t, unsigned int number)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	live(t, number);
}

static int begin(struct test *t, unsigned int number, uint64_t ref)
{
	struct execution *e = &t->executions[number];
	struct enforcement_binding binding = {.policy = ref};
	_cleanup_(closep) int pidfd = -1;
	int r;

	memcpy(binding.id, &number, sizeof(number));
	e->pid = spawn(t, number);
	if (e->pid < 0)
		return -errno;
	pidfd = pidfd_open(e->pid, 0);
	if (pidfd < 0)
		return -errno;
	r = enforcement_bind(t->enforcement, &binding, &e->slot);
	return r < 0 ? r : enforcement_label(t->enforcement, e->slot, pidfd);
}

/* Starts as many as memory allows, but at least a tenth. */
static void begin_all(struct test *t)
{
	uint64_t start = clock_nsec(CLOCK_MONOTONIC);

	for (t->count = 0; t->count < t->wanted; t->count++) {
		int r = begin(t, t->count, t->now[0]);

		if (r == -ENOMEM || r == -EAGAIN)
			break;
		if (r < 0)
			give_up("an execution cannot begin", r);
	}
	outcome(t, t->count * 10 >= t->wanted, "%u executions live at once, in %.1f s", t->count,
		(double)(clock_nsec(CLOCK_MONOTONIC) - start) / NSEC_PER_SEC);
}

/* Labels are removed when the kernel has freed the tasks, a grace period after they were reaped. */
static int release(struct test *t, const struct execution *e)
{
	const struct timespec pause = {.tv_nsec = 2 * NSEC_PER_MSEC};
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + PATIENCE_NSEC;
	int r;

	do {
		r = enforcement_release(t->enforcement, e->slot);
		if (r == -EBUSY)
			(void)nanosleep(&pause, NULL);
	} while (r == -EBUSY && clock_nsec(CLOCK_MONOTONIC) < end);
	return r;
}

static void end_all(struct test *t)
{
	int r = 0;

	for (unsigned int i = 0; i < t->count; i++)
		(void)kill(t->executions[i].pid, SIGKILL);
	for (unsigned int i = 0; i < t->count; i++)
		(void)waitpid(t->executions[i].pid, NULL, 0);
	for (unsigned int i = 0; i < t->count && r == 0; i++)
		r = release(t, &t->executions[i]);
	outcome(t, r == 0, "all slots come free");
}

/* --- policies ----------------------------------------------------------------------------- */

static struct compiled_policy *compile(const struct test *t, const char *template)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	struct compiled_policy *policy = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r;

	if (!d || !out)
		give_up("memory", ENOMEM);
	for (; *template; template ++) {
		if (*template == '@')
			fputs(t->directory, out);
		else
			fputc(*template, out);
	}
	if (fclose(out) != 0)
		give_up("memory", ENOMEM);
	r = policy_compile_text(text, strlen(text), "swap.yaml", NULL, d, &policy);
	if (r < 0)
		give_up("a policy does not compile", r);
	return policy;
}

static uint64_t add_policy(struct test *t, const struct compiled_policy *policy)
{
	uint64_t ref = 0;
	int r = enforcement_policy_add(t->enforcement, policy->tables, policy->tables_size, &ref);

	if (r < 0)
		give_up("a policy cannot be added", r);
	return ref;
}

/* Adds another copy of policy `which`, for the next swaps. */
static uint64_t add_copy(struct test *t, unsigned int which)
{
	uint64_t ref = add_policy(t, t->policy[which]);

	if (t->copy_count == COPIES_MAX)
		give_up("copies", ENOSPC);
	t->copies[t->copy_count].ref = ref;
	t->copies[t->copy_count++].which = which;
	t->now[which] = ref;
	return ref;
}

static void put_under(struct test *t, unsigned int number, unsigned int which)
{
	uint32_t *epoch = &t->shared->epoch[number];
	uint32_t next = (*epoch + 4) & ~3u;

	__atomic_store_n(epoch, *epoch | 1, __ATOMIC_SEQ_CST);
	enforcement_set_policy(t->enforcement, t->executions[number].slot, t->now[which]);
	__atomic_store_n(epoch, next | which << 1, __ATOMIC_SEQ_CST);
}

static void put_all_under(struct test *t, unsigned int which)
{
	for (unsigned int i = 0; i < t->count; i++)
		put_under(t, i, which);
	t->swaps += t->count;
}

/* --- events ------------------------------------------------------------------------------- */

static int which_policy(const struct test *t, uint64_t ref)
{
	for (size_t i = t->copy_count; i > 0; i--)
		if (t->copies[i - 1].ref == ref)
			return (int)t->copies[i - 1].which;
	return -1;
}

static int which_access(const struct test *t, const struct cordon_denial_event *event)
{
	for (int i = 0; i < ACCESSES; i++)
		if (strlen(t->path[i]) == event->object_length &&
		    memcmp(t->path[i], event->object, event->object_length) == 0)
			return i;
	return -1;
}

static bool is_right(const struct cordon_denial_event *event, int access, int policy)
{
	bool rule = event->reason == CORDON_REASON_RULE;

	if (policy < 0)
		return false;
	switch (access) {
	case ONLY_A:
		return policy == 1 && !rule;
	case ONLY_B:
		return policy == 0 && !rule;
	case ATTRIBUTE:
		return policy == 0 ? rule && event->rule == 0
				   : !rule && event->rule == CORDON_NO_RULE;
	case SPLIT_DENY:
		return policy == 0 ? rule && event->rule == 3 : !rule;
	case RIGHTS:
		return event->rights == CORDON_RIGHT(policy == 0 ? CORDON_WRITE : CORDON_READ);
	case BOTH:
	case SPLIT_ALLOW:
		return false;
	default:
		return !rule;
	}
}

static void check_event(const void *data, size_t size, void *context)
{
	const struct cordon_denial_event *event = data;
	struct test *t = context;
	int access, policy;

	if (size < sizeof(*event) || event->event.type != CORDON_EVENT_DENIAL)
		return;
	access = which_access(t, event);
	policy = which_policy(t, event->event.policy);
	t->denials++;
	if (is_right(event, access, policy))
		return;
	if (t->misattributed++ < 5)
		printf("# %.*s: policy %d, rule %u, reason %u, rights %x\n",
		       (int)event->object_length, (const char *)event->object, policy, event->rule,
		       event->reason, event->rights);
}

/* --- phases ------------------------------------------------------------------------------- */

/* Shows that only the policy denies the tasks their accesses. */
static void check_mixture(struct test *t)
{
	bool all = true;

	for (enum access which = 0; which < ACCESSES; which++) {
		int status = 0, go[2];
		struct enforcement_binding binding = {.policy = t->mixture_ref};
		_cleanup_(closep) int pidfd = -1;
		struct execution e = {};
		char byte = 0;

		if (pipe(go) < 0)
			give_up("a pipe", errno);
		e.pid = fork();
		if (e.pid == 0) {
			if (read(go[0], &byte, 1) != 1)
				_exit(2);
			_exit(!try_access(t, which));
		}
		pidfd = pidfd_open(e.pid, 0);
		if (pidfd < 0 || enforcement_bind(t->enforcement, &binding, &e.slot) < 0 ||
		    enforcement_label(t->enforcement, e.slot, pidfd) < 0 ||
		    write(go[1], &byte, 1) != 1 || waitpid(e.pid, &status, 0) < 0 ||
		    release(t, &e) < 0)
			give_up("a single execution", errno);
		close(go[0]);
		close(go[1]);
		if (which == RENAME)
			(void)rename(t->renamed, t->path[which]);
		if (status != 0)
			printf("# %s: status %x under a policy that allows it\n",
			       accesses[which].name, status);
		all = all && status == 0;
	}
	outcome(t, all, "under a policy that allows everything, all accesses are allowed");
}

/* A swap changes eight bytes of the slot, and makes no system call. */
static void check_cost(struct test *t)
{
	const struct cordon_execution *slot =
		enforcement_execution(t->enforcement, t->executions[0].slot);
	struct cordon_execution before = *slot, after;
	const unsigned int rounds = 1000;
	uint64_t start, nsec;
	int status = 0;
	pid_t pid;

	put_under(t, 0, 1);
	after = *slot;
	before.policy = after.policy;
	outcome(t, slot->policy == t->now[1] && memcmp(&before, &after, sizeof(before)) == 0,
		"a swap changes the 8 bytes of the slot that name the policy, and no others");
	put_under(t, 0, 0);
	start = clock_nsec(CLOCK_MONOTONIC);
	pid = fork();
	if (pid == 0) {
		/* Children do not inherit the daemon's mappings. */
		if (enforcement_join(&t->enforcement, NULL) < 0)
			_exit(2);
		/* From here on, any system call except read, write and exit kills the process. */
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
			_exit(1);
		for (unsigned int i = 0; i < rounds; i++)
			put_all_under(t, 1 - i % 2);
		syscall(SYS_exit, 0);
	}
	(void)waitpid(pid, &status, 0);
	nsec = clock_nsec(CLOCK_MONOTONIC) - start;
	outcome(t, pid > 0 && status == 0,
		"%u swaps of all %u executions without a system call, %.1f us for all of them each "
		"time",
		rounds, t->count, (double)nsec / rounds / 1000);
}

static void start_tasks(struct test *t)
{
	t->shared->go = 1;
	futex(&t->shared->go, FUTEX_WAKE, INT32_MAX);
}

static void drain(struct test *t)
{
	bool all;

	(void)enforcement_drain(t->enforcement, 1u << 20, &all);
}

/* Reads the events of the single executions, which are not needed otherwise. */
static void check_drain(struct test *t)
{
	bool left = true, all = true, none = false;
	int first = enforcement_drain(t->enforcement, 1, &left);
	int rest = enforcement_drain(t->enforcement, 1u << 20, &all);
	int nothing = enforcement_drain(t->enforcement, 1, &none);

	outcome(t, first == 1 && !left && rest > 0 && all && nothing == 0 && none,
		"of %d events, reading one leaves some, and then all were read", first + rest);
}

/* Swaps between both policies as fast as possible. */
static void swap_fast(struct test *t)
{
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + t->seconds * NSEC_PER_SEC;
	unsigned int rounds = 0;

	while (clock_nsec(CLOCK_MONOTONIC) < end) {
		put_all_under(t, ++rounds % 2);
		if (rounds % 64 == 0)
			drain(t);
	}
	printf("# %u rounds of swaps back and forth\n", rounds);
}

/* Swaps to a new copy each time, and removes the old one. */
static void swap_fresh(struct test *t)
{
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + t->seconds * NSEC_PER_SEC;
	unsigned int rounds = 0;
	int r = 0;

	while (r == 0 && clock_nsec(CLOCK_MONOTONIC) < end && t->copy_count < COPIES_MAX) {
		unsigned int which = ++rounds % 2;
		uint64_t old = t->now[which];

		/*
		 * The other policy's copy is active, so no execution refers to this policy's old
		 * copy.
		 */
		add_copy(t, which);
		put_all_under(t, which);
		r = enforcement_policy_settle(t->enforcement, t->now[which]);
		if (r == 0)
			r = enforcement_policy_remove(t->enforcement, old);
		drain(t);
	}
	outcome(t, r == 0 && rounds > 1,
		"%u policies added, swapped to, and their predecessors removed", rounds);
}

static void check_accesses(struct test *t)
{
	const struct shared *s = t->shared;

	for (enum access i = 0; i < ACCESSES; i++) {
		int must = accesses[i].must;
		bool good = s->odd[i] == 0 && (must > 0	  ? s->refused[i] == 0 && s->allowed[i] > 0
					       : must < 0 ? s->allowed[i] == 0 && s->refused[i] > 0
							  : s->allowed[i] > 0 && s->refused[i] > 0);

		outcome(t, good, "%s: %llu allowed, %llu denied, %llu failed otherwise (%s)",
			accesses[i].name, (unsigned long long)s->allowed[i],
			(unsigned long long)s->refused[i], (unsigned long long)s->odd[i],
			must > 0   ? "both policies allow it"
			: must < 0 ? "both deny it"
				   : "one of them allows it");
	}
	outcome(t, s->pairs > 100 && s->pairs_wrong == 0,
		"of two names, only the active policy's is allowed: %llu pairs, %llu wrong",
		(unsigned long long)s->pairs, (unsigned long long)s->pairs_wrong);
	outcome(t, t->denials > 100 && t->misattributed == 0,
		"%llu denials reported, %llu by the wrong policy or rule",
		(unsigned long long)t->denials, (unsigned long long)t->misattributed);
}

static void check_counters(struct test *t)
{
	static const unsigned int counters[] = {
		CORDON_COUNTER_UNKNOWN_EXECUTION, CORDON_COUNTER_UNRESOLVED,
		CORDON_COUNTER_RENAME_RACE,	  CORDON_COUNTER_NO_POLICY,
		CORDON_COUNTER_BAD_TABLE,
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		uint64_t count = enforcement_counter(t->enforcement, counters[i]);

		if (count)
			printf("# counter %u: %llu\n", counters[i], (unsigned long long)count);
		sum += count;
	}
	outcome(t, sum == 0, "no verdict without a policy, or by damaged tables");
}

/* Shows that this test would notice a moment without an active policy. */
static void check_teeth(struct test *t)
{
	const struct timespec moment = {.tv_nsec = 20 * NSEC_PER_MSEC};
	uint64_t before = t->shared->refused[BOTH];
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + PATIENCE_NSEC;

	while (t->shared->refused[BOTH] == before && clock_nsec(CLOCK_MONOTONIC) < end) {
		for (unsigned int i = 0; i < t->count; i++)
			enforcement_set_policy(t->enforcement, t->executions[i].slot,
					       CORDON_POLICY_REF(CORDON_MAX_POLICIES - 1, 0));
		(void)nanosleep(&moment, NULL);
		put_all_under(t, 0);
	}
	outcome(t, t->shared->refused[BOTH] > before,
		"a swap in two steps, with no policy in between, would have been noticed");
}

/* --- the whole ---------------------------------------------------------------------------- */

static void make_files(struct test *t)
{
	snprintf(t->directory, sizeof(t->directory), "/tmp/cordon-swap-%d", getpid());
	if (mkdir(t->directory, 0755) < 0)
		give_up("a directory", errno);
	for (enum access i = 0; i < ACCESSES; i++) {
		int fd;

		snprintf(t->path[i], sizeof(t->path[i]), "%s/%s", t->directory, accesses[i].name);
		fd = open(t->path[i], O_RDWR | O_CREAT, 0644);
		if (fd < 0)
			give_up("a file", errno);
		close(fd);
	}
	snprintf(t->renamed, sizeof(t->renamed), "%s/renamed", t->directory);
}

static void remove_files(const struct test *t)
{
	for (enum access i = 0; i < ACCESSES; i++)
		(void)unlink(t->path[i]);
	(void)unlink(t->renamed);
	(void)rmdir(t->directory);
}

static void prepare(struct test *t)
{
	enum enforcement_origin origin;
	struct failure failure = {};
	_cleanup_(closep) int cgroup_fd =
		open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = enforcement_open(cgroup_fd, &t->enforcement, &origin, &failure);

	if (r < 0)
		give_up(failure.text, r);
	if (origin != ENFORCEMENT_LOADED)
		give_up("cordon is in use here; stop it first", EBUSY);
	make_files(t);
	t->policy[0] = compile(t, text_a);
	t->policy[1] = compile(t, text_b);
	t->mixture = compile(t, text_mixture);
	t->mixture_ref = add_policy(t, t->mixture);
	add_copy(t, 0);
	add_copy(t, 1);
	t->executions = calloc(t->wanted, sizeof(*t->executions));
	r = enforcement_on_event(t->enforcement, check_event, t);
	if (r < 0)
		give_up("events", r);
	t->shared = mmap(NULL, sizeof(*t->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!t->executions || t->shared == MAP_FAILED)
		give_up("memory", ENOMEM);
}

static void run(struct test *t)
{
	prepare(t);
	check_mixture(t);
	check_drain(t);
	t->denials = t->misattributed = 0;
	begin_all(t);
	check_cost(t);
	start_tasks(t);
	swap_fast(t);
	swap_fresh(t);
	/* Reads events of the last rounds while the children still run. */
	drain(t);
	check_accesses(t);
	check_counters(t);
	check_teeth(t);
	__atomic_store_n(&t->shared->stop, 1, __ATOMIC_RELEASE);
	end_all(t);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"executions", required_argument, NULL, 'e'},
		{"seconds", required_argument, NULL, 's'},
		{},
	};
	struct test t = {.wanted = EXECUTIONS_DEFAULT, .seconds = SECONDS_DEFAULT};
	struct failure failure = {};
	struct utsname kernel = {};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		unsigned long number = optarg ? strtoul(optarg, NULL, 10) : 0;

		if (option == '?' || number == 0 || number > CORDON_MAX_EXECUTIONS) {
			fputs("usage: swap [--executions N] [--seconds N]\n", stderr);
			return 2;
		}
		*(option == 'e' ? &t.wanted : &t.seconds) = (unsigned int)number;
	}
	(void)uname(&kernel);
	run(&t);
	printf("# %llu swaps on %s\n", (unsigned long long)t.swaps, kernel.release);
	remove_files(&t);
	outcome(&t, enforcement_unload(t.enforcement, &failure) == 0, "enforcement is unloaded%s%s",
		failure.text[0] ? ": " : "", failure.text);
	printf("# swap: %u passed, %u failed\n", t.passed, t.failed);
	return t.failed ? 1 : 0;
}
