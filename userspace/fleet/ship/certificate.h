/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expiry of the client's own certificate. It is checked locally because a server may close the
 * connection without giving the reason.
 */
#ifndef CORDON_FLEET_CERTIFICATE_H
#define CORDON_FLEET_CERTIFICATE_H

#include <stdbool.h>

/*
 * True if the first certificate in the PEM file has expired. False if it cannot be read, or if
 * `path` is NULL.
 */
bool certificate_has_expired(const char *path);

/* Returns the suffix of an error message, "; the certificate in FILE has expired", or "". */
#define CERTIFICATE_TEXT_SIZE 512
const char *certificate_say_expired(const char *path, char text[CERTIFICATE_TEXT_SIZE]);

#endif
