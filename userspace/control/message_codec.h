/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of messages from the parser process to the daemon: lengths before contents, so that
 * the daemon parses no text. The daemon does not trust the parser process: it checks every length,
 * and accepts only values that JSON can represent.
 */
#ifndef CORDON_DAEMON_MESSAGE_CODEC_H
#define CORDON_DAEMON_MESSAGE_CODEC_H

#include <jansson.h>
#include <stddef.h>

/* Maximum nesting of a request. */
#define MESSAGE_CODEC_MAX_DEPTH 8
#define MESSAGE_CODEC_MAX_SIZE	(512u << 10)

/*
 * Encodes a message. The caller frees *ret_data. Returns 0, -E2BIG if it is too deep or too large,
 * -EINVAL for a real number, or -ENOMEM.
 */
int message_encode(const json_t *message, char **ret_data, size_t *ret_size);

/* Decodes a message. Returns 0, -EBADMSG unless it is an encoded object, or -ENOMEM. */
int message_decode(const char *data, size_t size, json_t **ret_message);

#endif
