/* SPDX-License-Identifier: Apache-2.0 */
/* Streams beside that of the records, which keep the last message of each subject. */
#include "fleet/store/side_stream.h"

#include <stdio.h>

#define FETCH_MS  20
#define NAME_SIZE 160

static natsStatus make_stream(jsCtx *context, const char *name, const char *subject)
{
	const char *subjects[] = {subject};
	jsStreamConfig config;
	jsStreamInfo *info = NULL;
	jsErrCode code;
	natsStatus s = js_GetStreamInfo(&info, context, name, NULL, &code);

	if (s == NATS_NOT_FOUND) {
		jsStreamConfig_Init(&config);
		config.Name = name;
		config.Subjects = subjects;
		config.SubjectsLen = 1;
		config.Storage = js_FileStorage;
		config.MaxMsgsPerSubject = 1;
		s = js_AddStream(&info, context, &config, NULL, &code);
	}
	jsStreamInfo_Destroy(info);
	return s;
}

natsStatus side_stream_open(jsCtx *context, const char *stream, const char *consumer,
			    const char *suffix, const char *subject,
			    natsSubscription **ret_subscription)
{
	char name[NAME_SIZE], durable[NAME_SIZE];
	jsSubOptions options;
	jsErrCode code;
	natsStatus s;

	(void)snprintf(name, sizeof(name), "%.100s_%s", stream, suffix);
	(void)snprintf(durable, sizeof(durable), "%.100s_%s", consumer, suffix);
	s = make_stream(context, name, subject);
	jsSubOptions_Init(&options);
	options.Stream = name;
	options.ManualAck = true;
	options.Config.AckPolicy = js_AckExplicit;
	options.Config.DeliverPolicy = js_DeliverAll;
	return s == NATS_OK ? js_PullSubscribe(ret_subscription, context, subject, durable, NULL,
					       &options, &code)
			    : s;
}

/* *ret_count: how many there were. */
static int take_group(natsSubscription *subscription, struct intake *intake, int most,
		      int (*take)(struct intake *intake, natsMsg *message, struct failure *failure),
		      int *ret_count, struct failure *failure)
{
	natsMsgList list = {};
	jsErrCode code;
	natsStatus s = natsSubscription_Fetch(&list, subscription, most, FETCH_MS, &code);
	int r = 0;

	*ret_count = s == NATS_OK ? list.Count : 0;
	if (*ret_count > 0) {
		r = intake_begin(intake, failure);
		for (int i = 0; i < list.Count && r == 0; i++)
			r = take(intake, list.Msgs[i], failure);
		if (r == 0)
			r = intake_commit(intake, failure);
		for (int i = 0; i < list.Count && r == 0; i++)
			(void)natsMsg_Ack(list.Msgs[i], NULL);
	} else if (s != NATS_OK && s != NATS_TIMEOUT) {
		r = 1;
	}
	natsMsgList_Destroy(&list);
	return r;
}

int side_stream_take(natsSubscription *subscription, struct intake *intake, int most,
		     int (*take)(struct intake *intake, natsMsg *message, struct failure *failure),
		     struct failure *failure)
{
	int count, r;

	do
		r = take_group(subscription, intake, most, take, &count, failure);
	while (r == 0 && count == most);
	return r;
}
