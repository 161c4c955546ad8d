/* SPDX-License-Identifier: Apache-2.0 */
/* Searches home directories for agents, each in a worker with the rights of its user. */
#include "cli/setup/agent_homes.h"

#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/setup/agent_forms.h"
#include "cli/setup/agent_search.h"
#include "config/config.h"
#include "launch/as_user.h"

/* Bounds of one worker: seconds, directory entries, agents, bytes. */
#define SECONDS	    10u
#define ENTRIES_MAX 100000u
#define AGENTS_MAX  32u
#define REPORT_MAX  (256u * 1024u)
/* Longest names that an entry can hold. */
#define PATH_LENGTH   CONFIG_PATH_MAX
#define SCRIPT_LENGTH 48u
/* Of accounts, where a directory service lists all of a company's. */
#define ACCOUNTS_MAX 4096u

/* Paths and names are written to cordon.yaml, and belong to users. */
static bool is_plain(const char *text, size_t max)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._@+-";

	return text && *text && strlen(text) <= max && strspn(text, allowed) == strlen(text) &&
	       !strstr(text, "/..");
}

/* --- users -------------------------------------------------------------------------------- */

static bool logs_in(const struct passwd *account)
{
	const char *shell = account->pw_shell ? strrchr(account->pw_shell, '/') : NULL;

	if (account->pw_uid != 0 && (account->pw_uid < 1000 || account->pw_uid >= 60000))
		return false;
	return !shell || (strcmp(shell, "/nologin") != 0 && strcmp(shell, "/false") != 0);
}

static bool set_home(struct agent_home *home, const struct passwd *account, const char *path)
{
	if (!is_plain(account->pw_name, sizeof(home->user) - 1) ||
	    !is_plain(path, sizeof(home->path) - 1) || path[0] != '/' || !path[1])
		return false;
	snprintf(home->user, sizeof(home->user), "%s", account->pw_name);
	snprintf(home->path, sizeof(home->path), "%s", path);
	home->uid = account->pw_uid;
	home->gid = account->pw_gid;
	return true;
}

size_t agent_homes_list(struct agent_home homes[AGENT_HOMES_MAX])
{
	const struct passwd *account;
	size_t count = 0;

	if (geteuid() != 0) {
		account = getpwuid(geteuid());
		if (!account)
			return 0;
		return set_home(&homes[0], account, getenv("HOME") ?: account->pw_dir) ? 1 : 0;
	}
	setpwent();
	for (unsigned int i = 0; i < ACCOUNTS_MAX && count < AGENT_HOMES_MAX; i++) {
		account = getpwent();
		if (!account)
			break;
		if (logs_in(account) && set_home(&homes[count], account, account->pw_dir))
			count++;
	}
	endpwent();
	return count;
}

/* --- the worker --------------------------------------------------------------------------- */

struct work {
	const char *base;
	bool home;
};

static int write_line(void *context, json_t *agent)
{
	int r = json_dumpf(agent, context, JSON_COMPACT) < 0 ? -EIO : 0;

	json_decref(agent);
	fputc('\n', context);
	return r;
}

static void work(const void *context, FILE *to)
{
	const struct work *job = context;
	struct agent_search search = {
		.tree = {.fd = open(*job->base ? job->base : "/",
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			 .budget = ENTRIES_MAX},
		.base = job->base,
		.home = job->home,
		.found = write_line,
		.context = to,
	};

	if (search.tree.fd < 0)
		return;
	fputs("{\"exists\":true}\n", to);
	if (agent_search(&search) == 0)
		fputs("{\"whole\":true}\n", to);
}

/* --- its report --------------------------------------------------------------------------- */

/* It read files of a user, who may have named them. */
static bool is_known(json_t *line)
{
	const char *program = NULL, *place = NULL, *interpreter = NULL, *script = NULL;
	int form = -1;

	return json_unpack(line, "{s:i,s:s,s:s,s?s,s?s}", "form", &form, "program", &program,
			   "place", &place, "interpreter", &interpreter, "script", &script) == 0 &&
	       form >= 0 && (size_t)form < agent_form_count && is_plain(program, PATH_LENGTH) &&
	       program[0] == '/' && (!*place || is_plain(place, PATH_LENGTH)) &&
	       (!interpreter || (is_plain(interpreter, PATH_LENGTH) && interpreter[0] == '/')) &&
	       (!script || is_plain(script, SCRIPT_LENGTH));
}

static int take_line(const char *text, struct agent_found *found)
{
	_cleanup_(json_decrefp) json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_true(json_object_get(line, "exists")))
		found->exists = true;
	if (json_is_true(json_object_get(line, "whole")))
		found->cut = false;
	if (!line || !is_known(line) || json_array_size(found->agents) >= AGENTS_MAX)
		return 0;
	return json_array_append(found->agents, line) < 0 ? -ENOMEM : 0;
}

int agent_homes_search(const struct agent_home *home, const char *root,
		       struct agent_found *ret_found)
{
	struct launch_identity identity = {.change = home && geteuid() == 0};
	const struct work job = {.base = home ? home->path : root, .home = home != NULL};
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	int r;

	if (home) {
		identity.uid = home->uid;
		identity.gid = home->gid;
	}
	*ret_found = (struct agent_found){.agents = json_array(), .cut = true};
	if (!ret_found->agents)
		return -ENOMEM;
	fflush(stdout);
	r = as_user_read(&identity, SECONDS, REPORT_MAX, work, &job, &text, &size);
	/* A home directory that cannot be searched concerns no other user. */
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = 0;
	for (char *save = NULL, *line = size ? strtok_r(text, "\n", &save) : NULL; r == 0 && line;
	     line = strtok_r(NULL, "\n", &save))
		r = take_line(line, ret_found);
	return r;
}
