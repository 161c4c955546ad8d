/* SPDX-License-Identifier: Apache-2.0 */
/* Converts accesses back to their text form. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "policy/source/host_name.h"
#include "policy/ask/question.h"
#include "policy/source/units.h"
#include "policy/core/utf8.h"
#include "policy/source/words.h"

static void put_name(FILE *out, const char *bytes, size_t size)
{
	size_t n;

	for (size_t i = 0; i < size; i += n) {
		unsigned char c = (unsigned char)bytes[i];

		n = c ? utf8_length(bytes + i, size - i) : 0;
		if (n == 0 || c < 0x20 || c == 0x7f) {
			fprintf(out, "\\x%02x", c);
			n = 1;
		} else {
			fwrite(bytes + i, 1, n, out);
		}
	}
}

static void put_number(FILE *out, const struct word *table, unsigned int number)
{
	const char *name = words_name(table, number);

	if (name)
		fputs(name, out);
	else
		fprintf(out, "%u", number);
}

static bool is_host(const unsigned char *bytes, size_t size)
{
	return size > 5 && size <= 2 + HOST_NAME_SIZE + 2 && bytes[0] == CORDON_NET_NAME &&
	       !bytes[size - 3];
}

static void put_host_name(FILE *out, const unsigned char *bytes, size_t size)
{
	char name[HOST_NAME_SIZE];

	host_name_restore((const char *)bytes + 2, size - 5, name);
	put_name(out, name, strlen(name));
}

static void put_host(FILE *out, const unsigned char *bytes, size_t size)
{
	put_number(out, words_net_protocols, bytes[1]);
	putc(':', out);
	put_host_name(out, bytes, size);
	if (bytes[1] != IPPROTO_ICMP)
		fprintf(out, ":%u", (unsigned int)(bytes[size - 2] << 8 | bytes[size - 1]));
}

static void put_address(FILE *out, const unsigned char *bytes, size_t size)
{
	bool old = size == 8 && bytes[0] == 4;
	char address[INET6_ADDRSTRLEN];
	unsigned int protocol;

	if (is_host(bytes, size)) {
		put_host(out, bytes, size);
		return;
	}
	if (!old && (size != 20 || bytes[0] != 6)) {
		fputs("(no address)", out);
		return;
	}
	protocol = bytes[1] == IPPROTO_ICMPV6 ? IPPROTO_ICMP : bytes[1];
	inet_ntop(old ? AF_INET : AF_INET6, bytes + 2, address, sizeof(address));
	put_number(out, words_net_protocols, protocol);
	fprintf(out, old || protocol == IPPROTO_ICMP ? ":%s" : ":[%s]", address);
	if (protocol != IPPROTO_ICMP)
		fprintf(out, ":%u", (unsigned int)(bytes[size - 2] << 8 | bytes[size - 1]));
}

static void put_socket(FILE *out, const unsigned char *bytes, size_t size)
{
	if (size != 4) {
		fputs("(no socket)", out);
		return;
	}
	put_number(out, words_socket_families, bytes[0]);
	putc('/', out);
	put_number(out, words_socket_types, bytes[1]);
	fprintf(out, "/%u", (unsigned int)(bytes[2] << 8 | bytes[3]));
}

char *question_format(unsigned int start, const char *bytes, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	size_t text_size;
	FILE *out = open_memstream(&text, &text_size);

	if (!out)
		return NULL;
	if (start == CORDON_START_NET) {
		put_address(out, (const unsigned char *)bytes, size);
	} else if (start == CORDON_START_SOCKET) {
		put_socket(out, (const unsigned char *)bytes, size);
	} else {
		fputs(start == CORDON_START_ABSTRACT ? "abstract:" : "", out);
		put_name(out, bytes, size);
	}
	return fclose(out) == 0 ? TAKE_PTR(text) : NULL;
}

/* A pattern that matches this text alone, inside double quotes. */
static void put_pattern(FILE *out, const char *bytes, size_t size)
{
	size_t left = 0; /* bytes left of a multi-byte character */

	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (left == 0)
			left = utf8_length(bytes + i, size - i);
		if (left == 0)
			fprintf(out, "\\\\x%02x", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else if (c == '(' && i > 0 && strchr("!@+", bytes[i - 1]))
			fputs("\\\\(", out);
		else if (strchr("*?[]{}\\$", c))
			fprintf(out, "\\\\%s%c", c == '\\' ? "\\" : "", c);
		else if (c == '"')
			fputs("\\\"", out);
		else
			putc(c, out);
		left -= left > 0;
	}
}

/*
 * The path starts with the innermost variable above it, because the variable may be bound to
 * another directory next time.
 */
static void put_path(FILE *out, const struct compiled_policy *policy,
		     const struct policy_question *q)
{
	size_t begin = 0;
	const char *name = NULL;

	for (unsigned int i = 0; i < CORDON_MAX_ANCHORS; i++) {
		if (q->path.anchors[i] == POLICY_NO_ANCHOR || !policy->anchor_names[i] ||
		    (name && q->path.anchors[i] < begin))
			continue;
		begin = q->path.anchors[i];
		name = policy->anchor_names[i];
	}
	fputs("paths: [\"", out);
	if (name)
		fprintf(out, "${%s}", name);
	put_pattern(out, q->bytes + begin, q->size - begin);
	fputs(q->path.listing ? "/\"]" : "\"]", out);
}

static void put_destination(FILE *out, const unsigned char *bytes, size_t size)
{
	bool old = bytes[0] == 4, icmp = bytes[1] == IPPROTO_ICMP || bytes[1] == IPPROTO_ICMPV6;
	char address[INET6_ADDRSTRLEN];

	fputs("to: [\"", out);
	if (is_host(bytes, size)) {
		put_host_name(out, bytes, size);
	} else {
		inet_ntop(old ? AF_INET : AF_INET6, bytes + 2, address, sizeof(address));
		fputs(address, out);
	}
	fputs("\"], ", out);
	if (!icmp)
		fprintf(out, "ports: [%u], ",
			(unsigned int)(bytes[size - 2] << 8 | bytes[size - 1]));
	fputs("protocols: [", out);
	put_number(out, words_net_protocols, icmp ? IPPROTO_ICMP : bytes[1]);
	putc(']', out);
}

char *question_smallest_rule(const struct compiled_policy *policy, const struct policy_question *q)
{
	const unsigned char *bytes = (const unsigned char *)q->bytes;
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	/* A rule that contains the address allows it even if it is an address of the host. */
	fprintf(out, "- {allow: [%s], ",
		question_right_name(q->right == CORDON_NET_HOST ? CORDON_NET_CONNECT
				    : q->right == CORDON_LINKS	? CORDON_WRITE
								: q->right));
	switch (q->start) {
	case CORDON_START_NET:
		put_destination(out, bytes, q->size);
		break;
	case CORDON_START_SOCKET:
		fputs("families: [", out);
		put_number(out, words_socket_families, bytes[0]);
		fputs("], types: [", out);
		put_number(out, words_socket_types, bytes[1]);
		fprintf(out, "], protocols: [%u]", (unsigned int)(bytes[2] << 8 | bytes[3]));
		break;
	case CORDON_START_ABSTRACT:
		fputs("abstract: [\"", out);
		put_pattern(out, q->bytes, q->size);
		fputs("\"]", out);
		break;
	default:
		put_path(out, policy, q);
	}
	if (q->right == CORDON_LINKS)
		fputs(", links: shared", out);
	fputs("}", out);
	return fclose(out) == 0 ? TAKE_PTR(text) : NULL;
}
