/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one entry of cordon.yaml's list of executors. */
#include "config/read_executor.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/listed.h"
#include "config/read_value.h"
#include "policy/source/units.h"

static const struct word kinds[] = {
	{"per-run", CONFIG_PER_RUN},
	{"session", CONFIG_SESSION},
	{"container", CONFIG_CONTAINER},
	{NULL, 0},
};

static const struct word stages[] = {
	{"production", CONFIG_PRODUCTION},
	{"ephemeral", CONFIG_EPHEMERAL},
	{NULL, 0},
};

/*
 * A session is ended by a message, then by SIGTERM. A container's runtime has its own grace period.
 */
static const uint32_t default_grace_msec[] = {
	[CONFIG_PER_RUN] = 2000,
	[CONFIG_SESSION] = 10000,
	[CONFIG_CONTAINER] = 0,
};

/* --- match and children ------------------------------------------------------------------- */

#define TARGET	     ((struct config_executor *)target)
#define BOOLEAN_HINT "write true or false"

/* Checks a pattern with `*`. The kernel matches the part after the first one. */
static void check_pattern(struct reader *r, const struct node *n, const char *path)
{
	const char *star = strchr(path, '*');
	const char *hint = "as in /home/*/.local/share/tool/versions/*";

	if (!star)
		return;
	if (strstr(path, "**"))
		report_error(r->diagnostics, &n->place, hint,
			     "executable \"%s\": write one * for each directory", path);
	else if (!memchr(path + 1, '/', (size_t)(star - path) - 1))
		report_error(r->diagnostics, &n->place, hint,
			     "executable \"%s\": its first directory cannot be a pattern", path);
	else if (strpbrk(path, "?[{\\"))
		report_error(r->diagnostics, &n->place, "write an entry for each",
			     "executable \"%s\": only * is a pattern here", path);
	else if (strlen(star) > CONFIG_PATTERN_MAX)
		report_error(r->diagnostics, &n->place, "the kernel compares that much",
			     "executable \"%s\" is longer than %u bytes from its first * on", path,
			     CONFIG_PATTERN_MAX);
}

static int read_executable(struct reader *r, const struct node *n, void *target)
{
	if (n->type == NODE_SCALAR && n->size > 1 && n->text[0] == '~') {
		report_error(r->diagnostics, &n->place,
			     "write /home/*/... for every user, or the user's own directory",
			     "executable \"%s\" does not name the user of the home directory",
			     n->text);
		return 0;
	}
	config_read_path(r, n, "executable", &TARGET->executable);
	if (TARGET->executable)
		check_pattern(r, n, TARGET->executable);
	return 0;
}

static int read_arguments(struct reader *r, const struct node *n, void *target)
{
	return config_read_pattern(r, n, "arguments", &TARGET->arguments);
}

/* A plain number is also a user. */
static int read_user(struct reader *r, const struct node *n, void *target)
{
	if (n->type == NODE_SCALAR && n->size && strspn(n->text, "0123456789") == n->size)
		TARGET->user = n->text;
	else
		return config_read_text(r, n, "user", &TARGET->user);
	return 0;
}

static int read_cgroup(struct reader *r, const struct node *n, void *target)
{
	return config_read_path(r, n, "cgroup", &TARGET->cgroup);
}

static int read_match(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"executable", read_executable},
		{"arguments", read_arguments},
		{"user", read_user},
		{"cgroup", read_cgroup},
		{NULL, NULL},
	};

	return reader_mapping(r, n, "match", keys, target);
}

static int read_programs(struct reader *r, const struct node *n, void *target)
{
	return config_read_paths(r, n, "a program", "programs: [/usr/bin/python3, /usr/bin/bash]",
				 &TARGET->programs);
}

static int read_except(struct reader *r, const struct node *n, void *target)
{
	return config_read_paths(r, n, "a program", "except: [/usr/bin/git]", &TARGET->except);
}

static int read_child_arguments(struct reader *r, const struct node *n, void *target)
{
	return config_read_pattern(r, n, "arguments", &TARGET->child_arguments);
}

static int read_children(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"programs", read_programs},
		{"except", read_except},
		{"arguments", read_child_arguments},
		{NULL, NULL},
	};
	int e = reader_mapping(r, n, "children", keys, target);

	if (e == 0 && TARGET->programs[0] && TARGET->except[0])
		report_error(r->diagnostics, &n->place, "keep one of them",
			     "programs and except exclude each other");
	return e;
}

/* --- an executor -------------------------------------------------------------------------- */

static int read_name(struct reader *r, const struct node *n, void *target)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const char *text;

	if (!reader_string(r, n, "name", &text))
		return 0;
	if (!*text || n->size > 64 || strspn(text, allowed) != n->size || *text == '.' ||
	    *text == '-')
		report_error(r->diagnostics, &n->place,
			     "at most 64 letters, digits, and _ . - inside",
			     "\"%s\" is no name for an executor", text);
	else
		TARGET->name = text;
	return 0;
}

static int read_kind(struct reader *r, const struct node *n, void *target)
{
	uint32_t value;

	if (reader_word(r, n, "kind", kinds, &value))
		TARGET->kind = (enum config_kind)value;
	return 0;
}

static int read_policy_name(struct reader *r, const struct node *n, void *target)
{
	int e = config_read_text(r, n, "policy", &TARGET->policy);

	if (e == 0 && TARGET->policy && strchr(TARGET->policy, '/') && TARGET->policy[0] != '/')
		report_error(r->diagnostics, &n->place, "a name, or a path from / on",
			     "policy \"%s\" depends on where the daemon was started",
			     TARGET->policy);
	return e;
}

static int read_timeout(struct reader *r, const struct node *n, void *target)
{
	static const char hint[] = "write a duration: 500ms, 60s, 5m, 1h";
	uint64_t nsec = 0;

	if (n->type != NODE_SCALAR || units_duration(n->text, &nsec) < 0 || nsec == 0)
		report_error(r->diagnostics, &n->place, hint, "timeout is no duration");
	else
		TARGET->timeout_nsec = nsec;
	return 0;
}

static int read_lifetime(struct reader *r, const struct node *n, void *target)
{
	static const char hint[] = "write a duration, such as 8h, or none";
	uint64_t nsec = 0;

	TARGET->has_lifetime = true;
	if (n->type == NODE_SCALAR && strcmp(n->text, "none") == 0)
		TARGET->lifetime_nsec = 0;
	else if (n->type != NODE_SCALAR || units_duration(n->text, &nsec) < 0 || nsec == 0)
		report_error(r->diagnostics, &n->place, hint, "lifetime is no duration");
	else
		TARGET->lifetime_nsec = nsec;
	return 0;
}

static int read_grace(struct reader *r, const struct node *n, void *target)
{
	static const char hint[] = "write a duration up to a day, such as 2s, or none";
	uint64_t nsec = 0;

	TARGET->has_grace = true;
	if (n->type == NODE_SCALAR && strcmp(n->text, "none") == 0)
		TARGET->grace_msec = 0;
	else if (n->type != NODE_SCALAR || units_duration(n->text, &nsec) < 0 ||
		 nsec < NSEC_PER_MSEC || nsec > 24 * 3600 * NSEC_PER_SEC)
		report_error(r->diagnostics, &n->place, hint, "grace is no such duration");
	else
		TARGET->grace_msec = (uint32_t)(nsec / NSEC_PER_MSEC);
	return 0;
}

static int read_workdir_under(struct reader *r, const struct node *n, void *target)
{
	return config_read_paths(r, n, "a directory", "workdir_under: [/srv/agent]",
				 &TARGET->workdir_under);
}

static int read_agent_variable(struct reader *r, const struct node *n, void *target)
{
	TARGET->agent_source = CONFIG_AGENT_VARIABLE;
	return config_read_text(r, n, "variable", &TARGET->agent);
}

static int read_agent_cgroup(struct reader *r, const struct node *n, void *target)
{
	bool yes = false;

	if (reader_boolean(r, n, "cgroup", BOOLEAN_HINT, &yes) && yes)
		TARGET->agent_source = CONFIG_AGENT_CGROUP;
	return 0;
}

static int read_agent(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"variable", read_agent_variable},
		{"cgroup", read_agent_cgroup},
		{NULL, NULL},
	};

	if (n->type == NODE_MAPPING && n->count != 2)
		report_error(r->diagnostics, &n->place, "agent: {variable: AGENT_NAME}",
			     "agent is a name, {variable: NAME} or {cgroup: true}");
	else if (n->type == NODE_MAPPING)
		return reader_mapping(r, n, "agent", keys, target);
	return config_read_text(r, n, "agent", &TARGET->agent);
}

static int read_stage(struct reader *r, const struct node *n, void *target)
{
	uint32_t value;

	if (reader_word(r, n, "stage", stages, &value))
		TARGET->stage = (enum config_stage)value;
	return 0;
}

static int read_volumes(struct reader *r, const struct node *n, void *target)
{
	return config_read_paths(r, n, "a directory", "volumes: [/srv/data]", &TARGET->volumes);
}

/* The names are checked against the policy when it is compiled. */
static int read_bind(struct reader *r, const struct node *n, void *target)
{
	const char **list;

	if (!reader_expect(r, n, NODE_MAPPING, "a mapping", "bind: {venv: /opt/app/venv}"))
		return 0;
	list = arena_alloc(r->arena, (n->count + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n->count; i += 2) {
		list[i] = n->items[i]->text;
		list[i + 1] = "/";
		config_read_path(r, n->items[i + 1], "a directory", &list[i + 1]);
		if (strcmp(list[i], "workdir") == 0 || strcmp(list[i], "tmp") == 0)
			report_error(r->diagnostics, &n->items[i]->place, "leave it out",
				     "${%s} is each execution's own", list[i]);
	}
	list[n->count] = NULL;
	TARGET->binds = list;
	return 0;
}

static int read_gate(struct reader *r, const struct node *n, void *target)
{
	int e = config_read_strings(r, n, "a word of the command", "gate: [/usr/local/bin/look]",
				    &TARGET->gate);

	if (e == 0 && TARGET->gate[0] && TARGET->gate[0][0] != '/')
		report_error(r->diagnostics, &n->place, "write the whole path, from / on",
			     "the gate \"%s\" is not an absolute path", TARGET->gate[0]);
	return e;
}

static int read_session(struct reader *r, const struct node *n, void *target)
{
	return config_read_text(r, n, "session", &TARGET->session);
}

static int read_away(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {
		{"deny", CONFIG_AWAY_DENY},
		{"enforce-only", CONFIG_AWAY_ENFORCE_ONLY},
		{NULL, 0},
	};
	uint32_t value;

	if (reader_word(r, n, "when_away", words, &value))
		TARGET->away = (enum config_away)value;
	return 0;
}

static int read_stdin(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {
		{"inherit", false},
		{"null", true},
		{NULL, 0},
	};
	uint32_t value;

	/* An unquoted null is a YAML null, not a string. */
	if (node_is_null(n) && n->size)
		TARGET->no_input = true;
	else if (reader_word(r, n, "stdin", words, &value))
		TARGET->no_input = value;
	return 0;
}

static int read_hold(struct reader *r, const struct node *n, void *target)
{
	(void)reader_boolean(r, n, "hold", BOOLEAN_HINT, &TARGET->hold);
	return 0;
}

struct config_executor config_executor_empty(const struct node *n)
{
	static const char *none[] = {NULL};

	return (struct config_executor){
		.line = n->place.line,
		.programs = none,
		.except = none,
		.workdir_under = none,
		.volumes = none,
		.binds = none,
		.gate = none,
		.hold = true,
	};
}

static int read_itself(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"policy", read_policy_name},
		{"bind", read_bind},
		{NULL, NULL},
	};
	struct config_executor *itself = arena_alloc(r->arena, sizeof(*itself));

	if (!itself)
		return -ENOMEM;
	*itself = config_executor_empty(n);
	itself->is_itself = true;
	TARGET->itself = itself;
	return reader_mapping(r, n, "itself", keys, itself);
}

const struct key config_executor_keys[] = {
	{"name", read_name},
	{"match", read_match},
	{"children", read_children},
	{"kind", read_kind},
	{"policy", read_policy_name},
	{"timeout", read_timeout},
	{"lifetime", read_lifetime},
	{"grace", read_grace},
	{"workdir_under", read_workdir_under},
	{"volumes", read_volumes},
	{"bind", read_bind},
	{"gate", read_gate},
	{"stage", read_stage},
	{"agent", read_agent},
	{"session", read_session},
	{"when_away", read_away},
	{"hold", read_hold},
	{"stdin", read_stdin},
	{"itself", read_itself},
	{NULL, NULL},
};

/*
 * Completes the entry `itself` with members of its executor. Its name has a slash, which names in
 * the file cannot have.
 */
static int complete_itself(struct reader *r, struct config_executor *e)
{
	struct config_executor *itself = e->itself;
	char name[80];

	snprintf(name, sizeof(name), "%s/itself", e->name);
	itself->name = arena_copy(r->arena, name, strlen(name));
	itself->executable = e->executable;
	itself->stage = e->stage;
	itself->agent_source = e->agent_source;
	itself->agent = e->agent;
	itself->session = e->session;
	itself->away = e->away;
	itself->hold = e->hold;
	return itself->name ? 0 : -ENOMEM;
}

static void check_itself(struct reader *r, const struct node *n, const struct config_executor *e)
{
	if (!e->itself->policy)
		report_error(r->diagnostics, &n->place, "itself: {policy: NAME}",
			     "itself has no policy");
	if (e->kind == CONFIG_CONTAINER)
		report_error(r->diagnostics, &n->place, "leave it out",
			     "a container's runtime itself cannot be confined");
}

static void check_container(struct reader *r, const struct node *n, const struct config_executor *e)
{
	const char *base = e->executable ? strrchr(e->executable, '/') : NULL;

	if (e->workdir_under[0])
		report_error(r->diagnostics, &n->place, "leave it out",
			     "workdir_under is about directories of the host, and a container has "
			     "its own");
	if (e->programs[0] || e->child_arguments)
		report_error(
			r->diagnostics, &n->place,
			"children: {except: [/usr/sbin/runc]}, with programs that run on the host",
			"all that runs in a container is agent code, whatever its name");
	if (base && strcmp(base, "/runc") == 0 && !is_listed(e->except, e->executable))
		report_warning(r->diagnostics, &n->place,
			       "children: {except: [/usr/sbin/runc, /usr/sbin/dockerd]}",
			       "runc executes itself again on the host, which is denied: no "
			       "container starts");
}

static void check_no_container(struct reader *r, const struct node *n,
			       const struct config_executor *e)
{
	if (e->volumes[0])
		report_error(r->diagnostics, &n->place, "leave them out",
			     "volumes are for kind: container");
	if (e->has_lifetime)
		report_error(r->diagnostics, &n->place, "leave it out",
			     "lifetime is for kind: container");
	if (!e->workdir_under[0])
		report_error(
			r->diagnostics, &n->place,
			"add workdir_under: [/directory] with the parents of its work directories",
			"the executor has no workdir_under");
}

int config_finish_executor(struct reader *r, const struct node *n, struct config_executor *e)
{
	if (!e->name)
		report_error(r->diagnostics, &n->place, "add name: autogen",
			     "the executor has no name");
	if (!e->executable)
		report_error(r->diagnostics, &n->place,
			     "add match: {executable: /path/of/its/program}",
			     "the executor has no executable");
	if (!e->policy)
		report_error(r->diagnostics, &n->place, "add policy: NAME",
			     "the executor has no policy");
	if (e->kind == CONFIG_CONTAINER)
		check_container(r, n, e);
	else
		check_no_container(r, n, e);
	if (e->gate[0] && (!e->hold || e->away != CONFIG_AWAY_DENY))
		report_error(r->diagnostics, &n->place,
			     "without hold: false and when_away: enforce-only",
			     "the gate requires that executions are held and that a daemon runs");
	if (!e->has_grace)
		e->grace_msec = default_grace_msec[e->kind];
	if (e->itself)
		check_itself(r, n, e);
	return e->itself && e->name ? complete_itself(r, e) : 0;
}

const char *config_kind_name(enum config_kind kind)
{
	return words_name(kinds, kind);
}

const char *config_stage_name(enum config_stage stage)
{
	return words_name(stages, stage);
}
