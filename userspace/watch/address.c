/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and binds addresses of this host. */
#include "watch/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define BACKLOG 16

static int parse_unix(const char *path, struct address *address, struct failure *failure)
{
	if (path[0] != '/' || strlen(path) >= sizeof(address->un.sun_path))
		return failure_set(failure, EINVAL,
				   "unix:%s: an absolute path of less than %zu bytes", path,
				   sizeof(address->un.sun_path));
	address->un.sun_family = AF_UNIX;
	snprintf(address->un.sun_path, sizeof(address->un.sun_path), "%s", path);
	address->size = sizeof(address->un);
	return 0;
}

static int parse_port(const char *text, in_port_t *ret_port)
{
	char *end;
	unsigned long port;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	port = strtoul(text, &end, 10);
	if (errno || *end || port > 65535)
		return -EINVAL;
	*ret_port = htons((in_port_t)port);
	return 0;
}

/* Copies the host without its brackets. Returns NULL if it cannot be an address. */
static const char *host_of(const char *text, const char *colon, char host[INET6_ADDRSTRLEN])
{
	size_t size = (size_t)(colon - text);

	if (size >= 2 && text[0] == '[' && colon[-1] == ']') {
		text++;
		size -= 2;
	}
	if (size == 0 || size >= INET6_ADDRSTRLEN)
		return NULL;
	memcpy(host, text, size);
	host[size] = '\0';
	return host;
}

static int parse_internet(const char *text, struct address *address, bool *ret_loopback)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&address->storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address->storage;
	const char *colon = strrchr(text, ':'), *host;
	char buffer[INET6_ADDRSTRLEN];
	in_port_t port;

	host = colon ? host_of(text, colon, buffer) : NULL;
	if (!host || parse_port(colon + 1, &port) < 0)
		return -EINVAL;
	if (inet_pton(AF_INET, host, &in->sin_addr) == 1 && text[0] != '[') {
		in->sin_family = AF_INET;
		in->sin_port = port;
		address->size = sizeof(*in);
		*ret_loopback = ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
		return 0;
	}
	if (text[0] != '[' || inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
		return -EINVAL;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = port;
	address->size = sizeof(*in6);
	*ret_loopback = IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return 0;
}

int address_parse(const char *text, struct address *ret_address, struct failure *failure)
{
	struct address address = {};
	bool loopback = true;
	int r;

	if (strncmp(text, "unix:", 5) == 0)
		r = parse_unix(text + 5, &address, failure);
	else
		r = parse_internet(text, &address, &loopback);
	if (r < 0)
		return failure_set(failure, r, "%s: not unix:/PATH, 127.0.0.1:PORT or [::1]:PORT",
				   text);
	if (!loopback)
		return failure_set(failure, EPERM,
				   "%s: other hosts could connect; listen on loopback, behind "
				   "a proxy that authenticates clients",
				   text);
	*ret_address = address;
	return 0;
}

/* Removes a stale socket. Returns 0 if the path is free. */
static int clear(const struct address *address, struct failure *failure)
{
	const char *path = address->un.sun_path;
	_cleanup_(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat status;

	if (fd < 0)
		return failure_set(failure, errno, "cannot make a socket: %m");
	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : failure_set(failure, errno, "%s: %m", path);
	if (!S_ISSOCK(status.st_mode))
		return failure_set(failure, EEXIST, "%s is no socket: remove it, or name another",
				   path);
	if (connect(fd, &address->any, address->size) == 0 || errno != ECONNREFUSED)
		return failure_set(failure, EADDRINUSE, "another process already listens on %s",
				   path);
	if (unlink(path) < 0)
		return failure_set(failure, errno, "cannot remove the stale %s: %m", path);
	return 0;
}

int address_listen(const struct address *address, int *ret_fd, struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	const int on = 1;
	mode_t mask;
	int r;

	r = address_is_unix(address) ? clear(address, failure) : 0;
	if (r < 0)
		return r;
	fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return failure_set(failure, errno, "cannot make a socket: %m");
	if (!address_is_unix(address) &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return failure_set(failure, errno, "cannot set up a socket: %m");
	mask = umask(0117);
	r = bind(fd, &address->any, address->size) < 0 ? -errno : 0;
	umask(mask);
	if (r == 0 && listen(fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0)
		return failure_set(failure, r, "cannot listen there: %m");
	*ret_fd = TAKE_FD(fd);
	return 0;
}
