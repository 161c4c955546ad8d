/* SPDX-License-Identifier: Apache-2.0 */
/* Learns addresses, sockets and the section `process`. */
#include <netinet/in.h>
#include <string.h>

#include "insight/learn/learn_state.h"

/*
 * The range of ports that the kernel assigns to programs that do not choose one
 * (ip_local_port_range).
 */
#define EPHEMERAL_LOW  32768u
#define EPHEMERAL_HIGH 60999u

/* Ports that need no capability. */
#define LOOPBACK_LOW  1024u
#define LOOPBACK_HIGH 65535u

/* So many hosts of one network stand for all of it. */
#define MANY_HOSTS 4u

static bool is_loopback(const unsigned char *bytes)
{
	static const unsigned char v6[16] = {[15] = 1};

	return bytes[0] == 4 ? bytes[2] == 127 : memcmp(bytes + 2, v6, sizeof(v6)) == 0;
}

/*
 * A port that was requested as 0 is known to its listener, and to clients on the same host: the
 * next run gets another one.
 */
static bool is_ephemeral(const struct recorded_access *a, uint16_t port)
{
	bool given = (a->rights & CORDON_RIGHT(CORDON_NET_LISTEN)) ||
		     is_loopback((const unsigned char *)a->bytes);

	return given && port >= EPHEMERAL_LOW && port <= EPHEMERAL_HIGH;
}

static struct learn_address read_address(const struct recorded_access *a, uint32_t missing)
{
	const unsigned char *bytes = (const unsigned char *)a->bytes;
	size_t n = bytes[0] == 4 ? 4 : 16;
	uint16_t port = (uint16_t)(bytes[2 + n] << 8 | bytes[3 + n]);
	struct learn_address found = {
		.family = bytes[0],
		.protocol = bytes[1] == IPPROTO_ICMPV6 ? IPPROTO_ICMP : bytes[1],
		.prefix = (unsigned int)n * 8,
		.low = port,
		.high = port,
		.rights = missing,
		.evidence = learn_evidence(a),
	};

	memcpy(found.address, bytes + 2, n);
	if (is_ephemeral(a, port)) {
		found.low = EPHEMERAL_LOW;
		found.high = EPHEMERAL_HIGH;
	}
	return found;
}

/* An address with a name. A lookup alone does not show the port, so a likely one is used. */
static struct learn_address read_host(const struct recorded_access *a)
{
	const unsigned char *question = (const unsigned char *)(a->domain ? a->named : a->bytes);
	size_t size = a->domain ? a->named_size : a->size;
	uint16_t port = (uint16_t)(question[size - 2] << 8 | question[size - 1]);

	return (struct learn_address){
		.family = CORDON_NET_NAME,
		.protocol = question[1],
		.host = a->domain ? a->domain : a->text,
		.low = port,
		.high = port,
		.rights = a->rights,
		.evidence = learn_evidence(a),
	};
}

static bool same_service(const struct learn_address *x, const struct learn_address *y)
{
	return x->family == y->family && x->protocol == y->protocol && x->low == y->low &&
	       x->high == y->high;
}

static int add_address(struct learning *l, const struct recorded_access *a, uint32_t missing)
{
	struct learn_address found = a->kind == ACCESS_HOST || a->domain ? read_host(a)
									 : read_address(a, missing);
	struct learn_address **end = &l->addresses;

	for (; *end; end = &(*end)->next) {
		if (!same_service(*end, &found) ||
		    (found.host && strcmp(found.host, (*end)->host) != 0) ||
		    memcmp((*end)->address, found.address, sizeof(found.address)) != 0)
			continue;
		(*end)->rights |= found.rights;
		evidence_add(&(*end)->evidence, &found.evidence);
		return 0;
	}
	*end = arena_alloc(l->arena, sizeof(**end));
	if (!*end)
		return -ENOMEM;
	**end = found;
	return 0;
}

/* True if both are in one network: a /24, or a /64 of IPv6. */
static bool same_network(const struct learn_address *x, const struct learn_address *y)
{
	return !x->host && same_service(x, y) && x->rights == y->rights &&
	       memcmp(x->address, y->address, x->family == 4 ? 3 : 8) == 0;
}

static void reduce_networks(struct learning *l)
{
	for (struct learn_address *x = l->addresses; x; x = x->next) {
		struct learn_address **at = &x->next;
		size_t count = 1;

		for (const struct learn_address *y = x->next; y; y = y->next)
			count += same_network(x, y);
		if (count < MANY_HOSTS)
			continue;
		while (*at) {
			if (!same_network(x, *at)) {
				at = &(*at)->next;
				continue;
			}
			evidence_add(&x->evidence, &(*at)->evidence);
			*at = (*at)->next;
		}
		x->prefix = x->family == 4 ? 24 : 64;
		memset(x->address + x->prefix / 8, 0, sizeof(x->address) - x->prefix / 8);
	}
}

static bool is_internet(const unsigned char *bytes)
{
	return bytes[0] == AF_INET || bytes[0] == AF_INET6;
}

/*
 * A socket was denied, so that no address is known. The loopback addresses suffice for a server and
 * its clients in one execution.
 */
static int add_loopback(struct learning *l, const struct recorded_access *a, unsigned char family)
{
	static const unsigned char v4[16] = {127, 0, 0, 1}, v6[16] = {[15] = 1};
	struct learn_address *added = arena_alloc(l->arena, sizeof(*added));
	struct learn_address **end = &l->addresses;

	if (!added)
		return -ENOMEM;
	*added = (struct learn_address){
		.family = family,
		.protocol = IPPROTO_TCP,
		.prefix = family == 4 ? 32 : 128,
		.low = LOOPBACK_LOW,
		.high = LOOPBACK_HIGH,
		.rights = CORDON_RIGHT(CORDON_NET_BIND) | CORDON_RIGHT(CORDON_NET_LISTEN) |
			  CORDON_RIGHT(CORDON_NET_CONNECT),
		.evidence = learn_evidence(a),
	};
	memcpy(added->address, family == 4 ? v4 : v6, sizeof(added->address));
	while (*end)
		end = &(*end)->next;
	*end = added;
	return 0;
}

static bool is_tcp_socket(const unsigned char *bytes)
{
	unsigned int protocol = (unsigned int)bytes[2] << 8 | bytes[3];

	return (bytes[0] == AF_INET || bytes[0] == AF_INET6) && bytes[1] == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP);
}

static bool has_tcp(const struct learning *l)
{
	for (const struct learn_address *a = l->addresses; a; a = a->next)
		if (a->protocol == IPPROTO_TCP)
			return true;
	return false;
}

/* One guess for all sockets without a known address. */
static int guess_loopback(struct learning *l)
{
	int r = 0;

	for (size_t i = 0; r == 0 && l->amended && i < l->access_count && !has_tcp(l); i++) {
		const struct recorded_access *a = &l->accesses[i];

		if (l->fates[i] != LEARN_WANTED || a->kind != ACCESS_SOCKET ||
		    !is_tcp_socket((const unsigned char *)a->bytes))
			continue;
		r = add_loopback(l, a, 4);
		if (r == 0)
			r = add_loopback(l, a, 6);
		l->loopback_guessed = true;
	}
	return r;
}

/* Whatever may connect, bind or listen may also make the socket for it, of either family. */
static bool comes_with_addresses(const struct learning *l, const unsigned char *bytes)
{
	unsigned int protocol = (unsigned int)bytes[2] << 8 | bytes[3];

	if (protocol == IPPROTO_ICMPV6)
		protocol = IPPROTO_ICMP;
	if (l->amended && is_tcp_socket(bytes) && has_tcp(l))
		return true;
	if (!is_internet(bytes) || (bytes[1] != SOCK_STREAM && bytes[1] != SOCK_DGRAM))
		return false;
	for (const struct learn_address *a = l->addresses; a; a = a->next)
		if (a->protocol == protocol)
			return true;
	return false;
}

static int add_socket(struct learning *l, size_t i)
{
	const unsigned char *bytes = (const unsigned char *)l->accesses[i].bytes;
	uint16_t protocol = (uint16_t)(bytes[2] << 8 | bytes[3]);
	struct evidence e = learn_evidence(&l->accesses[i]);
	struct learn_socket **end = &l->sockets;

	/* Unix sockets may always be made. */
	if (bytes[0] == AF_UNIX || comes_with_addresses(l, bytes))
		return 0;
	for (; *end; end = &(*end)->next)
		if ((*end)->family == bytes[0] && (*end)->type == bytes[1] &&
		    (*end)->protocol == protocol)
			break;
	if (!*end)
		*end = arena_alloc(l->arena, sizeof(**end));
	if (!*end)
		return -ENOMEM;
	(*end)->family = bytes[0];
	(*end)->type = bytes[1];
	(*end)->protocol = protocol;
	evidence_add(&(*end)->evidence, &e);
	return 0;
}

static int add_setting(struct learning *l, const struct recorded_access *a)
{
	struct learn_setting **end = &l->settings;
	struct evidence e = learn_evidence(a);

	while (*end && ((*end)->kind != a->kind || (*end)->number != a->number))
		end = &(*end)->next;
	if (!*end)
		*end = arena_alloc(l->arena, sizeof(**end));
	if (!*end)
		return -ENOMEM;
	(*end)->kind = a->kind;
	(*end)->number = a->number;
	evidence_add(&(*end)->evidence, &e);
	return 0;
}

/* Rules only support these protocols. */
static bool is_sayable(const struct recorded_access *a)
{
	unsigned char protocol = (unsigned char)a->bytes[1];

	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_ICMP ||
	       protocol == IPPROTO_ICMPV6;
}

int learn_network(struct learning *l)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->access_count; i++) {
		const struct recorded_access *a = &l->accesses[i];

		if (a->kind == ACCESS_NET && !is_sayable(a))
			l->fates[i] = LEARN_IMPOSSIBLE;
		if (l->fates[i] != LEARN_WANTED)
			continue;
		if ((a->kind == ACCESS_NET || a->kind == ACCESS_HOST) && l->missing[i])
			r = add_address(l, a, l->amended ? l->missing[i] : a->rights);
		else if (a->kind >= ACCESS_CAPABILITY)
			r = add_setting(l, a);
	}
	if (r < 0)
		return r;
	reduce_networks(l);
	r = guess_loopback(l);
	for (size_t i = 0; r == 0 && i < l->access_count; i++)
		if (l->fates[i] == LEARN_WANTED && l->accesses[i].kind == ACCESS_SOCKET &&
		    l->missing[i])
			r = add_socket(l, i);
	return r;
}
