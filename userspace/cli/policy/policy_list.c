/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy list`: the policies that can be named. */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "cli/policy/policy_command.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"
#include "policy/core/arena.h"
#include "policy/source/search.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy list [--json]\n"
	      "\n"
	      "Lists the installed policies: what `cordon run --policy` takes by its name, what\n"
	      "each is for, and its file. Of several with one name the one that is used is\n"
	      "shown. Exit status 1 if one of them has errors; `cordon policy check NAME` says\n"
	      "which.\n",
	      out);
}

static json_t *entry_json(const char *name, const struct compiled_policy *p)
{
	if (!p)
		return json_pack("{s:s, s:b}", "name", name, "ok", false);
	return json_pack("{s:s, s:b, s:s*, s:s, s:s, s:s}", "name", name, "ok", true, "description",
			 p->description, "file", p->file, "mode",
			 p->observe ? "observe" : "enforce", "digest", p->digest_text);
}

static void print_entry(const struct style *style, const char *name, int width,
			const struct compiled_policy *p)
{
	style_begin(stdout, style, p ? STYLE_NAME : STYLE_BAD);
	printf("%-*s", width, name);
	style_end(stdout, style, p ? STYLE_NAME : STYLE_BAD);
	if (!p) {
		puts("  has errors");
		return;
	}
	fputs("  ", stdout);
	style_text(stdout, style, p->description ? p->description : "no description");
	style_text(stdout, style, p->observe ? " (observe)" : "");
	style_begin(stdout, style, STYLE_DIM);
	printf("\n%-*s  ", width, "");
	style_text(stdout, style, p->file);
	style_end(stdout, style, STYLE_DIM);
	putchar('\n');
}

static int list(const struct policy_search *search, const char *const *names, size_t count,
		bool json)
{
	struct style style = terminal_style(stdout);
	json_t *entries = json_array();
	int width = 0, status = 0;

	for (size_t i = 0; i < count; i++)
		width = (int)strlen(names[i]) > width ? (int)strlen(names[i]) : width;
	for (size_t i = 0; i < count; i++) {
		_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
		struct compiled_policy *p = NULL;

		if (!d || policy_check(names[i], search, d, &p) < 0)
			status = 1;
		if (json)
			json_array_append_new(entries, entry_json(names[i], p));
		else
			print_entry(&style, names[i], width, p);
		compiled_policy_free(p);
	}
	if (json) {
		(void)json_dumpf(entries, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (count == 0) {
		puts("no policies are installed");
	}
	json_decref(entries);
	return status;
}

int policy_command_list(const struct policy_search *search, int argc, char **argv)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	const char *const *names;
	int status = 0;
	size_t count;
	bool json;

	if (policy_command_options(argc, argv, print_help, &json, &status) < 0)
		return status;
	if (optind < argc) {
		message("policy list takes no argument \"%s\"", argv[optind]);
		return EXIT_USAGE;
	}
	if (!arena || policy_search_list(arena, search, &names, &count) < 0) {
		message("no memory");
		status = 1;
	} else {
		status = list(search, names, count, json);
	}
	return policy_command_finish(status);
}
