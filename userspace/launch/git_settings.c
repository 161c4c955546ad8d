/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings of the user's git configuration that an execution may get as data. */
#include "launch/git_settings.h"

#include <string.h>

#include "base/cleanup.h"
#include "policy/core/variables.h"

void git_settings_release(struct git_settings *settings)
{
	for (size_t i = 0; settings->list && settings->list[i]; i++)
		free(settings->list[i]);
	free(settings->list);
	*settings = (struct git_settings){};
}

/* git permits any text; control characters would harm records and environments. */
static bool is_plain(const char *value)
{
	size_t length = strlen(value);

	for (size_t i = 0; i < length; i++)
		if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
			return false;
	return length < 1024;
}

static int add(struct git_settings *settings, const char *name, const char *value)
{
	char **larger = reallocarray(settings->list, 2 * settings->count + 3, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	settings->list = larger;
	larger[2 * settings->count] = strdup(name);
	larger[2 * settings->count + 1] = larger[2 * settings->count] ? strdup(value) : NULL;
	larger[2 * settings->count + 2] = NULL;
	return larger[2 * settings->count++ + 1] ? 0 : -ENOMEM;
}

static void leave_out(struct git_settings *settings, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < settings->count; i++) {
		char **pair = &settings->list[2 * i];

		if (strcmp(pair[0], name) == 0) {
			free(pair[0]);
			free(pair[1]);
			continue;
		}
		settings->list[2 * kept] = pair[0];
		settings->list[2 * kept++ + 1] = pair[1];
	}
	settings->count = kept;
	if (settings->list)
		settings->list[2 * kept] = NULL;
}

struct search {
	struct git_settings settings;
	int result;
};

static bool is_multiple(const char *name)
{
	return strcmp(name, "safe.directory") == 0;
}

static void on_variable(void *context, const struct git_origin *origin, const char *name,
			const char *value)
{
	struct search *search = context;
	const char *known = policy_git_setting(name);

	if (!known || !origin->applies || search->result < 0)
		return;
	/* git ignores this setting in a repository. */
	if (origin->scope == GIT_SCOPE_REPOSITORY && is_multiple(known))
		return;
	/* An empty value clears the list of earlier values. */
	if (origin->scope == GIT_SCOPE_REPOSITORY || !is_multiple(known) || (value && !*value))
		leave_out(&search->settings, known);
	if (origin->scope == GIT_SCOPE_REPOSITORY || !value || !*value || !is_plain(value) ||
	    search->settings.count == GIT_SETTINGS_MAX)
		return;
	search->result = add(&search->settings, known, value);
}

int git_settings_find(const struct git_places *places, const struct git_repository *repository,
		      struct git_settings *ret_settings)
{
	struct search search = {};

	/* git itself reports an unreadable file. */
	(void)git_files_each(places, repository, on_variable, &search);
	if (search.result < 0)
		git_settings_release(&search.settings);
	else
		*ret_settings = search.settings;
	return search.result;
}

void git_settings_put(const struct git_settings *settings, FILE *to)
{
	parcel_put_list(to, settings->list, 2 * settings->count);
}

int git_settings_take(struct parcel *from, struct git_settings *ret_settings)
{
	struct git_settings settings = {};
	size_t count = 0;
	int r = parcel_take_list(from, &settings.list, &count);

	settings.count = count / 2;
	if (r == 0 && (count % 2 != 0 || settings.count > GIT_SETTINGS_MAX))
		r = -EPROTO;
	for (size_t i = 0; r == 0 && i < settings.count; i++)
		if (!settings.list[2 * i] || !settings.list[2 * i + 1] ||
		    !policy_git_setting(settings.list[2 * i]) ||
		    !is_plain(settings.list[2 * i + 1]))
			r = -EPROTO;
	if (r < 0)
		git_settings_release(&settings);
	else
		*ret_settings = settings;
	return r;
}
