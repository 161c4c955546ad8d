/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shipper says of itself and of the daemon beside its log, so that whoever hears nothing
 * of a host can tell why. The daemon is known by the lock of its log alone: to look at that takes
 * no right and disturbs nobody.
 */
#ifndef CORDON_FLEET_PRESENCE_H
#define CORDON_FLEET_PRESENCE_H

#include <stdint.h>

#include "audit/record/identity.h"
#include "base/uuid.h"

/* Seconds between two that say the same. */
#define PRESENCE_SECONDS     15u
#define PRESENCE_SECONDS_MAX 3600u

enum presence_state {
	PRESENCE_SHIPPING,
	PRESENCE_LEAVING,   /* told to leave */
	PRESENCE_REWRITTEN, /* the log is not as it was: nothing is sent any more */
};

enum presence_daemon {
	PRESENCE_RUNNING,
	PRESENCE_STOPPED, /* in order */
	PRESENCE_KILLED,
};

struct presence {
	enum presence_state state;
	enum presence_daemon daemon;
	char host[IDENTITY_HOST_SIZE], log[UUID_TEXT_SIZE]; /* empty: not known yet */
	unsigned int every;				    /* seconds until the next word */
	uint64_t read;	       /* seq of the last record that was read */
	uint64_t acknowledged; /* of the last that the stream has, all before it included */
};

enum presence_daemon presence_look(const char *directory);

#define PRESENCE_SUBJECT_SIZE 96u
#define PRESENCE_TEXT_SIZE    384u

/*
 * cordon.presence.HOST: where it says so; cordon.here.HOST: where it hears nothing, but somebody
 * may see that it listens.
 */
void presence_subject(const struct presence *presence, char subject[PRESENCE_SUBJECT_SIZE]);
void presence_here(const struct presence *presence, char subject[PRESENCE_SUBJECT_SIZE]);
/* One JSON object. */
void presence_text(const struct presence *presence, char text[PRESENCE_TEXT_SIZE]);

#endif
