/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS messages, whatever they are, are queries, answers or errors; what is made of them reads back
 * the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pure/dns_message.h"

static void check_answer(const uint8_t *data, size_t size, const struct dns_query *query)
{
	uint8_t buffer[DNS_PLAIN_MAX];
	struct dns_answer answer, again;
	size_t written;

	if (dns_answer_read(data, size, query, &answer) < 0)
		return;
	if (!dns_answer_is_possible(&answer, query))
		abort();
	written = dns_answer_write(query, &answer, buffer, sizeof(buffer));
	if (written == 0 || written > sizeof(buffer) ||
	    dns_answer_read(buffer, written, query, &again) < 0 ||
	    again.address_count > answer.address_count || again.alias_count > 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dns_query query = {.id = 0x1234, .type = DNS_TYPE_A, .name = "www.a.org"}, again;
	uint8_t buffer[DNS_QUERY_MAX];

	check_answer(data, size, &query);
	query.type = DNS_TYPE_AAAA;
	check_answer(data, size, &query);
	if (dns_query_read(data, size, &query) < 0)
		return 0;
	if (!dns_query_is_possible(&query) ||
	    dns_query_read(buffer, dns_query_write(&query, buffer), &again) < 0 ||
	    again.type != query.type || strcmp(again.name, query.name) != 0)
		abort();
	return 0;
}
