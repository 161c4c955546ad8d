/* SPDX-License-Identifier: Apache-2.0 */
/* The server's loop: a client's messages in, calls that run beside each other, answers out. */
#include "cli/mcp/server.h"

#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "cli/mcp/line_input.h"
#include "cli/mcp/rpc.h"
#include "cli/mcp/session.h"

/* As long as the client leaves that much unread, nothing more of it is read. */
#define OUTBOX_MAX (1u << 20)
/*
 * A pipe that is ready takes that much at once: writing never waits, and so signals and calls do
 * not.
 */
#define WRITE_SIZE 4096

struct call {
	struct job job; /* pid and pidfd: none, the place is free */
	json_t *id;
	const struct tool *tool;
};

struct server {
	const struct tool_settings *settings;
	struct mcp_tools tools;
	struct mcp_session session;
	int input_fd, output_fd, signal_fd;
	bool input_over;
	struct line_input input;
	struct buffer outbox;
	size_t sent; /* of the outbox */
	struct call calls[SERVER_CALLS_MAX];
	bool failed; /* no memory: an answer is lost, so the client would wait for ever */
};

enum { POLLED_INPUT, POLLED_OUTPUT, POLLED_SIGNAL, POLLED_CALLS };
#define POLLED_COUNT (POLLED_CALLS + SERVER_CALLS_MAX * JOB_POLLED)

/* --- answers ------------------------------------------------------------------------------ */

/* Takes the reference. */
static void send_message(struct server *s, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(message);
	if (text) {
		buffer_string(&s->outbox, text);
		buffer_literal(&s->outbox, "\n");
	}
	s->failed |= !text || s->outbox.failed;
	free(text);
}

/* What is taken from the beginning goes when it is more than what stays. */
static void forget_sent(struct server *s)
{
	size_t left = s->outbox.size - s->sent;

	if (s->sent < left)
		return;
	memmove(s->outbox.data, s->outbox.data + s->sent, left);
	s->outbox.size = left;
	s->sent = 0;
}

static int write_some(struct server *s)
{
	size_t left = s->outbox.size - s->sent;
	ssize_t n = write(s->output_fd, s->outbox.data + s->sent,
			  left < WRITE_SIZE ? left : WRITE_SIZE);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -EPIPE;
	s->sent += (size_t)n;
	forget_sent(s);
	return 0;
}

/* --- calls -------------------------------------------------------------------------------- */

static bool is_free(const struct call *call)
{
	return !call->tool;
}

static void release_call(struct call *call)
{
	job_release(&call->job);
	json_decref(call->id);
	*call = (struct call){.job = JOB_NONE};
}

static json_t *list_tools(void *context)
{
	const struct server *s = context;

	return tools_describe(s->settings);
}

static struct call *find_call(struct server *s, const json_t *id)
{
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		if (is_free(&s->calls[i]) ? !id : id && json_equal(s->calls[i].id, id))
			return &s->calls[i];
	return NULL;
}

/* The words of argv as execv() takes them; they stay in `argv`. NULL: no memory. */
static char **words_of(const json_t *argv)
{
	size_t count = json_array_size(argv);
	char **words = calloc(count + 1, sizeof(char *));

	for (size_t i = 0; words && i < count; i++)
		words[i] = (char *)json_string_value(json_array_get(argv, i));
	return words;
}

static int start_job(struct call *call, const struct tool *tool, const json_t *argv,
		     struct failure *failure)
{
	char **words = words_of(argv);
	int r = words ? job_start(&call->job, words, tool->limit, failure) : -ENOMEM;

	free(words);
	return r < 0 ? failure_set(failure, r, "%m") : 0;
}

static json_t *start_call(struct server *s, const json_t *id, const struct tool *tool,
			  const json_t *argv)
{
	struct call *call = find_call(s, NULL);
	struct failure failure = {};

	if (!call)
		return rpc_result(id, tool_failed("too many calls go on: wait for one to end"));
	if (start_job(call, tool, argv, &failure) < 0)
		return rpc_result(id, tool_failed(failure.text));
	call->tool = tool;
	call->id = json_deep_copy(id);
	s->failed |= !call->id;
	return NULL;
}

static json_t *call_tool(void *context, const json_t *id, const char *name, json_t *arguments)
{
	struct server *s = context;
	const struct tool *tool = tool_find(name);
	json_t *argv, *answer;
	const char *why;

	if (!tool)
		return rpc_refusal(id, RPC_INVALID_PARAMS, "there is no tool of this name");
	if (find_call(s, id))
		return rpc_refusal(id, RPC_INVALID_REQUEST, "a call with this id goes on");
	argv = json_pack("[s]", "cordon");
	why = tool->words(s->settings, arguments, argv);
	answer = why ? rpc_refusal(id, RPC_INVALID_PARAMS, why) : start_call(s, id, tool, argv);
	json_decref(argv);
	return answer;
}

static void cancel_call(void *context, const json_t *id)
{
	struct call *call = find_call(context, id);

	if (call)
		release_call(call);
}

static void step_call(struct server *s, struct call *call, const struct pollfd *polled)
{
	int r = is_free(call) ? 0 : job_step(&call->job, polled);

	if (r == 0)
		return;
	if (r > 0)
		send_message(s, rpc_result(call->id, call->tool->result(&call->job)));
	else
		send_message(s, rpc_refusal(call->id, RPC_INTERNAL_ERROR, "out of memory"));
	release_call(call);
}

/* --- input -------------------------------------------------------------------------------- */

static void take_lines(struct server *s)
{
	enum line_found found;
	char *line;
	size_t size;

	while ((found = line_input_next(&s->input, &line, &size)) != LINE_NONE) {
		json_t *answer;

		if (found == LINE_TOO_LONG) {
			send_message(s, mcp_session_too_long());
			continue;
		}
		answer = mcp_session_take(&s->session, line, size);
		free(line);
		if (answer)
			send_message(s, answer);
	}
}

static void read_some(struct server *s)
{
	char bytes[16384];
	ssize_t n = read(s->input_fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		s->input_over = true;
	/* A last line without its end is a message as well. */
	s->failed |= line_input_add(&s->input, n > 0 ? bytes : "\n", n > 0 ? (size_t)n : 1) < 0;
	if (n > 0 || s->input.bytes.size > 1)
		take_lines(s);
}

/* --- the loop ----------------------------------------------------------------------------- */

/* Nobody waits for anything. */
static bool is_idle(const struct server *s)
{
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		if (!is_free(&s->calls[i]))
			return false;
	return s->outbox.size == s->sent;
}

static void fill_polled(const struct server *s, struct pollfd polled[POLLED_COUNT])
{
	size_t unsent = s->outbox.size - s->sent;
	bool reads = !s->input_over && unsent < OUTBOX_MAX;

	polled[POLLED_INPUT] = (struct pollfd){.fd = reads ? s->input_fd : -1, .events = POLLIN};
	/* Without events: whether anybody reads. */
	polled[POLLED_OUTPUT] =
		(struct pollfd){.fd = s->output_fd, .events = unsent > 0 ? POLLOUT : 0};
	polled[POLLED_SIGNAL] = (struct pollfd){.fd = s->signal_fd, .events = POLLIN};
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		job_poll(&s->calls[i].job, &polled[POLLED_CALLS + i * JOB_POLLED]);
}

static int take_signal(const struct server *s)
{
	struct signalfd_siginfo info;

	return read(s->signal_fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

/* 1: a signal has come. */
static int turn(struct server *s, int *ret_signal)
{
	struct pollfd polled[POLLED_COUNT];

	fill_polled(s, polled);
	if (poll(polled, POLLED_COUNT, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (polled[POLLED_SIGNAL].revents) {
		*ret_signal = take_signal(s);
		if (*ret_signal)
			return 1;
	}
	if (polled[POLLED_OUTPUT].revents & (POLLERR | POLLHUP | POLLNVAL)) {
		s->input_over = true;
		return is_idle(s) ? 0 : -EPIPE;
	}
	if ((polled[POLLED_OUTPUT].revents & POLLOUT) && write_some(s) < 0)
		return -EPIPE;
	/* Before new ones may take the places of those that were polled. */
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		step_call(s, &s->calls[i], &polled[POLLED_CALLS + i * JOB_POLLED]);
	if (polled[POLLED_INPUT].revents)
		read_some(s);
	return s->failed ? -ENOMEM : 0;
}

/* Blocked, so that each is read in its turn; what was before is `ret_before`. */
static int take_signals(int *ret_fd, sigset_t *ret_before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, ret_before) < 0)
		return -errno;
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? -errno : 0;
}

static int serve(struct server *s, int *ret_signal, struct failure *failure)
{
	int r = 0;

	while (r == 0 && !(s->input_over && is_idle(s)))
		r = turn(s, ret_signal);
	if (r == -EPIPE)
		return failure_set(failure, EPIPE, "the client reads no more");
	return r < 0 ? failure_set(failure, r, "cannot go on: %m") : 0;
}

int server_run(const struct tool_settings *settings, int input_fd, int output_fd, int *ret_signal,
	       struct failure *failure)
{
	struct server s = {
		.settings = settings,
		.tools = {.list = list_tools, .call = call_tool, .cancel = cancel_call},
		.input_fd = input_fd,
		.output_fd = output_fd,
		.signal_fd = -1,
		.input = {.limit = MCP_MESSAGE_MAX},
	};
	sigset_t before;
	int r;

	s.tools.context = &s;
	s.session.tools = &s.tools;
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		s.calls[i].job = (struct job)JOB_NONE;
	*ret_signal = 0;
	r = take_signals(&s.signal_fd, &before);
	if (r < 0)
		return failure_set(failure, r, "cannot take over signals: %m");
	r = serve(&s, ret_signal, failure);
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		release_call(&s.calls[i]);
	line_input_free(&s.input);
	buffer_free(&s.outbox);
	closep(&s.signal_fd);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
