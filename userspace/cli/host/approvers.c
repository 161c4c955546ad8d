/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the members of the two groups of approvals. */
#include "cli/host/approvers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct names {
	char **list; /* NULL-terminated, or NULL */
	size_t count;
};

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

static bool has(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->list[i], name) == 0)
			return true;
	return false;
}

static int add(struct names *names, const char *name)
{
	char **larger;

	if (has(names, name))
		return 0;
	larger = reallocarray(names->list, names->count + 2, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	names->list = larger;
	larger[names->count] = strdup(name);
	if (!larger[names->count])
		return -ENOMEM;
	larger[++names->count] = NULL;
	return 0;
}

/* The entry of the group may be static storage of the C library: its number is kept. */
static int add_members(const struct approvers_host *host, const char *name, struct names *names)
{
	const struct group *group = host->group(name);
	const struct passwd *account;
	gid_t gid = group ? group->gr_gid : 0;
	int r = 0;

	if (!group)
		return 0;
	for (char **member = group->gr_mem; r == 0 && member && *member; member++)
		r = add(names, *member);
	host->rewind();
	while (r == 0 && (account = host->next_account()) != NULL)
		if (account->pw_gid == gid)
			r = add(names, account->pw_name);
	return r;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int approvers_in_both(const struct approvers_host *host, char ***ret_names)
{
	_cleanup_(names_release) struct names first = {}, second = {}, both = {};
	int r = add_members(host, APPROVERS_PROPOSE, &first);

	if (r == 0)
		r = add_members(host, APPROVERS_APPROVE, &second);
	for (size_t i = 0; r == 0 && i < first.count; i++)
		if (strcmp(first.list[i], "root") != 0 && has(&second, first.list[i]))
			r = add(&both, first.list[i]);
	if (r == 0 && !both.list)
		r = (both.list = calloc(1, sizeof(*both.list))) ? 0 : -ENOMEM;
	if (r != 0)
		return r;
	qsort(both.list, both.count, sizeof(*both.list), compare);
	*ret_names = both.list;
	both = (struct names){};
	return 0;
}

static const struct group *group_of_host(const char *name)
{
	return getgrnam(name);
}

static const struct passwd *next_of_host(void)
{
	return getpwent();
}

const struct approvers_host approvers_of_this_host = {
	.group = group_of_host,
	.rewind = setpwent,
	.next_account = next_of_host,
};
