/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon doctor`: can this host enforce, what does it lack, and what is to be done about it? */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/host/approvers.h"
#include "cli/live/executor_troubles.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/progress.h"
#include "cli/term/read_option.h"
#include "control/client.h"
#include "control/protocol.h"
#include "kernel/features.h"
#include "kernel/load_progress.h"

static const char help[] =
	"usage: cordon doctor [--quick] [--json]\n"
	"\n"
	"Checks whether cordon can enforce on this host, and reports what to do about\n"
	"each missing part. Names the accounts that may both propose and approve a\n"
	"policy. If a daemon runs, also reports the counters of enforcement and problems\n"
	"with executors. The check loads all programs into the kernel, which takes\n"
	"seconds, and attaches none.\n"
	"\n"
	"      --quick          load no program\n"
	"      --json           one JSON object, for programs\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 this host can enforce; 1 it cannot.\n";

static const char *state_name(enum feature_state state)
{
	switch (state) {
	case FEATURE_OK:
		return "ok";
	case FEATURE_REDUCED:
		return "reduced";
	case FEATURE_MISSING:
		return "missing";
	}
	return "unknown";
}

static const char *state_color(enum feature_state state)
{
	switch (state) {
	case FEATURE_OK:
		return "\033[32m";
	case FEATURE_REDUCED:
		return "\033[33m";
	case FEATURE_MISSING:
		return "\033[31m";
	}
	return "";
}

static void print_feature(const struct feature *f, bool color)
{
	printf("%s%-8s%s %-24s %s\n", color ? state_color(f->state) : "", state_name(f->state),
	       color ? "\033[0m" : "", f->name, f->found);
	if (f->state == FEATURE_OK)
		return;
	if (f->gap)
		printf("%-8s %-24s a gap: policies with `coverage: full` do not run here\n", "",
		       "");
	printf("%-8s %-24s effect: %s\n", "", "", f->effect);
	printf("%-8s %-24s to do:  %s\n", "", "", f->remedy);
}

/* What the running daemon says of itself, or NULL where none runs. */
static json_t *read_status(void)
{
	_cleanup_(closep) int fd = -1;
	struct failure failure = {};
	json_t *status = NULL;

	if (client_connect(&fd, &failure) < 0 || client_status(fd, &status, &failure) < 0)
		return NULL;
	return status;
}

/* What the enforcement could not tell and denied, and what else should not happen; or NULL. */
static json_t *counters_of(json_t *status)
{
	json_t *counters = json_incref(json_object_get(status, "counters"));

	/* Questions of nobody that is known: the stub counts these, not the kernel's programs. */
	json_object_set(counters, "dns_dropped",
			json_object_get(json_object_get(status, "dns"), "dropped"));
	return counters;
}

static void print_counters(json_t *counters, bool color)
{
	const char *name;
	json_t *value;
	bool any = false;

	json_object_foreach(counters, name, value) {
		if (json_integer_value(value) == 0)
			continue;
		any = true;
		printf("%s%-8s%s %-24s %" JSON_INTEGER_FORMAT " since cordon was loaded\n",
		       color ? "\033[33m" : "", "counted", color ? "\033[0m" : "", name,
		       json_integer_value(value));
	}
	if (!any)
		printf("%-8s %-24s all 0\n", "ok", "counters");
}

static json_int_t number(const json_t *executors, const char *name)
{
	return json_integer_value(json_object_get(executors, name));
}

/* Environments that the daemon cleans are clean, too, but of processes that are held for longer. */
static void print_executors(const json_t *executors, bool color)
{
	json_int_t late = number(executors, "cleaned_late");

	printf("%s%-8s%s %-24s %" JSON_INTEGER_FORMAT " in force; %" JSON_INTEGER_FORMAT
	       " executions, %" JSON_INTEGER_FORMAT " refused since cordon was loaded\n",
	       color ? state_color(late ? FEATURE_REDUCED : FEATURE_OK) : "",
	       late ? "reduced" : "ok", color ? "\033[0m" : "", "executors",
	       number(executors, "entries"), number(executors, "adopted"),
	       number(executors, "refused"));
	if (late)
		printf("%-8s %-24s effect: the daemon cleaned %" JSON_INTEGER_FORMAT
		       " environments, because the kernel may not (lockdown)\n",
		       "", "", late);
}

static void print_trouble(const char *line, void *color)
{
	printf("%s%-8s%s %-24s %s\n", color ? state_color(FEATURE_REDUCED) : "", "to do",
	       color ? "\033[0m" : "", "executors", line);
}

/* Two such accounts can approve each proposal of the other. */
static void print_approvers(char *const *names, bool color)
{
	if (!*names)
		return;
	printf("%s%-8s%s %-24s", color ? state_color(FEATURE_REDUCED) : "", "to do",
	       color ? "\033[0m" : "", "approvals");
	for (size_t i = 0; names[i]; i++)
		printf("%s%s", i ? ", " : " ", names[i]);
	printf(" in both groups, " APPROVERS_PROPOSE " and " APPROVERS_APPROVE "\n");
	printf("%-8s %-24s effect: each may propose policies, and approve the proposals of other accounts\n",
	       "", "");
	printf("%-8s %-24s to do:  `gpasswd -d ACCOUNT " APPROVERS_PROPOSE
	       "` for those who only approve\n",
	       "", "");
}

static int print_json(const struct feature *features, size_t count, bool able, json_t *counters,
		      json_t *executors, char *const *approvers)
{
	json_t *list = json_array(), *root;
	int r;

	for (size_t i = 0; i < count; i++) {
		const struct feature *f = &features[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:s, s:s, s:s}", "name",
						      f->name, "state", state_name(f->state), "gap",
						      f->gap, "found", f->found, "effect",
						      f->effect, "remedy", f->remedy));
	}
	root = json_pack("{s:b, s:o, s:O?, s:O?, s:o}", "can_enforce", able, "features", list,
			 "counters", counters, "executors", executors, "approvers_who_propose",
			 protocol_strings(approvers));
	r = json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
	return r;
}

static int parse(int argc, char **argv, bool *ret_quick, bool *ret_json)
{
	static const struct option options[] = {
		{"quick", no_argument, NULL, 'q'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c;

	while ((c = read_option(argc, argv, "h", options)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_SUCCESS;
		}
		if (c != 'q' && c != 'j') {
			message("see `cordon %s --help`", argv[0]);
			return EXIT_USAGE;
		}
		*(c == 'q' ? ret_quick : ret_json) = true;
	}
	if (optind < argc) {
		message("%s: unexpected argument \"%s\"", argv[0], argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}

static const char *verdict(bool able, bool quick)
{
	if (!able)
		return "\ncordon cannot enforce on this host.";
	return quick ? "\nnothing that cordon needs is missing on this host; its programs were not "
		       "tried."
		     : "\ncordon can enforce on this host.";
}

int cmd_doctor(int argc, char **argv)
{
	_cleanup_(freep) struct feature *features = NULL;
	_cleanup_(json_decrefp) json_t *status = NULL;
	_cleanup_(json_decrefp) json_t *counters = NULL;
	_cleanup_(protocol_strings_freep) char **approvers = NULL;
	bool json = false, quick = false, able;
	struct progress progress;
	size_t count = 0;
	int r = parse(argc, argv, &quick, &json);

	if (r >= 0)
		return r;
	progress_begin_counting(&progress, "trying the programs", "programs");
	load_progress_to(progress_step, &progress);
	r = features_probe(&features, &count);
	if (r == 0 && !quick)
		r = features_try(&features, &count);
	if (r == 0)
		r = approvers_in_both(&approvers_of_this_host, &approvers);
	progress_end(&progress);
	if (r < 0) {
		message("out of memory");
		return EXIT_FAILURE;
	}
	able = features_can_enforce(features, count);
	status = read_status();
	counters = counters_of(status);
	if (json) {
		print_json(features, count, able, counters, json_object_get(status, "executors"),
			   approvers);
		return able ? 0 : 1;
	}
	for (size_t i = 0; i < count; i++)
		print_feature(&features[i], isatty(STDOUT_FILENO));
	if (json_object_get(status, "executors"))
		print_executors(json_object_get(status, "executors"), isatty(STDOUT_FILENO));
	(void)executor_troubles(json_object_get(status, "executors"), print_trouble,
				isatty(STDOUT_FILENO) ? &able : NULL);
	print_approvers(approvers, isatty(STDOUT_FILENO));
	if (counters)
		print_counters(counters, isatty(STDOUT_FILENO));
	puts(verdict(able, quick));
	return able ? 0 : 1;
}
