/* SPDX-License-Identifier: Apache-2.0 */
/* Readers that do what they are told to: answer, die, hang, lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "control/lock.h"
#include "control/message_codec.h"
#include "daemon/privsep/helper.h"
#include "daemon/privsep/readers.h"

static struct event_base *base;
static struct readers *readers;
static unsigned int started, answered;
static int start_fails;
static pid_t last;

/* --- the processes ------------------------------------------------------------------------ */

static void reply(int fd, int result, const char *data, size_t size)
{
	const struct reader_reply header = {.result = result, .size = (uint32_t)size};

	(void)io_write_all(fd, &header, sizeof(header));
	(void)io_write_all(fd, data, size);
}

static _Noreturn void serve(int fd)
{
	static char data[READER_INPUT_MAX];
	struct reader_input input;

	reply(fd, 0, NULL, 0);
	while (io_read_exactly(fd, &input, sizeof(input)) == 0 &&
	       io_read_exactly(fd, data, input.size) == 0) {
		if (strncmp(data, "die", 3) == 0)
			break;
		while (strncmp(data, "hang", 4) == 0)
			pause();
		if (strncmp(data, "lie", 3) == 0)
			reply(fd, 7, NULL, 0);
		else
			reply(fd, 0, data, input.size);
		/* And what nobody has asked. */
		if (strncmp(data, "chatter", 7) == 0)
			reply(fd, 0, data, input.size);
	}
	_exit(0);
}

int lock_subdirectory(const char *name, int *ret_fd, struct failure *failure)
{
	(void)name;
	(void)failure;
	*ret_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

int helper_start(const char *option, int directory_fd, time_t patience, pid_t *ret_pid, int *ret_fd)
{
	int ends[2];

	(void)directory_fd;
	(void)patience;
	assert_string_equal(option, READER_REQUESTS);
	if (start_fails)
		return start_fails;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	*ret_pid = last = fork();
	if (*ret_pid == 0) {
		(void)close(ends[0]);
		serve(ends[1]);
	}
	(void)close(ends[1]);
	*ret_fd = ends[0];
	started++;
	return 0;
}

/* --- what is asked ------------------------------------------------------------------------ */

struct asked {
	struct reader_question *question;
	bool done;
	int result;
	struct reader_reply reply;
	char data[16];
	unsigned int number; /* so many were answered before */
};

static void on_answer(void *context, const struct reader_answer *answer)
{
	struct asked *asked = context;

	assert_false(asked->done);
	asked->question = NULL;
	asked->done = true;
	asked->result = answer->result;
	asked->reply = answer->reply;
	asked->number = answered++;
	if (answer->result == 0)
		memcpy(asked->data, answer->data,
		       answer->reply.size < sizeof(asked->data) ? answer->reply.size
								: sizeof(asked->data) - 1);
}

static int try_to_ask(uid_t uid, const char *text, struct asked *asked)
{
	const struct iovec parts[] = {{(char *)(uintptr_t)text, 2},
				      {(char *)(uintptr_t)text + 2, strlen(text) - 1}};

	*asked = (struct asked){};
	return readers_ask(readers, uid, READER_REQUEST, parts, 2, on_answer, asked,
			   &asked->question);
}

static void ask(uid_t uid, const char *text, struct asked *asked)
{
	assert_int_equal(try_to_ask(uid, text, asked), 0);
	/* Never at once. */
	assert_false(asked->done);
}

static void await(const struct asked *asked)
{
	while (!asked->done)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
}

static void expect_echo(const struct asked *asked, const char *text)
{
	await(asked);
	assert_int_equal(asked->result, 0);
	assert_string_equal(asked->data, text);
}

static int setup(void **state)
{
	struct readers_options options = {
		.option = READER_REQUESTS, .turn = "request", .seconds = 1};
	struct failure failure = {};

	(void)state;
	base = event_base_new();
	options.base = base;
	started = answered = 0;
	start_fails = 0;
	return readers_new(&options, &readers, &failure);
}

static int teardown(void **state)
{
	(void)state;
	readers_free(readers);
	event_base_free(base);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return 0;
}

/* --- tests -------------------------------------------------------------------------------- */

static void test_in_order(void **state)
{
	struct asked asked[5];
	static const char *const texts[] = {"one", "two", "three", "four", "five"};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		ask(1, texts[i], &asked[i]);
	for (size_t i = 0; i < 5; i++) {
		expect_echo(&asked[i], texts[i]);
		assert_int_equal(asked[i].number, i);
	}
	assert_int_equal(started, 1);
}

/*
 * Whose reader hangs waits, and nobody else; once it has hung for long enough, the next is asked.
 */
static void test_hangs(void **state)
{
	struct asked hung, behind, other;

	(void)state;
	ask(1, "hang", &hung);
	ask(1, "behind", &behind);
	ask(2, "other", &other);
	expect_echo(&other, "other");
	assert_false(behind.done);
	await(&hung);
	assert_int_equal(hung.result, -EPROTO);
	expect_echo(&behind, "behind");
	assert_int_equal(started, 3);
}

static void test_dies(void **state)
{
	struct asked dead, behind;

	(void)state;
	ask(1, "die", &dead);
	ask(1, "behind", &behind);
	await(&dead);
	assert_int_equal(dead.result, -EPROTO);
	expect_echo(&behind, "behind");
}

/* One that died while nobody asked it anything costs nobody an answer. */
static void test_died_before(void **state)
{
	struct asked asked;

	(void)state;
	ask(1, "first", &asked);
	expect_echo(&asked, "first");
	assert_int_equal(kill(last, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)last, NULL, WEXITED | WNOWAIT), 0);
	ask(1, "second", &asked);
	expect_echo(&asked, "second");
	assert_int_equal(started, 2);
}

static void test_lies(void **state)
{
	struct asked lied, behind;

	(void)state;
	ask(1, "lie", &lied);
	ask(1, "behind", &behind);
	await(&lied);
	assert_int_equal(lied.result, -EPROTO);
	expect_echo(&behind, "behind");
	/* So does one that speaks when nobody has asked. */
	ask(1, "chatter", &lied);
	expect_echo(&lied, "chatter");
	while (kill(last, 0) == 0)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
	ask(1, "again", &behind);
	expect_echo(&behind, "again");
	assert_int_equal(started, 3);
}

static void test_cancelled(void **state)
{
	struct asked hung, line, after;

	(void)state;
	ask(1, "hang", &hung);
	ask(1, "line", &line);
	ask(1, "after", &after);
	readers_cancel(line.question);
	readers_cancel(NULL);
	for (int i = 0; i < 20; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
	readers_cancel(hung.question);
	expect_echo(&after, "after");
	assert_false(hung.done || line.done);
	ask(1, "one", &after);
	readers_cancel(after.question);
}

static void test_none_can_be_started(void **state)
{
	struct asked asked, behind;

	(void)state;
	start_fails = -EAGAIN;
	assert_int_equal(try_to_ask(1, "none", &asked), -EAGAIN);
	start_fails = 0;
	ask(1, "die", &asked);
	ask(1, "behind", &behind);
	start_fails = -ENFILE;
	await(&asked);
	await(&behind);
	assert_int_equal(asked.result, -EPROTO);
	assert_int_equal(behind.result, -EAGAIN);
	start_fails = 0;
}

static void test_distrusted(void **state)
{
	struct asked asked, behind;

	(void)state;
	ask(1, "one", &asked);
	ask(1, "behind", &behind);
	expect_echo(&asked, "one");
	readers_distrust(readers, 1);
	readers_distrust(readers, 2);
	expect_echo(&behind, "behind");
	assert_int_equal(started, 2);
}

/* Those that nobody asks anything give way; those that are at work do not. */
static void test_many_users(void **state)
{
	struct asked hung[20], asked;

	(void)state;
	for (uid_t uid = 0; uid < 20; uid++) {
		ask(100 + uid, "idle", &asked);
		expect_echo(&asked, "idle");
	}
	/* The one that was asked first has given way, the one that was asked last has not. */
	ask(119, "last", &asked);
	expect_echo(&asked, "last");
	assert_int_equal(started, 20);
	ask(100, "first", &asked);
	expect_echo(&asked, "first");
	assert_int_equal(started, 21);
	for (uid_t uid = 0; uid < 20; uid++)
		ask(200 + uid, "hang", &hung[uid]);
	ask(300, "more", &asked);
	expect_echo(&asked, "more");
	for (uid_t uid = 0; uid < 20; uid++)
		assert_false(hung[uid].done && hung[uid].result != -EPROTO);
}

static void test_too_large(void **state)
{
	static char large[READER_INPUT_MAX + 1];
	const struct iovec part = {large, sizeof(large)};
	struct asked asked = {};

	(void)state;
	assert_int_equal(readers_ask(readers, 1, READER_REQUEST, &part, 1, on_answer, &asked,
				     &asked.question),
			 -E2BIG);
	assert_int_equal(started, 0);
}

static void test_messages(void **state)
{
	struct reader_answer answer = {.result = -EAGAIN, .error = ENFILE, .data = "abc"};
	struct failure failure = {};
	json_t *message = NULL;

	(void)state;
	assert_int_equal(readers_message(readers, 1, &answer, &message, &failure), -EAGAIN);
	assert_non_null(strstr(failure.text, "cannot start"));
	answer.result = -EPROTO;
	assert_int_equal(readers_message(readers, 1, &answer, &message, &failure), -EPROTO);
	answer.result = 0;
	answer.reply = (struct reader_reply){.result = -EBADMSG, .size = 3};
	failure = (struct failure){};
	assert_int_equal(readers_message(readers, 1, &answer, &message, &failure), -EBADMSG);
	assert_string_equal(failure.text, "abc");
	/* No reader says that. */
	answer.reply.result = -EPERM;
	assert_int_equal(readers_message(readers, 1, &answer, &message, &failure), -EPROTO);
	answer.reply.result = 0;
	assert_int_equal(readers_message(readers, 1, &answer, &message, &failure), -EPROTO);
	assert_null(message);
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_in_order),
		ONE(test_hangs),
		ONE(test_dies),
		ONE(test_died_before),
		ONE(test_lies),
		ONE(test_cancelled),
		ONE(test_none_can_be_started),
		ONE(test_distrusted),
		ONE(test_many_users),
		ONE(test_too_large),
		ONE(test_messages),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
