/* SPDX-License-Identifier: Apache-2.0 */
/* What went to and came from one other end, over an execution's whole life. */
#include "audit/record/traffic.h"

#include "audit/record/decode.h"
#include "audit/record/fields.h"
#include "audit/record/names.h"
#include "audit/record/object.h"

/* Who is the source in ECS's words: whoever began. */
static void add_ends(struct fields *f, const struct audit_traffic *traffic)
{
	const struct cordon_traffic *counts = &traffic->counts;
	const struct decoded_access access = {
		.object = (const unsigned char *)counts->name,
		.object_length = sizeof(counts->name),
	};
	json_t *source = fields_object(f, f->record, "source");
	json_t *destination = fields_object(f, f->record, "destination");
	json_t *network;
	bool served = counts->served;
	struct decoded_address address;
	char host[INET6_ADDRSTRLEN], number[8];
	const char *transport;

	fields_number(f, served ? destination : source, "bytes", counts->bytes_sent);
	fields_number(f, served ? destination : source, "packets", counts->packets_sent);
	fields_number(f, served ? source : destination, "bytes", counts->bytes_received);
	fields_number(f, served ? source : destination, "packets", counts->packets_received);
	if (traffic->rest)
		return;
	network = fields_object(f, f->record, "network");
	decode_address(&access, &address);
	object_format_address(&address, host);
	transport = name_of_protocol(address.protocol);
	snprintf(number, sizeof(number), "%u", address.protocol);
	fields_string(f, served ? source : destination, "ip", host);
	fields_number(f, destination, "port", address.port);
	if (traffic->domain)
		fields_string(f, served ? source : destination, "domain", traffic->domain);
	fields_string(f, network, "transport", transport ? transport : number);
	fields_string(f, network, "type", address.family == 4 ? "ipv4" : "ipv6");
}

json_t *audit_record_traffic(const struct audit_execution *execution,
			     const struct audit_traffic *traffic, uint64_t time)
{
	const struct cordon_traffic *counts = &traffic->counts;
	json_t *object;
	struct fields f;

	fields_begin(&f, time, "event", "traffic", "success");
	fields_execution(&f, execution);
	fields_policy(&f, execution);
	add_ends(&f, traffic);
	object = fields_object(&f, f.cordon, "traffic");
	fields_string(&f, object, "direction",
		      traffic->rest    ? "other"
		      : counts->served ? "inbound"
				       : "outbound");
	fields_number(&f, object, "bytes_sent", counts->bytes_sent);
	fields_number(&f, object, "bytes_received", counts->bytes_received);
	fields_number(&f, object, "packets_sent", counts->packets_sent);
	fields_number(&f, object, "packets_received", counts->packets_received);
	if (traffic->rest)
		fields_set(&f, object, "connections", json_null());
	else
		fields_number(&f, object, "connections", counts->connections);
	return fields_end(&f);
}

static uint64_t beyond(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

bool audit_traffic_rest(const struct audit_end *whole, const struct cordon_traffic *counts,
			size_t count, struct cordon_traffic *ret_rest)
{
	struct cordon_traffic sum = {};

	for (size_t i = 0; i < count; i++) {
		sum.bytes_sent += counts[i].bytes_sent;
		sum.bytes_received += counts[i].bytes_received;
		sum.packets_sent += counts[i].packets_sent;
		sum.packets_received += counts[i].packets_received;
	}
	*ret_rest = (struct cordon_traffic){
		.bytes_sent = beyond(whole->bytes_sent, sum.bytes_sent),
		.bytes_received = beyond(whole->bytes_received, sum.bytes_received),
		.packets_sent = beyond(whole->packets_sent, sum.packets_sent),
		.packets_received = beyond(whole->packets_received, sum.packets_received),
	};
	return ret_rest->packets_sent > 0 || ret_rest->packets_received > 0;
}
