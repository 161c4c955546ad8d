/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `cordon run` asks of the host's users. Two answer: accounts.c asks whatever the host is set
 * up to (NSS), and accounts_file.c, for the small program that can load no modules, knows one user.
 */
#ifndef CORDON_CLI_ACCOUNTS_H
#define CORDON_CLI_ACCOUNTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "launch/identity.h"

/* The user's home directory, which the caller frees; NULL: there is no such user, or no memory. */
char *accounts_home(uid_t uid);

/* As identity_resolve() does. accounts_file.c: -ENOTSUP. */
int accounts_resolve(const char *text, struct launch_identity *ret_identity,
		     struct failure *failure);

/*
 * Of accounts_file.c alone: is /etc/passwd where this host looks for users first, and has it this
 * one? Then accounts_home() has the same answer there.
 */
bool accounts_file_read(uid_t uid);

#endif
