/* SPDX-License-Identifier: Apache-2.0 */
/* Additional streams that keep only the last message of each subject. */
#include "fleet/store/side_stream.h"

#include <stdio.h>

/* Groups per call, so that records are not delayed for long. */
#define GROUPS_MAX 8

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

natsStatus side_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
			    const char *consumer, const char *suffix, const char *subject,
			    struct pull *ret_pull)
{
	char name[PULL_NAME_SIZE], durable[PULL_NAME_SIZE];
	const struct pull_options options = {.stream = name, .consumer = durable};
	natsStatus s;

	(void)snprintf(name, sizeof(name), "%.100s_%s", stream, suffix);
	(void)snprintf(durable, sizeof(durable), "%.100s_%s", consumer, suffix);
	s = make_stream(context, name, subject);
	return s == NATS_OK ? pull_open(connection, context, &options, ret_pull) : s;
}

/* *ret_count: number of messages received. */
static int take_group(struct pull *pull, struct intake *intake,
		      int (*take)(struct intake *intake, natsMsg *message, struct failure *failure),
		      int *ret_count, struct failure *failure)
{
	natsMsg *messages[SIDE_STREAM_GROUP];
	natsStatus s = pull_fetch(pull, SIDE_STREAM_GROUP, 0, messages, ret_count);
	int r = *ret_count == 0 && s != NATS_OK;

	if (*ret_count > 0) {
		r = intake_begin(intake, failure);
		for (int i = 0; i < *ret_count && r == 0; i++)
			r = take(intake, messages[i], failure);
		if (r == 0)
			r = intake_commit(intake, failure);
		for (int i = 0; i < *ret_count && r == 0; i++)
			pull_acknowledge(pull, messages[i]);
	}
	for (int i = 0; i < *ret_count; i++)
		natsMsg_Destroy(messages[i]);
	return r;
}

int side_stream_take(struct pull *pull, struct intake *intake,
		     int (*take)(struct intake *intake, natsMsg *message, struct failure *failure),
		     struct failure *failure)
{
	int count, r, groups = 0;

	do
		r = take_group(pull, intake, take, &count, failure);
	while (r == 0 && count == SIDE_STREAM_GROUP && ++groups < GROUPS_MAX);
	return r;
}
