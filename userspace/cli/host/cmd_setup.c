/* SPDX-License-Identifier: Apache-2.0 */
/* cordon setup: finds the agents of this host, and makes entries of cordon.yaml for them. */
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/setup/agent_homes.h"
#include "cli/setup/setup_file.h"
#include "cli/setup/setup_plan.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "config/config.h"
#include "control/client.h"

#define CONFIG_SIZE_MAX (1u << 20)

static const char help[] =
	"usage: cordon setup [OPTION...]\n"
	"\n"
	"Finds the agents that are installed on this host, for all users: Claude Code,\n"
	"Codex, Gemini CLI, GitHub Copilot CLI, Cursor CLI, OpenHands, AutoGen, Jupyter,\n"
	"Docker and podman. Shows the entries of " CONFIG_FILE " that confine\n"
	"their commands, writes them after confirmation, and reloads the daemon. Existing\n"
	"entries are never changed, and a second run changes nothing.\n"
	"\n"
	"  --plan          show the entries, and change nothing\n"
	"  --yes           write them without confirmation\n"
	"  --work DIR      also confine Claude Code and Codex themselves: their own file\n"
	"                  tools reach DIR, their state and public files, nothing else\n"
	"  --containers    also confine all containers of Docker and podman\n"
	"  --config FILE   another file; it is not reloaded\n"
	"  --json          one JSON object, for programs; implies --plan without --yes\n"
	"  -h, --help      this text\n"
	"\n"
	"Exit status: 0 done, or nothing to do; 1 failed, or not confirmed; 2 usage;\n"
	"with --plan, 3 if entries are missing.\n"
	"\n"
	"  cordon setup --plan --work /home/alice/src\n";

#define EXIT_MISSING 3

struct arguments {
	const char *config;
	char work[PATH_MAX]; /* "": none */
	bool plan, yes, json, containers;
};

/* The state of one run. */
struct setup {
	struct agent_home homes[AGENT_HOMES_MAX];
	size_t home_count;
	struct agent_found found[AGENT_HOMES_MAX + 1]; /* of each home, and of the system */
	const char *cut; /* a directory that was not searched whole, or NULL */
	char *text;	 /* of the file; NULL: there is none */
	struct config *config;
	struct setup_plan plan;
};

static void setup_release(struct setup *s)
{
	for (size_t i = 0; i <= AGENT_HOMES_MAX; i++)
		json_decref(s->found[i].agents);
	json_decref(s->plan.items);
	if (s->config)
		config_free(s->config);
	free(s->text);
}

/* --- searching ---------------------------------------------------------------------------- */

/* Home directories that do not exist drop out. */
static int search(struct setup *s)
{
	size_t count = agent_homes_list(s->homes), kept = 0;
	struct agent_found system;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		struct agent_found found;

		r = agent_homes_search(&s->homes[i], NULL, &found);
		if (r < 0 || !found.exists) {
			json_decref(found.agents);
			continue;
		}
		s->homes[kept] = s->homes[i];
		s->found[kept++] = found;
	}
	s->home_count = kept;
	for (size_t i = 0; i < kept; i++)
		if (s->found[i].cut)
			s->cut = s->homes[i].path;
	if (r == 0)
		r = agent_homes_search(NULL, "", &system);
	if (r == 0) {
		s->found[AGENT_HOMES_MAX] = system;
		s->cut = system.cut ? "/" : s->cut;
	}
	return r;
}

static int read_config(struct setup *s, const char *file)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	int r = diagnostics ? io_read_file(AT_FDCWD, file, CONFIG_SIZE_MAX, &s->text, &size)
			    : -ENOMEM;

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		message("cannot read %s: %s", file, strerror(-r));
		return r;
	}
	r = config_parse(s->text, size, file, diagnostics, &s->config);
	if (r == -EINVAL) {
		text = diagnostics_format(diagnostics, false);
		fputs(text ? text : "", stderr);
		message("cannot add entries to %s: it has mistakes. Correct them first", file);
	}
	return r;
}

static int make_plan(struct setup *s, const struct arguments *arguments)
{
	int r = 0;

	s->plan = (struct setup_plan){
		.config = s->config,
		.homes = s->homes,
		.home_count = s->home_count,
		.work = arguments->work[0] ? arguments->work : NULL,
		.containers = arguments->containers,
		.items = json_array(),
	};
	if (!s->plan.items)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < s->home_count; i++)
		r = setup_plan_add(&s->plan, &s->homes[i], s->found[i].agents);
	return r < 0 ? r : setup_plan_add(&s->plan, NULL, s->found[AGENT_HOMES_MAX].agents);
}

/* --- showing ------------------------------------------------------------------------------ */

#define COLUMNS 80

/* Shows the end of a long path, which differs most between programs. */
static void print_path(const char *path, int room)
{
	int length = (int)strlen(path);

	if (length > room)
		printf("...%s", path + length - (room - 3));
	else
		fputs(path, stdout);
}

static void print_line(const char *key, const char *value)
{
	printf("  %-9s ", key);
	print_path(value, COLUMNS - 12);
	putchar('\n');
}

static void print_match(const json_t *entry)
{
	const json_t *match = json_object_get(entry, "match"),
		     *arguments = json_object_get(match, "arguments");
	const char *executable = json_string_value(json_object_get(match, "executable"));

	if (!arguments) {
		print_line("program", executable);
		return;
	}
	printf("  %-9s ", "program");
	print_path(executable, COLUMNS - 12 - 9 - (int)json_string_length(arguments));
	printf(" with \"%s\"\n", json_string_value(arguments));
}

static void print_children(const json_t *entry)
{
	const json_t *except = json_array_get(
			     json_object_get(json_object_get(entry, "children"), "except"), 0),
		     *under = json_object_get(entry, "workdir_under");
	char text[PATH_MAX];
	int n = snprintf(text, sizeof(text), "%s",
			 json_string_value(json_object_get(entry, "policy")));

	if (json_array_size(under) > 0 && n < (int)sizeof(text))
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", below %s",
			      json_string_value(json_array_get(under, 0)));
	if (except && n < (int)sizeof(text))
		snprintf(text + n, sizeof(text) - (size_t)n, ", except its own %s",
			 strrchr(json_string_value(except), '/') + 1);
	print_line("children", text);
}

static void print_itself(const json_t *entry)
{
	const json_t *itself = json_object_get(entry, "itself");
	char text[PATH_MAX];

	if (json_object_get(entry, "kind") && !json_object_get(entry, "workdir_under"))
		return;
	if (itself)
		snprintf(text, sizeof(text), "%s, files below %s",
			 json_string_value(json_object_get(itself, "policy")),
			 json_string_value(
				 json_object_get(json_object_get(itself, "bind"), "work")));
	print_line("itself", itself ? text : "not confined");
}

static void print_item(const json_t *item)
{
	const json_t *entry = json_object_get(item, "entry");
	const char *agent = json_string_value(json_object_get(item, "agent")),
		   *user = json_string_value(json_object_get(item, "user"));
	const bool new = entry != NULL;

	printf("%s%s%s: ", agent, user ? " of " : "", user ? user : "");
	if (!new) {
		printf("%s, %s\n",
		       strcmp(json_string_value(json_object_get(item, "state")), "present") == 0
			       ? "unchanged"
			       : "no entry",
		       json_string_value(json_object_get(item, "reason")));
		return;
	}
	printf("new entry %s\n", json_string_value(json_object_get(entry, "name")));
	print_match(entry);
	print_children(entry);
	print_itself(entry);
}

static void print_plan(const struct setup *s, const char *file)
{
	const json_t *item;
	size_t i;

	json_array_foreach(s->plan.items, i, item)
		print_item(item);
	if (json_array_size(s->plan.items) == 0)
		printf("No agent was found in /usr, /usr/local, /opt, /srv and %zu home directories.\n",
		       s->home_count);
	if (s->cut)
		printf("Not all of %s was searched.\n", s->cut);
	if (setup_plan_new(&s->plan) == 0)
		printf("%s needs no change.\n", file);
	else
		printf("%zu new %s for %s.\n", setup_plan_new(&s->plan),
		       setup_plan_new(&s->plan) == 1 ? "entry" : "entries", file);
	/* Messages follow the plan that they are about. */
	fflush(stdout);
}

static void print_json(const struct setup *s, const char *file, bool written)
{
	json_t *o = json_pack("{s:s,s:O,s:b,s:b,s:s*}", "file", file, "agents", s->plan.items,
			      "written", written, "whole", s->cut == NULL, "cut", s->cut);

	if (o)
		json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

/* --- writing ------------------------------------------------------------------------------ */

static bool confirmed(void)
{
	char reply[16];

	if (!isatty(STDIN_FILENO)) {
		message("setup: standard input is no terminal; confirm with --yes");
		return false;
	}
	fputs("Write them? [y/N] ", stdout);
	fflush(stdout);
	return fgets(reply, sizeof(reply), stdin) &&
	       (strcmp(reply, "y\n") == 0 || strcmp(reply, "yes\n") == 0);
}

static int reload(bool json)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	_cleanup_(closep) int fd = -1;
	struct failure failure = {};
	int r = client_connect(&fd, &failure);

	if (r == -ENOENT || r == -ECONNREFUSED) {
		message("no daemon runs, so nothing is confined yet; start it: "
			"systemctl enable --now cordon");
		return 0;
	}
	if (r == 0)
		r = client_reload(fd, &reply, &failure);
	if (r < 0) {
		message("the entries are written, but not active: %s", failure.text);
		return r;
	}
	if (!json)
		puts("The entries are active. Restart agents that run, or register each:\n"
		     "cordon adopt PID");
	return 0;
}

static int write_entries(const struct setup *s, const struct arguments *arguments)
{
	_cleanup_(freep) char *text = NULL;
	int r = setup_file_add(s->text, s->plan.items, &text);

	if (r == -EINVAL) {
		message("cannot add entries to %s: its list of executors is not one item a line. "
			"`cordon setup --json` shows the entries to add",
			arguments->config);
		return r;
	}
	if (r == 0)
		r = setup_file_replace(arguments->config, s->text, text);
	if (r == -ESTALE)
		message("cannot write %s: it was changed meanwhile. Run `cordon setup` again",
			arguments->config);
	else if (r < 0)
		message("cannot write %s: %s%s", arguments->config, strerror(-r),
			r == -EACCES ? ". Run as root" : "");
	if (r < 0)
		return r;
	if (!arguments->json)
		printf("Written to %s.\n", arguments->config);
	return strcmp(arguments->config, CONFIG_FILE) == 0 ? reload(arguments->json) : 0;
}

/* ------------------------------------------------------------------------------------------ */

static int set_work(struct arguments *arguments, const char *path)
{
	struct stat st;

	if (!realpath(path, arguments->work) || stat(arguments->work, &st) < 0) {
		message("setup: cannot use %s: %s", path, strerror(errno));
		return EXIT_USAGE;
	}
	if (!S_ISDIR(st.st_mode) || strcmp(arguments->work, "/") == 0 ||
	    strpbrk(arguments->work, "\"\\\n")) {
		message("setup: --work takes a directory of projects");
		return EXIT_USAGE;
	}
	return -1;
}

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"plan", no_argument, NULL, 'p'},	  {"yes", no_argument, NULL, 'y'},
		{"work", required_argument, NULL, 'w'},	  {"containers", no_argument, NULL, 'C'},
		{"config", required_argument, NULL, 'c'}, {"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},	  {},
	};
	int option;

	arguments->config = CONFIG_FILE;
	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 'p':
			arguments->plan = true;
			break;
		case 'y':
			arguments->yes = true;
			break;
		case 'w':
			if (set_work(arguments, optarg) >= 0)
				return EXIT_USAGE;
			break;
		case 'C':
			arguments->containers = true;
			break;
		case 'c':
			arguments->config = optarg;
			break;
		case 'j':
			arguments->json = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			message("see `cordon setup --help`");
			return EXIT_USAGE;
		}
	}
	if (optind < argc || (arguments->plan && arguments->yes)) {
		message(optind < argc ? "setup takes no arguments"
				      : "setup: --plan and --yes exclude each other");
		return EXIT_USAGE;
	}
	if (arguments->json && !arguments->yes)
		arguments->plan = true;
	return -1;
}

static int run(struct setup *s, const struct arguments *arguments)
{
	int r = read_config(s, arguments->config);

	if (r < 0)
		return EXIT_FAILURE;
	r = search(s);
	if (r == 0)
		r = make_plan(s, arguments);
	if (r < 0) {
		message("cannot search for agents: %s", strerror(-r));
		return EXIT_FAILURE;
	}
	if (!arguments->json)
		print_plan(s, arguments->config);
	if (setup_plan_new(&s->plan) == 0 || arguments->plan) {
		if (arguments->json)
			print_json(s, arguments->config, false);
		return setup_plan_new(&s->plan) ? EXIT_MISSING : EXIT_SUCCESS;
	}
	if (!arguments->yes && !confirmed())
		return EXIT_FAILURE;
	r = write_entries(s, arguments);
	if (r == 0 && arguments->json)
		print_json(s, arguments->config, true);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_setup(int argc, char **argv)
{
	_cleanup_(setup_release) struct setup s = {};
	struct arguments arguments = {};
	int r = parse(argc, argv, &arguments);

	return r >= 0 ? r : run(&s, &arguments);
}
