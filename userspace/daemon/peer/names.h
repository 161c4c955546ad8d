/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host's databases say of users and groups. They may be another machine, which may never
 * answer: a process of its own asks (names_look_up), and the daemon, which only keeps the answers,
 * looks at these.
 *
 * A question is "alice", the user of that name; "@staff", the group; or "#1000", the account of the
 * user with that number.
 */
#ifndef CORDON_DAEMON_NAMES_H
#define CORDON_DAEMON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"

/* What there is is believed for so long. */
#define NAMES_KEPT_NSEC (10 * NSEC_PER_SEC)

struct name {
	char *question;
	bool found;
	uint32_t id;		/* of the user or group */
	uint32_t group;		/* primary group of the user */
	char *login;		/* of the account, else NULL */
	uint64_t device, inode; /* of its home; 0: that cannot be looked at */
	uint64_t until;		/* monotonic clock, ns */
};

/* All zero: nothing is known. */
struct names {
	struct name *known;
	size_t count;
};

void names_release(struct names *names);

/* Waits for the databases; whether all of it was written, ferror(3) says. */
void names_look_up(char *const *questions, FILE *to);

/* The same from /etc/passwd and /etc/group alone, which no other machine serves. */
void names_look_up_files(char *const *questions, FILE *to);

/*
 * The answers to the same questions, as names_look_up() wrote them, which may be anybody's word.
 * -EPROTO: they are none;
 * -ENOMEM. Nothing is learnt then.
 */
int names_learn(struct names *names, char *const *questions, const char *data, size_t size,
		uint64_t now);

/* Is all of this known, and not for too long? */
bool names_know(const struct names *names, char *const *questions, uint64_t now);

/* NULL: there is none, or nobody has asked. However long that is ago: see names_know(). */
const struct name *names_find(const struct names *names, const char *question);

/* What did not exist may by the time of the next question. */
void names_forget_missing(struct names *names);

#define NAMES_ACCOUNT_SIZE 12
void names_account(uint32_t uid, char ret_question[NAMES_ACCOUNT_SIZE]);

#endif
