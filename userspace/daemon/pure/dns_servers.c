/* SPDX-License-Identifier: Apache-2.0 */
/* The host's DNS servers, as resolv.conf(5) names them. */
#include "daemon/pure/dns_servers.h"

#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define FILE_MAX     16384
#define ADDRESS_TEXT 64 /* with a scope */
#define SPACE	     " \t\r"

static void add(struct dns_servers *servers, const char *address)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_DGRAM,
	};
	struct addrinfo *found;

	if (servers->count == DNS_SERVERS_MAX || getaddrinfo(address, "53", &hints, &found) != 0)
		return;
	memcpy(&servers->list[servers->count].address, found->ai_addr, found->ai_addrlen);
	servers->list[servers->count++].size = found->ai_addrlen;
	freeaddrinfo(found);
}

static void parse_line(const char *line, size_t size, struct dns_servers *servers)
{
	static const char word[] = "nameserver";
	char text[sizeof(word) + ADDRESS_TEXT], *at, *address;

	if (size <= sizeof(word) || memcmp(line, word, sizeof(word) - 1) != 0 ||
	    !strchr(SPACE, line[sizeof(word) - 1]))
		return;
	if (size >= sizeof(text))
		size = sizeof(text) - 1;
	memcpy(text, line, size);
	text[size] = '\0';
	address = strtok_r(text + sizeof(word) - 1, SPACE, &at);
	if (address)
		add(servers, address);
}

void dns_servers_parse(const char *text, size_t size, struct dns_servers *ret_servers)
{
	struct dns_servers servers = {0};

	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;

		parse_line(text, length, &servers);
		length += end != NULL;
		text += length;
		size -= length;
	}
	if (servers.count == 0)
		add(&servers, "127.0.0.1");
	*ret_servers = servers;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void dns_servers_refresh(struct dns_servers *servers)
{
	_cleanup_(closep) int fd = -1;
	char text[FILE_MAX];
	struct stat st;
	ssize_t size;

	if (servers->count > 0 && stat(DNS_SERVERS_FILE, &st) == 0 &&
	    same_file(&st, &servers->file))
		return;
	fd = open(DNS_SERVERS_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (servers->count == 0)
			dns_servers_parse("", 0, servers);
		return;
	}
	size = read(fd, text, sizeof(text));
	if (size < 0)
		return;
	dns_servers_parse(text, (size_t)size, servers);
	servers->file = st;
}
