/* SPDX-License-Identifier: Apache-2.0 */
/* Makes entries of cordon.yaml from the agents that were found. */
#include "cli/setup/setup_plan.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "adopt/name_walk.h"
#include "base/cleanup.h"
#include "cli/setup/agent_forms.h"

/* Users beyond which a program of the system gets one entry for all of them. */
#define USERS_MAX 4

/* One agent in one place, for one user. */
struct candidate {
	struct setup_plan *plan;
	const struct agent_form *form;
	const struct agent_home *home; /* NULL: of every user */
	const char *program, *interpreter, *script, *place;
	char executable[PATH_MAX]; /* as the entry has it */
	char arguments[CONFIG_PATTERN_MAX + 1];
};

/* --- existing entries -------------------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b)
{
	_cleanup_(freep) char *left = realpath(a, NULL), *right = realpath(b, NULL);

	return strcmp(a, b) == 0 || (left && right && strcmp(left, right) == 0);
}

static bool is_program_of(const char *executable, const struct candidate *c)
{
	const char *process = c->interpreter ? c->interpreter : c->program;

	if (strcmp(executable, c->executable) == 0)
		return true;
	if (name_walk_is_pattern(executable))
		return name_walk_is_like(executable, process);
	return is_same_file(executable, process);
}

static bool is_user_of(const char *user, const struct candidate *c)
{
	char number[16];

	if (!user || !c->home)
		return true;
	snprintf(number, sizeof(number), "%u", c->home->uid);
	return strcmp(user, c->home->user) == 0 || strcmp(user, number) == 0;
}

/*
 * Does an entry match this agent? For one program with arguments it must have the same pattern, or
 * none: a program such as node has many.
 */
static bool covers(const struct config_executor *entry, const struct candidate *c)
{
	return is_program_of(entry->executable, c) && is_user_of(entry->user, c) &&
	       (!entry->arguments || strcmp(entry->arguments, c->arguments) == 0);
}

static const struct config_executor *find_entry(const struct candidate *c)
{
	const struct config *config = c->plan->config;

	for (size_t i = 0; config && i < config_executor_count(config); i++)
		if (covers(config_executor_at(config, i), c))
			return config_executor_at(config, i);
	return NULL;
}

/* --- names -------------------------------------------------------------------------------- */

static const char *name_of(const json_t *item)
{
	return json_string_value(json_object_get(json_object_get(item, "entry"), "name"));
}

static bool is_taken(const struct setup_plan *plan, const char *name)
{
	const json_t *item;
	size_t i;

	for (i = 0; plan->config && i < config_executor_count(plan->config); i++)
		if (strcmp(config_executor_at(plan->config, i)->name, name) == 0)
			return true;
	json_array_foreach(plan->items, i, item)
		if (name_of(item) && strcmp(name_of(item), name) == 0)
			return true;
	return false;
}

/* An entry's name takes no @ and no +. */
static void choose_name(const struct candidate *c, char name[65])
{
	char base[60];

	snprintf(base, sizeof(base), "%s%s%.40s", c->form->agent, c->home ? "-" : "",
		 c->home ? c->home->user : "");
	for (char *at = base; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_.-", *at))
			*at = '_';
	snprintf(name, 65, "%s", base);
	for (unsigned int i = 2; is_taken(c->plan, name); i++)
		snprintf(name, 65, "%s-%u", base, i);
}

/* --- entries ------------------------------------------------------------------------------ */

static bool same_entry(const json_t *item, const struct candidate *c)
{
	const json_t *match = json_object_get(json_object_get(item, "entry"), "match");
	const char *executable = json_string_value(json_object_get(match, "executable")),
		   *arguments = json_string_value(json_object_get(match, "arguments")),
		   *user = json_string_value(json_object_get(match, "user"));

	return executable && strcmp(executable, c->executable) == 0 &&
	       strcmp(arguments ? arguments : "", c->arguments) == 0 &&
	       (!user || (c->home && strcmp(user, c->home->user) == 0));
}

static bool is_planned(const struct candidate *c)
{
	const json_t *item;
	size_t i;

	json_array_foreach(c->plan->items, i, item)
		if (same_entry(item, c))
			return true;
	return false;
}

static json_t *children_of(const struct candidate *c)
{
	if (!c->form->again)
		return NULL;
	return json_pack("{s:[s,s*]}", "except", c->interpreter ? c->interpreter : c->executable,
			 c->form->other ? c->form->other : NULL);
}

static json_t *binds_of(const struct candidate *c)
{
	if (c->form->process == AGENT_RUNTIME)
		return NULL;
	if (c->form->process == AGENT_LIBRARY)
		return json_pack("{s:s}", "venv", c->place);
	return c->home ? json_pack("{s:s}", "home", c->home->path) : NULL;
}

static bool has_text(const json_t *list, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (strcmp(json_string_value(one), text) == 0)
			return true;
	return false;
}

/* The directory above, unless that is the root. */
static void add_parent(json_t *list, const char *path)
{
	char directory[PATH_MAX];
	char *slash;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (slash && slash != directory)
		*slash = '\0';
	if (!has_text(list, directory))
		(void)json_array_append_new(list, json_string(directory));
}

/*
 * Where code may work: below the user's home directory, or all users'. AutoGen's default is a
 * directory that it makes in /tmp.
 */
static json_t *under_of(const struct candidate *c)
{
	const struct setup_plan *plan = c->plan;
	json_t *list = json_array();

	if (!list)
		return NULL;
	if (c->form->process == AGENT_LIBRARY) {
		add_parent(list, c->place);
		(void)json_array_append_new(list, json_string("/tmp"));
	} else if (c->home) {
		(void)json_array_append_new(list, json_string(c->home->path));
	} else {
		for (size_t i = 0; i < plan->home_count; i++)
			add_parent(list, plan->homes[i].path);
	}
	return list;
}

static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

/* A project in a home directory belongs to the user of that home. */
static bool confines_itself(const struct candidate *c)
{
	const struct setup_plan *plan = c->plan;

	if (!plan->work || !c->form->itself || !c->home)
		return false;
	for (size_t i = 0; i < plan->home_count; i++)
		if (is_below(plan->work, plan->homes[i].path))
			return c->home == &plan->homes[i];
	return true;
}

static json_t *itself_of(const struct candidate *c)
{
	if (!confines_itself(c))
		return NULL;
	return json_pack("{s:s,s:{s:s,s:s}}", "policy", c->form->itself, "bind", "home",
			 c->home->path, "work", c->plan->work);
}

static json_t *entry_of(const struct candidate *c)
{
	const bool container = c->form->process == AGENT_RUNTIME;
	char name[65];

	choose_name(c, name);
	return json_pack("{s:s,s:s*,s:{s:s,s:s*,s:s*},s:o*,s:s,s:o*,s:o*,s:o*,s:s*}", "name", name,
			 "kind", container ? "container" : (c->form->session ? "session" : NULL),
			 "match", "executable", c->executable, "arguments",
			 *c->arguments ? c->arguments : NULL, "user",
			 c->home ? c->home->user : NULL, "children", children_of(c), "policy",
			 c->form->policy, "bind", binds_of(c),
			 container ? "volumes" : "workdir_under", under_of(c), "itself",
			 itself_of(c), "lifetime", container ? "none" : NULL);
}

/* ------------------------------------------------------------------------------------------ */

static int add_item(const struct candidate *c, const char *state, json_t *reason, json_t *entry)
{
	json_t *item = json_pack("{s:s,s:s,s:s*,s:s,s:o*,s:o*}", "agent", c->form->title, "found",
				 c->program, "user", c->home ? c->home->user : NULL, "state", state,
				 "reason", reason, "entry", entry);

	return item && json_array_append_new(c->plan->items, item) == 0 ? 0 : -ENOMEM;
}

static size_t entries_of(const json_t *item)
{
	const json_t *entry = json_object_get(item, "entry");

	return entry ? 1 + (json_object_get(entry, "itself") != NULL) : 0;
}

/* How many the file may still have: those for executors themselves count as well. */
static size_t room(const struct setup_plan *plan)
{
	size_t used = 0, i;
	const json_t *item;

	for (i = 0; plan->config && i < config_executor_count(plan->config); i++)
		used += 1 + (config_executor_at(plan->config, i)->itself != NULL);
	json_array_foreach(plan->items, i, item)
		used += entries_of(item);
	return used < CONFIG_EXECUTORS_MAX ? CONFIG_EXECUTORS_MAX - used : 0;
}

static int plan_candidate(struct candidate *c)
{
	const struct config_executor *entry;

	if (is_planned(c))
		return 0;
	entry = find_entry(c);
	if (entry)
		return add_item(c, "present",
				json_sprintf("entry %s, line %u", entry->name, entry->line), NULL);
	if (c->form->process == AGENT_RUNTIME && !c->plan->containers)
		return add_item(c, "none",
				json_string("--containers confines all containers of this host"),
				NULL);
	if (c->form->process == AGENT_LIBRARY && !c->script)
		return add_item(c, "none",
				json_string("no script beside the environment imports it"), NULL);
	if (room(c->plan) < 1 + (size_t)confines_itself(c))
		return add_item(c, "none", json_string("cordon.yaml has no room for more entries"),
				NULL);
	return add_item(c, "new", NULL, entry_of(c));
}

static void set_match(struct candidate *c)
{
	const struct agent_form *form = c->form;

	if (c->interpreter)
		snprintf(c->executable, sizeof(c->executable), "%s", c->interpreter);
	else if (form->versions)
		snprintf(c->executable, sizeof(c->executable), "%s/%s", c->home->path, form->path);
	else
		snprintf(c->executable, sizeof(c->executable), "%s", c->program);
	/* The script is started by a relative name as well. */
	if (c->script)
		snprintf(c->arguments, sizeof(c->arguments), "*%s", c->script);
	else
		snprintf(c->arguments, sizeof(c->arguments), "%s",
			 form->argument ? form->argument : "");
}

/*
 * A program of the system that works in home directories gets an entry for each user, as long as
 * these are few: the file has room for CONFIG_EXECUTORS_MAX.
 */
static bool is_for_each_user(const struct candidate *c)
{
	return c->form->process != AGENT_RUNTIME && c->form->process != AGENT_LIBRARY &&
	       c->plan->home_count <= USERS_MAX;
}

static int plan_agent(struct setup_plan *plan, const struct agent_home *home, json_t *agent)
{
	struct candidate c = {.plan = plan, .home = home};
	int form = 0, r = 0;

	if (json_unpack(agent, "{s:i,s:s,s:s,s?s,s?s}", "form", &form, "program", &c.program,
			"place", &c.place, "interpreter", &c.interpreter, "script", &c.script) < 0)
		return 0;
	c.form = &agent_forms[form];
	set_match(&c);
	if (home || !is_for_each_user(&c))
		return plan_candidate(&c);
	for (size_t i = 0; r == 0 && i < plan->home_count; i++) {
		c.home = &plan->homes[i];
		r = plan_candidate(&c);
	}
	return r;
}

int setup_plan_add(struct setup_plan *plan, const struct agent_home *home, json_t *agents)
{
	json_t *agent;
	size_t i;
	int r = 0;

	json_array_foreach(agents, i, agent) {
		r = plan_agent(plan, home, agent);
		if (r < 0)
			return r;
	}
	return 0;
}

size_t setup_plan_new(const struct setup_plan *plan)
{
	const json_t *item;
	size_t i, count = 0;

	json_array_foreach(plan->items, i, item)
		count += json_object_get(item, "entry") != NULL;
	return count;
}

/* --- as YAML ------------------------------------------------------------------------------ */

/* YAML takes some words for something other than text. */
static bool is_plain_scalar(const char *text)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on",
					    "off",  "null",  "y",   "n"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return false;
	return (isalpha((unsigned char)text[0]) || text[0] == '/') &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789/._@+-")] == '\0';
}

/* The texts have no quote and no backslash: agent_homes.c lets none through. */
static void write_flow(FILE *out, const json_t *value)
{
	const char *key, *separator = "";
	const json_t *part;
	size_t i;

	if (json_is_object(value)) {
		fputc('{', out);
		json_object_foreach((json_t *)(uintptr_t)value, key, part) {
			fprintf(out, "%s%s: ", separator, key);
			write_flow(out, part);
			separator = ", ";
		}
		fputc('}', out);
	} else if (json_is_array(value)) {
		fputc('[', out);
		json_array_foreach(value, i, part) {
			fputs(separator, out);
			write_flow(out, part);
			separator = ", ";
		}
		fputc(']', out);
	} else {
		const char *text = json_string_value(value);

		fprintf(out, is_plain_scalar(text) ? "%s" : "\"%s\"", text);
	}
}

void setup_entry_write(FILE *out, const json_t *entry, unsigned int indent)
{
	const char *key, *begin = "- ";
	const json_t *value;

	json_object_foreach((json_t *)(uintptr_t)entry, key, value) {
		fprintf(out, "%*s%s%s: ", (int)indent, "", begin, key);
		write_flow(out, value);
		fputc('\n', out);
		begin = "  ";
	}
}
