/* SPDX-License-Identifier: Apache-2.0 */
/* A DNS server that answers everything it is asked. */
#ifndef CORDON_TESTS_REDTEAM_RESOLVER_H
#define CORDON_TESTS_REDTEAM_RESOLVER_H

#include <poll.h>

#include "tests/redteam/dns.h"

/*
 * Behind the question, which is all that a query of ours has. Returns the answer's length; 0: it is
 * no query.
 */
static inline size_t resolve(unsigned char *message, size_t length)
{
	static const unsigned char text[] = {0xc0, 12, 0, DNS_TEXT, 0,	 1,   0,   0,  0,
					     60,   0,  5, 4,	    'd', 'a', 't', 'a'};
	unsigned char address[16] = {0xc0, 12, 0, DNS_ADDRESS, 0, 1, 0, 0, 0, 60, 0, 4};
	size_t end = DNS_HEADER;
	unsigned char first = message[DNS_HEADER + 1];
	unsigned int type;

	while (end < length && message[end])
		end += message[end] + 1u;
	end += 5;
	if (end > length)
		return 0;
	type = message[end - 3];
	message[2] = 0x81;
	message[3] = 0x80;
	message[7] = type == DNS_ADDRESS || type == DNS_TEXT;
	memset(message + 8, 0, 4);
	inet_pton(AF_INET,
		  first == 'i'	 ? METADATA_V4
		  : first == 'h' ? OWN_V4
				 : OUTSIDE_V4,
		  address + 12);
	if (type == DNS_ADDRESS)
		memcpy(message + end, address, sizeof(address));
	else if (type == DNS_TEXT)
		memcpy(message + end, text, sizeof(text));
	else
		return end;
	return end + (type == DNS_TEXT ? sizeof(text) : sizeof(address));
}

static inline void answer_datagram(int fd)
{
	unsigned char message[DNS_SIZE];
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	ssize_t length = recvfrom(fd, message, DNS_SIZE / 2, MSG_DONTWAIT, (void *)&from, &size);
	size_t answer = length > 0 ? resolve(message, (size_t)length) : 0;

	if (answer)
		sendto(fd, message, answer, 0, (void *)&from, size);
}

static inline void answer_stream(int connection)
{
	unsigned char message[DNS_SIZE + 2];
	struct pollfd ready = {.fd = connection, .events = POLLIN};
	ssize_t length = poll(&ready, 1, 2000) == 1 ? read(connection, message, DNS_SIZE / 2) : 0;
	size_t answer = length > 2 ? resolve(message + 2, (size_t)length - 2) : 0;

	if (!answer)
		return;
	message[0] = answer >> 8;
	message[1] = answer;
	if (write(connection, message, answer + 2) < 0)
		return;
}

#endif
