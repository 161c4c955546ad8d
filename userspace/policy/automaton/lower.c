/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the rules of a model to the nondeterministic automaton over the input format of
 * bpf/abi.h.
 */
#include "policy/automaton/lower.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/source/host_name.h"
#include "policy/automaton/pattern.h"
#include "policy/automaton/sheltered.h"

struct lowering {
	struct nfa *nfa;
	const struct model *model;
	struct diagnostics *diagnostics;
	struct pattern_reader patterns;
	uint32_t anchors_used;
	/* the current rule */
	uint32_t number;
	const struct rule *rule;
	const struct rule_name *name;
	uint32_t rights; /* rights of the accepting nodes of numbers */
};

/* As verdicts have them: exceptions, and denies that these cannot take back (bpf/abi.h). */
static uint32_t encode_rights(const struct lowering *l, uint32_t rights)
{
	if (l->rule->except)
		return rights << CORDON_EXCEPT_SHIFT;
	if (l->rule->deny && l->nfa->exceptions && !l->rule->yields)
		return rights | rights << CORDON_EXCEPT_SHIFT;
	return rights;
}

static int add_accept(struct lowering *l, uint32_t node, uint32_t rights)
{
	return nfa_add_accept(l->nfa, node, l->number, encode_rights(l, rights), l->rule->deny);
}

/* ---- names ---- */

static int add_sink(struct lowering *l, uint32_t node)
{
	return nfa_add_sink(l->nfa, node, l->number, encode_rights(l, l->rule->rights),
			    l->rule->deny);
}

/* A deny covers the named object and everything below it. */
static int accept_deny(struct lowering *l, const struct pattern *p, uint32_t node)
{
	int r = 0;

	if (!pattern_is_listing(p)) {
		r = add_accept(l, node, l->rule->rights);
		if (p->itself)
			return r;
		if (r == 0)
			r = nfa_follow_range(l->nfa, node, '/', '/', &node);
	}
	return r < 0 ? r : add_sink(l, node);
}

/* An allow covers the named object and, where that is a directory, its listing. */
static int accept_allow(struct lowering *l, const struct pattern *p, uint32_t node)
{
	uint32_t read = l->rule->rights & CORDON_RIGHT(CORDON_READ);
	int r;

	if (pattern_is_listing(p)) {
		if (!read)
			report_warning(l->diagnostics, &l->name->place,
				       "remove the '/' to name the directory itself",
				       "only a listing has a name that ends in '/': this "
				       "pattern never matches here");
		return add_accept(l, node, l->rule->rights);
	}
	r = add_accept(l, node, l->rule->rights);
	if (r < 0 || !read || p->itself)
		return r;
	r = nfa_follow_range(l->nfa, node, '/', '/', &node);
	return r < 0 ? r : add_accept(l, node, read);
}

static int check_special(struct lowering *l, const struct pattern *p)
{
	if (!p->special || l->rule->kind == RULE_EXEC)
		return 0;
	report_error(l->diagnostics, &l->name->place, "move it to a rule under exec",
		     "\"%s\" can only be run or mapped", l->name->text);
	return 0;
}

static void check_except(struct lowering *l, const struct pattern *p)
{
	if (l->rule->except && (p->special || p->start == CORDON_START_FLOATING))
		report_error(l->diagnostics, &l->name->place,
			     "begin with a directory: \"${workdir}/**/.env\"",
			     "an exception at any depth");
}

static int emit_pattern(void *context, const struct pattern *p)
{
	struct lowering *l = context;
	size_t count = pattern_is_subtree(p) ? p->count - 1 : p->count;
	uint32_t node;
	int r = nfa_start(l->nfa, p->start, &node);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = nfa_follow(l->nfa, node, &p->elements[i], &node);
	if (r < 0)
		return r;
	if (p->start >= CORDON_START_ANCHOR)
		l->anchors_used |= 1u << (p->start - CORDON_START_ANCHOR);
	check_except(l, p);
	if (p->special)
		check_special(l, p);
	if (pattern_is_subtree(p))
		return add_sink(l, node);
	if (p->special || p->start == CORDON_START_ABSTRACT)
		return add_accept(l, node, l->rule->rights);
	return l->rule->deny ? accept_deny(l, p, node) : accept_allow(l, p, node);
}

static int lower_names(struct lowering *l)
{
	for (size_t i = 0; i < l->rule->name_count; i++) {
		int r;

		l->name = &l->rule->names[i];
		r = pattern_read(&l->patterns, l->name, emit_pattern, l);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- numbers in network order ---- */

static int follow_block(struct lowering *l, uint32_t node, const struct net_block *b,
			uint32_t *ret_node)
{
	unsigned int bytes = b->family == 4 ? 4 : 16;
	int r = 0;

	for (unsigned int i = 0; i < bytes && r == 0; i++) {
		unsigned int kept = b->prefix > i * 8 ? b->prefix - i * 8 : 0;
		uint8_t open = kept >= 8 ? 0 : (uint8_t)(0xffu >> kept);

		r = nfa_follow_range(l->nfa, node, b->address[i], b->address[i] | open, &node);
	}
	if (r == 0)
		*ret_node = node;
	return r;
}

/* Two bytes, first byte in [a, b], second in [c, d]. */
static int accept_pair(struct lowering *l, uint32_t node, uint8_t a, uint8_t b, uint8_t c,
		       uint8_t d)
{
	int r = nfa_follow_range(l->nfa, node, a, b, &node);

	if (r == 0)
		r = nfa_follow_range(l->nfa, node, c, d, &node);
	return r < 0 ? r : add_accept(l, node, l->rights);
}

/*
 * Accepts a 16-bit number in [low, high]: the first high byte, the last one, and the high bytes
 * between them.
 */
static int accept_range(struct lowering *l, uint32_t node, struct number_range range)
{
	uint8_t low = (uint8_t)(range.low >> 8), high = (uint8_t)(range.high >> 8);
	uint8_t first = (uint8_t)range.low, last = (uint8_t)range.high;
	int r;

	if (low == high)
		return accept_pair(l, node, low, low, first, last);
	if (first != 0) {
		r = accept_pair(l, node, low, low, first, 0xff);
		if (r < 0)
			return r;
		low++;
	}
	if (last != 0xff) {
		r = accept_pair(l, node, high, high, 0x00, last);
		if (r < 0)
			return r;
		high--;
	}
	return low <= high ? accept_pair(l, node, low, high, 0x00, 0xff) : 0;
}

static int accept_ports(struct lowering *l, uint32_t node)
{
	static const struct number_range every = {0, UINT16_MAX};
	int r = 0;

	if (l->rule->port_count == 0)
		return accept_range(l, node, every);
	for (size_t i = 0; i < l->rule->port_count && r == 0; i++)
		r = accept_range(l, node, l->rule->ports[i]);
	return r;
}

/* ---- internet ---- */

static int accept_ports_of(void *context, uint32_t node)
{
	return accept_ports(context, node);
}

/* Connecting to a sheltered address needs a rule that names the address, see sheltered.h. */
static int accept_block(struct lowering *l, uint32_t node, const struct net_block *b)
{
	uint32_t connect = l->rule->rights & CORDON_RIGHT(CORDON_NET_CONNECT), end;
	int r = 0;

	if (connect && (l->rule->deny || sheltered_named(b)))
		connect |= CORDON_RIGHT(CORDON_NET_HOST);
	l->rights = l->rule->rights | connect;
	if (!l->rule->deny && connect && sheltered_within(b)) {
		l->rights = connect;
		r = sheltered_follow(l->nfa, node, b, accept_ports_of, l);
		l->rights = l->rule->rights & ~connect;
	}
	if (r < 0 || !l->rights)
		return r;
	r = follow_block(l, node, b, &end);
	return r < 0 ? r : accept_ports(l, end);
}

static int lower_block(struct lowering *l, uint8_t protocol, const struct net_block *b)
{
	uint32_t node;
	int r = nfa_start(l->nfa, CORDON_START_NET, &node);

	if (protocol == IPPROTO_ICMP && b->family == 6)
		protocol = IPPROTO_ICMPV6;
	if (r == 0)
		r = nfa_follow_range(l->nfa, node, b->family, b->family, &node);
	if (r == 0)
		r = nfa_follow_range(l->nfa, node, protocol, protocol, &node);
	return r < 0 ? r : accept_block(l, node, b);
}

static int lower_socket_kind(struct lowering *l, uint8_t family, struct number_range types,
			     struct number_range protocols);

/*
 * A rule that allows an address also allows making a socket for it. Dual-stack programs use sockets
 * of either family.
 */
static int lower_socket_for(struct lowering *l, uint8_t protocol)
{
	uint8_t type = protocol == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM;
	uint8_t protocol6 = protocol == IPPROTO_ICMP ? IPPROTO_ICMPV6 : protocol;
	int r = lower_socket_kind(l, AF_INET, (struct number_range){type, type},
				  (struct number_range){protocol, protocol});

	return r < 0 ? r
		     : lower_socket_kind(l, AF_INET6, (struct number_range){type, type},
					 (struct number_range){protocol6, protocol6});
}

/*
 * Follows the bytes of a label. A star alone needs an extra element so that it matches at least one
 * byte.
 */
static int follow_label(struct lowering *l, uint32_t node, const char *label, size_t size,
			uint32_t *ret_node)
{
	static const struct element star = {.kind = ELEMENT_STAR};
	static const struct element letter = {
		.kind = ELEMENT_SET,
		/* - 0-9 _ a-z */
		.ascii = {0, 0x03ff2000, 0x80000000, 0x07fffffe},
	};
	int r = 0;

	if (size == 1 && *label == '*')
		r = nfa_follow(l->nfa, node, &letter, &node);
	for (size_t i = 0; i < size && r == 0; i++)
		r = label[i] == '*' ? nfa_follow(l->nfa, node, &star, &node)
				    : nfa_follow_range(l->nfa, node, (uint8_t)label[i],
						       (uint8_t)label[i], &node);
	if (r == 0)
		*ret_node = node;
	return r;
}

/* "**": at least one label. */
static int follow_labels(struct lowering *l, uint32_t node, uint32_t *ret_node)
{
	static const struct element any = {.kind = ELEMENT_GLOBSTAR};
	int r = follow_label(l, node, "*", 1, &node);

	return r < 0 ? r : nfa_follow(l->nfa, node, &any, ret_node);
}

static int lower_host(struct lowering *l, uint8_t protocol, const char *host)
{
	char reversed[HOST_NAME_SIZE];
	const char *label = reversed;
	uint32_t node;
	int r = nfa_start(l->nfa, CORDON_START_NET, &node);

	host_name_reverse(host, reversed);
	if (r == 0)
		r = nfa_follow_range(l->nfa, node, CORDON_NET_NAME, CORDON_NET_NAME, &node);
	if (r == 0)
		r = nfa_follow_range(l->nfa, node, protocol, protocol, &node);
	while (r == 0) {
		size_t size = strcspn(label, "/");

		r = size == 2 && memcmp(label, "**", 2) == 0
			    ? follow_labels(l, node, &node)
			    : follow_label(l, node, label, size, &node);
		label += size;
		if (r < 0 || !*label)
			break;
		label++;
		r = nfa_follow_range(l->nfa, node, '/', '/', &node);
	}
	if (r == 0)
		r = nfa_follow_range(l->nfa, node, 0, 0, &node);
	l->rights = l->rule->rights;
	return r < 0 ? r : accept_ports(l, node);
}

static void note_sheltered(struct lowering *l, const struct net_block *blocks, size_t count)
{
	bool reaches = false;

	if (l->rule->deny || !(l->rule->rights & CORDON_RIGHT(CORDON_NET_CONNECT)))
		return;
	for (size_t i = 0; i < count; i++)
		reaches |= sheltered_within(&blocks[i]);
	if (reaches)
		report_note(
			l->diagnostics, &l->rule->place,
			"name the addresses: to: [127.0.0.1, \"::1\"]",
			"this rule does not lead to the host itself, nor to link-local, multicast "
			"and cloud metadata addresses, wide as it is");
}

/*
 * Resolvers of musl and of static programs bind their UDP socket to the wildcard address and port 0
 * before the first query. This grants no more than a query without bind, after which the socket has
 * the same address and a port that the kernel chose.
 */
static int lower_resolver_bind(struct lowering *l)
{
	static const struct net_block any[] = {{.family = 4, .prefix = 32},
					       {.family = 6, .prefix = 128}};
	int r = 0;

	l->rights = CORDON_RIGHT(CORDON_NET_BIND);
	for (size_t i = 0; i < ARRAY_SIZE(any) && r == 0; i++) {
		uint32_t node;

		r = nfa_start(l->nfa, CORDON_START_NET, &node);
		if (r == 0)
			r = nfa_follow_range(l->nfa, node, any[i].family, any[i].family, &node);
		if (r == 0)
			r = nfa_follow_range(l->nfa, node, IPPROTO_UDP, IPPROTO_UDP, &node);
		if (r == 0)
			r = follow_block(l, node, &any[i], &node);
		if (r == 0)
			r = accept_range(l, node, (struct number_range){0, 0});
	}
	return r;
}

static int lower_network(struct lowering *l)
{
	static const struct net_block every[] = {{.family = 4}, {.family = 6}};
	bool listed = l->rule->block_count || l->rule->host_count;
	const struct net_block *blocks = listed ? l->rule->blocks : every;
	size_t count = listed ? l->rule->block_count : ARRAY_SIZE(every);
	int r = 0;

	note_sheltered(l, blocks, count);
	for (size_t i = 0; i < l->rule->protocol_count && r == 0; i++) {
		uint8_t protocol = (uint8_t)l->rule->protocols[i];

		for (size_t j = 0; j < count && r == 0; j++)
			r = lower_block(l, protocol, &blocks[j]);
		for (size_t j = 0; j < l->rule->host_count && r == 0; j++)
			r = lower_host(l, protocol, l->rule->hosts[j]);
		if (r == 0 && !l->rule->deny)
			r = lower_socket_for(l, protocol);
	}
	/* Resolvers send queries over UDP, and repeat them over TCP if a reply was truncated. */
	if (r == 0 && l->rule->host_count && !l->rule->deny)
		r = lower_socket_for(l, IPPROTO_UDP);
	if (r == 0 && l->rule->host_count && !l->rule->deny)
		r = lower_socket_for(l, IPPROTO_TCP);
	if (r == 0 && l->rule->host_count && !l->rule->deny)
		r = lower_resolver_bind(l);
	return r;
}

/* ---- sockets ---- */

static int lower_socket_kind(struct lowering *l, uint8_t family, struct number_range types,
			     struct number_range protocols)
{
	uint32_t node;
	int r = nfa_start(l->nfa, CORDON_START_SOCKET, &node);

	if (r == 0)
		r = nfa_follow_range(l->nfa, node, family, family, &node);
	if (r == 0)
		r = nfa_follow_range(l->nfa, node, (uint8_t)types.low, (uint8_t)types.high, &node);
	l->rights = CORDON_RIGHT(CORDON_SOCKET);
	return r < 0 ? r : accept_range(l, node, protocols);
}

static int lower_sockets(struct lowering *l)
{
	const struct rule *rule = l->rule;
	size_t types = rule->type_count ? rule->type_count : 1;
	size_t protocols = rule->protocol_count ? rule->protocol_count : 1;
	int r = 0;

	for (size_t i = 0; i < rule->family_count * types * protocols && r == 0; i++) {
		size_t t = i / protocols % types, p = i % protocols;
		struct number_range type = {0, UINT8_MAX}, protocol = {0, UINT16_MAX};

		if (rule->type_count)
			type.low = type.high = rule->types[t];
		if (rule->protocol_count)
			protocol.low = protocol.high = rule->protocols[p];
		r = lower_socket_kind(l, (uint8_t)rule->families[i / protocols / types], type,
				      protocol);
	}
	return r;
}

/*
 * Unix sockets may always be made, because each connect, bind and addressed send is checked
 * separately.
 */
static int lower_built_in(struct lowering *l)
{
	static const uint8_t types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	static const struct rule allow = {.kind = RULE_SOCKET};
	int r = 0;

	l->rule = &allow;
	l->number = CORDON_NO_RULE;
	l->nfa->owner = CORDON_NO_RULE;
	for (size_t i = 0; i < ARRAY_SIZE(types) && r == 0; i++)
		r = lower_socket_kind(l, AF_UNIX, (struct number_range){types[i], types[i]},
				      (struct number_range){0, 0});
	return r;
}

static int lower_rule(struct lowering *l)
{
	switch (l->rule->kind) {
	case RULE_FILES:
	case RULE_EXEC:
	case RULE_UNIX:
		return lower_names(l);
	case RULE_NETWORK:
		return lower_network(l);
	case RULE_SOCKET:
		return lower_sockets(l);
	}
	return -EINVAL;
}

int lower_rules(struct arena *a, const struct model *m, struct diagnostics *d, struct nfa **ret_nfa,
		uint32_t *ret_anchors)
{
	_cleanup_(nfa_freep) struct nfa *nfa = nfa_new();
	struct lowering l = {
		.nfa = nfa,
		.model = m,
		.diagnostics = d,
		.patterns = {a, d, m->anchors},
	};
	size_t errors = diagnostics_errors(d);
	int r;

	if (!nfa)
		return -ENOMEM;
	nfa->exceptions = m->except;
	r = lower_built_in(&l);

	for (uint32_t i = 0; r == 0 && i < m->rule_count; i++) {
		l.rule = m->rules[i];
		l.number = nfa->owner = i;
		r = lower_rule(&l);
	}
	if (r < 0)
		return r;
	if (errors != diagnostics_errors(d))
		return -EINVAL;
	*ret_nfa = TAKE_PTR(nfa);
	*ret_anchors = l.anchors_used;
	return 0;
}
