/* SPDX-License-Identifier: Apache-2.0 */
/* Receives the stream of hosts' active policies. */
#include "fleet/store/policy_stream.h"

#include "base/clock.h"

natsStatus policy_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
			      const char *consumer, struct pull *ret_pull)
{
	return side_stream_open(connection, context, stream, consumer, "POLICIES",
				"cordon.policy.*.*.*", ret_pull);
}

/* After more deliveries than this, the store may have crashed while reading it: defer it. */
#define DELIVERIES_MAX 3

int policy_stream_take(struct intake *intake, natsMsg *message, struct failure *failure)
{
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC);
	struct delivery delivery = {
		.data = natsMsg_GetData(message),
		.size = (size_t)natsMsg_GetDataLength(message),
		.now = clock_nsec(CLOCK_REALTIME),
	};
	struct failure why = {};
	const char *digest;
	int r;

	if (delivery_read_policy_subject(natsMsg_GetSubject(message), &delivery, &digest, &why) < 0)
		return intake_refuse(intake, &delivery, why.text, failure);
	r = intake_policy(intake, &delivery, digest, failure);
	intake_charge(intake, delivery.host, SHARE_POLICY, clock_nsec(CLOCK_MONOTONIC) - begin);
	return r;
}

static int take_one(struct intake *intake, natsMsg *message, struct failure *failure)
{
	struct delivery delivery = {};
	struct pull_place place;
	struct failure why = {};
	const char *digest;
	int r;

	if (delivery_read_policy_subject(natsMsg_GetSubject(message), &delivery, &digest, NULL) <
		    0 ||
	    !pull_place(natsMsg_GetReply(message), &place))
		return policy_stream_take(intake, message, failure);
	r = intake_is_spent(intake, delivery.host, SHARE_POLICY, true, failure);
	if (r < 0)
		return r;
	if (r > 0 || place.delivered > DELIVERIES_MAX)
		return intake_defer(intake, &delivery, LATER_POLICY, place.number, false,
				    "its host takes more than its share", failure);
	r = policy_stream_take(intake, message, &why);
	if (r == -EAGAIN)
		return intake_defer(intake, &delivery, LATER_POLICY, place.number, true, why.text,
				    failure);
	return r < 0 ? failure_set(failure, r, "%s", why.text) : 0;
}

int policy_stream_turn(struct pull *pull, struct intake *intake, struct failure *failure)
{
	return side_stream_take(pull, intake, take_one, failure);
}
