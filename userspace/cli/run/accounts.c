/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for the host's users, in files first and by the C library where that is needed. */
#include "cli/run/accounts.h"

#include <pwd.h>
#include <string.h>

char *accounts_home(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	return user ? strdup(user->pw_dir) : NULL;
}

int accounts_resolve(const char *text, struct launch_identity *ret_identity,
		     struct failure *failure)
{
	return identity_resolve(text, ret_identity, failure);
}
