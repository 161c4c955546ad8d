/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy apply`: puts executions that are running under another policy. */
#include <limits.h>
#include <string.h>

#include "cli/live/live_execution.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "cli/term/read_option.h"
#include "control/client.h"

enum apply_exit {
	APPLY_DONE = 0,
	APPLY_REFUSED = 1,
	APPLY_NOT_FOUND = 2,
};

static const char help[] =
	"usage: cordon policy apply [OPTION...] POLICY (--execution ID | --all-of NAME |\n"
	"       --session S)\n"
	"\n"
	"Puts executions that are running under another policy. Each of their accesses is\n"
	"decided by the old policy or by the new one as a whole, never by neither. All\n"
	"are changed, or none, and each change is on record. Limits and environment stay\n"
	"those of the launch.\n"
	"\n"
	"      --execution ID         the execution with this id; its beginning will do\n"
	"      --all-of NAME          all that are under the policy of this name\n"
	"      --session S            all of this session\n"
	"      --allow-wider REASON   although it allows what a policy in force does not;\n"
	"                             recorded\n"
	"      --json                 the result as JSON\n"
	"  -h, --help                 this text\n"
	"\n"
	"Without --allow-wider, a policy that allows more in any respect is rejected, with\n"
	"an example for each. Variables must be those of the policy in force, in the same\n"
	"order, and bound.\n"
	"\n"
	"Exit status: 0 applied, 1 refused or failed, 2 no such execution is live,\n"
	"or asked wrongly.\n";

struct options {
	struct client_apply apply;
	const char *wanted; /* id, or its beginning */
	bool json;
};

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {
		{"execution", required_argument, NULL, 'e'},
		{"all-of", required_argument, NULL, 'a'},
		{"session", required_argument, NULL, 's'},
		{"allow-wider", required_argument, NULL, 'w'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c, ways = 0;

	while ((c = read_option(argc, argv, "h", long_options)) >= 0) {
		switch (c) {
		case 'e':
			options->wanted = optarg;
			ways++;
			break;
		case 'a':
			options->apply.all_of = optarg;
			ways++;
			break;
		case 's':
			options->apply.session = optarg;
			ways++;
			break;
		case 'w':
			options->apply.reason = optarg;
			break;
		case 'j':
			options->json = true;
			break;
		case 'h':
			fputs(help, stdout);
			return APPLY_DONE;
		default:
			message("see `cordon policy apply --help`");
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 1 || ways != 1) {
		message(ways != 1
				? "name the executions by one of --execution, --all-of and --session"
				: "name one policy to apply");
		return EXIT_USAGE;
	}
	options->apply.policy = argv[optind];
	return -1;
}

/* The daemon looks for it from where it stands: a file is named in full. */
static int absolute(const char *policy, char **ret_policy)
{
	size_t length = strlen(policy);
	bool file = strchr(policy, '/') ||
		    (length > 5 && strcmp(policy + length - 5, ".yaml") == 0);

	*ret_policy = file ? realpath(policy, NULL) : strdup(policy);
	if (*ret_policy)
		return 0;
	message("cannot find the policy %s: %m", policy);
	return -errno;
}

static int print_result(const json_t *reply, bool json)
{
	const char *name = "", *digest = "", *line;
	json_int_t changed = 0, unchanged = 0;
	json_t *wider = NULL, *entry;
	size_t i;

	if (json) {
		(void)json_dumpf(reply, stdout, JSON_COMPACT);
		putchar('\n');
		return policy_command_finish(APPLY_DONE);
	}
	if (json_unpack((json_t *)reply, "{s:s,s:s,s:I,s:I,s:o}", "policy", &name, "digest",
			&digest, "changed", &changed, "unchanged", &unchanged, "wider",
			&wider) < 0) {
		message("the daemon's answer is not understood");
		return APPLY_REFUSED;
	}
	printf("%lld executions are under %s (%.12s) from here on", (long long)changed, name,
	       digest);
	if (unchanged)
		printf(", %lld were before", (long long)unchanged);
	putchar('\n');
	json_array_foreach(wider, i, entry) {
		line = json_string_value(entry);
		printf("  wider: %s\n", line ? line : "");
	}
	return policy_command_finish(APPLY_DONE);
}

static int apply(int socket, struct options *options)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	_cleanup_(freep) char *policy = NULL, *text = NULL;
	struct failure failure = {};
	char id[UUID_TEXT_SIZE];
	int r;

	if (absolute(options->apply.policy, &policy) < 0)
		return APPLY_REFUSED;
	options->apply.policy = policy;
	if (options->wanted) {
		r = live_execution_find(socket, options->wanted, id);
		if (r < 0)
			return r == -ENOENT ? APPLY_NOT_FOUND : APPLY_REFUSED;
		options->apply.execution = id;
	}
	r = client_apply(socket, &options->apply, &reply, &text, &failure);
	if (r < 0) {
		message("%s", text && *text ? text : failure.text);
		return r == -ESRCH ? APPLY_NOT_FOUND : APPLY_REFUSED;
	}
	return print_result(reply, options->json);
}

int policy_command_apply(const struct policy_search *search, int argc, char **argv)
{
	_cleanup_(closep) int socket = -1;
	struct failure failure = {};
	struct options options = {};
	int r = parse(argc, argv, &options);

	(void)search;
	if (r >= 0)
		return r;
	r = client_connect(&socket, &failure);
	if (r == -ENOENT || r == -ECONNREFUSED) {
		message("no daemon runs, and so no execution under it");
		return APPLY_NOT_FOUND;
	}
	if (r < 0) {
		message("%s", failure.text);
		return APPLY_REFUSED;
	}
	return apply(socket, &options);
}
