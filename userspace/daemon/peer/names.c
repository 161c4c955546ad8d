/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's databases say of users and groups: asked in one process, kept in another. */
#include "daemon/peer/names.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/parcel.h"

/* What is written for each question, and then its login as text. */
struct answer {
	uint32_t found;
	uint32_t id, group;
	uint32_t unused; /* no padding, which would be unset */
	uint64_t device, inode;
};

/* --- asking ------------------------------------------------------------------------------- */

static void look_at_account(const struct passwd *user, struct answer *answer)
{
	struct stat home;

	answer->found = 1;
	answer->id = user->pw_uid;
	if (stat(user->pw_dir, &home) < 0)
		return;
	answer->device = home.st_dev;
	answer->inode = home.st_ino;
}

void names_look_up(char *const *questions, FILE *to)
{
	for (; *questions; questions++) {
		const char *question = *questions, *login = NULL;
		struct answer answer = {};

		if (question[0] == '@') {
			const struct group *group = getgrnam(question + 1);

			if (group)
				answer = (struct answer){.found = 1, .id = group->gr_gid};
		} else if (question[0] == '#') {
			const struct passwd *user =
				getpwuid((uid_t)strtoul(question + 1, NULL, 10));

			if (user) {
				look_at_account(user, &answer);
				login = user->pw_name;
			}
		} else {
			const struct passwd *user = getpwnam(question);

			if (user)
				answer = (struct answer){
					.found = 1, .id = user->pw_uid, .group = user->pw_gid};
		}
		(void)fwrite(&answer, sizeof(answer), 1, to);
		parcel_put_text(to, login);
	}
}

static void find_group(const char *name, struct answer *answer)
{
	_cleanup_(fclosep) FILE *file = fopen("/etc/group", "re");
	const struct group *group;

	while (!answer->found && file && (group = fgetgrent(file)) != NULL)
		if (strcmp(group->gr_name, name) == 0)
			*answer = (struct answer){.found = 1, .id = group->gr_gid};
}

static void find_user(const char *name, struct answer *answer)
{
	_cleanup_(fclosep) FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user;

	while (!answer->found && file && (user = fgetpwent(file)) != NULL)
		if (strcmp(user->pw_name, name) == 0)
			*answer = (struct answer){
				.found = 1, .id = user->pw_uid, .group = user->pw_gid};
}

void names_look_up_files(char *const *questions, FILE *to)
{
	for (; *questions; questions++) {
		struct answer answer = {};

		if (**questions == '@')
			find_group(*questions + 1, &answer);
		else if (**questions != '#')
			find_user(*questions, &answer);
		(void)fwrite(&answer, sizeof(answer), 1, to);
		parcel_put_text(to, NULL);
	}
}

/* --- keeping ------------------------------------------------------------------------------ */

static void forget(struct names *names, size_t i)
{
	free(names->known[i].question);
	free(names->known[i].login);
	names->known[i] = names->known[--names->count];
}

void names_release(struct names *names)
{
	while (names->count > 0)
		forget(names, names->count - 1);
	free(names->known);
	*names = (struct names){};
}

static void forget_old(struct names *names, uint64_t now)
{
	for (size_t i = names->count; i-- > 0;)
		if (names->known[i].until <= now)
			forget(names, i);
}

const struct name *names_find(const struct names *names, const char *question)
{
	for (size_t i = 0; names && i < names->count; i++)
		if (strcmp(names->known[i].question, question) == 0)
			return names->known[i].found ? &names->known[i] : NULL;
	return NULL;
}

bool names_know(const struct names *names, char *const *questions, uint64_t now)
{
	for (; *questions; questions++) {
		const struct name *name = names_find(names, *questions);

		if (!name || name->until <= now)
			return false;
	}
	return true;
}

void names_forget_missing(struct names *names)
{
	for (size_t i = names->count; i-- > 0;)
		if (!names->known[i].found)
			forget(names, i);
}

static int take(struct parcel *from, const char *question, uint64_t now, struct name *name)
{
	const void *at = parcel_take(from, sizeof(struct answer));
	struct answer answer;
	int r;

	if (!at)
		return -EPROTO;
	memcpy(&answer, at, sizeof(answer));
	r = parcel_take_text(from, &name->login);
	if (r < 0)
		return r;
	if ((name->login != NULL) != (question[0] == '#' && answer.found))
		return -EPROTO;
	name->question = strdup(question);
	name->found = answer.found;
	name->id = answer.id;
	name->group = answer.group;
	name->device = answer.device;
	name->inode = answer.inode;
	name->until = now + NAMES_KEPT_NSEC;
	return name->question ? 0 : -ENOMEM;
}

static void replace(struct names *names, const struct name *fresh)
{
	for (size_t i = names->count; i-- > 0;)
		if (strcmp(names->known[i].question, fresh->question) == 0)
			forget(names, i);
	names->known[names->count++] = *fresh;
}

int names_learn(struct names *names, char *const *questions, const char *data, size_t size,
		uint64_t now)
{
	_cleanup_(names_release) struct names fresh = {};
	struct parcel from = {data, size};
	struct name *larger;
	size_t count = 0;
	int r = 0;

	while (questions[count])
		count++;
	forget_old(names, now);
	larger = reallocarray(names->known, names->count + count + 1, sizeof(*larger));
	if (larger)
		names->known = larger;
	fresh.known = calloc(count + 1, sizeof(*fresh.known));
	if (!larger || !fresh.known)
		return -ENOMEM;
	while (r == 0 && fresh.count < count) {
		r = take(&from, questions[fresh.count], now, &fresh.known[fresh.count]);
		fresh.count++;
	}
	if (r < 0)
		return r;
	if (from.left > 0)
		return -EPROTO;
	for (size_t i = 0; i < count; i++)
		replace(names, &fresh.known[i]);
	fresh.count = 0;
	return 0;
}

void names_account(uint32_t uid, char ret_question[NAMES_ACCOUNT_SIZE])
{
	(void)snprintf(ret_question, NAMES_ACCOUNT_SIZE, "#%u", uid);
}
