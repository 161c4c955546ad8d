/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy test`: does a policy give the verdicts that it should? */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "cli/term/diagnostics_json.h"
#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "policy/ask/table_test.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy test [--json] FILE...\n"
	      "\n"
	      "Runs each FILE, a table of accesses and the verdicts that a policy must give,\n"
	      "with the matcher that the kernel runs. Exit status 1 if a verdict is another\n"
	      "than expected.\n"
	      "\n"
	      "  policy: python-sandbox\n"
	      "  variables: {workdir: /srv/job}\n"
	      "  tests:\n"
	      "    - {read: [/usr/lib/x.py, \"${workdir}/in\"], verdict: allow}\n"
	      "    - {connect: [\"tcp:192.0.2.1:443\"], verdict: deny}\n",
	      out);
}

static void print_json(const char *path, int result, const struct table_result *t,
		       const struct diagnostics *d)
{
	json_t *o = json_pack("{s:s, s:b, s:i, s:i, s:o}", "table", path, "ok",
			      result == 0 && t->failed == 0, "passed", (int)t->passed, "failed",
			      (int)t->failed, "diagnostics", diagnostics_json(d));

	if (o)
		json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

/* 0: as expected; 1: not; 2: the table is wrong. */
static int test(const char *path, const struct policy_search *search, bool json)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct table_result t = {0};
	int r = d ? table_test_run(path, search, d, &t) : -ENOMEM;

	if (r == -ENOMEM) {
		message("no memory to test %s", path);
		return 2;
	}
	if (json) {
		print_json(path, r, &t, d);
	} else {
		_cleanup_(freep) char *text =
			diagnostics_errors(d) ? diagnostics_format(d, isatty(STDERR_FILENO)) : NULL;

		if (text)
			fputs(text, stderr);
		if (r == 0)
			printf("%s: %zu as expected, %zu not\n", path, t.passed, t.failed);
	}
	return r < 0 ? 2 : t.failed != 0;
}

int policy_command_test(const struct policy_search *search, int argc, char **argv)
{
	int status = 0;
	bool json;

	if (policy_command_options(argc, argv, print_help, &json, &status) < 0)
		return status;
	if (optind == argc) {
		message("name the tables to test");
		print_help(stderr);
		return 2;
	}
	for (int i = optind; i < argc; i++) {
		int one = test(argv[i], search, json);

		status = one > status ? one : status;
	}
	return policy_command_finish(status);
}
