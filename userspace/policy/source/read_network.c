/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the section network: internet destinations and other sockets. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "policy/source/host_name.h"
#include "policy/source/read_rules.h"
#include "policy/source/units.h"

static bool looks_like_name(const char *text)
{
	return strspn(text, "0123456789.:/") != strlen(text) && !strchr(text, ':') &&
	       !strchr(text, '/');
}

/* "example.org:443", "192.0.2.1:443", "[2001:db8::1]:443" */
static bool ends_in_port(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
	       (strchr(text, ':') == colon || (colon > text && colon[-1] == ']'));
}

/*
 * Recognises numeric hosts: "10.0.0.1-10.0.0.9", "192.168.*.*". Resolvers treat names that end in a
 * number as an address ("0x7f.1"), and no domain has such a name.
 */
static bool is_numeric(const char *text)
{
	const char *dot = strrchr(text, '.'), *last = dot ? dot + 1 : text;
	bool hex = strncasecmp(last, "0x", 2) == 0;

	if (strspn(text, "0123456789.*-") == strlen(text) && strpbrk(text, "0123456789"))
		return true;
	return *last && (hex ? strspn(last + 2, "0123456789abcdefABCDEF") == strlen(last + 2)
			     : strspn(last, "0123456789") == strlen(last));
}

/* A hint for a range of IPv4 addresses: its blocks, or the correct form. */
static const char *hint_of_range(struct reader *r, const char *text)
{
	const char *dash = strchr(text, '-'), *list = NULL;
	struct in_addr first, last;
	uint64_t low, high;
	char head[16];

	if (!dash || (size_t)(dash - text) >= sizeof(head))
		return "write addresses, or blocks like 192.0.2.0/24";
	memcpy(head, text, (size_t)(dash - text));
	head[dash - text] = '\0';
	if (inet_pton(AF_INET, head, &first) != 1 || inet_pton(AF_INET, dash + 1, &last) != 1)
		return "write addresses, or blocks like 192.0.2.0/24";
	low = ntohl(first.s_addr);
	high = ntohl(last.s_addr);
	while (low <= high) {
		unsigned int prefix = 32;

		while (prefix > 0 && !(low & (1ull << (32 - prefix))) &&
		       low + (2ull << (32 - prefix)) - 1 <= high)
			prefix--;
		list = arena_printf(r->arena, "%s%s%u.%u.%u.%u/%u", list ? list : "write to: [",
				    list ? ", " : "", (unsigned int)(low >> 24),
				    (unsigned int)(low >> 16 & 255), (unsigned int)(low >> 8 & 255),
				    (unsigned int)(low & 255), prefix);
		if (!list)
			return NULL;
		low += 1ull << (32 - prefix);
	}
	return list ? arena_printf(r->arena, "%s]", list) : "write the lower address first";
}

/* True if a value that looks like a host name has another meaning, which is reported. */
static bool is_mistaken(struct reader *r, const struct node *n)
{
	if (host_name_is_every(n->text))
		report_error(r->diagnostics, &n->place, "write to: any, without brackets",
			     "in a list, \"%s\" would be a host of that name", n->text);
	else if (strcmp(n->text, "*") == 0)
		report_error(r->diagnostics, &n->place,
			     "write to: any, without brackets; or \"**\" for every host that is "
			     "reached by its name",
			     "in a list, \"*\" would match the hosts without a dot in their names");
	else if (host_name_is_loopback(n->text))
		report_error(r->diagnostics, &n->place, "write to: [127.0.0.1, \"::1\"]",
			     "names do not lead to the host itself, as \"%s\" would", n->text);
	else if (is_numeric(n->text))
		report_error(r->diagnostics, &n->place, hint_of_range(r, n->text),
			     "\"%s\" is neither an address nor a host name", n->text);
	else
		return false;
	return true;
}

static int add_host(struct reader *r, struct rule *rule, const struct node *n)
{
	char name[HOST_NAME_SIZE];
	const char **hosts, *copy;

	if (is_mistaken(r, n))
		return 0;
	if (host_name_read(n->text, true, name) < 0) {
		report_error(
			r->diagnostics, &n->place,
			"write labels of letters, digits and '-', with * for a part of a label "
			"and ** for any number of labels; other letters as xn--...",
			"\"%s\" is neither an address nor a host name", n->text);
		return 0;
	}
	copy = arena_printf(r->arena, "%s", name);
	hosts = arena_grow(r->arena, rule->hosts, rule->host_count, sizeof(*hosts));
	if (!copy || !hosts)
		return -ENOMEM;
	hosts[rule->host_count++] = copy;
	rule->hosts = hosts;
	return 0;
}

static int add_block(struct reader *r, struct rule *rule, const struct node *n)
{
	char text[UNITS_BLOCK_TEXT];
	struct net_block block, *blocks;
	const char *hint;
	int e;

	if (n->type != NODE_SCALAR || node_is_null(n)) {
		report_error(r->diagnostics, &n->place, "write addresses: to: [203.0.113.0/24]",
			     "an address must be a string, not %s", node_describe(n));
		return 0;
	}
	e = units_block(n->text, &block);
	if (e == -EDOM) {
		units_block_format(&block, text);
		hint = arena_printf(r->arena, "write \"%s\", or the address alone", text);
		if (!hint)
			return -ENOMEM;
		report_error(r->diagnostics, &n->place, hint,
			     "\"%s\" has bits set behind its prefix", n->text);
		return 0;
	}
	if (e == -ERANGE) {
		report_error(r->diagnostics, &n->place, "IPv4 has 32 bits, IPv6 128",
			     "the prefix of \"%s\" is too long", n->text);
		return 0;
	}
	if (e < 0 && looks_like_name(n->text))
		return add_host(r, rule, n);
	if (e < 0 && is_numeric(n->text)) {
		is_mistaken(r, n);
		return 0;
	}
	if (e < 0 && ends_in_port(n->text)) {
		report_error(r->diagnostics, &n->place,
			     "ports need a separate key: {..., to: [NAME], ports: [443]}",
			     "\"%s\" has a port behind it", n->text);
		return 0;
	}
	if (e < 0 && strstr(n->text, "://")) {
		report_error(r->diagnostics, &n->place,
			     "write the host's name alone: {..., to: [example.org], ports: [443]}",
			     "\"%s\" is an URL", n->text);
		return 0;
	}
	if (e < 0) {
		report_error(r->diagnostics, &n->place,
			     "write a host's name (example.org), an address (192.0.2.1, "
			     "\"2001:db8::1\") or a block (192.0.2.0/24)",
			     "\"%s\" is no IP address", n->text);
		return 0;
	}
	blocks = arena_grow(r->arena, rule->blocks, rule->block_count, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	blocks[rule->block_count++] = block;
	rule->blocks = blocks;
	return 0;
}

static int read_to(struct reader *r, const struct node *n, void *target)
{
	const char *hint = "write to: [203.0.113.0/24] or to: any";
	struct rule *rule = target;

	rule->has_to = true;
	if (n->type == NODE_SCALAR && strcmp(n->text, "any") == 0)
		return 0;
	if (n->type == NODE_SCALAR && (host_name_is_every(n->text) || strcmp(n->text, "*") == 0)) {
		report_error(r->diagnostics, &n->place, "write to: any", "\"%s\" is no address",
			     n->text);
		return 0;
	}
	if (n->type == NODE_SCALAR && n->text[0] && !node_is_null(n)) {
		hint = host_name_is_loopback(n->text)
			       ? "write to: [127.0.0.1, \"::1\"]"
			       : arena_printf(r->arena, "write to: [\"%s\"], or to: any", n->text);
		if (!hint)
			return -ENOMEM;
	}
	if (!reader_expect(r, n, NODE_SEQUENCE, "a list of addresses or \"any\"", hint))
		return 0;
	if (n->count == 0)
		report_error(r->diagnostics, &n->place, "write to: any for every address",
			     "the list is empty");
	for (size_t i = 0; i < n->count; i++) {
		int e = add_block(r, rule, n->items[i]);

		if (e < 0)
			return e;
	}
	return 0;
}

static int add_ports(struct reader *r, struct rule *rule, const struct node *n)
{
	struct number_range range, *ports;
	int e = n->type == NODE_SCALAR ? units_ports(n->text, &range) : -EINVAL;

	if (e == -ERANGE) {
		report_error(r->diagnostics, &n->place, "write ports from 0 to 65535",
			     "ports end at 65535");
		return 0;
	}
	if (e == -EDOM) {
		report_error(r->diagnostics, &n->place, "write the lower port first",
			     "the port range \"%s\" is empty", n->text);
		return 0;
	}
	if (e < 0) {
		report_error(r->diagnostics, &n->place, "write ports: [443, 8000-8100]",
			     "a port must be a number or a range, not %s",
			     n->type == NODE_SCALAR && n->size ? n->text : node_describe(n));
		return 0;
	}
	ports = arena_grow(r->arena, rule->ports, rule->port_count, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	ports[rule->port_count++] = range;
	rule->ports = ports;
	return 0;
}

static int read_ports(struct reader *r, const struct node *n, void *target)
{
	struct rule *rule = target;

	if (!reader_expect(r, n, NODE_SEQUENCE, "a list of ports", "write ports: [443]"))
		return 0;
	if (n->count == 0)
		report_error(r->diagnostics, &n->place, "leave ports out for every port",
			     "the list is empty");
	for (size_t i = 0; i < n->count; i++) {
		int e = add_ports(r, rule, n->items[i]);

		if (e < 0)
			return e;
	}
	return 0;
}

/* Reads words of a table, or numbers up to `maximum`. */
static int read_kinds(struct reader *r, const struct node *n, const char *what,
		      const struct word *table, uint32_t maximum, uint16_t **values, size_t *count)
{
	if (!reader_expect(r, n, NODE_SEQUENCE, "a list", reader_word_hint(r, table, "")))
		return 0;
	if (n->count == 0)
		report_error(r->diagnostics, &n->place, "remove the key, or list something",
			     "the list is empty");
	for (size_t i = 0; i < n->count; i++) {
		const struct node *item = n->items[i];
		uint16_t *larger;
		uint64_t number;
		uint32_t value;

		if (maximum && item->type == NODE_SCALAR &&
		    units_number(item->text, &number) == 0 && number <= maximum)
			value = (uint32_t)number;
		else if (!reader_word(r, item, what, table, &value))
			continue;
		larger = arena_grow(r->arena, *values, *count, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		larger[(*count)++] = (uint16_t)value;
		*values = larger;
	}
	return 0;
}

/* The applicable table depends on the rights, which may come later: see finish(). */
static int read_protocols(struct reader *r, const struct node *n, void *target)
{
	struct rule *rule = target;

	return read_kinds(r, n, "protocol", words_socket_protocols, UINT16_MAX, &rule->protocols,
			  &rule->protocol_count);
}

static int read_families(struct reader *r, const struct node *n, void *target)
{
	struct rule *rule = target;

	return read_kinds(r, n, "socket family", words_socket_families, UINT8_MAX, &rule->families,
			  &rule->family_count);
}

static int read_types(struct reader *r, const struct node *n, void *target)
{
	struct rule *rule = target;

	return read_kinds(r, n, "socket type", words_socket_types, UINT8_MAX, &rule->types,
			  &rule->type_count);
}

static int finish_socket(struct reader *r, struct rule *rule)
{
	rule->kind = RULE_SOCKET;
	if (rule->rights != CORDON_RIGHT(CORDON_SOCKET))
		report_error(r->diagnostics, &rule->place, "write two rules",
			     "\"socket\" cannot be combined with other rights");
	if (rule->has_to || rule->port_count)
		report_error(r->diagnostics, &rule->place,
			     "socket rules take families, types and protocols",
			     "a socket rule has no addresses or ports");
	if (rule->family_count == 0)
		report_error(r->diagnostics, &rule->place, "add families: [netlink]",
			     "the rule names no socket family");
	return 0;
}

static int finish(struct reader *r, struct rule *rule)
{
	if (!check_rights_given(r, rule, "write {allow: [connect], to: [...]}"))
		return 0;
	if (rule->rights & CORDON_RIGHT(CORDON_SOCKET))
		return finish_socket(r, rule);
	if (rule->family_count || rule->type_count)
		report_error(r->diagnostics, &rule->place,
			     "write {allow: [socket], families: [...]}",
			     "families and types belong to socket rules");
	if (rule->host_count && rule->rights != CORDON_RIGHT(CORDON_NET_CONNECT))
		report_error(r->diagnostics, &rule->place,
			     "write {allow: [connect], to: [NAME]}; bind and listen take local "
			     "addresses",
			     "host names can only be connected to");
	if (!rule->has_to)
		report_error(r->diagnostics, &rule->place, "add to: [...] or to: any",
			     "the rule names no address");
	if (rule->protocol_count == 0) {
		rule->protocols = arena_alloc(r->arena, sizeof(*rule->protocols));
		if (!rule->protocols)
			return -ENOMEM;
		rule->protocols[rule->protocol_count++] = IPPROTO_TCP;
	}
	for (size_t i = 0; i < rule->protocol_count; i++) {
		if (!words_name(words_net_protocols, rule->protocols[i])) {
			report_error(r->diagnostics, &rule->place, "one of: tcp, udp, icmp",
				     "protocol %u has no addresses and ports here",
				     rule->protocols[i]);
		} else if (rule->protocols[i] == IPPROTO_ICMP && rule->port_count) {
			report_error(r->diagnostics, &rule->place, "write a rule for icmp alone",
				     "icmp has no ports");
		}
	}
	return 0;
}

/*
 * Adds sockets for destinations that no rule allows: a program names its destination only after it
 * has made a socket, and the access is denied then.
 */
static int add_recording(struct reader *r, const struct node *n)
{
	static const uint16_t families[] = {AF_INET, AF_INET6}, types[] = {SOCK_STREAM, SOCK_DGRAM};
	static const uint16_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct rule *rule = arena_alloc(r->arena, sizeof(*rule));
		uint16_t *words = arena_alloc(r->arena, sizeof(families) + 2 * sizeof(*words));
		int e;

		if (!rule || !words)
			return -ENOMEM;
		memcpy(words, families, sizeof(families));
		words[ARRAY_SIZE(families)] = types[i];
		words[ARRAY_SIZE(families) + 1] = protocols[i];
		*rule = (struct rule){
			.kind = RULE_SOCKET,
			.rights = CORDON_RIGHT(CORDON_SOCKET),
			.has_rights = true,
			.place = n->place,
			.families = words,
			.family_count = ARRAY_SIZE(families),
			.types = words + ARRAY_SIZE(families),
			.type_count = 1,
			.protocols = words + ARRAY_SIZE(families) + 1,
			.protocol_count = 1,
		};
		e = add_rule(r, rule);
		if (e < 0)
			return e;
	}
	return 0;
}

int read_network_rules(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"allow", read_allow},
		{"deny", read_deny},
		{"to", read_to},
		{"ports", read_ports},
		{"protocols", read_protocols},
		{"families", read_families},
		{"types", read_types},
		{"severity", read_severity},
		{"message", read_message},
		{"tags", read_tags},
		{NULL, NULL},
	};

	(void)target;
	if (n->type == NODE_SCALAR && strcmp(n->text, "record") == 0)
		return add_recording(r, n);
	return read_rules(r, n, "a network rule", RULE_NETWORK, keys, finish);
}
