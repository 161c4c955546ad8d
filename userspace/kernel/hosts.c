/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that the DNS proxy shares with the kernel programs: its ports, resolved addresses, and its
 * clients.
 */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/handle.h"

int enforcement_set_stub(struct enforcement *e, const struct cordon_stub *ports)
{
	__u32 key = 0;

	return bpf_map_update_elem(e->stub_fd, &key, ports, BPF_ANY) < 0 ? -errno : 0;
}

int enforcement_stub_client(struct enforcement *e, const struct cordon_stub_client_key *key,
			    struct cordon_stub_client *ret_client)
{
	return bpf_map_lookup_elem(e->stub_clients_fd, key, ret_client) < 0 ? -errno : 0;
}

static bool same_question(const struct cordon_host *a, const struct cordon_host *b)
{
	return a->length == b->length && memcmp(a->question, b->question, a->length) == 0;
}

static struct host_count *count_of(struct enforcement *e, const struct cordon_host_key *key)
{
	struct host_count *count;

	if (key->slot >= CORDON_MAX_EXECUTIONS)
		return NULL;
	if (!e->host_counts)
		e->host_counts = calloc(CORDON_MAX_EXECUTIONS, sizeof(*e->host_counts));
	if (!e->host_counts)
		return NULL;
	count = &e->host_counts[key->slot];
	if (count->generation != key->generation)
		*count = (struct host_count){.generation = key->generation};
	return count;
}

/* Chooses one of the entries of an address: the name's own, a free one, or the first to expire. */
static bool choose_place(struct enforcement *e, struct cordon_host_key *key,
			 const struct cordon_host *host, bool *ret_new)
{
	uint64_t earliest = UINT64_MAX;
	__u32 chosen = 0;

	*ret_new = false;
	for (key->index = 0; key->index < CORDON_NAMES_PER_ADDRESS; key->index++) {
		struct cordon_host present;

		if (bpf_map_lookup_elem(e->host_addresses_fd, key, &present) < 0) {
			if (earliest > 0)
				chosen = key->index;
			earliest = 0;
			*ret_new = true;
			continue;
		}
		if (same_question(&present, host)) {
			*ret_new = false;
			/* A new reply never shortens the lifetime of an earlier one. */
			return present.expiry < host->expiry;
		}
		if (present.expiry < earliest) {
			earliest = present.expiry;
			chosen = key->index;
		}
	}
	key->index = chosen;
	return true;
}

int enforcement_host_add(struct enforcement *e, struct cordon_host_key *key,
			 const struct cordon_host *host)
{
	struct host_count *count = count_of(e, key);
	bool new;

	if (!count)
		return -ENOMEM;
	if (!choose_place(e, key, host, &new))
		return 0;
	if (new && count->count >= ENFORCEMENT_HOSTS_EACH)
		return -E2BIG;
	if (bpf_map_update_elem(e->host_addresses_fd, key, host, BPF_ANY) < 0)
		return errno == E2BIG ? -ENOSPC : -errno;
	count->count += new;
	return 0;
}

int enforcement_host_get(struct enforcement *e, const struct cordon_host_key *key,
			 struct cordon_host *ret_host)
{
	return bpf_map_lookup_elem(e->host_addresses_fd, key, ret_host) < 0 ? -errno : 0;
}

static bool is_stale(const struct enforcement *e, const struct cordon_host_key *key,
		     const struct cordon_host *host, uint64_t now)
{
	const struct cordon_execution *execution =
		key->slot < CORDON_MAX_EXECUTIONS ? &e->executions[key->slot] : NULL;

	return host->expiry < now || !execution || execution->generation != key->generation ||
	       execution->state == CORDON_EXECUTION_FREE;
}

static void remove_host(struct enforcement *e, const struct cordon_host_key *key)
{
	struct host_count *count = e->host_counts && key->slot < CORDON_MAX_EXECUTIONS
					   ? &e->host_counts[key->slot]
					   : NULL;

	if (bpf_map_delete_elem(e->host_addresses_fd, key) == 0 && count &&
	    count->generation == key->generation && count->count > 0)
		count->count--;
}

bool enforcement_hosts_sweep(struct enforcement *e, uint64_t now, unsigned int most)
{
	struct cordon_host_key key;
	struct cordon_host host;

	for (unsigned int i = 0; i < most; i++) {
		bool stale = false;

		/* Starts again if the last key was removed meanwhile. */
		if (bpf_map_get_next_key(e->host_addresses_fd, e->sweeping ? &e->swept : NULL,
					 &key) < 0) {
			bool left = e->swept_some;

			e->sweeping = e->swept_some = false;
			return left;
		}
		if (bpf_map_lookup_elem(e->host_addresses_fd, &key, &host) == 0)
			stale = is_stale(e, &key, &host, now);
		if (stale) {
			remove_host(e, &key);
			continue;
		}
		e->swept = key;
		e->sweeping = e->swept_some = true;
	}
	return true;
}
