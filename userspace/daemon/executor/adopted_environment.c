/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of an adopted execution: what is overwritten, and what is set. */
#include "daemon/executor/adopted_environment.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt/environment_room.h"
#include "adopt/process_code.h"
#include "base/listed.h"
#include "base/parcel.h"
#include "launch/environment.h"

/* What the kernel was not allowed to do, or had no occasion to finish. */
static int clean_environment(const struct execution *e, struct adopted_variables *variables,
			     struct failure *failure)
{
	const struct policy_environment *environment = &e->record.policy->environment;
	int r = 0;

	if (!e->adoption.seen.clean && !environment->keep_all)
		r = process_environment_clean(e->leader, environment, &variables->removed, failure);
	return r < 0 ? r : process_environment_note(e->leader, &variables->kept, failure);
}

/* A mount over it, as of a service with PrivateTmp=, hides what is made in the daemon's. */
static bool sees_tmp(const struct execution *e)
{
	struct stat own, seen;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root" DAEMON_TMP_PARENT, e->leader);
	return stat(DAEMON_TMP_PARENT, &own) == 0 && stat(path, &seen) == 0 &&
	       own.st_dev == seen.st_dev && own.st_ino == seen.st_ino;
}

/* What ${...} stands for: directories that are bound, and those that adopted_prepare() notes. */
struct places {
	char workdir[PATH_MAX], tmp[PATH_MAX];
	struct environment_anchor anchors[ARRAY_SIZE(((struct execution *)0)->directories)];
	size_t count;
};

static void find_places(const struct execution *e, bool has_workdir, bool has_tmp,
			struct places *places)
{
	char **bound = e->record.directories;
	ssize_t n = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cwd", e->leader);
	if (has_workdir)
		n = readlink(path, places->workdir, sizeof(places->workdir) - 1);
	if (n >= 0) {
		places->workdir[n] = '\0';
		places->anchors[places->count++] =
			(struct environment_anchor){"workdir", places->workdir};
	}
	if (has_tmp) {
		snprintf(places->tmp, sizeof(places->tmp), DAEMON_TMP_PARENT "/%s", e->name);
		places->anchors[places->count++] = (struct environment_anchor){"tmp", places->tmp};
	}
	for (; bound && *bound && places->count < ARRAY_SIZE(places->anchors); bound += 2)
		places->anchors[places->count++] = (struct environment_anchor){bound[0], bound[1]};
}

/* What is set replaces what was kept. */
static int note_replaced(struct adopted_variables *variables, char *const *set)
{
	char **kept = variables->kept, **to = kept;
	size_t count = list_length(variables->removed);

	for (; kept && *kept; kept++) {
		char **grown;

		if (!environment_get(set, *kept)) {
			*to++ = *kept;
			continue;
		}
		grown = reallocarray(variables->removed, count + 2, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		variables->removed = grown;
		grown[count++] = *kept;
		grown[count] = NULL;
	}
	if (to)
		*to = NULL;
	return 0;
}

/* TMPDIR, which environment_set() adds at the end. */
static bool is_own_tmpdir(const struct policy_environment *environment, const char *variable)
{
	char *const *name = environment->set_names;

	while (*name && strcmp(*name, "TMPDIR") != 0)
		name++;
	return !*name && strncmp(variable, "TMPDIR=", 7) == 0;
}

/* Only while it is held: what runs may be looking at its environment. */
static int set_environment(const struct execution *e, const struct places *places,
			   const struct git_settings *git, struct adopted_variables *variables,
			   struct failure *failure)
{
	const struct policy_environment *environment = &e->record.policy->environment;
	const struct environment_given given = {places->anchors, places->count, git};
	char **set = NULL, *tmpdir = NULL;
	size_t count, left;
	int r;

	r = environment_set(environment, &given, &set, failure);
	if (r < 0)
		return r;
	count = list_length(set);
	/* The last one, if the policy does not set it. */
	if (count > 0 && is_own_tmpdir(environment, set[count - 1]) && !sees_tmp(e)) {
		tmpdir = set[--count];
		set[count] = NULL;
	}
	left = count;
	if (e->adoption.seen.held) {
		r = process_environment_set(e->leader, set, &left, failure);
		if (r == 0 && note_replaced(variables, set) < 0)
			r = failure_set(failure, ENOMEM, "%m");
	}
	variables->unset = set + count - left;
	if (tmpdir)
		set[count] = tmpdir;
	for (char **name = variables->unset; *name; name++)
		(*name)[strcspn(*name, "=")] = '\0';
	return r;
}

int adopted_environment(const struct execution *e, bool has_workdir, bool has_tmp,
			const struct git_settings *git, struct adopted_variables *variables,
			struct failure *failure)
{
	struct places places = {};
	int r = clean_environment(e, variables, failure);

	if (r < 0)
		return r;
	find_places(e, has_workdir, has_tmp, &places);
	return set_environment(e, &places, git, variables, failure);
}

void adopted_variables_put(const struct adopted_variables *variables, FILE *to)
{
	parcel_put_list(to, variables->kept, list_length(variables->kept));
	parcel_put_list(to, variables->removed, list_length(variables->removed));
	parcel_put_list(to, variables->unset, list_length(variables->unset));
}
