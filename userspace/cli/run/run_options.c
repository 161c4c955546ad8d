/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line of `cordon run`. */
#include "cli/run/run_options.h"

#include <jansson.h>
#include <string.h>

#include "base/next_option.h"
#include "launch/limits.h"

const char run_help[] =
	"usage: cordon run [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	"\n"
	"Runs a command under a policy that the kernel enforces, and logs its actions.\n"
	"\n"
	"  --policy NAME|FILE    rules for the command; default: python-sandbox for\n"
	"                        Python, shell-sandbox for shells, otherwise required\n"
	"  --workdir DIR         directory of the command, ${workdir} in the policy;\n"
	"                        default: the current directory\n"
	"  --bind NAME=DIR       directory for ${NAME} in the policy; up to 5 times;\n"
	"                        venv is found if COMMAND is in a Python environment\n"
	"  --user USER[:GROUP]   user of the command, by name or number; default: the\n"
	"                        caller, without capabilities\n"
	"  --stdin inherit|null  standard input: the caller's (default), or empty\n"
	"  --observe             deny nothing, log accesses that the policy would deny\n"
	"\n"
	"Limits; they can only lower the policy's:\n"
	"  --timeout TIME        wall clock: 500ms, 60s, 2m\n"
	"  --memory SIZE         of all processes together: 512M, 1G\n"
	"  --pids COUNT          processes and threads at a time\n"
	"  --cpu PERCENT         of one CPU: 50%, 200%\n"
	"  --cpu-time TIME       CPU time of each process, in whole seconds\n"
	"  --address-space SIZE  of each process\n"
	"  --file-size SIZE      of each file that the command writes\n"
	"  --open-files COUNT    descriptors of each process\n"
	"  --io-read SIZE, --io-write SIZE\n"
	"                        bytes a second from and to each disk\n"
	"\n"
	"Names and files of the log:\n"
	"  --session NAME        session to which the execution belongs\n"
	"  --agent NAME          agent that wrote the code\n"
	"  --executor NAME       program that runs the code; default: cordon-run\n"
	"  --language NAME       of the code; default: determined from the command\n"
	"  --log DIR             write the records there; default: the daemon's log\n"
	"  --report FILE         write the denials with their reasons, and how to request\n"
	"                        the accesses, as JSON\n"
	"\n"
	"  -h, --help            this text\n"
	"\n"
	"cordon looks for COMMAND in the PATH that the policy sets, or, if it contains a\n"
	"'/', from the work directory. /bin/sh runs an executable file that is neither a\n"
	"program nor begins with \"#!\".\n"
	"\n"
	"Exit status: the command's; 124 timeout; 125 cordon failed, nothing ran; 126 the\n"
	"command is not executable or was denied; 127 not found; 128+n killed by signal n\n"
	"(137 also after `cordon kill`, and after too many denials).\n"
	"\n"
	"Example: cordon run --policy shell-sandbox --timeout 60s -- sh build.sh\n";

enum {
	OPTION_POLICY = 256,
	OPTION_WORKDIR,
	OPTION_BIND,
	OPTION_USER,
	OPTION_STDIN,
	OPTION_OBSERVE,
	OPTION_SESSION,
	OPTION_AGENT,
	OPTION_EXECUTOR,
	OPTION_LANGUAGE,
	OPTION_LOG,
	OPTION_REPORT,
	OPTION_LIMIT, /* + index in limit_kinds: the last */
};

static const struct option named_options[] = {
	{"policy", required_argument, NULL, OPTION_POLICY},
	{"workdir", required_argument, NULL, OPTION_WORKDIR},
	{"bind", required_argument, NULL, OPTION_BIND},
	{"user", required_argument, NULL, OPTION_USER},
	{"stdin", required_argument, NULL, OPTION_STDIN},
	{"observe", no_argument, NULL, OPTION_OBSERVE},
	{"session", required_argument, NULL, OPTION_SESSION},
	{"agent", required_argument, NULL, OPTION_AGENT},
	{"executor", required_argument, NULL, OPTION_EXECUTOR},
	{"language", required_argument, NULL, OPTION_LANGUAGE},
	{"log", required_argument, NULL, OPTION_LOG},
	{"report", required_argument, NULL, OPTION_REPORT},
	{"help", no_argument, NULL, 'h'},
};

#define OPTION_COUNT (ARRAY_SIZE(named_options) + LIMIT_KINDS)

/* What getopt_long(3) takes: the options above, those of the limits, and an empty one. */
static void list_options(struct option options[OPTION_COUNT + 1])
{
	memcpy(options, named_options, sizeof(named_options));
	for (int i = 0; i < LIMIT_KINDS; i++)
		options[ARRAY_SIZE(named_options) + (size_t)i] = (struct option){
			limit_kinds[i].option, required_argument, NULL, OPTION_LIMIT + i};
	options[OPTION_COUNT] = (struct option){};
}

static bool is_bind_name(const char *name, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

	return length > 0 && strspn(name, letters) > 0 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") >= length;
}

static int add_bind(struct run_options *options, const char *text, struct failure *failure)
{
	static const char *const reserved[] = {"workdir", "tmp", "home"};
	const char *equals = strchr(text, '=');
	struct run_bind *bind = &options->binds[options->bind_count];

	if (options->bind_count == RUN_MAX_BINDS)
		return failure_set(failure, EINVAL, "--bind can be given %d times", RUN_MAX_BINDS);
	if (!equals || !is_bind_name(text, (size_t)(equals - text)) || equals[1] == '\0')
		return failure_set(failure, EINVAL,
				   "--bind takes NAME=DIR with a name of a-z, 0-9 and _, not '%s'",
				   text);
	bind->directory = equals + 1;
	bind->name = strndup(text, (size_t)(equals - text));
	if (!bind->name)
		return -ENOMEM;
	options->bind_count++;
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (strcmp(bind->name, reserved[i]) == 0)
			return failure_set(failure, EINVAL,
					   "--bind %s: ${%s} is bound by cordon itself", bind->name,
					   bind->name);
	for (size_t i = 0; i + 1 < options->bind_count; i++)
		if (strcmp(bind->name, options->binds[i].name) == 0)
			return failure_set(failure, EINVAL, "--bind gives '%s' twice", bind->name);
	return 0;
}

static int set_stdin(bool *ret_no_input, struct failure *failure)
{
	bool none = strcmp(optarg, "null") == 0;

	if (!none && strcmp(optarg, "inherit") != 0)
		return failure_set(failure, EINVAL, "--stdin takes 'inherit' or 'null', not '%s'",
				   optarg);
	*ret_no_input = none;
	return 0;
}

/* What goes into records must be text. */
static int set_text(const char **ret, const char *option, struct failure *failure)
{
	json_t *string = json_string(optarg);

	if (!string)
		return failure_set(failure, EINVAL, "the value of --%s is not UTF-8", option);
	json_decref(string);
	if (optarg[0] == '\0')
		return failure_set(failure, EINVAL, "the value of --%s is empty", option);
	*ret = optarg;
	return 0;
}

static int take(struct run_options *options, int option, struct failure *failure)
{
	switch (option) {
	case 'h':
		options->help = true;
		return 0;
	case OPTION_OBSERVE:
		options->observe = true;
		return 0;
	case OPTION_STDIN:
		return set_stdin(&options->no_input, failure);
	case OPTION_BIND:
		return add_bind(options, optarg, failure);
	case OPTION_POLICY:
		return set_text(&options->policy, "policy", failure);
	case OPTION_WORKDIR:
		return set_text(&options->workdir, "workdir", failure);
	case OPTION_USER:
		return set_text(&options->user, "user", failure);
	case OPTION_SESSION:
		return set_text(&options->session, "session", failure);
	case OPTION_AGENT:
		return set_text(&options->agent, "agent", failure);
	case OPTION_EXECUTOR:
		return set_text(&options->executor, "executor", failure);
	case OPTION_LANGUAGE:
		return set_text(&options->language, "language", failure);
	case OPTION_LOG:
		return set_text(&options->log, "log", failure);
	case OPTION_REPORT:
		return set_text(&options->report, "report", failure);
	default:
		return limit_parse(&limit_kinds[option - OPTION_LIMIT], optarg, &options->limits,
				   failure);
	}
}

static int parse(int argc, char **argv, struct run_options *options, struct failure *failure)
{
	struct option known[OPTION_COUNT + 1];
	struct failure wrong = {};
	int option, r;

	list_options(known);
	optind = 0; /* starts getopt afresh */
	for (;;) {
		/* '+': the first word that is no option begins the command. */
		option = next_option(argc, argv, "+h", known, &wrong);
		if (option == -1)
			break;
		if (option == '?')
			return failure_set(failure, EINVAL, "run: %s", wrong.text);
		r = take(options, option, failure);
		if (r < 0)
			return r;
		if (options->help)
			return 0;
	}
	options->argv = argv + optind;
	options->argc = (size_t)(argc - optind);
	if (options->argc == 0 || options->argv[0][0] == '\0')
		return failure_set(failure, EINVAL,
				   "no command is given: cordon run [OPTION...] -- COMMAND "
				   "[ARGUMENT...]");
	return 0;
}

int run_options_parse(int argc, char **argv, struct run_options *ret_options,
		      struct failure *failure)
{
	struct run_options options = {.workdir = ".", .executor = "cordon-run"};
	int r;

	r = parse(argc, argv, &options, failure);
	if (r < 0) {
		run_options_release(&options);
		return failure_set(failure, r, "cannot read the command line: %m");
	}
	*ret_options = options;
	return 0;
}

void run_options_release(struct run_options *options)
{
	for (size_t i = 0; i < options->bind_count; i++)
		free(options->binds[i].name);
	*options = (struct run_options){};
}
