/* SPDX-License-Identifier: Apache-2.0 */
/* Decides from a server's URL whether records would cross a network unencrypted. */
#ifndef CORDON_FLEET_CLEAR_TEXT_H
#define CORDON_FLEET_CLEAR_TEXT_H

#include <stdbool.h>

/* True if any URL of a comma-separated list begins with tls:// or https://. */
bool clear_text_is_encrypted(const char *urls);

/*
 * True if any URL of the list is unencrypted and not to the loopback address. Names other than
 * "localhost" count as other machines, because a name server chooses their addresses.
 */
bool clear_text_leaves_machine(const char *urls);

#endif
