/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <string.h>

#include "policy/reader.h"
#include "policy/units.h"

struct config {
	struct arena *arena;
	struct config_executor *executors;
	size_t count;
};

#define EXECUTOR_EXAMPLE                                                                           \
	"write - {name: autogen, match: {executable: /opt/agent/bin/python}, policy: "             \
	"autogen-local, workdir_under: [/srv/agent]}"

static const struct word kinds[] = {
	{"per-run", CONFIG_PER_RUN},
	{"session", CONFIG_SESSION},
	{NULL, 0},
};

/* --- values ------------------------------------------------------------------------------- */

static int read_text(struct reader *r, const struct node *n, const char *what, const char **target)
{
	const char *text;

	if (!reader_string(r, n, what, &text))
		return 0;
	if (strlen(text) != n->size || !*text || n->size > 255) {
		report_error(r->diagnostics, &n->place, "1 to 255 bytes", "%s is empty or too long",
			     what);
		return 0;
	}
	*target = text;
	return 0;
}

static bool is_path(struct reader *r, const struct place *place, const char *what, const char *path)
{
	if (path[0] != '/') {
		report_error(r->diagnostics, place, "write the whole path, from / on",
			     "%s \"%s\" is not an absolute path", what, path);
		return false;
	}
	if (strlen(path) > CONFIG_PATH_MAX) {
		report_error(r->diagnostics, place, "the kernel compares that much",
			     "%s is longer than %u bytes", what, CONFIG_PATH_MAX);
		return false;
	}
	return true;
}

static int read_path(struct reader *r, const struct node *n, const char *what, const char **target)
{
	const char *path;

	if (reader_string(r, n, what, &path) && is_path(r, &n->place, what, path))
		*target = path;
	return 0;
}

static int read_paths(struct reader *r, const struct node *n, const char *what, const char *example,
		      const char ***target)
{
	const char **paths = NULL, **ended;
	size_t count = 0;
	int e = reader_strings(r, n, what, example, &paths, &count);

	if (e < 0)
		return e;
	for (size_t i = 0; i < count; i++)
		if (!is_path(r, reader_place_of(n, paths[i]), what, paths[i]))
			return 0;
	ended = arena_grow(r->arena, paths, count, sizeof(*ended));
	if (!ended)
		return -ENOMEM;
	ended[count] = NULL;
	*target = ended;
	return 0;
}

static int read_pattern(struct reader *r, const struct node *n, const char *what,
			const char **target)
{
	const char *text;

	if (!reader_string(r, n, what, &text))
		return 0;
	if (strlen(text) != n->size || !*text || n->size > CONFIG_PATTERN_MAX) {
		report_error(r->diagnostics, &n->place, "* stands for any text",
			     "%s must have 1 to %u bytes", what, CONFIG_PATTERN_MAX);
		return 0;
	}
	*target = text;
	return 0;
}

static int read_boolean(struct reader *r, const struct node *n, const char *what, bool *target)
{
	if (n->type != NODE_SCALAR || !n->plain ||
	    (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0))
		report_error(r->diagnostics, &n->place, "write true or false",
			     "%s must be true or false", what);
	else
		*target = n->text[0] == 't';
	return 0;
}

/* --- match and children ------------------------------------------------------------------- */

#define TARGET ((struct config_executor *)target)

static int read_executable(struct reader *r, const struct node *n, void *target)
{
	return read_path(r, n, "executable", &TARGET->executable);
}

static int read_arguments(struct reader *r, const struct node *n, void *target)
{
	return read_pattern(r, n, "arguments", &TARGET->arguments);
}

/* A number is a user, too: as a plain scalar. */
static int read_user(struct reader *r, const struct node *n, void *target)
{
	if (n->type == NODE_SCALAR && n->size && strspn(n->text, "0123456789") == n->size)
		TARGET->user = n->text;
	else
		return read_text(r, n, "user", &TARGET->user);
	return 0;
}

static int read_cgroup(struct reader *r, const struct node *n, void *target)
{
	return read_path(r, n, "cgroup", &TARGET->cgroup);
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
	return read_paths(r, n, "a program", "programs: [/usr/bin/python3, /usr/bin/bash]",
			  &TARGET->programs);
}

static int read_except(struct reader *r, const struct node *n, void *target)
{
	return read_paths(r, n, "a program", "except: [/usr/bin/git]", &TARGET->except);
}

static int read_child_arguments(struct reader *r, const struct node *n, void *target)
{
	return read_pattern(r, n, "arguments", &TARGET->child_arguments);
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
	int e = read_text(r, n, "policy", &TARGET->policy);

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

static int read_workdir_under(struct reader *r, const struct node *n, void *target)
{
	return read_paths(r, n, "a directory", "workdir_under: [/srv/agent]",
			  &TARGET->workdir_under);
}

static int read_agent(struct reader *r, const struct node *n, void *target)
{
	return read_text(r, n, "agent", &TARGET->agent);
}

static int read_session(struct reader *r, const struct node *n, void *target)
{
	return read_text(r, n, "session", &TARGET->session);
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

static int read_hold(struct reader *r, const struct node *n, void *target)
{
	return read_boolean(r, n, "hold", &TARGET->hold);
}

static const struct key executor_keys[] = {
	{"name", read_name},
	{"match", read_match},
	{"children", read_children},
	{"kind", read_kind},
	{"policy", read_policy_name},
	{"timeout", read_timeout},
	{"workdir_under", read_workdir_under},
	{"agent", read_agent},
	{"session", read_session},
	{"when_away", read_away},
	{"hold", read_hold},
	{NULL, NULL},
};

static void check_executor(struct reader *r, const struct node *n, const struct config_executor *e)
{
	if (!e->name)
		report_error(r->diagnostics, &n->place, "add name: autogen",
			     "the executor has no name");
	if (!e->executable)
		report_error(r->diagnostics, &n->place,
			     "add match: {executable: /path/of/its/program}",
			     "nothing says which program is the executor");
	if (!e->policy)
		report_error(r->diagnostics, &n->place, "add policy: NAME",
			     "nothing says which policy its executions run under");
	if (!e->workdir_under[0])
		report_error(r->diagnostics, &n->place,
			     "add workdir_under: [/directory] with those that its code works below",
			     "nothing says where its executions may work");
}

static int read_executor(struct reader *r, const struct node *n, struct config *config)
{
	static const char *none[] = {NULL};
	struct config_executor *grown, executor = {
					       .line = n->place.line,
					       .programs = none,
					       .except = none,
					       .workdir_under = none,
					       .hold = true,
				       };
	size_t errors = diagnostics_errors(r->diagnostics);
	int e = reader_mapping(r, n, "an executor", executor_keys, &executor);

	if (e < 0)
		return e;
	if (errors == diagnostics_errors(r->diagnostics))
		check_executor(r, n, &executor);
	for (size_t i = 0; executor.name && i < config->count; i++)
		if (strcmp(config->executors[i].name, executor.name) == 0)
			report_error(r->diagnostics, &n->place, "give it another name",
				     "there is an executor \"%s\" already, in line %u",
				     executor.name, config->executors[i].line);
	if (errors != diagnostics_errors(r->diagnostics))
		return 0;
	grown = arena_grow(r->arena, config->executors, config->count, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[config->count++] = executor;
	config->executors = grown;
	return 0;
}

/* --- the file ----------------------------------------------------------------------------- */

static int read_version(struct reader *r, const struct node *n, void *target)
{
	(void)target;
	if (n->type != NODE_SCALAR || strcmp(n->text, "1") != 0)
		report_error(r->diagnostics, &n->place, "write version: 1",
			     "this cordon reads configuration version 1 only");
	return 0;
}

static int read_executors(struct reader *r, const struct node *n, void *target)
{
	int e = 0;

	if (!reader_expect(r, n, NODE_SEQUENCE, "a list", EXECUTOR_EXAMPLE))
		return 0;
	if (n->count > CONFIG_EXECUTORS_MAX)
		report_error(r->diagnostics, &n->place, "join some of them",
			     "more than %u executors", CONFIG_EXECUTORS_MAX);
	for (size_t i = 0; e == 0 && i < n->count && i < CONFIG_EXECUTORS_MAX; i++)
		e = read_executor(r, n->items[i], target);
	return e;
}

static int read_root(struct reader *r, const struct source *s, struct config *config)
{
	static const struct key keys[] = {
		{"version", read_version},
		{"executors", read_executors},
		{NULL, NULL},
	};
	struct place bad, start = {s, 1, 1};
	struct node *root = NULL;
	bool nul;
	int e;

	if (source_find_bad_byte(s, &bad, &nul)) {
		report_error(r->diagnostics, &bad, "write UTF-8 text",
			     nul ? "there is a NUL byte" : "this is not UTF-8");
		return 0;
	}
	e = node_parse(r->arena, s, r->diagnostics, &root);
	if (e < 0)
		return e;
	if (!root) {
		report_error(r->diagnostics, &start, "start with version: 1", "the file is empty");
		return 0;
	}
	e = reader_mapping(r, root, "the configuration", keys, config);
	if (e == 0 && root->type == NODE_MAPPING && !node_get(root, "version"))
		report_error(r->diagnostics, &root->place, "add version: 1",
			     "the configuration has no version");
	return e;
}

static int read_source(struct arena *arena, const struct source *s, struct diagnostics *d,
		       struct config **ret_config)
{
	struct reader r = {.arena = arena, .diagnostics = d};
	struct config *config = calloc(1, sizeof(*config));
	int e;

	if (!config)
		return -ENOMEM;
	e = read_root(&r, s, config);
	if (e == 0 && diagnostics_failed(d))
		e = -ENOMEM;
	if (e == 0 && diagnostics_errors(d) > 0)
		e = -EINVAL;
	if (e < 0) {
		free(config);
		return e;
	}
	config->arena = arena;
	*ret_config = config;
	return 0;
}

int config_parse(const char *text, size_t size, const char *name, struct diagnostics *diagnostics,
		 struct config **ret_config)
{
	struct arena *arena = arena_new();
	struct source source = {.name = name, .path = name, .size = size};
	struct source *kept;
	int r = -ENOMEM;

	if (!arena)
		return -ENOMEM;
	source.text = arena_copy(arena, text, size);
	kept = arena_alloc(arena, sizeof(*kept));
	if (source.text && kept) {
		*kept = source;
		r = read_source(arena, kept, diagnostics, ret_config);
	}
	if (r < 0)
		arena_free(arena);
	return r;
}

int config_load(const char *path, struct diagnostics *diagnostics, struct config **ret_config)
{
	struct arena *arena = arena_new();
	struct source *source = NULL;
	int r;

	if (!arena)
		return -ENOMEM;
	r = source_read(arena, path, path, &source);
	if (r == 0) {
		r = read_source(arena, source, diagnostics, ret_config);
	} else if (r != -ENOENT && r != -ENOMEM) {
		struct source named = {.name = path, .path = path};

		report_error(diagnostics, &(struct place){&named, 0, 0},
			     "it must be a file that root can read", "cannot read it: %s",
			     strerror(-r));
	}
	if (r < 0)
		arena_free(arena);
	return r;
}

void config_free(struct config *config)
{
	arena_free(config->arena);
	free(config);
}

size_t config_executor_count(const struct config *config)
{
	return config->count;
}

const struct config_executor *config_executor_at(const struct config *config, size_t index)
{
	return index < config->count ? &config->executors[index] : NULL;
}

const char *config_kind_name(enum config_kind kind)
{
	return words_name(kinds, kind);
}
