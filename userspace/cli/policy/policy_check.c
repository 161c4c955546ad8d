/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy check`: is a policy right? */
#include <jansson.h>
#include <string.h>

#include "cli/term/diagnostics_json.h"
#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "cli/term/read_option.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy check [--json] POLICY...\n"
	      "\n"
	      "Compiles each POLICY (a file, or the name of an installed policy) as a run\n"
	      "would, and says all that is wrong with it. Exit status 1 if one has errors.\n"
	      "\n"
	      "  --json   one JSON object per policy and line, for programs\n",
	      out);
}

struct checked {
	const char *name;
	struct diagnostics *diagnostics;
	struct compiled_policy *policy; /* NULL: it has errors */
};

static void checked_release(struct checked *c)
{
	if (c->diagnostics)
		diagnostics_free(c->diagnostics);
	if (c->policy)
		compiled_policy_free(c->policy);
}

static int print_json(const struct checked *c)
{
	json_t *o;
	int r;

	o = json_pack("{s:s, s:b, s:o}", "policy", c->name, "ok", c->policy != NULL, "diagnostics",
		      diagnostics_json(c->diagnostics));
	if (o && c->policy) {
		json_object_set_new(o, "name", json_string(c->policy->name));
		json_object_set_new(o, "rules", json_integer((json_int_t)c->policy->rule_count));
		json_object_set_new(o, "states", json_integer(compiled_policy_states(c->policy)));
		json_object_set_new(o, "bytes", json_integer((json_int_t)c->policy->tables_size));
		json_object_set_new(o, "digest", json_string(c->policy->digest_text));
	}
	r = o && json_dumpf(o, stdout, JSON_COMPACT) == 0 ? 0 : -ENOMEM;
	putchar('\n');
	json_decref(o);
	return r;
}

static int print_text(const struct checked *c)
{
	_cleanup_(freep) char *text = diagnostics_format(c->diagnostics, isatty(STDERR_FILENO));

	if (!text)
		return -ENOMEM;
	fputs(text, stderr);
	if (c->policy)
		printf("%s: ok (%zu rules, %u states, %zu bytes)\n", c->name, c->policy->rule_count,
		       compiled_policy_states(c->policy), c->policy->tables_size);
	return 0;
}

/* 0: the policy is right; 1: it is not; negative errno: cordon itself failed. */
static int check(const char *name, const struct policy_search *search, bool json)
{
	_cleanup_(checked_release) struct checked c = {.name = name};
	int r, printed;

	c.diagnostics = diagnostics_new();
	if (!c.diagnostics)
		return -ENOMEM;
	r = policy_check_host(name, search, c.diagnostics, &c.policy);
	if (r == -ENOMEM)
		return r;
	if (r < 0 && diagnostics_errors(c.diagnostics) == 0) {
		message("cannot check %s: %s", name, strerror(-r));
		return r;
	}
	printed = json ? print_json(&c) : print_text(&c);
	if (printed < 0)
		return printed;
	return r < 0;
}

int policy_command_check(const struct policy_search *search, int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	bool json = false;
	int option, status = 0;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		if (option == 'h') {
			print_help(stdout);
			return 0;
		}
		if (option != 'j') {
			print_help(stderr);
			return 2;
		}
		json = true;
	}
	if (optind == argc) {
		message("name the policies to check");
		print_help(stderr);
		return 2;
	}
	for (int i = optind; i < argc; i++) {
		int r = check(argv[i], search, json);

		if (r == -ENOMEM)
			message("no memory to check %s", argv[i]);
		if (r != 0)
			status = 1;
	}
	if (fflush(stdout) != 0) {
		message("cannot write the result: %m");
		status = 1;
	}
	return status;
}
