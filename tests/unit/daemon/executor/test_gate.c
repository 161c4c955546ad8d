/* SPDX-License-Identifier: Apache-2.0 */
/* What a gate is shown, and what becomes of what it starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/executor/gate.h"

static char directory[] = "/tmp/cordon-gate-XXXXXX";
static struct daemon *of;
static bool answered;
static char said[320];

static int setup(void **state)
{
	(void)state;
	of = calloc(1, sizeof(*of));
	of->base = event_base_new();
	return mkdtemp(directory) && chmod(directory, 0777) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	event_base_free(of->base);
	free(of);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static void on_answer(struct execution *e, const char *refusal)
{
	answered = true;
	snprintf(said, sizeof(said), "%s", refusal ? refusal : "");
	event_base_loopbreak(e->daemon->base);
}

static struct gate *ask(struct execution *e, const char *script)
{
	static char name[] = "p", executor[] = "e";
	static struct compiled_policy policy = {.name = name};
	const char *const command[] = {"/bin/sh", "-c", script, NULL};
	struct failure failure = {};
	struct gate *gate = NULL;

	*e = (struct execution){.daemon = of, .leader = getpid(), .id = "x"};
	e->record.policy = &policy;
	e->record.executor = executor;
	e->record.workdir = directory;
	answered = false;
	assert_int_equal(gate_start(e, command, on_answer, &gate, &failure), 0);
	return gate;
}

/* What a script has written into the file, as a process's number. */
static pid_t number_in(const char *name)
{
	char path[64];
	int number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	if (file && fscanf(file, "%d\n", &number) != 1)
		number = 0;
	if (file)
		fclose(file);
	return number;
}

static void assert_dies(pid_t pid)
{
	const struct timespec pause = {.tv_nsec = 10 * NSEC_PER_MSEC};

	assert_true(pid > 0);
	while (kill(pid, 0) == 0) {
		char path[64], text[256] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		file = fopen(path, "re");
		if (file && fgets(text, sizeof(text), file) && strstr(text, ") Z")) {
			fclose(file);
			return;
		}
		if (file)
			fclose(file);
		nanosleep(&pause, NULL);
	}
	assert_int_equal(kill(pid, 0), -1);
}

static void test_answers(void **state)
{
	struct execution e;

	(void)state;
	if (geteuid() != 0)
		skip();
	/* Its arguments, and as whom. */
	(void)ask(&e, "grep -q test_gate && test $(id -u) = 65534 || { echo no; exit 3; }");
	event_base_dispatch(of->base);
	assert_true(answered);
	assert_string_equal(said, "");
	(void)ask(&e, "echo because; exit 3");
	event_base_dispatch(of->base);
	assert_string_equal(said, "the gate refused it (status 3): because");
}

static void test_what_it_started(void **state)
{
	struct execution e;
	struct gate *gate;
	char script[256];

	(void)state;
	if (geteuid() != 0)
		skip();
	snprintf(script, sizeof(script), "sleep 1000 & echo $! >%s/first", directory);
	(void)ask(&e, script);
	event_base_dispatch(of->base);
	assert_string_equal(said, "");
	assert_dies(number_in("first"));
	/* One that is given up. */
	snprintf(script, sizeof(script), "sleep 1000 & echo $! >%s/second; wait", directory);
	gate = ask(&e, script);
	while (number_in("second") == 0)
		usleep(10000);
	gate_free(gate);
	assert_dies(number_in("second"));
	/* Until nothing is waited for any more: it may take its time to die. */
	assert_int_not_equal(event_base_dispatch(of->base), -1);
	assert_false(answered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_what_it_started),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
