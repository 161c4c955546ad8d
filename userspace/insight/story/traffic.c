/* SPDX-License-Identifier: Apache-2.0 */
/* Formats the records about an execution's traffic by remote end. */
#include "insight/story/traffic.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "insight/text/style.h"
#include "insight/text/view.h"

static bool is_direction(const json_t *record, const char *direction)
{
	const char *is = view_text(record, "cordon.traffic.direction");

	return is && strcmp(is, direction) == 0;
}

struct place {
	const json_t *record;
	uint64_t bytes;
	bool other;
	size_t at;
};

static int compare(const void *a, const void *b)
{
	const struct place *one = a, *two = b;

	if (one->other != two->other)
		return one->other ? 1 : -1;
	if (one->bytes != two->bytes)
		return one->bytes > two->bytes ? -1 : 1;
	return one->at < two->at ? -1 : one->at > two->at;
}

int traffic_of(json_t *const *records, size_t count, const json_t ***ret_traffic, size_t *ret_count)
{
	_cleanup_(freep) struct place *places = NULL;
	const json_t **traffic;
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += view_is(records[i], "traffic");
	*ret_traffic = NULL;
	*ret_count = found;
	if (found == 0)
		return 0;
	places = calloc(found, sizeof(*places));
	traffic = calloc(found, sizeof(*traffic));
	if (!places || !traffic) {
		free(traffic);
		return -ENOMEM;
	}
	found = 0;
	for (size_t i = 0; i < count; i++)
		if (view_is(records[i], "traffic"))
			places[found++] = (struct place){
				.record = records[i],
				.bytes = view_number(records[i], "cordon.traffic.bytes_sent") +
					 view_number(records[i], "cordon.traffic.bytes_received"),
				.other = is_direction(records[i], "other"),
				.at = i,
			};
	qsort(places, found, sizeof(*places), compare);
	for (size_t i = 0; i < found; i++)
		traffic[i] = places[i].record;
	*ret_traffic = traffic;
	return 0;
}

char *traffic_end(const json_t *record)
{
	bool inbound = is_direction(record, "inbound");
	const char *ip = view_text(record, inbound ? "source.ip" : "destination.ip");
	const char *domain = view_text(record, "destination.domain");
	const char *transport = view_text(record, "network.transport");
	unsigned long long port = view_number(record, "destination.port");
	bool v6 = ip && strchr(ip, ':');
	char *text;
	int n;

	if (is_direction(record, "other"))
		return strdup("others");
	if (inbound)
		n = asprintf(&text, "from %s to port %llu, %s", ip ? ip : "?", port,
			     transport ? transport : "?");
	else
		n = asprintf(&text, v6 ? "[%s]:%llu, %s%s%s%s" : "%s:%llu, %s%s%s%s", ip ? ip : "?",
			     port, transport ? transport : "?", domain ? " (" : "",
			     domain ? domain : "", domain ? ")" : "");
	return n < 0 ? NULL : text;
}

char *traffic_amount(const json_t *record)
{
	unsigned long long connections = view_number(record, "cordon.traffic.connections");
	char sent[STYLE_QUANTITY_SIZE], received[STYLE_QUANTITY_SIZE], count[48] = "";
	char *text;

	style_bytes(view_number(record, "cordon.traffic.bytes_sent"), sent);
	style_bytes(view_number(record, "cordon.traffic.bytes_received"), received);
	if (connections > 0)
		snprintf(count, sizeof(count), ", %llu connection%s", connections,
			 connections == 1 ? "" : "s");
	return asprintf(&text, "%s sent, %s received%s", sent, received, count) < 0 ? NULL : text;
}
