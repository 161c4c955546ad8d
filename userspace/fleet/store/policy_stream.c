/* SPDX-License-Identifier: Apache-2.0 */
/* The stream that brings the policies that hosts have in force. */
#include "fleet/store/policy_stream.h"

#include "base/clock.h"

natsStatus policy_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
			      const char *consumer, struct pull *ret_pull)
{
	return side_stream_open(connection, context, stream, consumer, "POLICIES",
				"cordon.policy.*.*.*", ret_pull);
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

int policy_stream_turn(struct pull *pull, struct intake *intake, struct failure *failure)
{
	return side_stream_take(pull, intake, take_one, failure);
}
