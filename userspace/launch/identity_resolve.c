/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the user that a command runs as, and the account's groups. */
#include "launch/identity.h"

#include <ctype.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

bool identity_parse_id(const char *text, unsigned int *ret_id)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value >= (uid_t)-1)
		return false;
	*ret_id = (unsigned int)value;
	return true;
}

/* getpwnam(3) and similar functions keep errno or set one of these if there is no such entry. */
static bool is_absence(int error)
{
	return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

static int set_group_only(struct launch_identity *identity, gid_t gid)
{
	identity->groups = malloc(sizeof(*identity->groups));
	if (!identity->groups)
		return -ENOMEM;
	identity->groups[0] = gid;
	identity->group_count = 1;
	identity->gid = gid;
	return 0;
}

static int set_group(struct launch_identity *identity, const char *text, struct failure *failure)
{
	const struct group *group;
	unsigned int gid;

	if (identity_parse_id(text, &gid))
		return set_group_only(identity, gid);
	errno = 0;
	group = getgrnam(text);
	if (!group && !is_absence(errno))
		return failure_set(failure, errno, "cannot look up the group '%s': %m", text);
	if (!group)
		return failure_set(failure, ENOENT, "there is no group '%s'", text);
	return set_group_only(identity, group->gr_gid);
}

static int set_own_groups(struct launch_identity *identity, const struct passwd *user)
{
	int count = 16;

	for (;;) {
		int capacity = count;
		gid_t *groups = reallocarray(identity->groups, (size_t)capacity, sizeof(*groups));

		if (!groups)
			return -ENOMEM;
		identity->groups = groups;
		if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) >= 0)
			break;
		if (count <= capacity)
			return -EIO;
	}
	identity->group_count = (size_t)count;
	identity->gid = user->pw_gid;
	return 0;
}

static int set_user(struct launch_identity *identity, const char *text,
		    const struct passwd **ret_user, struct failure *failure)
{
	const struct passwd *user;
	unsigned int uid = 0;
	bool number = identity_parse_id(text, &uid);

	errno = 0;
	user = number ? getpwuid(uid) : getpwnam(text);
	if (!user && !is_absence(errno))
		return failure_set(failure, errno, "cannot look up the user '%s': %m", text);
	if (!user && !number)
		return failure_set(failure, ENOENT, "there is no user '%s'", text);
	identity->uid = user ? user->pw_uid : uid;
	if (user) {
		identity->name = strdup(user->pw_name);
		identity->home = strdup(user->pw_dir);
		if (!identity->name || !identity->home)
			return -ENOMEM;
	}
	*ret_user = user;
	return 0;
}

static int resolve(struct launch_identity *identity, const char *text, struct failure *failure)
{
	_cleanup_(freep) char *user_text = strdup(text);
	const struct passwd *user;
	char *group_text;
	int r;

	if (!user_text)
		return -ENOMEM;
	group_text = strchr(user_text, ':');
	if (group_text)
		*group_text++ = '\0';
	if (user_text[0] == '\0' || (group_text && group_text[0] == '\0'))
		return failure_set(failure, EINVAL,
				   "'%s' is not a user: NAME, UID, NAME:GROUP or UID:GID", text);
	r = set_user(identity, user_text, &user, failure);
	if (r < 0)
		return r;
	if (group_text)
		return set_group(identity, group_text, failure);
	if (!user)
		return failure_set(failure, EINVAL,
				   "there is no account with uid %s, so add the group: %s:GID",
				   user_text, user_text);
	return set_own_groups(identity, user);
}

int identity_resolve(const char *text, struct launch_identity *ret_identity,
		     struct failure *failure)
{
	struct launch_identity identity = {.change = true};
	int r;

	r = resolve(&identity, text, failure);
	if (r < 0) {
		identity_release(&identity);
		return failure_set(failure, r, "cannot look up the user '%s': %m", text);
	}
	*ret_identity = identity;
	return 0;
}
