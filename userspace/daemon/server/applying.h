/* SPDX-License-Identifier: Apache-2.0 */
/* The request that puts executions under another policy: a few of them in each turn of the loop. */
#ifndef CORDON_DAEMON_APPLYING_H
#define CORDON_DAEMON_APPLYING_H

#include <jansson.h>

#include "daemon/server/connection.h"

/* Answers at once, or when c->applying is NULL again. */
void applying_begin(struct connection *c, json_t *message);

/*
 * The connection ends before there is an answer: what was begun is made all the same, unless the
 * daemon leaves.
 */
void applying_forget(struct connection *c);

/* The daemon leaves: what is not made yet is not made, and the next one says so in the logs. */
void applying_end_all(struct daemon *daemon);

#endif
