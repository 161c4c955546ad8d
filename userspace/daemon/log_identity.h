/* SPDX-License-Identifier: Apache-2.0 */
/* Who this host is, as its logs say at the head of each segment. */
#ifndef CORDON_DAEMON_LOG_IDENTITY_H
#define CORDON_DAEMON_LOG_IDENTITY_H

#include "audit/record/identity.h"

/*
 * `fleet`: fleet.yaml, which need not exist, or NULL. What is wrong with it costs tenant and
 * labels, not the host its enforcement: *ret_trouble says so, or is NULL; caller frees. -ENOMEM,
 * -EMSGSIZE as identity_format().
 */
int log_identity_of(const char *fleet, char text[IDENTITY_TEXT_MAX], char **ret_trouble);

#endif
