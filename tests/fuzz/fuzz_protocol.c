/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the control protocol, as the daemon reads them from its clients. */
#include <stdint.h>
#include <stdlib.h>

#include "control/decide_request.h"
#include "control/protocol.h"
#include "control/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_prepare(json_t *message)
{
	struct prepare_request request;

	if (prepare_request_parse(message, &request, NULL) == 0)
		prepare_request_release(&request);
}

static void parse_label(json_t *message)
{
	struct label_request request;

	if (label_request_parse(message, &request, NULL) == 0)
		label_request_release(&request);
}

static void parse_apply(json_t *message)
{
	struct apply_request request;

	if (apply_request_parse(message, &request, NULL) == 0)
		apply_request_release(&request);
}

static void parse_decide(json_t *message)
{
	struct decide_request request;

	if (decide_request_parse(message, &request, NULL) == 0)
		decide_request_release(&request);
}

static void parse_who(json_t *message)
{
	struct failure failure = {};
	struct who_request request;

	/* It is a question about one thing, whatever was sent. */
	if (who_request_parse(message, &request, &failure) == 0 &&
	    (request.pid > 0) == (request.cgroup > 0))
		abort();
}

static void parse_adopt(json_t *message)
{
	struct adopt_request request;
	struct failure failure = {};

	if (adopt_request_parse(message, &request, &failure) == 0)
		adopt_request_release(&request);
}

static void parse(json_t *message)
{
	struct ended_request ended;
	struct abort_request aborted;
	struct failure failure = {};
	unsigned char id[16];
	enum request_op op;
	uint32_t from;
	bool force;

	if (request_op(message, &op, &failure) < 0)
		return;
	switch (op) {
	case REQUEST_PREPARE:
		parse_prepare(message);
		break;
	case REQUEST_LABEL:
		parse_label(message);
		break;
	case REQUEST_ENDED:
		(void)ended_request_parse(message, &ended, &failure);
		break;
	case REQUEST_ABORT:
		(void)abort_request_parse(message, &aborted, &failure);
		break;
	case REQUEST_APPLY:
		parse_apply(message);
		break;
	case REQUEST_DECIDE:
		parse_decide(message);
		break;
	case REQUEST_APPROVALS:
		(void)approvals_request_parse(message, &from, &failure);
		break;
	case REQUEST_PS:
		(void)ps_request_parse(message, &from, &failure);
		break;
	case REQUEST_KILL:
		(void)kill_request_parse(message, id, &failure);
		break;
	case REQUEST_STOP:
		(void)stop_request_parse(message, &force, &failure);
		break;
	case REQUEST_WHO:
		parse_who(message);
		break;
	case REQUEST_ADOPT:
		parse_adopt(message);
		break;
	case REQUEST_HELLO:
		(void)hello_request_parse(message, &failure);
		break;
	default:
		(void)plain_request_parse(message, &failure);
		break;
	}
	/* Whatever was wrong is told to the client: that must be possible. */
	json_decref(protocol_error(EINVAL, failure.text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct failure failure = {};
	json_t *message;

	if (protocol_parse((const char *)data, size, &message, &failure) < 0)
		return 0;
	parse(message);
	json_decref(message);
	return 0;
}
