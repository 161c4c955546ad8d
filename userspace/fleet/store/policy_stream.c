/* SPDX-License-Identifier: Apache-2.0 */
/* The stream that brings the policies that hosts have in force. */
#include "fleet/store/policy_stream.h"

#include "base/clock.h"

/* Each may be as large as the server lets messages be. */
#define GROUP_MAX 16

natsStatus policy_stream_open(jsCtx *context, const char *stream, const char *consumer,
			      natsSubscription **ret_subscription)
{
	return side_stream_open(context, stream, consumer, "POLICIES", "cordon.policy.*.*.*",
				ret_subscription);
}

static int take_one(struct intake *intake, natsMsg *message, struct failure *failure)
{
	struct delivery delivery = {
		.data = natsMsg_GetData(message),
		.size = (size_t)natsMsg_GetDataLength(message),
		.now = clock_nsec(CLOCK_REALTIME),
	};
	struct failure why = {};
	const char *digest;

	if (delivery_read_policy_subject(natsMsg_GetSubject(message), &delivery, &digest, &why) < 0)
		return intake_refuse(intake, &delivery, why.text, failure);
	return intake_policy(intake, &delivery, digest, failure);
}

int policy_stream_turn(natsSubscription *subscription, struct intake *intake,
		       struct failure *failure)
{
	return side_stream_take(subscription, intake, GROUP_MAX, take_one, failure);
}
