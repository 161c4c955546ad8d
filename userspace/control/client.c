/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side of the control protocol, for commands. */
#include "control/client.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "audit/text/text.h"
#include "base/hex.h"
#include "control/protocol.h"

/* `seconds`: timeout for connecting and for each message; 0: none. */
static int connect_to(const char *path, const char *group, unsigned int seconds, int *ret_socket,
		      struct failure *failure)
{
	const struct timeval patience = {.tv_sec = seconds};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_(closep) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return failure_set(failure, errno, "cannot make a socket: %m");
	if (strlen(path) >= sizeof(address.sun_path))
		return failure_set(failure, ENAMETOOLONG, "%s: %m", path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (seconds > 0 &&
	    (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	     setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0))
		return failure_set(failure, errno, "cannot set up the connection: %m");
	do {
		r = connect(fd, (struct sockaddr *)&address, sizeof(address));
	} while (r < 0 && errno == EINTR);
	if (r < 0 && errno == EACCES)
		return failure_set(failure, EACCES,
				   "only root and members of the group %s may use the cordon "
				   "daemon: `usermod -aG %s USER`, and log in again",
				   group, group);
	if (r < 0 && (errno == ENOENT || errno == ECONNREFUSED))
		return failure_set(failure, errno,
				   "no cordon daemon runs (cannot reach the cordon daemon at %s): "
				   "start it with `systemctl start cordon`",
				   path);
	if (r < 0)
		return failure_set(failure, errno, "cannot reach the cordon daemon at %s: %m",
				   path);
	*ret_socket = TAKE_FD(fd);
	return 0;
}

int client_connect(int *ret_socket, struct failure *failure)
{
	return connect_to(PROTOCOL_SOCKET, "cordon", 0, ret_socket, failure);
}

int client_connect_looking(const char *path, unsigned int seconds, int *ret_socket,
			   struct failure *failure)
{
	return connect_to(path, "cordon-watch", seconds, ret_socket, failure);
}

int client_connect_who(int *ret_socket, struct failure *failure)
{
	int r = connect_to(PROTOCOL_WHO_SOCKET, "cordon-who", 0, ret_socket, NULL);

	/* For members of the group `cordon`, this socket reports their own executions. */
	return r < 0 ? connect_to(PROTOCOL_SOCKET, "cordon or cordon-who", 0, ret_socket, failure)
		     : 0;
}

static int broken(struct failure *failure)
{
	return failure_set(failure, EBADMSG,
			   "the daemon's reply is malformed: client and daemon may be of "
			   "different versions. Restart the daemon");
}

/* Copies a reply's error: returns the errno, and sets *failure and *ret_text. */
static int refused(const json_t *reply, char **ret_text, struct failure *failure)
{
	const char *name = json_string_value(json_object_get(reply, "error"));
	const char *message = json_string_value(json_object_get(reply, "message"));
	int error = name ? protocol_errno(name) : 0;

	if (error == 0 || !message)
		return broken(failure);
	if (ret_text)
		*ret_text = strdup(message);
	return failure_set(failure, error, "%s", message);
}

/* Sends one request and receives its reply. Takes ownership of the request's reference. */
static int ask(int socket, json_t *request, const int *fds, size_t fd_count, json_t **ret_reply,
	       struct protocol_fds *ret_fds, char **ret_text, struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *owned = request, *reply = NULL;
	_cleanup_(protocol_fds_close) struct protocol_fds received = {};
	const json_t *ok;
	int r;

	if (!request)
		return failure_set(failure, ENOMEM, "%m");
	r = protocol_send(socket, request, fds, fd_count);
	if (r == -EMSGSIZE)
		return failure_set(failure, -r,
				   "too much for one request: command line, names of "
				   "variables and bindings must fit into %u bytes",
				   PROTOCOL_MAX_PACKET);
	/* The daemon sends the reason before it closes a rejected connection: read that first. */
	if (r < 0 && r != -EPIPE && r != -ECONNRESET)
		return failure_set(failure, r, "cannot send a request to the cordon daemon: %m");
	r = protocol_receive(socket, &reply, &received, NULL, failure);
	if (r == -ECONNRESET || r == -EPIPE)
		return failure_set(failure, ECONNRESET, "the cordon daemon closed the connection");
	if (r == -EAGAIN)
		return failure_set(failure, ETIMEDOUT, "the cordon daemon does not respond");
	if (r < 0)
		return failure_set(failure, r, "cannot hear the cordon daemon: %m");
	ok = json_object_get(reply, "ok");
	if (!json_is_boolean(ok))
		return broken(failure);
	if (!json_is_true(ok))
		return refused(reply, ret_text, failure);
	if (ret_reply)
		*ret_reply = TAKE_PTR(reply);
	if (ret_fds) {
		*ret_fds = received;
		received.count = 0;
	}
	return 0;
}

/* --- prepare ------------------------------------------------------------------------------ */

/* File names and arguments may contain any bytes; invalid UTF-8 is replaced. */
static json_t *string_or_null(const char *s)
{
	return s ? text_lossy(s, strlen(s)) : json_null();
}

static json_t *arguments_json(const struct client_prepare *p)
{
	json_t *array;

	if (!p->arguments)
		return json_null();
	array = json_array();
	for (size_t i = 0; array && i < p->argument_count; i++)
		json_array_append_new(array, string_or_null(p->arguments[i]));
	return array;
}

static json_t *code_json(const struct audit_code *code)
{
	json_t *names = json_array();
	char digest[65];

	hex_encode(code->digest, sizeof(code->digest), digest);
	for (size_t i = 0; names && i < CORDON_CODE_NAMES; i++)
		json_array_append_new(names, json_integer((json_int_t)code->names[i]));
	return json_pack("{s:s,s:o,s:o,s:I,s:o,s:I}", "source",
			 protocol_code_source_name(code->source), "path",
			 string_or_null(code->path), "sha256",
			 string_or_null(code->have_digest ? digest : NULL), "length",
			 (json_int_t)code->length, "names", names, "ctime",
			 (json_int_t)code->changed);
}

static json_t *bind_names_json(const struct client_prepare *p)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < p->bind_count; i++)
		json_array_append_new(array, string_or_null(p->bind_names[i]));
	return array;
}

/* Returns NULL if there are no strings. */
static json_t *texts_or_none(char *const *texts)
{
	json_t *array = texts && *texts ? json_array() : NULL;

	for (; array && *texts; texts++)
		json_array_append_new(array, string_or_null(*texts));
	return array;
}

static json_t *prepare_json(const struct client_prepare *p)
{
	char digest[65];

	hex_encode(p->arguments_digest, sizeof(p->arguments_digest), digest);
	return json_pack("{s:s,s:i,s:o,s:o,s:b,s:o,s:o*,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:I,s:s,"
			 "s:I,s:o,s:o,s:I,s:I,s:o*,s:o*,s:o*,s:o*}",
			 "op", "prepare", "version", PROTOCOL_VERSION, "policy",
			 string_or_null(p->policy), "workdir", string_or_null(p->workdir), "home",
			 p->home_fd >= 0, "binds", bind_names_json(p), "binds_found",
			 p->found_count ? json_integer((json_int_t)p->found_count) : NULL,
			 "session", string_or_null(p->session), "agent", string_or_null(p->agent),
			 "executor", string_or_null(p->executor), "language",
			 string_or_null(p->language), "limits", protocol_limits(&p->limits, false),
			 "observe", p->observe, "log", string_or_null(p->log), "program",
			 string_or_null(p->program), "argument_count",
			 (json_int_t)p->argument_count, "arguments_sha256", digest,
			 "arguments_length", (json_int_t)p->arguments_length, "arguments",
			 arguments_json(p), "code", code_json(p->code), "uid", (json_int_t)p->uid,
			 "gid", (json_int_t)p->gid, "traceparent",
			 p->traceparent ? string_or_null(p->traceparent) : NULL, "conversation",
			 p->conversation ? string_or_null(p->conversation) : NULL, "indirections",
			 texts_or_none(p->indirections), "unresolved",
			 texts_or_none(p->unresolved));
}

static int environment_of(json_t *object, struct policy_environment *ret)
{
	_cleanup_(protocol_strings_freep) char **keep = NULL, **names = NULL, **values = NULL;
	json_t *set = json_object_get(object, "set");
	const char *name;
	json_t *value;
	size_t n = 0;
	int r;

	if (!json_is_boolean(json_object_get(object, "keep_all")) || !json_is_object(set))
		return -EBADMSG;
	r = protocol_strings_of(json_object_get(object, "keep"), false, &keep);
	if (r < 0)
		return r;
	names = calloc(json_object_size(set) + 1, sizeof(*names));
	values = calloc(json_object_size(set) + 1, sizeof(*values));
	if (!names || !values)
		return -ENOMEM;
	json_object_foreach(set, name, value) {
		if (!json_is_string(value))
			return -EBADMSG;
		names[n] = strdup(name);
		values[n] = strdup(json_string_value(value));
		if (!names[n] || !values[n])
			return -ENOMEM;
		n++;
	}
	*ret = (struct policy_environment){
		.keep_all = json_is_true(json_object_get(object, "keep_all")),
		.keep = TAKE_PTR(keep),
		.set_names = TAKE_PTR(names),
		.set_values = TAKE_PTR(values),
	};
	return 0;
}

void client_prepared_release(struct client_prepared *prepared)
{
	closep(&prepared->cgroup_fd);
	closep(&prepared->filter_fd);
	prepared->cgroup_fd = prepared->filter_fd = -1;
	protocol_strings_free(prepared->environment.keep);
	protocol_strings_free(prepared->environment.set_names);
	protocol_strings_free(prepared->environment.set_values);
	protocol_strings_free(prepared->limits_missing);
	free(prepared->tmp);
	prepared->environment = (struct policy_environment){};
	prepared->limits_missing = NULL;
	prepared->tmp = NULL;
}

/* Takes the cgroup's descriptor, and the filter's if there is one. */
static int take_descriptors(struct protocol_fds *received, bool filter,
			    struct client_prepared *prepared)
{
	if (received->count != 1 + (filter ? 1u : 0u))
		return -EBADMSG;
	prepared->cgroup_fd = received->fd[0];
	prepared->filter_fd = filter ? received->fd[1] : -1;
	received->count = 0;
	return 0;
}

static int prepared_of(json_t *reply, struct protocol_fds *received,
		       struct client_prepared *prepared)
{
	const char *id, *tmp, *arguments;
	json_t *environment, *limits, *missing;
	json_int_t capabilities;
	int ok, filter, keep, observe, asks, moves, r;

	if (json_unpack(reply, "{s:b,s:s,s:o,s:o,s:o,s:I,s:b,s:b,s:s,s:b,s:s,s:b,s:b!}", "ok", &ok,
			"id", &id, "environment", &environment, "limits", &limits, "limits_missing",
			&missing, "capabilities", &capabilities, "filter", &filter,
			"keep_descriptors", &keep, "tmp", &tmp, "observe", &observe, "arguments",
			&arguments, "asks", &asks, "moves", &moves) < 0)
		return -EBADMSG;
	if (strlen(id) >= sizeof(prepared->id))
		return -EBADMSG;
	strcpy(prepared->id, id);
	r = take_descriptors(received, filter, prepared);
	if (r == 0)
		r = environment_of(environment, &prepared->environment);
	if (r == 0)
		r = protocol_limits_of(limits, &prepared->limits, NULL);
	if (r == 0)
		r = protocol_strings_of(missing, false, &prepared->limits_missing);
	if (r < 0)
		return r == -ENOMEM ? r : -EBADMSG;
	prepared->tmp = strdup(tmp);
	if (!prepared->tmp)
		return -ENOMEM;
	prepared->capabilities = (uint64_t)capabilities;
	prepared->keep_descriptors = keep;
	prepared->observe = observe;
	prepared->asks = asks;
	prepared->moves = moves;
	prepared->arguments = strcmp(arguments, "full") == 0 ? POLICY_ARGUMENTS_FULL
							     : POLICY_ARGUMENTS_DIGEST;
	return 0;
}

/*
 * Opens the same file with O_PATH. The close of the last ordinary descriptor calls the file system,
 * which may block forever; the daemon accepts those only from trusted clients.
 */
static int as_path(int fd)
{
	char link[64];
	int path;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	path = open(link, O_PATH | O_CLOEXEC);
	return path < 0 ? -errno : path;
}

int client_prepare(int socket, const struct client_prepare *prepare,
		   struct client_prepared *ret_prepared, char **ret_message,
		   struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	_cleanup_(protocol_fds_close) struct protocol_fds received = {};
	struct client_prepared prepared = {.cgroup_fd = -1, .filter_fd = -1};
	_cleanup_(closep) int code_fd = -1;
	int fds[PROTOCOL_MAX_FDS];
	size_t count = 0;
	int r;

	if (prepare->bind_count > PROTOCOL_MAX_BINDS)
		return failure_set(failure, E2BIG, "at most %u directories can be bound",
				   PROTOCOL_MAX_BINDS);
	fds[count++] = prepare->workdir_fd;
	if (prepare->home_fd >= 0)
		fds[count++] = prepare->home_fd;
	for (size_t i = 0; i < prepare->bind_count; i++)
		fds[count++] = prepare->bind_fds[i];
	if (prepare->code->source == AUDIT_CODE_FILE && prepare->code->have_digest) {
		code_fd = as_path(prepare->code_fd);
		if (code_fd < 0)
			return failure_set(failure, code_fd, "the code %s: %m",
					   prepare->code->path);
		fds[count++] = code_fd;
	}
	if (ret_message)
		*ret_message = NULL;
	r = ask(socket, prepare_json(prepare), fds, count, &reply, &received, ret_message, failure);
	if (r < 0)
		return r;
	r = prepared_of(reply, &received, &prepared);
	if (r < 0) {
		client_prepared_release(&prepared);
		return r == -ENOMEM ? failure_set(failure, r, "%m") : broken(failure);
	}
	*ret_prepared = prepared;
	return 0;
}

/* --- label, end --------------------------------------------------------------------------- */

int client_label(int socket, int pidfd, char *const *environment_kept,
		 char *const *environment_removed, uint64_t *ret_deadline, struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	const json_t *deadline;
	int r;

	r = ask(socket,
		json_pack("{s:s,s:o,s:o}", "op", "label", "environment_kept",
			  protocol_strings(environment_kept), "environment_removed",
			  protocol_strings(environment_removed)),
		&pidfd, 1, &reply, NULL, NULL, failure);
	if (r < 0)
		return r;
	deadline = json_object_get(reply, "deadline_boot_nsec");
	if (!json_is_integer(deadline))
		return broken(failure);
	*ret_deadline = (uint64_t)json_integer_value(deadline);
	return 0;
}

static int finish(int socket, json_t *request, struct client_outcome *ret_outcome,
		  struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	_cleanup_(protocol_fds_close) struct protocol_fds received = {};
	json_int_t denials, would_denials, killed, attempts = 0;
	struct client_outcome outcome;
	const char *cause;
	int ok, r;

	r = ask(socket, request, NULL, 0, &reply, &received, NULL, failure);
	if (r < 0)
		return r;
	if (received.count != 1 ||
	    json_unpack(reply, "{s:b,s:s,s:I,s:I,s:I,s?I!}", "ok", &ok, "cause", &cause, "denials",
			&denials, "would_denials", &would_denials, "killed", &killed, "attempts",
			&attempts) < 0 ||
	    protocol_cause(cause, &outcome.cause) < 0)
		return broken(failure);
	outcome.denials = (uint64_t)denials;
	outcome.would_denials = (uint64_t)would_denials;
	outcome.attempts = (uint64_t)attempts;
	outcome.killed = (uint64_t)killed;
	outcome.report_fd = received.fd[0];
	received.count = 0;
	*ret_outcome = outcome;
	return 0;
}

int client_ended(int socket, const struct client_ended *ended, struct client_outcome *ret_outcome,
		 struct failure *failure)
{
	char digest[65];
	json_t *code, *request;

	hex_encode(ended->code_digest, sizeof(ended->code_digest), digest);
	code = ended->have_code ? json_pack("{s:s,s:I}", "sha256", digest, "length",
					    (json_int_t)ended->code_length)
				: json_null();
	request = json_pack("{s:s,s:i,s:o,s:I,s:I}", "op", "ended", "status", ended->status, "code",
			    code, "user_nsec", (json_int_t)ended->user_nsec, "system_nsec",
			    (json_int_t)ended->system_nsec);
	if (request && ended->id &&
	    json_object_set_new(request, "id", json_string(ended->id)) < 0) {
		json_decref(request);
		request = NULL;
	}
	return finish(socket, request, ret_outcome, failure);
}

int client_abort(int socket, int error, const char *message, struct client_outcome *ret_outcome,
		 struct failure *failure)
{
	return finish(socket,
		      json_pack("{s:s,s:s,s:o}", "op", "abort", "error", protocol_errno_name(error),
				"message", string_or_null(message)),
		      ret_outcome, failure);
}

/* --- the rest ----------------------------------------------------------------------------- */

int client_hello(int socket, struct failure *failure)
{
	return ask(socket, json_pack("{s:s,s:i}", "op", "hello", "version", PROTOCOL_VERSION), NULL,
		   0, NULL, NULL, NULL, failure);
}

int client_status(int socket, json_t **ret_status, struct failure *failure)
{
	return ask(socket, json_pack("{s:s}", "op", "status"), NULL, 0, ret_status, NULL, NULL,
		   failure);
}

int client_reload(int socket, json_t **ret_reply, struct failure *failure)
{
	return ask(socket, json_pack("{s:s}", "op", "reload"), NULL, 0, ret_reply, NULL, NULL,
		   failure);
}

int client_adopt(int socket, pid_t pid, const char *executor, json_t **ret_reply,
		 struct failure *failure)
{
	return ask(socket,
		   json_pack("{s:s,s:i,s:s?}", "op", "adopt", "pid", (int)pid, "executor",
			     executor),
		   NULL, 0, ret_reply, NULL, NULL, failure);
}

int client_who(int socket, pid_t pid, uint64_t cgroup, json_t **ret_execution,
	       struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	int r = ask(socket,
		    json_pack("{s:s,s:I}", "op", "who", pid ? "pid" : "cgroup",
			      pid ? (json_int_t)pid : (json_int_t)cgroup),
		    NULL, 0, &reply, NULL, NULL, failure);

	if (r < 0)
		return r;
	if (!json_is_object(json_object_get(reply, "execution")))
		return broken(failure);
	*ret_execution = json_incref(json_object_get(reply, "execution"));
	return 0;
}

/*
 * Requests one packet of the list from *from on. *from becomes the next position, or -1 at the end.
 */
static int list_some(int socket, const char *op, const char *key, json_int_t *from,
		     json_t *executions, struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	json_t *some, *next;
	int ok, r;

	r = ask(socket, json_pack("{s:s,s:I}", "op", op, "from", *from), NULL, 0, &reply, NULL,
		NULL, failure);
	if (r < 0)
		return r;
	if (json_unpack(reply, "{s:b,s:o,s:o!}", "ok", &ok, key, &some, "next", &next) < 0 ||
	    !json_is_array(some) || (json_is_integer(next) && json_integer_value(next) <= *from))
		return broken(failure);
	if (json_array_extend(executions, some) < 0)
		return failure_set(failure, ENOMEM, "%m");
	*from = json_is_integer(next) ? json_integer_value(next) : -1;
	return 0;
}

static int list_all(int socket, const char *op, const char *key, json_t **ret_executions,
		    struct failure *failure)
{
	_cleanup_(json_decrefp) json_t *executions = json_array();
	json_int_t from = 0;

	if (!executions)
		return failure_set(failure, ENOMEM, "%m");
	while (from >= 0) {
		int r = list_some(socket, op, key, &from, executions, failure);

		if (r < 0)
			return r;
	}
	*ret_executions = TAKE_PTR(executions);
	return 0;
}

int client_list(int socket, json_t **ret_executions, struct failure *failure)
{
	return list_all(socket, "ps", "executions", ret_executions, failure);
}

int client_approvals(int socket, json_t **ret_approvals, struct failure *failure)
{
	return list_all(socket, "approvals", "approvals", ret_approvals, failure);
}

int client_decide(int socket, const struct client_decide *decide, json_t **ret_reply,
		  char **ret_message, struct failure *failure)
{
	*ret_message = NULL;
	return ask(socket,
		   json_pack("{s:s,s:s,s:o,s:o,s:o,s:I}", "op", "decide", "decision",
			     decide->decision, "digest", string_or_null(decide->digest), "policy",
			     string_or_null(decide->policy), "reason",
			     string_or_null(decide->reason), "expires",
			     (json_int_t)decide->expires),
		   NULL, 0, ret_reply, NULL, ret_message, failure);
}

int client_kill(int socket, const char *id, struct failure *failure)
{
	return ask(socket, json_pack("{s:s,s:s}", "op", "kill", "id", id), NULL, 0, NULL, NULL,
		   NULL, failure);
}

int client_apply(int socket, const struct client_apply *apply, json_t **ret_reply,
		 char **ret_message, struct failure *failure)
{
	*ret_message = NULL;
	return ask(socket,
		   json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "op", "apply", "policy",
			     string_or_null(apply->policy), "execution",
			     string_or_null(apply->execution), "all_of",
			     string_or_null(apply->all_of), "session",
			     string_or_null(apply->session), "reason",
			     string_or_null(apply->reason)),
		   NULL, 0, ret_reply, NULL, ret_message, failure);
}

int client_propose(int socket, const struct client_propose *propose, json_t **ret_reply,
		   struct failure *failure)
{
	return ask(socket,
		   json_pack("{s:s,s:o,s:s,s:I}", "op", "propose", "execution",
			     string_or_null(propose->execution), "for", propose->scope, "expires",
			     (json_int_t)propose->expires),
		   NULL, 0, ret_reply, NULL, NULL, failure);
}

int client_stop(int socket, bool force, struct failure *failure)
{
	return ask(socket, json_pack("{s:s,s:b}", "op", "stop", "force", force), NULL, 0, NULL,
		   NULL, NULL, failure);
}
