/* SPDX-License-Identifier: Apache-2.0 */
/* cordon config: is cordon.yaml right, and have the daemon read it again. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/host/config_check.h"
#include "cli/term/choose_word.h"
#include "cli/term/commands.h"
#include "cli/term/diagnostics_json.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "config/config.h"
#include "control/client.h"

static const char help[] =
	"usage: cordon config check [--json] [FILE]\n"
	"       cordon config reload\n"
	"\n"
	"check says what is wrong with FILE (default: " CONFIG_FILE "),\n"
	"with the policies that it names, and with the programs, users, cgroups and\n"
	"directories, as the daemon would find when it reads it; exit status 1 if\n"
	"anything is. Who is not root is told what was not looked at.\n"
	"reload has the running daemon read its file again: all of it comes into force at\n"
	"once, or nothing does and it says why. An entry that names what is not there\n"
	"refuses all that its executor starts until it is, and the others are in force.\n"
	"\n"
	"  --json   for programs\n"
	"  --help   show this\n";

static json_t *executor_json(const struct config_executor *e)
{
	return json_pack("{s:s,s:s,s:s,s:s}", "name", e->name, "kind", config_kind_name(e->kind),
			 "executable", e->executable, "policy", e->policy);
}

static void print_json(const char *file, bool good, const struct config *config,
		       const struct diagnostics *diagnostics)
{
	json_t *executors = json_array(), *o;

	for (size_t i = 0; good && i < config_executor_count(config); i++)
		json_array_append_new(executors, executor_json(config_executor_at(config, i)));
	o = json_pack("{s:s,s:b,s:o,s:o}", "file", file, "ok", good, "executors", executors,
		      "diagnostics", diagnostics_json(diagnostics));
	if (o)
		json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

static int check(const char *file, bool json)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	struct config *config = NULL;
	_cleanup_(freep) char *text = NULL;
	bool good;
	int r;

	if (!diagnostics)
		return 1;
	r = config_load(file, diagnostics, &config);
	if (r == -ENOENT || r == -ENOMEM) {
		message("%s: %s", file, strerror(-r));
		return 1;
	}
	if (r == 0 && config_check(config, file, diagnostics) < 0) {
		message("out of memory");
		config_free(config);
		return 1;
	}
	good = r == 0 && diagnostics_errors(diagnostics) == 0;
	text = json ? NULL : diagnostics_format(diagnostics, isatty(STDERR_FILENO));
	if (json)
		print_json(file, good, config, diagnostics);
	else
		fputs(text ? text : "", stderr);
	if (good && !json)
		printf("%s: ok (%zu executors)\n", file, config_executor_count(config));
	if (config)
		config_free(config);
	return good ? 0 : 1;
}

static void write_troubles(const json_t *executors)
{
	const json_t *executor;
	size_t i;

	json_array_foreach(executors, i, executor) {
		const char *name = json_string_value(json_object_get(executor, "name")),
			   *refuses = json_string_value(json_object_get(executor, "refuses"));

		if (json_is_true(json_object_get(executor, "waits")))
			printf("%s waits for approval; see `cordon approvals`\n", name);
		if (refuses)
			printf("%s refuses all that it starts: %s\n", name, refuses);
	}
}

static int reload(bool json)
{
	_cleanup_(closep) int fd = -1;
	json_t *reply = NULL, *executors;
	struct failure failure = {};
	int r = client_connect(&fd, &failure);

	if (r == 0)
		r = client_reload(fd, &reply, &failure);
	if (r < 0) {
		message("%s", failure.text);
		return 1;
	}
	executors = json_object_get(reply, "executors");
	if (json) {
		json_dumpf(reply, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		printf("%zu executors in force\n", json_array_size(executors));
		write_troubles(executors);
	}
	json_decref(reply);
	return 0;
}

int cmd_config(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static const char *const actions[] = {"check", "reload"};
	bool json = false;
	int option;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		if (option == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (option != 'j') {
			fputs(help, stderr);
			return 2;
		}
		json = true;
	}
	if (optind < argc && argc <= optind + 2 && strcmp(argv[optind], "check") == 0)
		return check(optind + 1 < argc ? argv[optind + 1] : CONFIG_FILE, json);
	if (optind + 1 == argc && strcmp(argv[optind], "reload") == 0)
		return reload(json);
	if (optind >= argc)
		message("config: check or reload");
	else if (choose_word("config", argv[optind], actions, ARRAY_SIZE(actions)) >= 0)
		message("config %s: unexpected argument \"%s\"", argv[optind], argv[argc - 1]);
	fputs(help, stderr);
	return EXIT_USAGE;
}
