/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets and pipes: making, connecting, and one byte at a time through them. */
#ifndef CORDON_BENCH_SOCKETS_H
#define CORDON_BENCH_SOCKETS_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "measure.h"

#define PORT_TCP     7101
#define PORT_UDP     7102
#define PORT_FOREIGN 7103 /* of whoever serves `foreign` */

static const char *foreign; /* a socket that somebody outside listens on */
static char byte;

static struct sockaddr_in address_of(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((unsigned short)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int make_socket(int family, int type)
{
	return (int)must(socket(family, type | SOCK_CLOEXEC, 0), "socket");
}

static int bound(int type, int port)
{
	struct sockaddr_in address = address_of(port);
	int fd = make_socket(AF_INET, type), on = 1;

	must(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), "SO_REUSEADDR");
	must(bind(fd, (struct sockaddr *)&address, sizeof(address)), "bind");
	return fd;
}

static int listening(int port)
{
	int fd = bound(SOCK_STREAM, port);

	must(listen(fd, 128), "listen");
	return fd;
}

static int tcp_listener(void)
{
	static int fd;

	if (!fd)
		fd = listening(PORT_TCP);
	return fd;
}

static int udp_receiver(void)
{
	static int fd;

	if (!fd)
		fd = bound(SOCK_DGRAM, PORT_UDP);
	return fd;
}

static void connect_to(int fd, int port)
{
	struct sockaddr_in address = address_of(port);

	must(connect(fd, (struct sockaddr *)&address, sizeof(address)), "connect");
}

/* Closed, it goes at once, and leaves no port in use behind. */
static void hurry(int fd)
{
	struct linger now_please = {.l_onoff = 1};

	must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now_please, sizeof(now_please)), "SO_LINGER");
}

static void hang_up(int fd, int listener)
{
	close((int)must(accept(listener, NULL, NULL), "accept"));
	hurry(fd);
	close(fd);
}

PLAIN_BATCH(tcp_sockets, close(make_socket(AF_INET, SOCK_STREAM)))
PLAIN_BATCH(udp_sockets, close(make_socket(AF_INET, SOCK_DGRAM)))
PLAIN_BATCH(unix_sockets, close(make_socket(AF_UNIX, SOCK_STREAM)))
PARTLY_BATCH(tcp_connects, int listener = tcp_listener();
	     int fd = make_socket(AF_INET, SOCK_STREAM), connect_to(fd, PORT_TCP),
	     hang_up(fd, listener))
PARTLY_BATCH(udp_connects, int fd = make_socket(AF_INET, SOCK_DGRAM);
	     udp_receiver(), connect_to(fd, PORT_UDP), close(fd))

static void send_udp(int fd, bool named)
{
	struct sockaddr_in address = address_of(PORT_UDP);

	must(sendto(fd, "x", 1, 0, named ? (struct sockaddr *)&address : NULL,
		    named ? sizeof(address) : 0),
	     "sendto");
	must(recv(udp_receiver(), &byte, 1, 0), "recv");
}

static long udp_sends(int count)
{
	int fd = make_socket(AF_INET, SOCK_DGRAM);
	long start;

	udp_receiver();
	start = now();
	for (int i = 0; i < count; i++)
		send_udp(fd, true);
	start = now() - start;
	close(fd);
	return start;
}

static long udp_connected(int count)
{
	int fd = make_socket(AF_INET, SOCK_DGRAM);
	long start;

	udp_receiver();
	connect_to(fd, PORT_UDP);
	start = now();
	for (int i = 0; i < count; i++)
		send_udp(fd, false);
	start = now() - start;
	close(fd);
	return start;
}

static long ping_pong(int count, int from, int to)
{
	long start = now();

	for (int i = 0; i < count; i++) {
		must(write(from, "x", 1), "write");
		must(read(to, &byte, 1), "read");
	}
	return now() - start;
}

static long tcp_transfers(int count)
{
	static int near, far;

	if (!near) {
		int listener = tcp_listener();

		near = make_socket(AF_INET, SOCK_STREAM);
		connect_to(near, PORT_TCP);
		far = (int)must(accept(listener, NULL, NULL), "accept");
	}
	return ping_pong(count, near, far);
}

static long unix_transfers(int count)
{
	static int pair[2];

	if (!pair[0])
		must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "socketpair");
	return ping_pong(count, pair[1], pair[0]);
}

static long pipe_transfers(int count)
{
	static int ends[2];

	if (!ends[0])
		must(pipe2(ends, O_CLOEXEC), "pipe");
	return ping_pong(count, ends[1], ends[0]);
}

static int unix_bound(const char *name, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = make_socket(AF_UNIX, type);

	strncpy(address.sun_path, name, sizeof(address.sun_path) - 1);
	unlink(name);
	must(bind(fd, (struct sockaddr *)&address, sizeof(address)), name);
	return fd;
}

static void unix_connect(int fd, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strncpy(address.sun_path, name, sizeof(address.sun_path) - 1);
	must(connect(fd, (struct sockaddr *)&address, sizeof(address)), name);
}

static int unix_listener(void)
{
	static int fd;

	if (!fd) {
		fd = unix_bound("own-socket", SOCK_STREAM);
		must(listen(fd, 128), "listen");
	}
	return fd;
}

static void accept_own(void)
{
	close((int)must(accept(unix_listener(), NULL, NULL), "accept"));
}

/* Until the other side has had its turn, it would have more and more to do in the measured part. */
static void let_others_run(int fd)
{
	close(fd);
	for (int i = 0; i < 4; i++)
		sched_yield();
}

PARTLY_BATCH(tcp_foreign, int fd = make_socket(AF_INET, SOCK_STREAM), connect_to(fd, PORT_FOREIGN),
	     hurry(fd);
	     let_others_run(fd))
PARTLY_BATCH(unix_own, unix_listener(); int fd = make_socket(AF_UNIX, SOCK_STREAM),
					unix_connect(fd, "own-socket"), accept_own();
	     close(fd))
PARTLY_BATCH(unix_foreign, int fd = make_socket(AF_UNIX, SOCK_STREAM), unix_connect(fd, foreign),
	     let_others_run(fd))

static long unix_sends(int count)
{
	static int receiver;
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "own-datagrams"};
	int fd = make_socket(AF_UNIX, SOCK_DGRAM);
	long start;

	if (!receiver)
		receiver = unix_bound("own-datagrams", SOCK_DGRAM);
	start = now();
	for (int i = 0; i < count; i++) {
		must(sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof(address)), "sendto");
		must(recv(receiver, &byte, 1, 0), "recv");
	}
	start = now() - start;
	close(fd);
	return start;
}

static _Noreturn void serve(const char *name)
{
	struct pollfd listeners[] = {
		{.fd = unix_bound(name, SOCK_STREAM), .events = POLLIN},
		{.fd = listening(PORT_FOREIGN), .events = POLLIN},
	};

	must(chmod(name, 0777), name);
	must(listen(listeners[0].fd, 128), "listen");
	for (;;) {
		must(poll(listeners, 2, -1), "poll");
		for (int i = 0; i < 2; i++)
			if (listeners[i].revents)
				close((int)must(accept(listeners[i].fd, NULL, NULL), "accept"));
	}
}

#endif
