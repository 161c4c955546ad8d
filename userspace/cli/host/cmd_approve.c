/* SPDX-License-Identifier: Apache-2.0 */
/* cordon approve: an authorised person lets a policy be used. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/term/commands.h"
#include "cli/host/decide.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "policy/source/units.h"

static const char help[] =
	"usage: cordon approve (DIGEST | --policy NAME|FILE) --reason TEXT [--expires\n"
	"       TIME] [--json]\n"
	"\n"
	"Lets a policy be used that waits for approval: where the daemon requires\n"
	"approvals, one that nobody approved yet, or that allows in any respect more than\n"
	"the approved one of its name. `cordon approvals` shows what waits, and what it\n"
	"allows besides. What allows less needs no approval.\n"
	"\n"
	"DIGEST stands for exactly one policy with its limits and environment; its first\n"
	"8 digits or more will do. Who said so, when and why is on record. Root may, and\n"
	"members of the group cordon-approvers.\n"
	"\n"
	"      --policy NAME|FILE  ahead of its first use, as it is now: for hosts that\n"
	"                          nobody attends\n"
	"      --reason TEXT       why\n"
	"      --expires TIME      after so long (12h, 30d) it waits again\n"
	"      --json              the approval as JSON\n"
	"  -h, --help              this text\n"
	"\n"
	"Exit status: 0 approved; 1 failed or refused; 2 nothing with this digest waits,\n"
	"or asked wrongly.\n";

struct options {
	struct client_decide decide;
	bool json;
};

static int parse_expires(const char *text, uint64_t *ret_when)
{
	uint64_t after;

	if (units_duration(text, &after) < 0 || after == 0) {
		message("--expires takes a time such as 12h or 30d, not '%s'", text);
		return -EINVAL;
	}
	*ret_when = clock_nsec(CLOCK_REALTIME) + after;
	return 0;
}

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {
		{"policy", required_argument, NULL, 'p'},  {"reason", required_argument, NULL, 'r'},
		{"expires", required_argument, NULL, 'e'}, {"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},	   {},
	};
	int c;

	while ((c = read_option(argc, argv, "h", long_options)) >= 0) {
		switch (c) {
		case 'p':
			options->decide.policy = optarg;
			break;
		case 'r':
			options->decide.reason = optarg;
			break;
		case 'e':
			if (parse_expires(optarg, &options->decide.expires) < 0)
				return EXIT_USAGE;
			break;
		case 'j':
			options->json = true;
			break;
		case 'h':
			fputs(help, stdout);
			return DECIDE_DONE;
		default:
			message("see `cordon approve --help`");
			return EXIT_USAGE;
		}
	}
	if (argc - optind + !!options->decide.policy != 1) {
		message("approve: one digest, or --policy; `cordon approvals` shows what waits");
		return EXIT_USAGE;
	}
	if (!options->decide.reason || !*options->decide.reason) {
		message("approve: say why: --reason TEXT");
		return EXIT_USAGE;
	}
	options->decide.digest = optind < argc ? argv[optind] : NULL;
	return -1;
}

int cmd_approve(int argc, char **argv)
{
	struct options options = {.decide = {.decision = "approve"}};
	_cleanup_(freep) char *path = NULL;
	int r = parse(argc, argv, &options);

	if (r >= 0)
		return r;
	/* The daemon looks from where it stands. */
	if (options.decide.policy && strchr(options.decide.policy, '/')) {
		path = realpath(options.decide.policy, NULL);
		if (!path) {
			message("cannot find the policy %s: %m", options.decide.policy);
			return DECIDE_FAILED;
		}
		options.decide.policy = path;
	}
	return decide_ask(&options.decide, options.json);
}
