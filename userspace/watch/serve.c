/* SPDX-License-Identifier: Apache-2.0 */
/* Serves GET /metrics over HTTP. */
#include "watch/serve.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

/* One or two scrapers are usual. */
#define CLIENTS_MAX	16u
#define CLIENT_SECONDS	10u
#define CLIENTS_MSEC	1000
#define CLIENT_MEMORY	(size_t)(16u << 10)
#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct serve {
	struct MHD_Daemon *http;
	struct feed *feed;
	int fd;		  /* epoll descriptor of libmicrohttpd */
	bool had_clients; /* at the last call */
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      const char *type, const char *text, size_t size)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(size, (void *)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned int status, const char *text)
{
	return answer(connection, status, "text/plain", text, strlen(text));
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **state)
{
	struct serve *serve = context;
	struct feed *feed = serve->feed;

	(void)version;
	(void)data;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		/* Read and discard a request's body before the response. */
		if (*size > 0) {
			*size = 0;
			return MHD_YES;
		}
		return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET /metrics\n");
	}
	if (strcmp(url, "/metrics") != 0)
		return say(connection, strcmp(url, "/") == 0 ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND,
			   "cordon watch: GET /metrics\n");
	if (feed_read(feed) < 0)
		return say(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n");
	return answer(connection, MHD_HTTP_OK, EXPOSITION_TYPE, feed->text.data, feed->text.size);
}

int serve_start(int listen_fd, struct feed *feed, struct serve **ret_serve, struct failure *failure)
{
	_cleanup_(serve_freep) struct serve *serve = calloc(1, sizeof(*serve));
	const union MHD_DaemonInfo *info;

	if (!serve) {
		closep(&listen_fd);
		return failure_set(failure, ENOMEM, "%m");
	}
	serve->feed = feed;
	/* Without threads: the caller has the loop, and the seccomp filter permits no threads. */
	serve->http = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, serve, MHD_OPTION_LISTEN_SOCKET,
		listen_fd, MHD_OPTION_CONNECTION_LIMIT, CLIENTS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		CLIENT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CLIENT_MEMORY, MHD_OPTION_END);
	if (!serve->http) {
		closep(&listen_fd);
		return failure_set(failure, ENOMEM, "cannot serve HTTP");
	}
	info = MHD_get_daemon_info(serve->http, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return failure_set(failure, ENOTSUP, "cannot wait for HTTP requests");
	serve->fd = info->epoll_fd;
	*ret_serve = TAKE_PTR(serve);
	return 0;
}

void serve_free(struct serve *serve)
{
	if (serve->http)
		MHD_stop_daemon(serve->http);
	free(serve);
}

int serve_fd(const struct serve *serve)
{
	return serve->fd;
}

static unsigned int clients(const struct serve *serve)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(serve->http, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

/*
 * At its connection limit libmicrohttpd stops listening until it is called again. It then drops
 * idle clients without an event, and requests no timeout. Therefore use a timeout while there are
 * clients.
 */
int serve_timeout_msec(const struct serve *serve)
{
	MHD_UNSIGNED_LONG_LONG timeout;

	if (MHD_get_timeout(serve->http, &timeout) != MHD_YES)
		return serve->had_clients ? CLIENTS_MSEC : -1;
	return timeout > CLIENTS_MSEC ? CLIENTS_MSEC : (int)timeout;
}

void serve_go_on(struct serve *serve)
{
	bool before = clients(serve) > 0;

	(void)MHD_run(serve->http);
	serve->had_clients = before || clients(serve) > 0;
}
