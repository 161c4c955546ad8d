/* SPDX-License-Identifier: Apache-2.0 */
/* Verification keys that somebody gives to a command: --key, --key-file. */
#ifndef CORDON_CLI_SEAL_KEYS_H
#define CORDON_CLI_SEAL_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "audit/seal/seal_check.h"

struct seal_keys {
	unsigned char keys[SEAL_KEYS_MAX][SEAL_KEY_SIZE];
	size_t count;
};

/*
 * False: it was said why. The text is overwritten: not for longer in the process list than need be.
 */
bool seal_keys_take(struct seal_keys *keys, char *text);
/* From a file; "-": standard input. */
bool seal_keys_read(struct seal_keys *keys, const char *path);
void seal_keys_erase(struct seal_keys *keys);

#endif
