/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the settings of the user's git configuration that an execution may get as data. No setting
 * names a program or a file that git reads.
 */
#ifndef CORDON_LAUNCH_GIT_SETTINGS_H
#define CORDON_LAUNCH_GIT_SETTINGS_H

#include <stdio.h>

#include "base/parcel.h"
#include "launch/git_files.h"

#define GIT_SETTINGS_MAX 32u

struct git_settings {
	char **list; /* name, value, name, value, ...; NULL-terminated, or NULL */
	size_t count;
};

void git_settings_release(struct git_settings *settings);

/*
 * Finds the settings that git would use in places->workdir without the repository's configuration.
 * A setting in the repository is omitted, because variables would override it. Names are as in
 * policies: "user.name". Returns 0 or -ENOMEM.
 */
int git_settings_find(const struct git_places *places, const struct git_repository *repository,
		      struct git_settings *ret_settings);

/*
 * Serialize the settings for another process of the same program. git_settings_take() returns 0,
 * -EPROTO or -ENOMEM.
 */
void git_settings_put(const struct git_settings *settings, FILE *to);
int git_settings_take(struct parcel *from, struct git_settings *ret_settings);

#endif
