/* SPDX-License-Identifier: Apache-2.0 */
/* cordon wait, and what status and doctor say of executors: of what a daemon answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "cli/live/executor_troubles.h"
#include "cli/term/commands.h"
#include "control/client.h"

/* In the place of the client's: what is answered one after the other, the last for ever. */
#define NO_ANSWER "too late"
static const char *answers[4];
static size_t asked;

int client_connect(int *ret_socket, struct failure *failure)
{
	int pair[2];

	if (!answers[asked])
		return failure_set(failure, ENOENT, "none runs");
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	*ret_socket = pair[0];
	return 0;
}

int client_status(int socket, json_t **ret_status, struct failure *failure)
{
	const char *answer = answers[asked];

	(void)socket;
	if (answers[asked + 1])
		asked++;
	if (strcmp(answer, NO_ANSWER) == 0)
		return failure_set(failure, ETIMEDOUT, "the cordon daemon does not respond");
	*ret_status = json_loads(answer, 0, NULL);
	assert_non_null(*ret_status);
	return 0;
}

#define ENTRY(name, state) "{\"name\":\"" name "\",\"state\":\"" state "\",\"line\":3}"
#define LIST(entries)                                                                              \
	"{\"executors\":{\"file\":\"c.yaml\",\"trouble\":null,\"list\":[" entries                  \
	"],\"before\":[],"                                                                         \
	"\"before_more\":0}}"

static int wait_for(const char *first, const char *second, char **arguments)
{
	int count = 0;

	answers[0] = first;
	answers[1] = second;
	asked = 0;
	while (arguments[count])
		count++;
	optind = 0;
	return cmd_wait(count, arguments);
}

#define WAIT(first, second, ...)                                                                   \
	wait_for(first, second, (char *[]){(char *)"wait", __VA_ARGS__ __VA_OPT__(, ) NULL})
#define T	(char *)"--timeout", (char *)"1ms"
#define E(name) (char *)"--executor", (char *)(name)

static void at_once(void **state)
{
	(void)state;
	assert_int_equal(WAIT(LIST(""), NULL), 0);
	assert_int_equal(WAIT(LIST(ENTRY("a", "in-force")), NULL), 0);
	assert_int_equal(WAIT(LIST(ENTRY("a", "in-force") "," ENTRY("b", "refuses")), NULL, E("a")),
			 0);
	assert_int_equal(WAIT(LIST(ENTRY("a", "in-force") "," ENTRY("b", "in-force")), NULL, E("b"),
			      E("a")),
			 0);
}

static void not_at_all(void **state)
{
	(void)state;
	assert_int_equal(WAIT(NULL, NULL, T), 1);
	assert_int_equal(WAIT("{}", NULL, T), 1);
	assert_int_equal(WAIT("{\"executors\":{\"file\":null}}", NULL, T), 1);
	assert_int_equal(WAIT(LIST(ENTRY("a", "refuses")), NULL, T), 1);
	assert_int_equal(WAIT(LIST(ENTRY("a", "waits")), NULL, T), 1);
	assert_int_equal(WAIT(LIST("{}"), NULL, T), 1);
	assert_int_equal(WAIT(LIST(ENTRY("a", "in-force")), NULL, T, E("b")), 1);
	assert_int_equal(WAIT(LIST(ENTRY("a", "in-force") "," ENTRY("b", "refuses")), NULL, T,
			      E("a"), E("b")),
			 1);
}

static void later(void **state)
{
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC);

	(void)state;
	assert_int_equal(WAIT(LIST(ENTRY("a", "waits")), LIST(ENTRY("a", "in-force"))), 0);
	/* Not without a pause. */
	assert_true(clock_nsec(CLOCK_MONOTONIC) - begin > 100 * NSEC_PER_MSEC);
}

/* What a command of `first` and `second` says at its end, of which the second has no time left. */
static void check_said(const char *first, const char *second, const char *says)
{
	int saved = dup(STDERR_FILENO), to = memfd_create("said", MFD_CLOEXEC);
	char text[512] = "";

	assert_true(saved >= 0 && to >= 0);
	assert_true(dup2(to, STDERR_FILENO) >= 0);
	assert_int_equal(WAIT(first, second, (char *)"--timeout", (char *)"400ms"), 1);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	assert_true(pread(to, text, sizeof(text) - 1, 0) > 0);
	close(saved);
	close(to);
	if (!strstr(text, says))
		fail_msg("%s does not say: %s", text, says);
}

/* A last look without an answer takes nothing back; one that finds nobody does. */
static void what_is_said(void **state)
{
	(void)state;
	check_said(LIST(ENTRY("a", "waits")), NO_ANSWER, "a waits for approval");
	check_said(NO_ANSWER, NULL, "does not respond");
	check_said(NO_ANSWER, LIST(ENTRY("a", "waits")), "a waits for approval");
}

static void options(void **state)
{
	(void)state;
	assert_int_equal(WAIT(NULL, NULL, (char *)"--timeout", (char *)"soon"), 2);
	assert_int_equal(WAIT(NULL, NULL, (char *)"--timeout", (char *)"-1"), 2);
	assert_int_equal(WAIT(NULL, NULL, (char *)"name"), 2);
	assert_int_equal(WAIT(NULL, NULL, (char *)"--unknown"), 2);
	assert_int_equal(WAIT(NULL, NULL, (char *)"--timeout", (char *)"0"), 1);
}

/* --- troubles ------------------------------------------------------------------------------- */

static char said[1024];

static void say(const char *line, void *context)
{
	(void)context;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static void troubles(void **state)
{
	static const struct {
		const char *executors;
		size_t count;
		const char *text;
	} cases[] = {
		{"{\"file\":\"c\",\"list\":[" ENTRY("a", "in-force") "]}", 0, ""},
		{"{\"file\":\"c\",\"trouble\":\"c:1:1: no\"}", 1,
		 "c is not in force, but the last that was good: c:1:1: no\n"},
		{"{\"file\":\"c\",\"list\":[{\"name\":\"a\",\"line\":7,\"error\":\"gone\"}]}", 1,
		 "c:7: executor a refuses all that it starts: gone\n"},
		{"{\"before\":[{\"executor\":\"a\",\"pid\":9,\"since\":\"then\",\"remedy\":\"do\"}],"
		 "\"before_more\":2}",
		 2,
		 "executor a: process 9 ran before cordon knew of it, since then; what it starts is "
		 "not confined: do\nand 2 more such processes\n"},
	};

	(void)state;
	assert_int_equal(executor_troubles(NULL, say, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *executors = json_loads(cases[i].executors, 0, NULL);

		said[0] = '\0';
		assert_non_null(executors);
		assert_int_equal(executor_troubles(executors, say, NULL), cases[i].count);
		assert_string_equal(said, cases[i].text);
		json_decref(executors);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_once), cmocka_unit_test(not_at_all),
		cmocka_unit_test(later),   cmocka_unit_test(what_is_said),
		cmocka_unit_test(options), cmocka_unit_test(troubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
