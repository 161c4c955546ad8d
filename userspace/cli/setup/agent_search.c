/* SPDX-License-Identifier: Apache-2.0 */
/* Finds agents below one directory, by the table of agent_forms.h. */
#include "cli/setup/agent_search.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/setup/agent_forms.h"

/* Bytes that are searched for imports. */
#define SCRIPT_SIZE 65536
/* Scripts that are reported for one library, and that are read for it. */
#define SCRIPTS_MAX	 4
#define SCRIPTS_READ_MAX 200

struct place {
	struct agent_search *search;
	enum agent_place kind;
	char root[PATH_MAX]; /* relative to the tree */
	const struct agent_form *form;
	/* Agent that was found here last: further rows of it are skipped. */
	const char *done;
	unsigned int scripts, scripts_read;
};

static void join(char path[PATH_MAX], const char *directory, const char *name)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s%s%s", directory, *directory && *name ? "/" : "",
			     name) >= PATH_MAX)
		path[0] = '\0';
}

/* The path from / on. */
static json_t *whole_path(const struct agent_search *search, const char *path)
{
	return json_sprintf("%s%s%s", search->base, *path ? "/" : "", path);
}

static int report(struct place *place, const char *program, const char *interpreter,
		  const char *script)
{
	json_t *agent = json_pack("{s:i,s:o,s:o,s:s*,s:s*}", "form",
				  (int)(place->form - agent_forms), "program",
				  whole_path(place->search, program), "place",
				  whole_path(place->search, place->root), "interpreter",
				  interpreter, "script", script);

	if (!agent)
		return -ENOMEM;
	place->done = place->form->agent;
	return place->search->found(place->search->context, agent);
}

static bool is_program(const struct tree *tree, const char *path)
{
	char head[SELFMAG + 1];

	return tree_read(tree, path, head, sizeof(head)) == SELFMAG &&
	       memcmp(head, ELFMAG, SELFMAG) == 0;
}

/* --- interpreters ------------------------------------------------------------------------- */

/* A name, which may be a link out of the tree: the daemon resolves it. */
static bool has_name(const struct tree *tree, const char *path)
{
	_cleanup_(closep) int fd = tree_open(tree, path, O_PATH | O_NOFOLLOW);

	return fd >= 0;
}

static const char *system_node(void)
{
	static const char *const paths[] = {"/usr/local/bin/node", "/usr/bin/node"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

/*
 * A version manager keeps node beside the packages of that version; packages under another
 * prefix are run by the node of the system.
 */
static int report_node(struct place *place, const char *script)
{
	static const char modules[] = "lib/node_modules";
	size_t length = strlen(place->root), tail = strlen(modules);
	char node[PATH_MAX];

	if (length >= tail && strcmp(place->root + length - tail, modules) == 0) {
		snprintf(node, sizeof(node), "%.*sbin/node", (int)(length - tail), place->root);
		if (has_name(&place->search->tree, node)) {
			_cleanup_(json_decrefp) json_t *path = whole_path(place->search, node);

			return path ? report(place, script, json_string_value(path), NULL)
				    : -ENOMEM;
		}
	}
	return system_node() ? report(place, script, system_node(), NULL) : 0;
}

/* The interpreter that a script's first line names; false where it is none that is run directly. */
static bool find_interpreter(const struct tree *tree, const char *script, char ret[PATH_MAX])
{
	char head[256];
	size_t from;

	if (tree_read(tree, script, head, sizeof(head)) < 3 || strncmp(head, "#!", 2) != 0)
		return false;
	from = 2 + strspn(head + 2, " \t");
	head[from + strcspn(head + from, " \t\r\n")] = '\0';
	snprintf(ret, PATH_MAX, "%s", head + from);
	return ret[0] == '/' && strstr(strrchr(ret, '/'), "python");
}

static int report_python(struct place *place, const char *script)
{
	char interpreter[PATH_MAX];

	return find_interpreter(&place->search->tree, script, interpreter)
		       ? report(place, script, interpreter, NULL)
		       : 0;
}

/* --- libraries ---------------------------------------------------------------------------- */

/* True if only spaces precede `at` in its line. */
static bool begins_line(const char *text, const char *at)
{
	while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at == text || at[-1] == '\n';
}

static bool imports(const char *text, const char *library)
{
	static const char *const words[] = {"import ", "from "};
	char wanted[64];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t length = (size_t)snprintf(wanted, sizeof(wanted), "%s%s", words[i], library);

		for (const char *at = strstr(text, wanted); at; at = strstr(at + 1, wanted))
			if (begins_line(text, at) && !isalnum((unsigned char)at[length]))
				return true;
	}
	return false;
}

static int try_script(void *context, const char *path)
{
	struct place *place = context;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(json_decrefp) json_t *interpreter = NULL;
	char python[PATH_MAX];

	if (place->scripts >= SCRIPTS_MAX || place->scripts_read++ >= SCRIPTS_READ_MAX)
		return 0;
	text = malloc(SCRIPT_SIZE);
	if (!text)
		return -ENOMEM;
	if (tree_read(&place->search->tree, path, text, SCRIPT_SIZE) <= 0 ||
	    !imports(text, place->form->agent))
		return 0;
	place->scripts++;
	join(python, place->root, "bin/python3");
	interpreter = whole_path(place->search, python);
	return interpreter ? report(place, path, json_string_value(interpreter),
				    strrchr(path, '/') ? strrchr(path, '/') + 1 : path)
			   : -ENOMEM;
}

/* The scripts beside the environment, and one directory further down, that import it. */
static int report_library(struct place *place, const char *library)
{
	static const char *const globs[] = {"*.py", "*/*.py"};
	char beside[PATH_MAX], glob[PATH_MAX];
	char *slash;
	int r = 0;

	snprintf(beside, sizeof(beside), "%s", place->root);
	slash = strrchr(beside, '/');
	*(slash ? slash : beside) = '\0';
	place->scripts = 0;
	place->scripts_read = 0;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(globs); i++) {
		join(glob, beside, globs[i]);
		r = tree_match(&place->search->tree, glob, try_script, place);
	}
	/* Without a script there is nothing that an entry could match. */
	return r == 0 && place->scripts == 0 ? report(place, library, NULL, NULL) : r;
}

/* ------------------------------------------------------------------------------------------ */

static int try_path(void *context, const char *path)
{
	struct place *place = context;
	const struct agent_form *form = place->form;
	struct tree *tree = &place->search->tree;

	/* Of versions beside each other the entry matches all. */
	if (place->done == form->agent && form->process != AGENT_LIBRARY && form->versions)
		return 0;
	switch (form->process) {
	case AGENT_PROGRAM:
	case AGENT_RUNTIME:
		return is_program(tree, path) ? report(place, path, NULL, NULL) : 0;
	case AGENT_NODE:
		return tree_has_file(tree, path) ? report_node(place, path) : 0;
	case AGENT_PYTHON:
		return report_python(place, path);
	case AGENT_LIBRARY:
		return tree_has_file(tree, path) ? report_library(place, path) : 0;
	}
	return 0;
}

/* An environment is known by its pyvenv.cfg; prefixes of the system have none. */
static int try_forms(void *context, const char *root)
{
	struct place *place = context;
	char glob[PATH_MAX];
	const char *agent = NULL;
	int r = 0;

	snprintf(place->root, sizeof(place->root), "%s", root);
	if (place->kind == AGENT_IN_ENVIRONMENT) {
		join(glob, root, "pyvenv.cfg");
		if (!tree_has_file(&place->search->tree, glob) && strcmp(root, ".local") != 0 &&
		    strncmp(root, "usr", 3) != 0)
			return 0;
	}
	place->done = NULL;
	for (size_t i = 0; r == 0 && i < agent_form_count; i++) {
		place->form = &agent_forms[i];
		if (place->form->place != place->kind)
			continue;
		if (!agent || strcmp(agent, place->form->agent) != 0)
			place->done = NULL;
		agent = place->form->agent;
		if (place->done)
			continue;
		join(glob, root, place->form->path);
		r = tree_match(&place->search->tree, glob, try_path, place);
	}
	return r;
}

static int search_places(struct agent_search *search, enum agent_place kind,
			 const char *const *globs)
{
	struct place place = {.search = search, .kind = kind};
	int r = 0;

	for (; r == 0 && *globs; globs++)
		r = tree_match(&search->tree, *globs, try_forms, &place);
	return r;
}

int agent_search(struct agent_search *search)
{
	struct place base = {
		.search = search,
		.kind = search->home ? AGENT_IN_HOME : AGENT_IN_SYSTEM,
	};
	int r = try_forms(&base, "");

	if (r == 0)
		r = search_places(search, AGENT_IN_MODULES,
				  search->home ? agent_home_modules : agent_system_modules);
	if (r == 0)
		r = search_places(search, AGENT_IN_ENVIRONMENT,
				  search->home ? agent_home_environments
					       : agent_system_environments);
	return r;
}
