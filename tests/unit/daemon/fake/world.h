/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon at work on the fakes: the real code of daemon/execution, with policies, a state
 * directory and a loop, beside a kernel, logs and cgroups that are in memory. What is left when it
 * ends is looked for.
 */
#ifndef CORDON_TESTS_DAEMON_FAKE_WORLD_H
#define CORDON_TESTS_DAEMON_FAKE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/execution/deadline.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/events.h"
#include "daemon/execution/label.h"
#include "daemon/execution/places.h"
#include "daemon/execution/prepare.h"
#include "daemon/execution/recovery_work.h"
#include "daemon/execution/state.h"
#include "daemon/executor/adopted.h"
#include "daemon/host/process.h"
#include "daemon/policy/policies.h"
#include "daemon/privsep/errand.h"
#include "tests/unit/daemon/fake/cgroups.h"
#include "tests/unit/daemon/fake/kernel.h"
#include "tests/unit/daemon/fake/logs.h"

#define WORLD_DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define WORLD_TOP    "/var/tmp/cordon-unit-heart-"

/* What a power cut would leave is not looked at here, and disks are slow. */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

static struct daemon *world;
static struct {
	char directory[64];
	char said[8192]; /* all lines */
	unsigned int idle, begun, finished, stuck;
	int begun_result;
	struct audit_end end; /* of the last that finished */
	bool had_report;
	pid_t children[32];
	size_t child_count;
} seen;
static const char *world_policies[2];

static inline char *world_path(const char *name)
{
	static char path[4][160];
	static unsigned int next;
	char *at = path[next++ % 4];

	snprintf(at, sizeof(path[0]), "%s/%s", seen.directory, name);
	return at;
}

static void world_say(const char *line)
{
	size_t used = strlen(seen.said);

	snprintf(seen.said + used, sizeof(seen.said) - used, "%s\n", line);
}

static void world_idle(struct daemon *daemon)
{
	(void)daemon;
	seen.idle++;
}

static void world_busy(struct daemon *daemon)
{
	(void)daemon;
}

static void world_begun(struct execution *e, int result, const char *why)
{
	seen.begun++;
	seen.begun_result = result;
	(void)why;
	if (result < 0)
		ending_begin(e, AUDIT_END_NOT_STARTED);
}

static void world_finished(struct execution *e)
{
	seen.finished++;
	seen.end = e->end;
	seen.had_report = e->ending.report_fd >= 0;
}

static void world_stuck(struct execution *e)
{
	(void)e;
	seen.stuck++;
}

static void world_flush(evutil_socket_t fd, short what, void *context)
{
	struct daemon *daemon = context;

	(void)fd;
	(void)what;
	daemon->flush_pending = false;
}

static inline void world_write(const char *name, const char *text)
{
	FILE *file = fopen(world_path(name), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/*
 * The daemon, from which a crash has taken nothing but its memory if there is a directory already.
 */
static inline void world_start(void)
{
	static char *no_gaps[] = {NULL};

	world = calloc(1, sizeof(*world));
	world->base = event_base_new();
	world->enforcement = kernel;
	world->gaps = no_gaps;
	world->say = world_say;
	world->idle = world_idle;
	world->busy = world_busy;
	world->execution_begun = world_begun;
	world->execution_finished = world_finished;
	world->execution_stuck = world_stuck;
	world->execution_timer = ending_timer;
	world->adopted = &adopted_calls;
	world->start_time = clock_nsec(CLOCK_BOOTTIME);
	world->flush_timer = evtimer_new(world->base, world_flush, world);
	assert_int_equal(logs_new(NULL, world->base, &world->logs, NULL), 0);
	assert_int_equal(logs_get(world->logs, world_path("log"), &world->log, NULL), 0);
	assert_int_equal(cgroup_tree_open(world_path("cgroup"), &world->cgroups, NULL), 0);
	world->state_fd = open(world_path("state"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(world->state_fd >= 0);
	assert_int_equal(policies_new(kernel, world_policies,
				      open(world_path("notes"), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				      &world->policies),
			 0);
	(void)enforcement_on_event(kernel, events_handle, world);
}

static inline void world_new(void)
{
	static const char *const folders[] = {"log",  "state", "cgroup",
					      "work", "notes", "policies"};

	faults_none();
	logs_held = 0;
	memset(&seen, 0, sizeof(seen));
	memset(&cgroups, 0, sizeof(cgroups));
	strcpy(seen.directory, WORLD_TOP "XXXXXX");
	assert_non_null(mkdtemp(seen.directory));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_int_equal(mkdir(world_path(folders[i]), 0755), 0);
	world_policies[0] = strdup(world_path("policies"));
	world_write(
		"policies/p.yaml",
		"version: 1\nname: p\nfiles:\n"
		"  - {allow: [read, write, create, delete], paths: [\"${workdir}/**\", \"${tmp}/**\"]}\n"
		"on_denial: {limit: 3, action: kill}\n");
	assert_non_null(kernel_new());
	world_start();
}

/* One turn of the loop, and what is due by then. */
static inline void world_turn(void)
{
	event_base_loop(world->base, EVLOOP_NONBLOCK);
}

/*
 * Until no execution is left; or not after a number of iterations that none needs. They take half a
 * minute at least, and longer on a slower machine.
 */
static inline bool world_settle(void)
{
	const struct timespec pause = {.tv_nsec = 200000};

	for (unsigned int i = 0; world->unfinished > 0 && i < 150000; i++) {
		world_turn();
		nanosleep(&pause, NULL);
	}
	return world->unfinished == 0;
}

/* Until all is read that an earlier daemon has left. */
static inline bool world_read_all(void)
{
	const struct timespec pause = {.tv_nsec = 200000};

	for (unsigned int i = 0; world->recovery && i < 150000; i++) {
		world_turn();
		nanosleep(&pause, NULL);
	}
	return !world->recovery;
}

/* The daemon's memory goes; what is outside it stays. */
static inline void world_stop(void)
{
	recovery_work_stop(world);
	policies_free(world->policies);
	names_release(&world->names);
	logs_put(world->log);
	logs_free(world->logs);
	cgroup_tree_close(&world->cgroups);
	closep(&world->state_fd);
	event_text_release(&world->event_text);
	event_free(world->flush_timer);
	errands_forget();
	event_base_free(world->base);
	free(world);
	world = NULL;
}

/* As by SIGKILL: nothing of what ends an execution is done, but this process has to free it. */
static inline void world_crash(void)
{
	struct enforcement *as_it_was = malloc(sizeof(*kernel));

	recovery_work_stop(world);
	memcpy(as_it_was, kernel, sizeof(*kernel));
	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++) {
		struct execution *e = world->by_slot[slot];

		if (!e)
			continue;
		/* What is in files stays there. */
		e->id[0] = '\0';
		e->have_tmp = false;
		closep(&e->cgroup_fd);
		e->cgroup_fd = -1;
		kernel->slots[slot].tasks = 0;
		execution_free(e);
	}
	world_stop();
	memcpy(kernel, as_it_was, sizeof(*kernel));
	free(as_it_was);
}

static inline size_t world_entries(const char *folder)
{
	DIR *dir = opendir(world_path(folder));
	const struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)) != NULL)
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

/*
 * What is to be gone once all executions are. `but`: the failure of this call excuses what it left.
 */
static inline void world_check_empty(const char *but)
{
	assert_int_equal(world->executions, 0);
	assert_int_equal(world->unfinished, 0);
	assert_int_equal(world->denials_kept, 0);
	assert_int_equal(world_entries("state"), 0);
	assert_true(LIST_EMPTY(&world->logs->waits));
	if (!but || strcmp(but, "enforcement_release") != 0) {
		assert_int_equal(kernel_used_slots(), 0);
		assert_int_equal(kernel->dangling, 0);
	}
	if (!but || strcmp(but, "cgroup_remove") != 0)
		assert_int_equal(world_entries("cgroup"), 0);
	for (size_t i = 0; i < CORDON_MAX_EXECUTIONS; i++)
		assert_null(world->by_slot[i]);
}

static inline void world_end(void)
{
	char command[128];

	faults_none();
	for (size_t i = 0; i < seen.child_count; i++) {
		kill(seen.children[i], SIGKILL);
		waitpid(seen.children[i], NULL, 0);
	}
	world_stop();
	kernel_free();
	free((void *)world_policies[0]);
	snprintf(command, sizeof(command), "rm -rf %s", seen.directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(logs_held, 0);
}

/* A process in the work directory that does nothing until it is killed. */
static inline pid_t world_child(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir(world_path("work")) == 0)
			(void)!write(ready[1], "", 1);
		close(ready[1]);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	seen.children[seen.child_count++] = pid;
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static inline void world_kill(pid_t pid)
{
	for (size_t i = 0; i < seen.child_count; i++)
		if (seen.children[i] == pid)
			seen.children[i] = seen.children[--seen.child_count];
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static inline struct peer world_peer(pid_t pid, uid_t uid)
{
	struct process_status status = {};
	struct peer peer = {.ucred = {.pid = pid, .uid = uid, .gid = uid}, .root = uid == 0};

	(void)process_status(pid, &status);
	peer.start_nsec = status.start_nsec;
	return peer;
}

static inline json_t *world_request(const char *policy, bool observe)
{
	return json_pack(
		"{s:s,s:i,s:s,s:s,s:b,s:[],s:s,s:n,s:n,s:s,s:{},s:b,s:n,s:s,s:i,s:s,s:i,s:n,"
		"s:{s:s,s:n,s:s,s:i},s:i,s:i}",
		"op", "prepare", "version", PROTOCOL_VERSION, "policy", policy, "workdir",
		world_path("work"), "home", 0, "binds", "session", "s-1", "agent", "executor",
		"language", "python", "limits", "observe", observe, "log", "program", "python3",
		"argument_count", 2, "arguments_sha256", WORLD_DIGEST, "arguments_length", 17,
		"arguments", "code", "source", "stdin", "path", "sha256", WORLD_DIGEST, "length",
		100, "uid", (int)geteuid(), "gid", (int)getegid());
}

/* As a worker checks them where the caches do not suffice. */
static inline void world_check_places(struct places *places, const struct protocol_fds *fds,
				      bool member)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;
	FILE *to;

	if (!places_check_cached(places, fds, member, world->log))
		return;
	to = open_memstream(&data, &size);
	assert_non_null(to);
	assert_int_equal(places->count, 1);
	places_check(places, fds->fd[0], world->log, to);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(places_take(places, data, size), 0);
}

static inline int world_try_prepare(pid_t owner, const char *policy, bool observe,
				    struct execution **ret_execution)
{
	_cleanup_(json_decrefp) json_t *request = world_request(policy, observe);
	_cleanup_(freep) char *message = NULL;
	struct peer peer = world_peer(owner, 0);
	struct protocol_fds fds = {.count = 1};
	struct places places = {};
	struct failure failure = {};
	int r;

	fds.fd[0] = open(world_path("work"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	world_check_places(&places, &fds, false);
	r = execution_prepare(world, request, &fds, &peer, NULL, &places, seen.directory,
			      ret_execution, &message, &failure);
	protocol_fds_close(&fds);
	/* Whoever asked is told. */
	assert_int_equal(r < 0, failure.text[0] != '\0' || (message && *message));
	return r;
}

static inline struct execution *world_prepare_as(pid_t owner, const char *policy, bool observe)
{
	struct execution *e = NULL;

	assert_int_equal(world_try_prepare(owner, policy, observe, &e), 0);
	return e;
}

static inline struct execution *world_prepare(void)
{
	return world_prepare_as(getpid(), "p", false);
}

/*
 * What execution_label() does once it has seen that the child is the owner's and where it belongs.
 */
static inline int world_try_label(struct execution *e, pid_t child)
{
	struct failure failure = {};
	int r = enforcement_label(kernel, e->slot, -1);

	if (r < 0)
		return r;
	cgroups.populated = true;
	e->state = EXECUTION_LIVE;
	e->leader = child;
	e->start = clock_nsec(CLOCK_BOOTTIME);
	evtimer_del(e->timer);
	r = execution_append_start(e, &failure);
	if (r < 0)
		return r;
	e->written = true;
	r = state_save(world->state_fd, e, &failure);
	if (r == 0)
		deadline_start(e);
	return r;
}

static inline struct execution *world_live(void)
{
	struct execution *e = world_prepare();

	/* A process that lives. */
	assert_int_equal(world_try_label(e, getpid()), 0);
	return e;
}

static inline const char *world_end_cause(void)
{
	json_t *last = NULL;

	if (logs_count("execution-end", &last) == 0)
		return "";
	return json_string_value(
		json_object_get(json_object_get(json_object_get(last, "cordon"), "end"), "cause"));
}

#endif
