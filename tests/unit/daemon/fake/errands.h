/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of daemon/privsep/errand.h and daemon/executor/gate.h without processes: they answer when the
 * test says so. The last errand is at hand, and those before it after that; one gate.
 */
#ifndef CORDON_TESTS_DAEMON_FAKE_ERRANDS_H
#define CORDON_TESTS_DAEMON_FAKE_ERRANDS_H

#include <sys/mman.h>
#include <sys/wait.h>

#include "base/io.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/executor/gate.h"
#include "daemon/privsep/errand.h"
#include "tests/unit/daemon/fake/world.h"

struct errand {
	struct errand_job job;
	bool aside; /* it only waits for changes, which a test asks for */
	struct errand *before;
};

struct gate {
	struct execution *e;
	gate_answer *answer;
};

static struct errand *errand;
static struct gate *gate;

int errand_start(struct event_base *base, const struct errand_job *job, struct errand **ret_errand,
		 struct failure *failure)
{
	bool aside = strcmp(job->what, EXECUTOR_FOLLOWER) == 0;
	int r = aside ? 0 : faults_next(__func__);
	struct errand *started;

	(void)base;
	if (r < 0)
		return failure_set(failure, r, "no process: %m");
	started = calloc(1, sizeof(*started));
	*started = (struct errand){.job = *job, .aside = aside, .before = aside ? NULL : errand};
	if (!aside)
		errand = started;
	*ret_errand = started;
	return 0;
}

void errand_cancel(struct errand *cancelled)
{
	struct errand **at = &errand;

	if (!cancelled)
		return;
	if (!cancelled->aside) {
		while (*at && *at != cancelled)
			at = &(*at)->before;
		assert_ptr_equal(cancelled, *at);
		*at = cancelled->before;
	}
	free(cancelled);
}

static inline struct errand *errand_take(void)
{
	struct errand *taken = errand;

	assert_non_null(taken);
	errand = taken->before;
	return taken;
}

struct errand_fds errand_no_fds(void)
{
	struct errand_fds none;

	for (size_t i = 0; i < ERRAND_FDS; i++)
		none.fd[i] = -1;
	return none;
}

void errands_forget(void)
{
}

uint64_t errands_processor_nsec(void)
{
	return 0;
}

int gate_start(struct execution *e, const char *const *command, gate_answer *answer,
	       struct gate **ret_gate, struct failure *failure)
{
	int r = faults_next(__func__);

	(void)command;
	if (r < 0)
		return failure_set(failure, r, "no gate: %m");
	gate = calloc(1, sizeof(*gate));
	*gate = (struct gate){.e = e, .answer = answer};
	*ret_gate = gate;
	return 0;
}

void gate_free(struct gate *freed)
{
	if (freed)
		gate = NULL;
	free(freed);
}

static inline void gate_says(const char *refusal)
{
	struct gate asked = *gate;

	free(TAKE_PTR(gate));
	asked.answer(asked.e, refusal);
}

/* What the work leaves goes with its process, which it does not have here. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* Above all descriptors of a test. */
#define ERRAND_MOVED_FD 512

/*
 * Gives the job's descriptors the numbers that they have in its process. Stores copies of the
 * test's descriptors with these numbers, or -1, in `saved`.
 */
static inline void errand_fds_swap_in(const struct errand_job *job, int saved[ERRAND_FDS])
{
	int moved[ERRAND_FDS];

	for (size_t i = 0; i < job->kept_count; i++) {
		moved[i] = fcntl(job->kept[i], F_DUPFD_CLOEXEC, ERRAND_MOVED_FD);
		assert_true(moved[i] >= 0);
		saved[i] = fcntl(ERRAND_KEPT_FD + (int)i, F_DUPFD_CLOEXEC, ERRAND_MOVED_FD);
	}
	for (size_t i = 0; i < job->kept_count; i++) {
		assert_true(dup3(moved[i], ERRAND_KEPT_FD + (int)i, O_CLOEXEC) >= 0);
		close(moved[i]);
	}
}

static inline void errand_fds_swap_out(const struct errand_job *job, const int saved[ERRAND_FDS])
{
	for (size_t i = 0; i < job->kept_count; i++) {
		if (saved[i] < 0) {
			close(ERRAND_KEPT_FD + (int)i);
			continue;
		}
		assert_true(dup3(saved[i], ERRAND_KEPT_FD + (int)i, O_CLOEXEC) >= 0);
		close(saved[i]);
	}
}

static inline int errand_work_here(const struct errand_job *job, FILE *to, struct errand_fds *fds,
				   struct failure *failure)
{
	int saved[ERRAND_FDS], r;

	errand_fds_swap_in(job, saved);
	if (__lsan_disable)
		__lsan_disable();
	r = job->work(job->context, to, fds, failure);
	if (__lsan_enable)
		__lsan_enable();
	errand_fds_swap_out(job, saved);
	return r;
}

/* `result`: 0: what the work says. */
static inline void errand_answers_of(struct errand *answering, int result)
{
	struct errand_fds fds = errand_no_fds();
	struct failure failure = {};
	char *data = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&data, &size);

	if (result == 0)
		result = errand_work_here(&answering->job, to, &fds, &failure);
	else
		failure_set(&failure, result, "it did not answer: %m");
	fclose(to);
	answering->job.done(answering->job.context, result, data, size, &fds, &failure);
	for (size_t i = 0; i < ERRAND_FDS; i++)
		closep(&fds.fd[i]);
	free(data);
	free(answering);
}

static inline void errand_answers(int result)
{
	errand_answers_of(errand_take(), result);
}

/*
 * As errand_answers(0), of work that gives up its rights: in a process of its own after all, which
 * is waited for.
 */
static inline void errand_answers_apart(void)
{
	struct told {
		int result;
		struct failure failure;
	} *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	struct errand *answering = errand_take();
	struct errand_fds fds = errand_no_fds();
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;
	int ends[2];
	pid_t pid;

	assert_ptr_not_equal(told, MAP_FAILED);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int end = fcntl(ends[1], F_DUPFD_CLOEXEC, ERRAND_MOVED_FD), saved[ERRAND_FDS];
		FILE *to = fdopen(end, "w");

		errand_fds_swap_in(&answering->job, saved);
		told->result =
			answering->job.work(answering->job.context, to, &fds, &told->failure);
		fclose(to);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(io_read_all(ends[0], 1 << 24, &data, &size), 0);
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	answering->job.done(answering->job.context, told->result, data, size, &fds, &told->failure);
	munmap(told, sizeof(*told));
	free(answering);
}

#endif
