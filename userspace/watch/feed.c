/* SPDX-License-Identifier: Apache-2.0 */
/* Requests only `status` from the daemon. */
#include "watch/feed.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "control/client.h"
#include "control/protocol.h"
#include "watch/metrics.h"

/* Less than Prometheus's default timeout of 10 s, so that a hanging daemon is reported. */
#define PATIENCE_SECONDS 5
#define FRESH_NSEC	 NSEC_PER_SEC

/* Uses a new connection each time, because the daemon may have been restarted. */
static int ask(const char *path, json_t **ret_status, struct failure *failure)
{
	_cleanup_(closep) int socket = -1;
	int r = client_connect_looking(path, PATIENCE_SECONDS, &socket, failure);

	return r < 0 ? r : client_status(socket, ret_status, failure);
}

int feed_read(struct feed *feed)
{
	_cleanup_(exposition_release) struct exposition x = {};
	_cleanup_(json_decrefp) json_t *status = NULL;
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC);
	struct metrics_source from = {};
	struct failure failure = {};
	int r;

	if (feed->asked > 0 && begin - feed->asked < FRESH_NSEC)
		return 0;
	(void)ask(feed->socket, &status, &failure);
	from.status = status;
	from.took_nsec = clock_nsec(CLOCK_MONOTONIC) - begin;
	r = metrics_write(&x, &from);
	if (r < 0)
		return r;
	buffer_free(&feed->text);
	feed->text = x.text;
	x.text = (struct buffer){};
	feed->asked = clock_nsec(CLOCK_MONOTONIC);
	feed->trouble = failure;
	return 0;
}

void feed_release(struct feed *feed)
{
	buffer_free(&feed->text);
}
