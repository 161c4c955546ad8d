/* SPDX-License-Identifier: Apache-2.0 */
/* What a process of its own finds out about a held one, and what the daemon makes of its answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/sha256.h"
#include "daemon/executor/adopted_prepare.h"
#include "daemon/executor/executors_parts.h"
#include "tests/unit/adopt/stopped_process.h"
#include "tests/unit/daemon/privsep/writer_fixture.h"

#define TEXT "kill -STOP $$\n"

static char directory[] = "/tmp/cordon-look-XXXXXX", script[64], place[64];
static struct daemon *of;
static struct log_use *log_of;
static struct cordon_execution view;
static pid_t executor;

struct question {
	struct execution e;
	bool told;
	int result;
	char *data;
	size_t size;
	struct errand_fds fds;
	struct failure failure;
};

static int setup(void **state)
{
	char log[64];
	FILE *file;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(script, sizeof(script), "%s/job.sh", directory);
	snprintf(place, sizeof(place), "%s/place", directory);
	snprintf(log, sizeof(log), "%s/log", directory);
	file = fopen(script, "we");
	if (!file || fputs(TEXT, file) < 0 || fclose(file) != 0 || mkdir(place, 0700) < 0)
		return -1;
	of = calloc(1, sizeof(*of));
	of->base = event_base_new();
	return logs_new(NULL, NULL, &of->logs, NULL) < 0 ? -1
							 : logs_get(of->logs, log, &log_of, NULL);
}

static int teardown(void **state)
{
	char command[80];

	(void)state;
	errands_forget();
	event_base_free(of->base);
	logs_put(log_of);
	logs_free(of->logs);
	free(of);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static pid_t start_with(const char *code, const char *workdir, char *const *environment)
{
	char *const argv[] = {(char[]){"/bin/sh"}, (char *)(uintptr_t)code, (char[]){"word"}, NULL};

	return stopped_process_start(workdir, argv, environment);
}

static pid_t start(const char *code, const char *workdir)
{
	char *const environment[] = {(char[]){"SECRET=1"}, (char[]){"PATH=/bin"}, NULL};

	return start_with(code, workdir, environment);
}

static int work(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct question *question = context;

	return adopted_look(&question->e, to, fds, failure);
}

static void on_done(void *context, int result, const char *data, size_t size,
		    struct errand_fds *fds, const struct failure *failure)
{
	struct question *question = context;

	question->told = true;
	question->result = result;
	question->size = size;
	question->data = malloc(size + 1);
	assert_non_null(question->data);
	memcpy(question->data, data ? data : "", size);
	for (size_t i = 0; i < ERRAND_FDS; i++)
		question->fds.fd[i] = TAKE_FD(fds->fd[i]);
	question->failure = *failure;
}

static void ask(struct question *question, pid_t pid, const struct compiled_policy *policy)
{
	const struct errand_job job = {"what looks", 0, 600, work, on_done, question};
	struct errand *errand;

	*question = (struct question){
		.e = {.daemon = of,
		      .leader = pid,
		      .owner.pid = executor,
		      .view = &view,
		      .log = log_of},
		.fds = errand_no_fds(),
	};
	question->e.record.policy = policy;
	question->e.record.program = strdup("unknown");
	question->e.record.workdir = strdup(place);
	assert_int_equal(errand_start(of->base, &job, &errand, NULL), 0);
	while (!question->told)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
}

static void forget(struct question *question)
{
	for (size_t i = 0; i < ERRAND_FDS; i++)
		closep(&question->fds.fd[i]);
	free(question->data);
	audit_execution_release(&question->e.record);
}

/* That file, and open for nothing. */
static void check_path(int fd, const char *path)
{
	struct stat is, st;

	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFL) & O_PATH);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(fstat(fd, &is), 0);
	assert_int_equal(is.st_ino, st.st_ino);
	assert_int_equal(is.st_dev, st.st_dev);
}

static char *keep[] = {(char[]){"PATH"}, NULL}, *none[] = {NULL};
static const struct compiled_policy policy = {
	.arguments = POLICY_ARGUMENTS_FULL,
	.environment = {.keep = keep, .set_names = none, .set_values = none},
};

static void test_code(void **state)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	unsigned char digest[SHA256_SIZE];
	struct question question;
	const struct audit_execution *x = &question.e.record;
	pid_t pid = start(script, place);

	(void)state;
	assert_int_equal(sha256_update(hash, TEXT, strlen(TEXT)), 0);
	assert_int_equal(sha256_finish(hash, digest), 0);
	ask(&question, pid, &policy);
	stopped_process_end(pid);
	assert_string_equal(question.failure.text, "");
	assert_int_equal(question.result, 0);
	check_path(question.fds.fd[0], script);
	check_path(question.fds.fd[1], place);
	adopted_note_failed(&question.e, question.data, question.size);
	assert_string_equal(x->program, "/bin/sh");
	assert_string_equal(x->language, "shell");
	assert_int_equal(x->code.source, AUDIT_CODE_FILE);
	assert_true(x->code.have_digest);
	assert_memory_equal(x->code.digest, digest, sizeof(digest));
	assert_int_equal(x->code.length, strlen(TEXT));
	assert_string_equal(x->code.path, script);
	assert_int_equal(x->argument_count, 3);
	assert_string_equal(x->arguments[1], script);
	assert_string_equal(x->arguments[2], "word");
	assert_string_equal(x->environment_kept[0], "PATH");
	assert_null(x->environment_kept[1]);
	assert_string_equal(x->environment_removed[0], "SECRET");
	assert_null(x->environment_removed[1]);
	assert_int_equal(x->uid, geteuid());
	forget(&question);
}

/*
 * Which agent it works for stands in the executor's own memory: what looks at the code looks there,
 * too.
 */
static void test_agent(void **state)
{
	static const struct config_executor is = {
		.kind = CONFIG_PER_RUN,
		.agent_source = CONFIG_AGENT_VARIABLE,
		.agent = "SECRET",
	};
	struct executor_entry entry = {.is = &is};
	struct executors executors = {.entries = {&entry}};
	struct question question;
	pid_t pid = start(script, place);

	(void)state;
	executor = start(script, "/");
	of->executors = &executors;
	view.executor = 1;
	ask(&question, pid, &policy);
	stopped_process_end(executor);
	stopped_process_end(pid);
	assert_int_equal(question.result, 0);
	assert_null(question.e.record.agent);
	adopted_note_failed(&question.e, question.data, question.size);
	assert_string_equal(question.e.record.agent, "1");
	forget(&question);
	of->executors = NULL;
	view.executor = executor = 0;
}

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

/* What it acts for: as the process itself says, and where it says nothing, its executor. */
static void test_trace(void **state)
{
	static char of_executor[] = "TRACEPARENT=" TRACE, wrong[] = "TRACEPARENT=0-0",
		    talk[] = "BAGGAGE=gen_ai.conversation.id=c9", empty[] = "BAGGAGE=";
	static char *const says[][3] = {
		{of_executor, talk, NULL},
		{of_executor, NULL},
		{wrong, empty, NULL},
	};
	static const struct {
		size_t process, executor;
		const char *traceparent, *conversation;
	} cases[] = {
		{0, 2, TRACE, "c9"}, {1, 0, TRACE, "c9"}, {2, 0, TRACE, "c9"},
		{1, 2, TRACE, NULL}, {2, 2, NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct question question;
		struct audit_execution *x = &question.e.record;
		pid_t pid = start_with(script, place, says[cases[i].process]);

		executor = start_with(script, "/", says[cases[i].executor]);
		ask(&question, pid, &policy);
		stopped_process_end(executor);
		stopped_process_end(pid);
		assert_int_equal(question.result, 0);
		adopted_note_failed(&question.e, question.data, question.size);
		if (cases[i].traceparent)
			assert_string_equal(x->traceparent, cases[i].traceparent);
		else
			assert_null(x->traceparent);
		if (cases[i].conversation)
			assert_string_equal(x->conversation, cases[i].conversation);
		else
			assert_null(x->conversation);
		forget(&question);
	}
	executor = 0;
}

/* Cut anywhere, it is as much of a record as there is. */
static void test_cut(void **state)
{
	struct question question;
	pid_t pid = start(script, place);

	(void)state;
	ask(&question, pid, &policy);
	stopped_process_end(pid);
	assert_int_equal(question.result, 0);
	for (size_t size = 0; size < question.size; size++) {
		struct question part = {.fds = errand_no_fds()};
		char *data = malloc(size + 1);

		assert_non_null(data);
		memcpy(data, question.data, size);
		part.e.record.program = strdup("unknown");
		adopted_note_failed(&part.e, data, size);
		assert_non_null(part.e.record.program);
		free(data);
		forget(&part);
	}
	forget(&question);
}

/* A place that is none: with the code on record, and nothing to run it by. */
static void test_place(void **state)
{
	struct question question;
	pid_t pid = start(script, "/etc");

	(void)state;
	ask(&question, pid, &policy);
	stopped_process_end(pid);
	assert_int_equal(question.result, -EPERM);
	assert_non_null(strstr(question.failure.text, "/etc"));
	assert_int_equal(question.fds.fd[1], -1);
	adopted_note_failed(&question.e, question.data, question.size);
	assert_true(question.e.record.code.have_digest);
	forget(&question);
}

static void test_gone(void **state)
{
	struct question question;
	pid_t pid = start(script, place);

	(void)state;
	stopped_process_end(pid);
	ask(&question, pid, &policy);
	assert_true(question.result < 0);
	assert_true(question.failure.text[0]);
	adopted_note_failed(&question.e, question.data, question.size);
	assert_string_equal(question.e.record.program, "unknown");
	assert_false(question.e.record.code.have_digest);
	forget(&question);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),  cmocka_unit_test(test_agent),
		cmocka_unit_test(test_trace), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_place), cmocka_unit_test(test_gone),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}
