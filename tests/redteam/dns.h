/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to DNS servers, put together by hand. */
#ifndef CORDON_TESTS_REDTEAM_DNS_H
#define CORDON_TESTS_REDTEAM_DNS_H

#include <sys/time.h>

#include "tests/redteam/net.h"

/* The one that the host uses (outside.py), and one of the attacker's choice. */
#define RESOLVER_V4 "127.0.6.53"
#define PORT_DNS    53
/* Where the policy allows to connect to by these names only. */
#define PORT_NAMED   7107
#define NAME_ALLOWED "allowed.redteam.test"
/* Whoever owns this allowed name has it lead to the host's cloud. */
#define NAME_INWARD "inward.redteam.test"
/* And this one to the host itself. */
#define NAME_HOST   "host.redteam.test"
#define METADATA_V4 "169.254.169.254"

#define DNS_ADDRESS 1
#define DNS_TEXT    16
#define DNS_HEADER  12
#define DNS_SIZE    512
#define DNS_REFUSED 5
#define DNS_SECONDS 15

/* Returns the length. */
static inline size_t dns_query(unsigned char *message, const char *name, unsigned int type)
{
	size_t at = DNS_HEADER;

	memset(message, 0, DNS_SIZE);
	message[1] = 77;
	message[2] = 1;
	message[5] = 1;
	while (*name) {
		size_t length = strcspn(name, ".");

		message[at++] = (unsigned char)length;
		memcpy(message + at, name, length);
		at += length;
		name += length + (name[length] == '.');
	}
	message[at + 2] = (unsigned char)type;
	message[at + 4] = 1;
	return at + 5;
}

static inline ssize_t dns_exchange(int fd, int type, unsigned char *message, size_t length)
{
	unsigned char framed[DNS_SIZE + 2];
	ssize_t received;

	if (type == SOCK_DGRAM) {
		if (send(fd, message, length, 0) < 0)
			return -1;
		return recv(fd, message, DNS_SIZE, 0);
	}
	framed[0] = (unsigned char)(length >> 8);
	framed[1] = (unsigned char)length;
	memcpy(framed + 2, message, length);
	if (send(fd, framed, length + 2, MSG_NOSIGNAL) < 0)
		return -1;
	received = recv(fd, framed, 2, MSG_WAITALL);
	if (received != 2)
		return received < 0 ? -1 : 0;
	return recv(fd, message, DNS_SIZE, 0);
}

/* 0: there is an answer; EACCES: the question was refused; ENODATA: there is no such thing. */
static inline int ask_dns(int type, const char *server, const char *name, unsigned int what)
{
	struct timeval patience = {.tv_sec = DNS_SECONDS};
	struct address address = address_v4(server, PORT_DNS);
	int fd = socket_or_broken(AF_INET, type), error = 0;
	unsigned char message[DNS_SIZE];
	size_t length = dns_query(message, name, what);
	ssize_t received = -1;

	NEED(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)));
	if (connect(fd, &address.any, address.length) == 0)
		received = dns_exchange(fd, type, message, length);
	if (received < 0)
		error = errno;
	else if (received < DNS_HEADER)
		error = EPROTO;
	else if ((message[3] & 15) == DNS_REFUSED)
		error = EACCES;
	else if (message[3] & 15 || !message[7])
		error = ENODATA;
	close(fd);
	return error;
}

/* By the host's resolver. */
static inline int look_up(const char *name)
{
	return ask_dns(SOCK_DGRAM, RESOLVER_V4, name, DNS_ADDRESS);
}

#endif
