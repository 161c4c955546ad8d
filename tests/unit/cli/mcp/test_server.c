/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's loop with calls that go on: it starts this very program as if it were cordon, which
 * does what the command says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "cli/mcp/server.h"

#define PATIENCE_SECONDS 120

static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
			    "{\"protocolVersion\":\"2025-06-18\"}}\n";

/* --- in the place of cordon --------------------------------------------------------------- */

static int act(const char *command)
{
	static const char report[] =
		"{\"execution\":\"x\",\"policy\":{\"name\":\"p\"},\"denials\":[]}";
	char path[64] = "";

	if (strcmp(command, "fails") == 0) {
		fputs("no daemon", stderr);
		return 125;
	}
	if (strncmp(command, "waits ", 6) == 0) {
		snprintf(path, sizeof(path), "%s", command + 6);
		close(open(path, O_WRONLY | O_CREAT, 0600));
		(void)pause();
	}
	if (strcmp(command, "floods") == 0)
		for (int i = 0; i < 100000; i++)
			puts("0123456789");
	puts("done");
	return write(3, report, strlen(report)) == (ssize_t)strlen(report) ? 7 : 1;
}

/* --- the server, in a process of its own -------------------------------------------------- */

struct served {
	pid_t pid;
	int to, from;
	FILE *answers;
};

static void begin(struct served *s)
{
	static const struct tool_settings settings;
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		struct failure failure = {};
		int number = 0, r;

		close(in[1]);
		close(out[0]);
		r = server_run(&settings, in[0], out[1], &number, &failure);
		_exit(r < 0 ? 99 : number);
	}
	close(in[0]);
	close(out[1]);
	s->to = in[1];
	s->from = out[0];
	s->answers = fdopen(out[0], "r");
	assert_int_equal(write(s->to, hello, strlen(hello)), (ssize_t)strlen(hello));
}

static void call(const struct served *s, int id, const char *command)
{
	assert_true(dprintf(s->to,
			    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":"
			    "{\"name\":\"run\",\"arguments\":{\"command\":[\"%s\"]}}}\n",
			    id, command) > 0);
}

/* The next answer, which is to this request. */
static json_t *next(const struct served *s, int id)
{
	_cleanup_(freep) char *line = NULL;
	size_t size = 0;
	json_t *answer;

	assert_true(getline(&line, &size, s->answers) > 0);
	answer = json_loads(line, 0, NULL);
	assert_non_null(answer);
	assert_int_equal(json_integer_value(json_object_get(answer, "id")), id);
	return answer;
}

static void pass_over(const struct served *s, int id)
{
	json_decref(next(s, id));
}

static const char *text_of(const json_t *answer)
{
	return json_string_value(json_object_get(
		json_array_get(json_object_get(json_object_get(answer, "result"), "content"), 0),
		"text"));
}

static int end(struct served *s)
{
	int status;

	if (s->to >= 0)
		close(s->to);
	fclose(s->answers);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static char marker[32];

/* Until a call says that it waits. */
static void await_marker(void)
{
	for (int i = 0; i < PATIENCE_SECONDS * 100 && access(marker, F_OK) < 0; i++)
		usleep(10000);
	assert_int_equal(unlink(marker), 0);
}

static void call_waiting(const struct served *s, int id)
{
	char command[64];

	snprintf(command, sizeof(command), "waits %s", marker);
	call(s, id, command);
	await_marker();
}

static int set_up(void **state)
{
	int fd;

	(void)state;
	strcpy(marker, "/tmp/cordon-mcp-XXXXXX");
	fd = mkstemp(marker);
	close(fd);
	unlink(marker);
	return fd < 0 ? -1 : 0;
}

/* What was asked for is answered, also after the client has closed its end. */
static void test_run(void **state)
{
	struct served s;
	json_t *answer;

	(void)state;
	begin(&s);
	pass_over(&s, 0);
	call(&s, 1, "ends");
	close(s.to);
	s.to = -1;
	answer = next(&s, 1);
	assert_string_equal(text_of(answer),
			    "exit status 7; execution x, policy p\noutput:\ndone\n");
	json_decref(answer);
	assert_int_equal(end(&s), 0);
}

static void test_failure(void **state)
{
	struct served s;
	json_t *answer;

	(void)state;
	begin(&s);
	pass_over(&s, 0);
	call(&s, 1, "fails");
	answer = next(&s, 1);
	assert_true(json_is_true(json_object_get(json_object_get(answer, "result"), "isError")));
	assert_string_equal(text_of(answer), "no daemon");
	json_decref(answer);
	assert_int_equal(end(&s), 0);
}

/*
 * One that waits keeps nobody from being answered; cancelled, it is never answered, and its id is
 * free.
 */
static void test_side_by_side(void **state)
{
	struct served s;

	(void)state;
	begin(&s);
	pass_over(&s, 0);
	call_waiting(&s, 1);
	call(&s, 2, "ends");
	pass_over(&s, 2);
	call(&s, 1, "ends");
	pass_over(&s, 1); /* refused: a call with this id goes on */
	dprintf(s.to, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		      "{\"requestId\":1}}\n");
	call(&s, 1, "ends");
	pass_over(&s, 1);
	assert_int_equal(end(&s), 0);
}

static void test_too_many(void **state)
{
	struct served s;
	json_t *answer;

	(void)state;
	begin(&s);
	pass_over(&s, 0);
	for (int i = 1; i <= SERVER_CALLS_MAX; i++)
		call_waiting(&s, i);
	call(&s, 100, "ends");
	answer = next(&s, 100);
	assert_non_null(strstr(text_of(answer), "too many calls"));
	json_decref(answer);
	assert_int_equal(kill(s.pid, SIGTERM), 0);
	assert_int_equal(end(&s), SIGTERM);
}

/* Nobody reads: signals end it all the same, and so does the reader's end. */
static void test_unread(void **state)
{
	struct served s;

	(void)state;
	begin(&s);
	for (int i = 1; i < SERVER_CALLS_MAX; i++)
		call(&s, i, "floods");
	call_waiting(&s, 100);
	assert_int_equal(kill(s.pid, SIGINT), 0);
	assert_int_equal(end(&s), SIGINT);
}

static void test_reader_gone(void **state)
{
	struct served s;

	(void)state;
	begin(&s);
	pass_over(&s, 0);
	call_waiting(&s, 1);
	fclose(s.answers);
	s.answers = fopen("/dev/null", "r");
	assert_int_equal(end(&s), 99);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_run, set_up),
		cmocka_unit_test_setup(test_failure, set_up),
		cmocka_unit_test_setup(test_side_by_side, set_up),
		cmocka_unit_test_setup(test_too_many, set_up),
		cmocka_unit_test_setup(test_unread, set_up),
		cmocka_unit_test_setup(test_reader_gone, set_up),
	};

	if (argc > 1)
		return act(argv[argc - 1]);
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
