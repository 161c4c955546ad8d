/* SPDX-License-Identifier: Apache-2.0 */
/* Does a connection carry records over a network unencrypted? */
#ifndef CORDON_FLEET_CLEAR_TEXT_H
#define CORDON_FLEET_CLEAR_TEXT_H

#include <stdbool.h>

/* Does the URL, or any in a list with commas, begin with tls:// or https://? */
bool clear_text_is_encrypted(const char *urls);

/*
 * Is one of these URLs neither encrypted nor of this machine? Names other than "localhost" count as
 * other machines, since a name server decides where they lead.
 */
bool clear_text_leaves_machine(const char *urls);

#endif
