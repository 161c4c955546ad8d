/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a cordon.yaml, its policies, and what it names on this host. */
#include "cli/host/config_check.h"

#include <unistd.h>

#include "adopt/lookup.h"
#include "kernel/features.h"
#include "policy/compile/compile.h"
#include "policy/source/search.h"
#include "policy/source/source.h"

struct check {
	struct source source; /* the file */
	struct diagnostics *diagnostics;
	struct policy_search search;
	char **gaps; /* NULL: not known */
};

/* Of the policy there are diagnostics of its own; this is about the entry. */
static void report_policy(const struct check *check, const struct config_executor *is)
{
	report_error(check->diagnostics, &(struct place){&check->source, is->line, 1}, NULL,
		     "executor %s: its policy %s cannot be used", is->name, is->policy);
}

static void report(const struct check *check, const struct config_executor *is,
		   const struct lookup_problem *problem)
{
	const struct place place = {&check->source, is->line, 1};

	if ((problem->error == -EACCES || problem->error == -EPERM) && geteuid() != 0)
		report_note(check->diagnostics, &place, "check as root",
			    "executor %s: not looked at without being root: %s", is->name,
			    problem->text);
	else
		report_error(check->diagnostics, &place, NULL, "executor %s: %s", is->name,
			     problem->text);
}

static int check_entry(const struct check *check, const struct config_executor *is)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	_cleanup_(lookup_release) struct lookup found;
	int r = 0;

	lookup_begin(&found);
	if (policy_compile(is->policy, &check->search, check->diagnostics, &policy) < 0)
		report_policy(check, is);
	else
		r = lookup_policy(&found, is, policy, check->gaps);
	if (r == 0)
		r = lookup_names(&found, is);
	for (size_t i = 0; r == 0 && i < found.problem_count; i++)
		report(check, is, &found.problems[i]);
	if (r == 0 && found.note)
		report_warning(check->diagnostics, &(struct place){&check->source, is->line, 1},
			       NULL, "executor %s: %s", is->name, found.note);
	if (r == 0 && found.problem_count == 0 && found.matches == 0)
		report_note(check->diagnostics, &(struct place){&check->source, is->line, 1}, NULL,
			    "executor %s: no program is like %s now", is->name, is->executable);
	return r;
}

/* Both have one program, which is told of once. */
static int check_itself(const struct check *check, const struct config_executor *itself)
{
	struct config_executor rest = *itself;

	rest.executable = "/proc/self/exe";
	return check_entry(check, &rest);
}

int config_check(const struct config *config, const char *file, struct diagnostics *diagnostics)
{
	char **directories = policy_search_own_directories();
	struct check check = {
		.source = {.name = file, .path = file},
		.diagnostics = diagnostics,
		.search = {.directories = (const char *const *)directories},
	};
	int r = directories ? 0 : -ENOMEM;

	check.source.text = config_text(config, &check.source.size);
	if (r == 0 && geteuid() == 0)
		r = features_gaps(&check.gaps);
	for (size_t i = 0; r == 0 && i < config_executor_count(config); i++) {
		const struct config_executor *is = config_executor_at(config, i);

		r = check_entry(&check, is);
		if (r == 0 && is->itself)
			r = check_itself(&check, is->itself);
	}
	compiled_strings_free(check.gaps);
	if (directories)
		policy_search_free(directories);
	return r;
}
