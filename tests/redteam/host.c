// SPDX-License-Identifier: Apache-2.0
/*
 * Plays the host around an execution: host ABSTRACT-NAME; or what is outside the host: host
 * outside. Unconfined, of the same user as the attacker. It listens on TCP, UDP and unix sockets,
 * hands out descriptors of whatever file it is asked for, and is the process that attacks on
 * processes are aimed at. Prints "ready" once everything is there.
 */
#include "tests/redteam/resolver.h"

#include <linux/perf_event.h>
#include <net/if.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#define SOCKETS 32

static struct pollfd sockets[SOCKETS];
static int socket_count;
static int passer;
/* DNS servers: datagrams, and connections. */
static int resolvers[2];

static int serve(int type, struct address address)
{
	int fd = NEED(socket(address.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
	    one = 1;

	NEED(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	if (address.any.sa_family == AF_INET6)
		NEED(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)));
	NEED(bind(fd, &address.any, address.length));
	if (type != SOCK_DGRAM)
		NEED(listen(fd, 16));
	sockets[socket_count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	return fd;
}

static void send_descriptor(int connection, int fd)
{
	char byte = fd < 0 ? 'n' : 'y', control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *header = (struct cmsghdr *)control;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	sendmsg(connection, &message, MSG_NOSIGNAL);
}

static int connected(int type, struct address address)
{
	int fd = socket(address.any.sa_family, type | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, &address.any, address.length) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int listening(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &address.any, address.length) < 0 || listen(fd, 1) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Member of a group, and bound to nothing. */
static int member(const char *group)
{
	struct ip_mreqn request = {.imr_ifindex = (int)if_nametoindex("lo")};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, group, &request.imr_multiaddr);
	if (setsockopt(fd, SOL_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Whose signals come here. */
static int owned_pipe(void)
{
	int ends[2] = {-1, -1};

	if (pipe2(ends, O_CLOEXEC) == 0) {
		fcntl(ends[0], F_SETOWN, getpid());
		close(ends[1]);
	}
	return ends[0];
}

/* An end of a pipe: 0 to read, 1 to write. The host keeps the other end until the next one. */
static int end_of_pipe(const char *which)
{
	static int kept = -1;
	int ends[2], end = which[0] == '1';

	if (kept >= 0)
		close(kept);
	kept = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	kept = ends[!end];
	return ends[end];
}

/* The master of a terminal, which the host keeps until the next one. */
static int master_of_terminal(void)
{
	static int kept = -1;

	if (kept >= 0)
		close(kept);
	kept = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (kept < 0 || unlockpt(kept) < 0)
		return -1;
	return dup(kept);
}

/* A file without a name, which is at its beginning. */
static int unnamed(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 && pwrite(fd, "secret", 6, 0) != 6) {
		close(fd);
		return -1;
	}
	return fd;
}

/* "socket:KIND:WHERE" */
static int open_socket(const char *kind)
{
	struct perf_event_attr counter = {.type = PERF_TYPE_SOFTWARE,
					  .size = sizeof(counter),
					  .config = PERF_COUNT_SW_CPU_CLOCK,
					  .exclude_kernel = 1};
	const char *where = strchr(kind, ':') + 1;

	if (strncmp(kind, "tcp:", 4) == 0)
		return connected(SOCK_STREAM, address_v4("127.0.0.1", atoi(where)));
	if (strncmp(kind, "own:", 4) == 0)
		return connected(SOCK_STREAM, address_v4(OWN_V4, atoi(where)));
	if (strncmp(kind, "outside:", 8) == 0)
		return connected(SOCK_STREAM, address_v4(OUTSIDE_V4, atoi(where)));
	if (strncmp(kind, "tcp6:", 5) == 0)
		return connected(SOCK_STREAM, address_v6("::1", atoi(where)));
	if (strncmp(kind, "udp6:", 5) == 0)
		return connected(SOCK_DGRAM, address_v6("::1", atoi(where)));
	if (strncmp(kind, "udp:", 4) == 0)
		return connected(SOCK_DGRAM, address_v4("127.0.0.1", atoi(where)));
	if (strncmp(kind, "listen:", 7) == 0)
		return listening(atoi(where));
	if (strncmp(kind, "unix:", 5) == 0)
		return connected(SOCK_STREAM, address_path(where));
	if (strncmp(kind, "perf:", 5) == 0)
		return (int)syscall(SYS_perf_event_open, &counter, 0, -1, -1, 0);
	if (strncmp(kind, "event:", 6) == 0)
		return eventfd(1, EFD_CLOEXEC);
	if (strncmp(kind, "owned:", 6) == 0)
		return owned_pipe();
	if (strncmp(kind, "pipe:", 5) == 0)
		return end_of_pipe(where);
	if (strncmp(kind, "terminal:", 9) == 0)
		return master_of_terminal();
	if (strncmp(kind, "later:", 6) == 0)
		return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (strncmp(kind, "group:", 6) == 0)
		return member(where);
	if (strncmp(kind, "unnamed:", 8) == 0)
		return unnamed(where);
	if (strncmp(kind, "packet:", 7) == 0)
		return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	return -1;
}

/* What was handed over unconnected leads somewhere once it has arrived. */
static void connect_later(const char *kind, int fd)
{
	struct address address;

	if (strncmp(kind, "later:", 6) != 0)
		return;
	address = address_v4("127.0.0.1", atoi(kind + 6));
	if (connect(fd, &address.any, address.length) < 0)
		perror("host: connect");
}

/*
 * Directories with a file in each, on the processor where the attacker has freed others. `below`:
 * the files are in a directory each, which is made last.
 */
static int fill(const char *top, bool below)
{
	char path[PATH_SIZE + 16];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%d", top, i);
		if (mkdir(path, 0755) < 0)
			return -1;
		if (below)
			continue;
		strcat(path, "/file");
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	}
	for (int i = 0; below && i < 3; i++) {
		snprintf(path, sizeof(path), "%s%d/below", top, i);
		if (mkdir(path, 0755) < 0)
			return -1;
		strcat(path, "/file");
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	}
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* "FROM:TO" */
static int bind_or_move(const char *paths, bool move)
{
	char from[PATH_SIZE];
	const char *to = strchr(paths, ':');

	if (!to)
		return -1;
	snprintf(from, sizeof(from), "%.*s", (int)(to - paths), paths);
	return move ? rename(from, to + 1) : mount(from, to + 1, NULL, MS_BIND, NULL);
}

/*
 * "unlink:PATH", "umount:PATH", "fill:PATH", "fill-below:PATH", "bind:FROM:TO", "move:FROM:TO":
 * the reply is something harmless. -1: it is not to be done, but opened.
 */
static int do_for(const char *path)
{
	if (strncmp(path, "bind:", 5) == 0 || strncmp(path, "move:", 5) == 0)
		return bind_or_move(path + 5, path[0] == 'm') < 0
			       ? -1
			       : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (strncmp(path, "fill:", 5) == 0)
		return fill(path + 5, false);
	if (strncmp(path, "fill-below:", 11) == 0)
		return fill(path + 11, true);
	if (strncmp(path, "unlink:", 7) == 0)
		return unlink(path + 7) < 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (strncmp(path, "umount:", 7) == 0)
		return umount2(path + 7, MNT_DETACH) < 0 ? -1
							 : open("/dev/null", O_RDONLY | O_CLOEXEC);
	return -1;
}

/* Reads a path, opens it for reading and writing or as a directory, and sends the descriptor. */
static void pass_file(int connection)
{
	char path[2 * PATH_SIZE + 8] = {};
	struct pollfd ready = {.fd = connection, .events = POLLIN};
	int fd;

	if (poll(&ready, 1, 2000) != 1 || read(connection, path, sizeof(path) - 1) <= 0)
		return;
	if (strncmp(path, "socket:", 7) == 0) {
		fd = open_socket(path + 7);
		send_descriptor(connection, fd);
		/* Connections are closed once they are accepted: not before this one arrived. */
		poll(&ready, 1, 2000);
		connect_later(path + 7, fd);
		if (fd >= 0)
			close(fd);
		return;
	}
	fd = do_for(path);
	if (fd < 0)
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	send_descriptor(connection, fd);
	if (fd >= 0)
		close(fd);
}

static bool is_resolver(int fd)
{
	for (int i = 0; i < 2; i++)
		if (resolvers[i] == fd)
			return true;
	return false;
}

static void answer(int fd)
{
	char buffer[256];
	int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	if (connection < 0) {
		if (is_resolver(fd))
			answer_datagram(fd);
		else
			recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
		return;
	}
	if (fd == passer)
		pass_file(connection);
	else if (is_resolver(fd))
		answer_stream(connection);
	close(connection);
}

static void ignore(int number)
{
	(void)number;
}

/* Leaves word that the signal came. */
static void note_urgent(int number)
{
	static char path[PATH_SIZE];
	int fd;

	(void)number;
	snprintf(path, sizeof(path), "%s/urged", getenv("REDTEAM_HOST"));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

/* What the policy allows to reach at any address, and by name. */
static void serve_anywhere(void)
{
	serve(SOCK_STREAM, address_v4("0.0.0.0", PORT_ANYWHERE));
	serve(SOCK_STREAM, address_v6("::", PORT_ANYWHERE));
	serve(SOCK_DGRAM, address_v4("0.0.0.0", PORT_ANYWHERE));
	serve(SOCK_STREAM, address_v4("0.0.0.0", PORT_NAMED));
}

static void serve_outside(void)
{
	serve_anywhere();
	resolvers[0] = serve(SOCK_DGRAM, address_v4(OUTSIDE_V4, PORT_DNS));
	resolvers[1] = serve(SOCK_STREAM, address_v4(OUTSIDE_V4, PORT_DNS));
}

static _Noreturn void answer_all(void)
{
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(sockets, socket_count, -1) < 0)
			continue;
		for (int i = 0; i < socket_count; i++)
			if (sockets[i].revents)
				answer(sockets[i].fd);
	}
}

int main(int argc, char **argv)
{
	static const int ports[] = {PORT_ALLOWED, PORT_FORBIDDEN};

	if (argc != 2)
		return BROKEN;
	signal(SIGUSR1, ignore);
	signal(SIGURG, note_urgent);
	signal(SIGPIPE, SIG_IGN);
	NEED(setpgid(0, 0));
	NEED(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
	/*
	 * Dropping privileges made the process undumpable, which would protect it from other users.
	 */
	NEED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	if (strcmp(argv[1], "outside") == 0) {
		serve_outside();
		answer_all();
	}
	for (int i = 0; i < 2; i++) {
		serve(SOCK_STREAM, address_v4("127.0.0.1", ports[i]));
		serve(SOCK_DGRAM, address_v4("127.0.0.1", ports[i]));
		serve(SOCK_STREAM, address_v6("::1", ports[i]));
		serve(SOCK_DGRAM, address_v6("::1", ports[i]));
	}
	serve_anywhere();
	serve(SOCK_DGRAM, address_v4("127.0.0.2", PORT_ALLOWED));
	serve(SOCK_STREAM, address_path(host_place("stream")));
	serve(SOCK_DGRAM, address_path(host_place("datagram")));
	serve(SOCK_SEQPACKET, address_path(host_place("seqpacket")));
	serve(SOCK_STREAM, address_path(open_place("stream")));
	serve(SOCK_DGRAM, address_path(open_place("datagram")));
	serve(SOCK_STREAM, address_abstract(argv[1]));
	resolvers[0] = serve(SOCK_DGRAM, address_v4(RESOLVER_V4, PORT_DNS));
	resolvers[1] = serve(SOCK_STREAM, address_v4(RESOLVER_V4, PORT_DNS));
	passer = serve(SOCK_STREAM, address_path(open_place("passer")));
	answer_all();
}
