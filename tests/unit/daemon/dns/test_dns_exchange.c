/* SPDX-License-Identifier: Apache-2.0 */
/* A query to a server that cuts its answer over UDP, and says over TCP what it likes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/dns/dns_exchange.h"

#define TRUNCATED 0x02

/* --- what reads answers is a process elsewhere: its answer comes later ---------------------- */

struct reader_question {
	reader_answered *done; /* NULL: nobody wants the answer */
	void *context;
	size_t size;
	uint8_t data[];
};

static struct event_base *base;

static void say(evutil_socket_t fd, short what, void *context)
{
	struct reader_question *question = context;
	const struct reader_answer answer = {.reply.size = (uint32_t)question->size,
					     .data = (const char *)question->data};

	(void)fd;
	(void)what;
	if (question->done)
		question->done(question->context, &answer);
	free(question);
}

int dns_reader_ask_answer(const struct dns_reader *reader, const uint8_t *data, size_t size,
			  const struct dns_query *query, reader_answered *done, void *context,
			  struct reader_question **ret_question)
{
	const struct timeval now = {};
	struct reader_question *question = malloc(sizeof(*question) + size);

	(void)reader;
	(void)query;
	assert_non_null(question);
	*question = (struct reader_question){.done = done, .context = context, .size = size};
	memcpy(question->data, data, size);
	assert_int_equal(event_base_once(base, -1, EV_TIMEOUT, say, question, &now), 0);
	*ret_question = question;
	return 0;
}

int dns_reader_answer(const struct dns_reader *reader, const struct reader_answer *said,
		      const struct dns_query *query, struct dns_answer *ret_answer)
{
	(void)reader;
	return dns_answer_read((const uint8_t *)said->data, said->reply.size, query, ret_answer);
}

void readers_cancel(struct reader_question *question)
{
	if (question)
		question->done = NULL;
}

/* ------------------------------------------------------------------------------------------ */

struct outcome {
	struct event_base *base;
	struct dns_answer answer;
	bool done, answered;
};

static void on_done(const struct dns_answer *answer, void *context)
{
	struct outcome *outcome = context;

	outcome->done = true;
	outcome->answered = answer != NULL;
	if (answer)
		outcome->answer = *answer;
	event_base_loopbreak(outcome->base);
}

static int listener(int type, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)address, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)address, &size), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 8), 0);
	return fd;
}

static size_t answer_to(const uint8_t *data, size_t size, uint8_t *buffer)
{
	const struct dns_answer answer = {
		.ttl = 60,
		.address_count = 1,
		.addresses[0] = {.family = 4, .address = {192, 0, 2, 1}},
	};
	struct dns_query query;

	return dns_query_read(data, size, &query) < 0
		       ? 0
		       : dns_answer_write(&query, &answer, buffer, DNS_PLAIN_MAX);
}

/* `said`: the length that its TCP answers say they have; 0: the true one. */
static _Noreturn void serve(int udp, int tcp, uint16_t said)
{
	uint8_t data[DNS_PLAIN_MAX], buffer[2 + DNS_PLAIN_MAX];
	struct sockaddr_in from;

	for (;;) {
		socklen_t length = sizeof(from);
		ssize_t n = recvfrom(udp, data, sizeof(data), 0, (struct sockaddr *)&from, &length);
		size_t size = n > 0 ? answer_to(data, (size_t)n, buffer) : 0;
		uint8_t head[2];
		int fd;

		if (size == 0)
			_exit(1);
		buffer[2] |= TRUNCATED;
		(void)sendto(udp, buffer, size, 0, (struct sockaddr *)&from, length);
		fd = accept(tcp, NULL, NULL);
		if (io_read_exactly(fd, head, 2) != 0 ||
		    io_read_exactly(fd, data, (size_t)head[0] << 8 | head[1]) != 0)
			_exit(1);
		size = answer_to(data, (size_t)head[0] << 8 | head[1], buffer + 2);
		if (said)
			size = said;
		buffer[0] = (uint8_t)(size >> 8);
		buffer[1] = (uint8_t)size;
		(void)io_write_all(fd, buffer, 2 + size);
		close(fd);
	}
}

static struct outcome ask(uint16_t said)
{
	const struct dns_query query = {.type = DNS_TYPE_A, .recursion = 1, .name = "www.a.org"};
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct dns_servers servers = {.count = 1, .list[0].size = sizeof(address)};
	const struct dns_reader reader = {};
	struct outcome outcome = {.base = event_base_new()};
	struct dns_exchange *exchange;
	int tcp = listener(SOCK_STREAM, &address), udp = listener(SOCK_DGRAM, &address);
	pid_t pid = fork();

	if (pid == 0)
		serve(udp, tcp, said);
	memcpy(&servers.list[0].address, &address, sizeof(address));
	base = outcome.base;
	assert_int_equal(dns_exchange_start(outcome.base, &servers, &reader, &query, on_done,
					    &outcome, &exchange),
			 0);
	assert_int_equal(event_base_dispatch(outcome.base), 0);
	assert_true(outcome.done);
	event_base_free(outcome.base);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	close(udp);
	close(tcp);
	return outcome;
}

static void test_answer_over_tcp(void **state)
{
	struct outcome outcome = ask(0);

	(void)state;
	assert_true(outcome.answered);
	assert_int_equal(outcome.answer.address_count, 1);
	assert_memory_equal(outcome.answer.addresses[0].address, "\xc0\0\2\1", 4);
}

/* Room for less than the query had, too. */
static void test_length_below_a_header(void **state)
{
	(void)state;
	for (uint16_t said = 1; said < DNS_HEADER_SIZE; said++)
		assert_false(ask(said).answered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_over_tcp),
		cmocka_unit_test(test_length_below_a_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
