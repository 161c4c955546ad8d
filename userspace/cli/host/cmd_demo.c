/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon demo`: runs the story in share/cordon/demo, attacks with and without cordon. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "kernel/features.h"

static const char help[] =
	"usage: cordon demo\n"
	"\n"
	"Shows on this host what cordon does: a script reads a private key and sends it\n"
	"to a server, without cordon and with it, and six more acts. The key, the server\n"
	"and the scripts are the demo's own. It takes half a minute, needs root, python3\n"
	"and curl, and removes what it made, also after Ctrl-C.\n"
	"\n"
	"  -h, --help   show this help\n"
	"\n"
	"Exit status: 0 everything happened as the demo promises; 1 it did not, or this\n"
	"host cannot enforce; 2 wrong usage.\n";

static const char *const programs[] = {"/usr/bin/python3", "/usr/bin/curl"};

/*
 * *ret_story: PREFIX/share/cordon/demo/story.py, or tests/demo/story.py of the source tree;
 * *ret_directory: where the `cordon` beside this program is. The caller frees both. Returns 0,
 * -ENOENT if there is no story, or -ENOMEM.
 */
static int find_story(char **ret_story, char **ret_directory)
{
	static const char *const places[][2] = {{"share/cordon/demo/story.py", "bin"},
						{"../tests/demo/story.py", "."}};
	static const char own_end[] = "/lib/cordon/cordon";
	char own[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[length > 0 ? length : 0] = '\0';
	length -= (ssize_t)strlen(own_end);
	if (length < 0 || strcmp(own + length, own_end) != 0)
		return -ENOENT;
	own[length] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_(freep) char *story = NULL;

		if (asprintf(&story, "%s/%s", own, places[i][0]) < 0)
			return -ENOMEM;
		if (access(story, R_OK) < 0)
			continue;
		if (asprintf(ret_directory, "%s/%s", own, places[i][1]) < 0)
			return -ENOMEM;
		*ret_story = TAKE_PTR(story);
		return 0;
	}
	return -ENOENT;
}

/*
 * Returns whether this host has what the demo needs, after a message about the first thing that it
 * lacks.
 */
static bool is_possible(void)
{
	_cleanup_(freep) struct feature *features = NULL;
	size_t count = 0;

	if (geteuid() != 0) {
		message("cannot run the demo: only root can load enforcement. Run: sudo cordon demo");
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		if (access(programs[i], X_OK) == 0)
			continue;
		message("cannot run the demo: %s: %m. Install the package %s.", programs[i],
			strrchr(programs[i], '/') + 1);
		return false;
	}
	if (features_probe(&features, &count) < 0) {
		message("cannot run the demo: out of memory");
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (features[i].state != FEATURE_MISSING)
			continue;
		message("cannot run the demo: this host cannot enforce: %s: %s. To do: %s. "
			"`cordon doctor` lists all that is missing.",
			features[i].name, features[i].found, features[i].remedy);
		return false;
	}
	return true;
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c = read_option(argc, argv, "h", options);

	if (c == 'h') {
		fputs(help, stdout);
		return EXIT_SUCCESS;
	}
	if (c >= 0) {
		message("see `cordon %s --help`", argv[0]);
		return EXIT_USAGE;
	}
	if (optind < argc) {
		message("%s: unexpected argument \"%s\"", argv[0], argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}

int cmd_demo(int argc, char **argv)
{
	_cleanup_(freep) char *story = NULL, *directory = NULL;
	int r = parse(argc, argv);

	if (r >= 0)
		return r;
	if (!is_possible())
		return EXIT_FAILURE;
	r = find_story(&story, &directory);
	if (r < 0) {
		message("cannot run the demo: %s. Install cordon again.",
			r == -ENOENT ? "share/cordon/demo/story.py is missing" : "out of memory");
		return EXIT_FAILURE;
	}
	execl(programs[0], programs[0], "-I", "-B", story, directory, (char *)NULL);
	message("cannot start %s: %m", programs[0]);
	return EXIT_FAILURE;
}
