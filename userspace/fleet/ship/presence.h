/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presence messages report the state of the shipper and of the daemon, so that an operator can see
 * why a host sends no records. The daemon's state is derived from the lock on its log: checking it
 * needs no privilege and does not disturb the daemon.
 */
#ifndef CORDON_FLEET_PRESENCE_H
#define CORDON_FLEET_PRESENCE_H

#include <stdint.h>

#include "audit/record/identity.h"
#include "base/uuid.h"

/* Default and maximum of the seconds between two messages with the same state. */
#define PRESENCE_SECONDS     15u
#define PRESENCE_SECONDS_MAX 3600u

enum presence_state {
	PRESENCE_SHIPPING,
	PRESENCE_LEAVING,   /* stopped by a signal */
	PRESENCE_REWRITTEN, /* the log was modified: sends no more records */
};

enum presence_daemon {
	PRESENCE_RUNNING,
	PRESENCE_STOPPED, /* shut down regularly */
	PRESENCE_KILLED,
};

struct presence {
	enum presence_state state;
	enum presence_daemon daemon;
	char host[IDENTITY_HOST_SIZE], log[UUID_TEXT_SIZE]; /* empty: not known yet */
	unsigned int every;				    /* seconds until the next message */
	uint64_t read;					    /* seq of the last record read */
	uint64_t acknowledged; /* seq up to which the stream has all records */
};

enum presence_daemon presence_look(const char *directory);

#define PRESENCE_SUBJECT_SIZE 96u
#define PRESENCE_TEXT_SIZE    384u

/*
 * presence_subject() formats cordon.presence.HOST, where messages are published. presence_here()
 * formats cordon.here.HOST, to which the shipper only subscribes: the NATS server can list the
 * subscription.
 */
void presence_subject(const struct presence *presence, char subject[PRESENCE_SUBJECT_SIZE]);
void presence_here(const struct presence *presence, char subject[PRESENCE_SUBJECT_SIZE]);
/* Formats one JSON object. */
void presence_text(const struct presence *presence, char text[PRESENCE_TEXT_SIZE]);

#endif
