/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message as the process that read it hands it to the daemon: no text to parse, but lengths
 * before contents. The daemon trusts none of it: every length is checked, and what comes out is
 * what JSON could have said.
 */
#ifndef CORDON_DAEMON_MESSAGE_CODEC_H
#define CORDON_DAEMON_MESSAGE_CODEC_H

#include <jansson.h>
#include <stddef.h>

/* No request nests deeper. */
#define MESSAGE_CODEC_MAX_DEPTH 8
#define MESSAGE_CODEC_MAX_SIZE	(512u << 10)

/* *ret_data: caller frees. -E2BIG: too deep or too large; -EINVAL: a real number; -ENOMEM. */
int message_encode(const json_t *message, char **ret_data, size_t *ret_size);

/* -EBADMSG: not what message_encode() makes of an object; -ENOMEM. */
int message_decode(const char *data, size_t size, json_t **ret_message);

#endif
