/* SPDX-License-Identifier: Apache-2.0 */
/* Builds an execution's environment from the caller's variables and the policy. */
#include "launch/environment.h"

#include <fnmatch.h>
#include <string.h>

#include "policy/core/variables.h"

/* --- lists of strings --------------------------------------------------------------------- */

struct list {
	char **entries; /* NULL-terminated unless NULL */
	size_t count;
};

static void list_release(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->entries[i]);
	free(list->entries);
}

/* Takes ownership of `entry`, even on failure. NULL: asprintf() had no memory. */
static int list_add(struct list *list, char *entry)
{
	char **grown;

	if (!entry)
		return -ENOMEM;
	grown = reallocarray(list->entries, list->count + 2, sizeof(*grown));
	if (!grown) {
		free(entry);
		return -ENOMEM;
	}
	list->entries = grown;
	grown[list->count++] = entry;
	grown[list->count] = NULL;
	return 0;
}

static int list_add_name(struct list *list, const char *name, size_t length)
{
	return list_add(list, strndup(name, length));
}

/* "NAME=value" */
static int list_add_variable(struct list *list, const char *name, size_t length, const char *value)
{
	char *entry;

	if (asprintf(&entry, "%.*s=%s", (int)length, name, value) < 0)
		entry = NULL;
	return list_add(list, entry);
}

static bool list_has_name(const struct list *list, const char *name, size_t length)
{
	for (size_t i = 0; i < list->count; i++)
		if (strlen(list->entries[i]) == length &&
		    memcmp(list->entries[i], name, length) == 0)
			return true;
	return false;
}

/* --- which variables are kept ------------------------------------------------------------- */

const char *const *environment_loading(void)
{
	return policy_loading_variables();
}

static bool matches(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, 0) == 0;
}

static bool loads(const char *name)
{
	for (const char *const *loading = policy_loading_variables(); *loading; loading++)
		if (matches(*loading, name))
			return true;
	return false;
}

static bool keeps(const struct policy_environment *policy, const char *name)
{
	bool by_pattern = false;

	if (policy->keep_all)
		return true;
	for (char **pattern = policy->keep; *pattern; pattern++) {
		if (strcmp(*pattern, name) == 0)
			return true;
		by_pattern |= matches(*pattern, name);
	}
	return by_pattern && !loads(name);
}

bool environment_keeps(const struct policy_environment *policy, const char *variable)
{
	char name[256];
	size_t length = strcspn(variable, "=");

	if (length >= sizeof(name))
		return policy->keep_all;
	memcpy(name, variable, length);
	name[length] = '\0';
	return keeps(policy, name);
}

static bool sets(const struct policy_environment *policy, const char *name)
{
	for (char **set = policy->set_names; *set; set++)
		if (strcmp(*set, name) == 0)
			return true;
	return false;
}

static const char *anchor_path(const struct environment_anchor *anchors, size_t count,
			       const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(anchors[i].name) == length && memcmp(anchors[i].name, name, length) == 0)
			return anchors[i].path;
	return NULL;
}

/* Variables about the user must describe the user who runs the command. */
static const char *value_for(const struct launch_identity *identity, const char *workdir,
			     const char *name, const char *value)
{
	if (strcmp(name, "PWD") == 0)
		return workdir ? workdir : value;
	if (!identity->change)
		return value;
	if (strcmp(name, "HOME") == 0)
		return identity->home ? identity->home : "/";
	if (strcmp(name, "USER") == 0 || strcmp(name, "LOGNAME") == 0)
		return identity->name;
	return value;
}

/* Shells accept no other names, and records could not contain them. */
static bool is_name(const char *entry, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (entry[i] <= ' ' || entry[i] > '~')
			return false;
	return length > 0;
}

struct lists {
	struct list variables, kept, removed;
};

static void lists_release(struct lists *lists)
{
	list_release(&lists->variables);
	list_release(&lists->kept);
	list_release(&lists->removed);
}

static int sort_named(struct lists *lists, const struct policy_environment *policy,
		      const char *name, const char *value)
{
	size_t length = strlen(name);
	int r;

	/* The policy's value replaces the caller's. */
	if (!value || !keeps(policy, name) || sets(policy, name))
		return list_add_name(&lists->removed, name, length);
	r = list_add_variable(&lists->variables, name, length, value);
	return r < 0 ? r : list_add_name(&lists->kept, name, length);
}

static int sort_one(struct lists *lists, const struct policy_environment *policy,
		    const struct launch_identity *identity, const char *workdir, const char *entry)
{
	const char *equals = strchr(entry, '=');
	size_t length = equals ? (size_t)(equals - entry) : 0;
	char *name;
	int r;

	if (!is_name(entry, length))
		return 0;
	if (list_has_name(&lists->kept, entry, length) ||
	    list_has_name(&lists->removed, entry, length))
		return 0;
	name = strndup(entry, length);
	if (!name)
		return -ENOMEM;
	r = sort_named(lists, policy, name, value_for(identity, workdir, name, equals + 1));
	free(name);
	return r;
}

/* --- variables set by the policy -------------------------------------------------------------- */

/* `value` with every ${anchor} replaced. */
static int expand(const char *variable, const char *value, const struct environment_anchor *anchors,
		  size_t count, char **ret_text, struct failure *failure)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(fclosep) FILE *out = NULL;
	size_t size;

	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	while (*value) {
		const char *start = strstr(value, "${");
		const char *end = start ? strchr(start, '}') : NULL;
		const char *path;

		if (!end) {
			fputs(value, out);
			break;
		}
		path = anchor_path(anchors, count, start + 2, (size_t)(end - start - 2));
		if (!path)
			return failure_set(failure, EINVAL,
					   "the policy sets the variable %s to '%s', but nothing "
					   "is bound to '%.*s'",
					   variable, value, (int)(end + 1 - start), start);
		fwrite(value, 1, (size_t)(start - value), out);
		fputs(path, out);
		value = end + 1;
	}
	if (fclose(TAKE_PTR(out)) != 0)
		return -ENOMEM;
	*ret_text = TAKE_PTR(text);
	return 0;
}

static int add_variable(struct lists *lists, const char *name, const char *text,
			const struct environment_anchor *anchors, size_t anchor_count,
			struct failure *failure)
{
	_cleanup_(freep) char *value = NULL;
	int r = expand(name, text, anchors, anchor_count, &value, failure);

	return r < 0 ? r : list_add_variable(&lists->variables, name, strlen(name), value);
}

/* --- git's configuration in variables: GIT_CONFIG_COUNT, see git-config(1) ----------------- */

static const char *value_set(const struct policy_environment *policy, const char *name)
{
	for (size_t i = 0; policy->set_names[i]; i++)
		if (strcmp(policy->set_names[i], name) == 0)
			return policy->set_values[i];
	return NULL;
}

static bool is_numbered(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 && name[length] &&
	       name[length + strspn(name + length, "0123456789")] == '\0';
}

static bool is_git_config(const char *name)
{
	return strcmp(name, "GIT_CONFIG_COUNT") == 0 || is_numbered(name, "GIT_CONFIG_KEY_") ||
	       is_numbered(name, "GIT_CONFIG_VALUE_");
}

static int add_numbered(struct lists *lists, const char *name, size_t number, const char *value)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "GIT_CONFIG_%s_%zu", name, number);

	return list_add_variable(&lists->variables, text, (size_t)length, value);
}

static int add_pair(struct lists *lists, size_t number, const char *key, const char *value)
{
	int r = add_numbered(lists, "KEY", number, key);

	return r < 0 ? r : add_numbered(lists, "VALUE", number, value);
}

/* Adds a pair for each value of the user's setting. */
static int add_setting(struct lists *lists, const struct git_settings *git, const char *key,
		       const char *setting, size_t *count)
{
	int r = 0;

	for (size_t i = 0; git && r == 0 && i < git->count; i++)
		if (strcmp(git->list[2 * i], setting) == 0)
			r = add_pair(lists, (*count)++, key, git->list[2 * i + 1]);
	return r;
}

static int add_git_pair(struct lists *lists, const struct policy_environment *policy,
			const struct environment_given *given, size_t number, size_t *count,
			struct failure *failure)
{
	_cleanup_(freep) char *expanded = NULL;
	const char *key, *value, *setting;
	char name[64];
	int r;

	snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%zu", number);
	key = value_set(policy, name);
	snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%zu", number);
	value = value_set(policy, name);
	if (!key || !value)
		return 0;
	r = policy_git_reference(value, &setting);
	if (r > 0)
		return add_setting(lists, given->git, key, setting, count);
	r = expand(name, value, given->anchors, given->anchor_count, &expanded, failure);
	return r < 0 ? r : add_pair(lists, (*count)++, key, expanded);
}

/*
 * Renumbers the pairs, because a user's setting may have no value or several. GIT_CONFIG_COUNT
 * comes last: git fails on every command if it is set and one of the others is missing.
 */
static int add_git_config(struct lists *lists, const struct policy_environment *policy,
			  const struct environment_given *given, struct failure *failure)
{
	const char *text = value_set(policy, "GIT_CONFIG_COUNT");
	size_t wanted = text ? strtoul(text, NULL, 10) : 0, count = 0;
	char number[32];
	int r = 0;

	if (!text)
		return 0;
	if (wanted > POLICY_GIT_CONFIG_MAX)
		return failure_set(failure, EINVAL, "the policy sets GIT_CONFIG_COUNT above %u",
				   POLICY_GIT_CONFIG_MAX);
	for (size_t i = 0; r == 0 && i < wanted; i++)
		r = add_git_pair(lists, policy, given, i, &count, failure);
	snprintf(number, sizeof(number), "%zu", count);
	return r < 0 ? r : list_add_variable(&lists->variables, "GIT_CONFIG_COUNT", 16, number);
}

static int add_set(struct lists *lists, const struct policy_environment *policy,
		   const struct environment_given *given, struct failure *failure)
{
	bool git = sets(policy, "GIT_CONFIG_COUNT");

	for (size_t i = 0; policy->set_names[i]; i++) {
		const char *name = policy->set_names[i];
		int r;

		if (name[0] == '\0' || strchr(name, '='))
			return failure_set(failure, EINVAL,
					   "the policy sets a variable of an impossible name, '%s'",
					   name);
		if (git && is_git_config(name))
			continue;
		r = add_variable(lists, name, policy->set_values[i], given->anchors,
				 given->anchor_count, failure);
		if (r < 0)
			return r;
	}
	return add_git_config(lists, policy, given, failure);
}

/* Executions must not use the shared /tmp, so a caller's TMPDIR is always replaced. */
static int add_tmpdir(struct lists *lists, const struct policy_environment *policy, const char *tmp)
{
	static const char name[] = "TMPDIR";

	if (!tmp || sets(policy, name))
		return 0;
	return list_add_variable(&lists->variables, name, strlen(name), tmp);
}

static bool is_tmpdir(const char *entry)
{
	return strncmp(entry, "TMPDIR=", 7) == 0;
}

/* Make an empty list a NULL-terminated array, too. */
static int terminate(struct list *list)
{
	if (list->entries)
		return 0;
	list->entries = calloc(1, sizeof(*list->entries));
	return list->entries ? 0 : -ENOMEM;
}

static int build(struct lists *lists, char *const *caller, const struct policy_environment *policy,
		 const struct environment_given *given, const struct launch_identity *identity,
		 struct failure *failure)
{
	const char *tmp = anchor_path(given->anchors, given->anchor_count, "tmp", 3);
	const char *workdir = anchor_path(given->anchors, given->anchor_count, "workdir", 7);
	int r;

	for (; *caller; caller++) {
		if (tmp && is_tmpdir(*caller))
			r = list_has_name(&lists->removed, "TMPDIR", 6)
				    ? 0
				    : list_add_name(&lists->removed, "TMPDIR", 6);
		else
			r = sort_one(lists, policy, identity, workdir, *caller);
		if (r < 0)
			return r;
	}
	r = add_set(lists, policy, given, failure);
	if (r == 0)
		r = add_tmpdir(lists, policy, tmp);
	if (r == 0)
		r = terminate(&lists->variables);
	if (r == 0)
		r = terminate(&lists->kept);
	return r < 0 ? r : terminate(&lists->removed);
}

int environment_build(char *const *caller, const struct policy_environment *policy,
		      const struct environment_given *given, const struct launch_identity *identity,
		      struct environment *ret_environment, struct failure *failure)
{
	struct lists lists = {};
	int r;

	r = build(&lists, caller, policy, given, identity, failure);
	if (r < 0) {
		lists_release(&lists);
		return failure_set(failure, r, "cannot make the environment: %m");
	}
	*ret_environment = (struct environment){
		.variables = lists.variables.entries,
		.kept = lists.kept.entries,
		.removed = lists.removed.entries,
	};
	return 0;
}

int environment_set(const struct policy_environment *policy, const struct environment_given *given,
		    char ***ret_variables, struct failure *failure)
{
	struct lists lists = {};
	int r = add_set(&lists, policy, given, failure);

	if (r == 0)
		r = add_tmpdir(&lists, policy,
			       anchor_path(given->anchors, given->anchor_count, "tmp", 3));
	if (r == 0)
		r = terminate(&lists.variables);
	if (r < 0) {
		lists_release(&lists);
		return failure_set(failure, r, "cannot make the environment: %m");
	}
	*ret_variables = lists.variables.entries;
	return 0;
}

static void strings_free(char **strings)
{
	for (char **s = strings; s && *s; s++)
		free(*s);
	free(strings);
}

void environment_release(struct environment *environment)
{
	strings_free(environment->variables);
	strings_free(environment->kept);
	strings_free(environment->removed);
	*environment = (struct environment){};
}

const char *environment_get(char *const *variables, const char *name)
{
	size_t length = strlen(name);

	for (; *variables; variables++)
		if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=')
			return *variables + length + 1;
	return NULL;
}
