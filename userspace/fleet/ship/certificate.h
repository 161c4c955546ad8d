/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One's own certificate: a server that does not take it any more only ends the connection, and does
 * not say why.
 */
#ifndef CORDON_FLEET_CERTIFICATE_H
#define CORDON_FLEET_CERTIFICATE_H

#include <stdbool.h>

/*
 * Of a file in PEM, its first. false also where there is none that can be read, or `path` is NULL.
 */
bool certificate_has_expired(const char *path);

/* For the end of what is said of a failed connection: that, or "". `text` is room for it. */
#define CERTIFICATE_TEXT_SIZE 512
const char *certificate_say_expired(const char *path, char text[CERTIFICATE_TEXT_SIZE]);

#endif
