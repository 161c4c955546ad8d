/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a service manager the datagrams of sd_notify(3). */
#include "daemon/host/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* '/' begins a path, '@' an abstract name. */
static int address_of(const char *name, struct sockaddr_un *ret_address, socklen_t *ret_size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof(address.sun_path))
		return -EINVAL;
	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	*ret_address = address;
	*ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length +
				(name[0] == '/' ? 1 : 0));
	return 0;
}

int notify(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	_cleanup_(closep) int fd = -1;
	struct sockaddr_un address;
	socklen_t size;
	int r;

	if (!name || !*name)
		return 0;
	r = address_of(name, &address, &size);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size) < 0)
		return -errno;
	return 0;
}

uint64_t notify_watchdog_nsec(void)
{
	const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	unsigned long long usec;
	char *end;

	/* It may be meant for whoever started us. */
	if (!text || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	errno = 0;
	usec = strtoull(text, &end, 10);
	if (errno || *end || text[0] == '-' || usec > UINT64_MAX / 1000)
		return 0;
	return usec * 1000 / 2;
}
