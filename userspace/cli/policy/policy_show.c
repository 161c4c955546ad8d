/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy show`: a policy with its includes joined, and where each rule comes from. */
#include <jansson.h>
#include <string.h>

#include "audit/storage/policy_store.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"
#include "cli/policy/policy_command.h"
#include "cli/term/read_option.h"
#include "policy/source/settings.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy show [--json] POLICY\n"
	      "       cordon policy show [--json] [--log DIR] DIGEST\n"
	      "\n"
	      "Shows POLICY as a run would use it: the rules of all its files in the order in\n"
	      "which the first one decides, each with its file and line, and every setting with\n"
	      "its value. DIGEST, or how it begins as records and `cordon show` have it: the\n"
	      "policy that was in force, as it is kept with the log, whatever its file says\n"
	      "now. Its settings are in the records.\n"
	      "\n"
	      "      --json      for programs\n"
	      "      --log DIR   the log's directory (/var/log/cordon)\n"
	      "  -h, --help      this text\n",
	      out);
}

static int print_json(const struct compiled_policy *p, bool kept)
{
	json_t *rules = json_array(), *settings = json_object(), *o;
	char value[SETTING_TEXT];
	int r;

	for (size_t i = 0; i < p->rule_count; i++) {
		const struct policy_rule *rule = &p->rules[i];
		json_t *item = json_pack("{s:i, s:s, s:i, s:s, s:s*, s:s*}", "number", (int)i,
					 "file", rule->file, "line", (int)rule->line, "text",
					 rule->text, "severity", rule->severity, "message",
					 rule->message);
		json_t *tags = json_array();

		for (char **tag = rule->tags; tag && *tag; tag++)
			json_array_append_new(tags, json_string(*tag));
		json_object_set_new(item, "tags", tags);
		json_array_append_new(rules, item);
	}
	for (size_t i = 0; !kept && setting_describe(p, i, value); i++)
		json_object_set_new(settings, setting_name(i), json_string(value));
	o = json_pack("{s:s, s:s*, s:s, s:s, s:s, s:o, s:o}", "name", p->name, "description",
		      p->description, "file", p->file, "mode", p->observe ? "observe" : "enforce",
		      "digest", p->digest_text, "rules", rules, "settings", settings);
	r = o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;
	putchar('\n');
	json_decref(o);
	return r == 0 ? 0 : -ENOMEM;
}

/* `kept`: it comes from beside a log, where settings are not. */
static void print_text(const struct compiled_policy *p, bool kept)
{
	char value[SETTING_TEXT], origin[128];
	int width = 0;

	printf("%s: %s (%s)\n", p->name, p->description ? p->description : "no description",
	       p->observe ? "observe" : "enforce");
	printf("%s, %u states, %zu bytes, digest %.16s\n\n", p->file, compiled_policy_states(p),
	       p->tables_size, p->digest_text);
	for (size_t i = 0; i < p->rule_count; i++) {
		int n = snprintf(origin, sizeof(origin), "%s:%u", p->rules[i].file,
				 p->rules[i].line);

		if (n > width && n < 60)
			width = n;
	}
	for (size_t i = 0; i < p->rule_count; i++) {
		snprintf(origin, sizeof(origin), "%s:%u", p->rules[i].file, p->rules[i].line);
		printf("%-*s  %s\n", width, origin, p->rules[i].text);
	}
	if (kept)
		return;
	putchar('\n');
	for (size_t i = 0; setting_describe(p, i, value); i++)
		printf("%-20s %s\n", setting_name(i), value);
}

/* Takes the policy that was in force by its digest. False: that is none of one that is kept. */
static bool load_kept(const char *directory, const char *word, struct compiled_policy **ret_policy)
{
	char digest[SHA256_TEXT_SIZE];
	struct failure failure;
	int r = policy_store_complete(directory, word, digest);

	if (r == -ENOTUNIQ)
		message("several policies in %s have a digest that begins with %s", directory,
			word);
	if (r < 0)
		return false;
	r = policy_store_get(directory, digest, ret_policy, &failure);
	if (r < 0)
		message("%s", failure.text);
	return r == 0;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, bool *ret_json, const char **ret_directory)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int option;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		if (option == 'j') {
			*ret_json = true;
		} else if (option == 'l') {
			*ret_directory = optarg;
		} else {
			print_help(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : EXIT_USAGE;
		}
	}
	if (argc - optind == 1)
		return -1;
	message("name one policy to show");
	print_help(stderr);
	return EXIT_USAGE;
}

int policy_command_show(const struct policy_search *search, int argc, char **argv)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	const char *directory = DEFAULT_LOG_DIRECTORY;
	bool json = false, kept;
	int status = parse(argc, argv, &json, &directory);

	if (status >= 0)
		return status;
	kept = load_kept(directory, argv[optind], &p);
	if (!kept && policy_command_load(argv[optind], search, &p) < 0)
		return 1;
	if (!json)
		print_text(p, kept);
	return policy_command_finish(json && print_json(p, kept) < 0);
}
