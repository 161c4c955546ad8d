/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts the store's time to hosts. */
#include "fleet/store/shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fnv.h"

#define WINDOW (2 * NSEC_PER_SEC)
/* Minimum that each host may use in a window. */
#define OWN (WINDOW / 50)

void shares_free(struct shares *shares)
{
	for (size_t i = 0; i < SHARES_BUCKETS; i++) {
		while (shares->buckets[i]) {
			struct share *share = shares->buckets[i];

			shares->buckets[i] = share->next;
			free(share);
		}
	}
	*shares = (struct shares){};
}

static size_t bucket_of(const char *host)
{
	return fnv1a(FNV1A_START, host, strlen(host)) % SHARES_BUCKETS;
}

static struct share *find(const struct shares *shares, const char *host)
{
	struct share *share = shares->buckets[bucket_of(host)];

	while (share && strcmp(share->host, host) != 0)
		share = share->next;
	return share;
}

/* The number of hosts is bounded: each needs a certificate. */
static struct share *find_or_add(struct shares *shares, const char *host)
{
	struct share **bucket = &shares->buckets[bucket_of(host)];
	struct share *share = find(shares, host);

	if (share)
		return share;
	share = calloc(1, sizeof(*share));
	if (!share)
		return NULL;
	memcpy(share->host, host, strnlen(host, sizeof(share->host) - 1));
	share->next = *bucket;
	*bucket = share;
	return share;
}

bool shares_is_spent(const struct shares *shares, const char *host, enum share_lane lane,
		     uint64_t now)
{
	const struct share *share = find(shares, host);
	uint64_t window = now / WINDOW;

	if (!share || share->window != window || shares->window != window)
		return false;
	/* Count the waiting host, too. */
	return share->used[lane] > OWN + shares->total[lane] / (shares->hosts[lane] + 1);
}

static void add(struct shares *shares, struct share *share, enum share_lane lane, uint64_t nsec,
		uint64_t now)
{
	uint64_t window = now / WINDOW;

	if (shares->window != window) {
		memset(shares->total, 0, sizeof(shares->total));
		memset(shares->hosts, 0, sizeof(shares->hosts));
		shares->window = window;
	}
	if (share->window != window) {
		memset(share->used, 0, sizeof(share->used));
		share->window = window;
	}
	if (share->used[lane] == 0 && nsec > 0)
		shares->hosts[lane]++;
	share->used[lane] += nsec;
	shares->total[lane] += nsec;
}

void shares_use(struct shares *shares, const char *host, enum share_lane lane, uint64_t nsec,
		uint64_t now)
{
	struct share *share = find_or_add(shares, host);

	if (!share)
		return;
	add(shares, share, lane, nsec, now);
	if (share->messages++ == 0) {
		share->next_touched = shares->touched;
		shares->touched = share;
	}
	share->lane = lane;
	shares->messages++;
}

void shares_settle(struct shares *shares, uint64_t nsec, uint64_t now)
{
	while (shares->touched) {
		struct share *share = shares->touched;

		shares->touched = share->next_touched;
		add(shares, share, share->lane, nsec / shares->messages * share->messages, now);
		share->messages = 0;
	}
	shares->messages = 0;
}
