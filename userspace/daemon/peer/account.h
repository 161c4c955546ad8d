/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users other than root take of the daemon: connections, and its time. Whoever takes more than
 * a share of its time is read from later, and so waits; nobody else does.
 */
#ifndef CORDON_DAEMON_ACCOUNT_H
#define CORDON_DAEMON_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Users that are accounted for at a time. */
#define ACCOUNTS_MAX 64
/* Connections, and so executions, of one user; those that his executors make count likewise. */
#define ACCOUNT_MAX_CONNECTIONS 64
/*
 * Descriptors of one user that are kept open, because closing them might take for ever; a user with
 * so many is not let in.
 */
#define ACCOUNT_MAX_KEPT 16
/* A user may take one part in so many of the daemon's time. */
#define ACCOUNT_SHARE 2
/* That may be saved up, in ns. */
#define ACCOUNT_SAVINGS_NSEC 500000000ll
/* What a refused request costs besides: each leaves a record. */
#define ACCOUNT_REFUSAL_NSEC 20000000ll

struct account {
	uid_t uid;
	unsigned int connections;
	unsigned int kept;
	int64_t balance_nsec;
	uint64_t as_of; /* any clock in ns that does not go back */
};

struct accounts {
	struct account account[ACCOUNTS_MAX];
};

/*
 * One connection more. NULL: the user has ACCOUNT_MAX_CONNECTIONS or ACCOUNT_MAX_KEPT, or
 * ACCOUNTS_MAX other users are at work. Stays where it is until account_close().
 */
struct account *account_open(struct accounts *accounts, uid_t uid, uint64_t now);
void account_close(struct account *account);

/* Takes time from it. */
void account_charge(struct account *account, int64_t nsec, uint64_t now);

/* 0: go on; else after so many ns. */
uint64_t account_wait(struct account *account, uint64_t now);

#endif
