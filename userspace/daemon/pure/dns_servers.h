/* SPDX-License-Identifier: Apache-2.0 */
/* The host's DNS servers, as resolv.conf(5) names them. */
#ifndef CORDON_DAEMON_DNS_SERVERS_H
#define CORDON_DAEMON_DNS_SERVERS_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define DNS_SERVERS_FILE "/etc/resolv.conf"
#define DNS_SERVERS_MAX	 3 /* as in resolv.conf(5) */

struct dns_server {
	struct sockaddr_storage address;
	socklen_t size;
};

struct dns_servers {
	struct dns_server list[DNS_SERVERS_MAX];
	size_t count;
	struct stat file; /* that was read */
};

/*
 * Of the file's text; without any there is the one on this host. Lines that say nothing are passed
 * over.
 */
void dns_servers_parse(const char *text, size_t size, struct dns_servers *ret_servers);

/* Reads the file again if it has changed; what cannot be read leaves `servers` as it was. */
void dns_servers_refresh(struct dns_servers *servers);

#endif
