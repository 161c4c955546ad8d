/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy`: look at policies without running anything under them. */
#include <string.h>

#include "cli/term/commands.h"
#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "base/suggest.h"
#include "cli/term/read_option.h"
#include "policy/source/search.h"

static const struct {
	const char *name;
	int (*run)(const struct policy_search *search, int argc, char **argv);
} commands[] = {
	{"list", policy_command_list},	     {"check", policy_command_check},
	{"show", policy_command_show},	     {"explain", policy_command_explain},
	{"test", policy_command_test},	     {"diff", policy_command_diff},
	{"learn", policy_command_learn},     {"try", policy_command_try},
	{"propose", policy_command_propose}, {"apply", policy_command_apply},
};

static void print_help(FILE *out)
{
	fputs("usage: cordon policy COMMAND ...\n"
	      "\n"
	      "  list                           the policies that are installed, and what each\n"
	      "                                 is for\n"
	      "  check POLICY...                what is wrong with it\n"
	      "  show POLICY|DIGEST             all of its rules and where each comes from\n"
	      "  explain POLICY RIGHT OBJECT    which rule decides an access, and which others\n"
	      "                                 match\n"
	      "  test FILE...                   tables of accesses and the verdicts they must\n"
	      "                                 get\n"
	      "  diff [A] B                     every rule by which B allows what A does not\n"
	      "  learn ID...                    a policy that allows what executions did\n"
	      "  try POLICY [ID]...             what it would have denied of what they did\n"
	      "  propose REPORT                 one change under which a job that was denied\n"
	      "                                 works\n"
	      "  apply POLICY ...               put what is running under another policy\n"
	      "\n"
	      "POLICY is a file, or the name of an installed policy. Each takes --json and\n"
	      "--help.\n",
	      out);
}

int policy_command_load(const char *name, const struct policy_search *search,
			struct compiled_policy **ret_policy)
{
	return policy_command_load_written(name, search, NULL, ret_policy);
}

/* What is wrong with a policy that cannot be compiled. */
static void tell(const char *name, const struct diagnostics *d, int error)
{
	_cleanup_(freep) char *text = NULL;

	if (d && diagnostics_errors(d))
		text = diagnostics_format(d, isatty(STDERR_FILENO));
	if (text)
		fputs(text, stderr);
	else
		message("cannot compile %s: %s", name, strerror(-error));
}

int policy_command_load_here(const char *name, const struct policy_search *search,
			     struct diagnostics *d, struct compiled_policy **ret_policy)
{
	int r = policy_check_host(name, search, d, ret_policy);

	if (r < 0)
		tell(name, d, r);
	return r;
}

int policy_command_load_written(const char *name, const struct policy_search *search,
				struct policy_written **ret_written,
				struct compiled_policy **ret_policy)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	int r = d ? policy_check_written(name, search, d, ret_written, ret_policy) : -ENOMEM;

	if (r < 0)
		tell(name, d, r);
	return r;
}

int policy_command_options(int argc, char **argv, void (*help)(FILE *out), bool *ret_json,
			   int *ret_status)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*ret_json = false;
	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		if (option == 'j') {
			*ret_json = true;
			continue;
		}
		help(option == 'h' ? stdout : stderr);
		*ret_status = option == 'h' ? 0 : 2;
		return -ECANCELED;
	}
	return 0;
}

int policy_command_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	message("cannot write the result: %m");
	return 1;
}

static int unknown(const char *word)
{
	const char *names[ARRAY_SIZE(commands)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	near = suggest(word, names, ARRAY_SIZE(names));
	if (near)
		message("'%s' is not a command; did you mean 'cordon policy %s'?", word, near);
	else
		message("'%s' is not a command; 'cordon policy --help' lists them", word);
	return 2;
}

int cmd_policy(int argc, char **argv)
{
	_cleanup_(policy_search_freep) char **directories = policy_search_own_directories();
	struct policy_search search = {.directories = (const char *const *)directories};

	if (argc < 2) {
		print_help(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(stdout);
		return 0;
	}
	if (!directories) {
		message("no memory");
		return 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(&search, argc - 1, argv + 1);
	return unknown(argv[1]);
}
