/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy learn`: a policy that allows what executions did. */
#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#include "base/io.h"
#include "base/walk.h"
#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "cli/log/recorded.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/learn/learn.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy learn [OPTION]... ID|last...\n"
	      "       cordon policy learn [OPTION]... --since TIME\n"
	      "\n"
	      "Writes a policy that allows what executions did, as the log has it. Run them\n"
	      "under the policy `observe` first, so that everything is on record. Temporary\n"
	      "names, versions and numbers become patterns, and so do names that vary from run\n"
	      "to run; shipped fragments take the place of rules where they cover many. Each\n"
	      "rule says how many accesses caused it, which record was the first, and which\n"
	      "program. The policy is compiled and every access asked of it again. What\n"
	      "runtime/credentials denies is not learnt but listed.\n"
	      "\n"
	      "  -o, --output FILE        write it there, which must not exist; not to standard\n"
	      "                           output\n"
	      "      --name NAME          of the policy (learned)\n"
	      "      --baseline POLICY    also say what it allows that POLICY does not, and the\n"
	      "                           other way round: in comments behind it, or on\n"
	      "                           standard output with -o\n"
	      "      --include-credentials  learn where credentials lie like anything else\n"
	      "      --since TIME         executions that started since: 2h, 7d, today,\n"
	      "                           2026-11-22, ...\n"
	      "      --log DIR            the log's directory (/var/log/cordon)\n"
	      "      --json               the policy and how it was learnt as one JSON object\n"
	      "  -h, --help               this text\n"
	      "\n"
	      "Exit status 0: the policy allows all that was learnt; 1: it does not, or there\n"
	      "is nothing to learn from; 2: the command line or the baseline is wrong.\n",
	      out);
}

struct learn_command {
	const struct policy_search *search;
	struct recorded_choice choice;
	struct learn_options options;
	const char *output, *baseline;
	bool json;
};

/* --- the result ----------------------------------------------------------------------------- */

static int write_file(const char *path, const char *text)
{
	_cleanup_(closep) int directory_fd = -1, fd = -1;
	struct failure failure = {};
	const char *name;
	int r;

	r = walk_parent(AT_FDCWD, path, "the policy's directory", &directory_fd, &name, &failure);
	if (r == 0) {
		fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		r = fd < 0 ? -errno : io_write_all(fd, text, strlen(text));
	}
	if (r < 0)
		message("cannot write %s: %s", path, failure.text[0] ? failure.text : strerror(-r));
	return r;
}

/* Every line as a comment. */
static void print_commented(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		printf("# %.*s\n", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static int describe_difference(const struct learn_command *c, const struct learned *learned,
			       char **ret_text)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *baseline = NULL;
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out;
	int r;

	r = policy_command_load(c->baseline, c->search, &baseline);
	if (r < 0)
		return r;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	r = policy_command_print_diff(out, baseline, learned->policy);
	if (fclose(out) != 0)
		r = -ENOMEM;
	if (r == 0)
		*ret_text = TAKE_PTR(text);
	return r;
}

static int print_json(const struct learned *learned, const char *difference)
{
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:s?}", "policy",
			      learned->text, "digest", learned->policy->digest_text, "accesses",
			      (json_int_t)learned->accesses, "allowed",
			      (json_int_t)learned->allowed, "credentials",
			      (json_int_t)learned->credentials, "impossible",
			      (json_int_t)learned->impossible, "capabilities",
			      (json_int_t)learned->capabilities, "failures", learned->failures,
			      "cautions", learned->cautions, "difference", difference);
	int r = o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;

	putchar('\n');
	json_decref(o);
	return r == 0 ? 0 : -ENOMEM;
}

static int print_result(const struct learn_command *c, const struct learned *learned,
			const char *difference)
{
	int r = c->output ? write_file(c->output, learned->text) : 0;

	if (r < 0)
		return r;
	if (c->json)
		return print_json(learned, difference);
	if (!c->output)
		fputs(learned->text, stdout);
	if (difference && !c->output) {
		printf("\n# Compared with %s:\n", c->baseline);
		print_commented(difference);
	} else if (difference) {
		fputs(difference, stdout);
	}
	return 0;
}

static void print_summary(const struct learned *learned)
{
	if (*learned->cautions)
		message("%s", learned->cautions);
	if (*learned->failures)
		message("the policy does not allow:\n%s", learned->failures);
	message("%zu of %zu accesses are allowed; left out: %zu to credentials, %zu that no policy can "
		"allow",
		learned->allowed, learned->accesses, learned->credentials, learned->impossible);
}

static int finish(const struct learn_command *c, const struct learned *learned)
{
	_cleanup_(freep) char *difference = NULL;
	int r = c->baseline ? describe_difference(c, learned, &difference) : 0;

	if (r < 0)
		return 2;
	r = print_result(c, learned, difference);
	if (r < 0)
		return 1;
	print_summary(learned);
	return *learned->failures ? 1 : 0;
}

static int learn(struct learn_command *c)
{
	_cleanup_(recording_freep) struct recording *recording = NULL;
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(learned_release) struct learned learned = {0};
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	int r;

	if (recorded_load(&c->choice, &recording) < 0)
		return 1;
	r = d && arena ? policy_search_fragments(arena, c->search, &c->options.fragments) : -ENOMEM;
	if (r == 0)
		r = learn_policy(recording, &c->options, d, &learned);
	if (r == -ENODATA) {
		message("nothing that was accessed is on record; observe an execution first: "
			"`cordon run --policy observe ...`");
		return 1;
	}
	if (d && diagnostics_count(d)) {
		_cleanup_(freep) char *text = diagnostics_format(d, isatty(STDERR_FILENO));

		fputs(text ? text : "", stderr);
	}
	if (r < 0 || !learned.text || !learned.failures || !learned.cautions) {
		message("cannot learn a policy: %s", strerror(-r));
		return 1;
	}
	return finish(c, &learned);
}

static int take_option(struct learn_command *c, int option)
{
	switch (option) {
	case 'o':
		c->output = optarg;
		return 0;
	case 'n':
		c->options.name = optarg;
		return 0;
	case 'b':
		c->baseline = optarg;
		return 0;
	case 'c':
		c->options.include_credentials = true;
		return 0;
	case 's':
		return recorded_since(&c->choice, optarg);
	case 'l':
		c->choice.directory = optarg;
		return 0;
	default:
		c->json = true;
		return 0;
	}
}

int policy_command_learn(const struct policy_search *search, int argc, char **argv)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"name", required_argument, NULL, 'n'},
		{"baseline", required_argument, NULL, 'b'},
		{"include-credentials", no_argument, NULL, 'c'},
		{"since", required_argument, NULL, 's'},
		{"log", required_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct learn_command c = {
		.search = search,
		.choice.directory = DEFAULT_LOG_DIRECTORY,
		.options = {.name = "learned", .search = search},
	};
	int option;

	while ((option = read_option(argc, argv, "ho:", options)) >= 0) {
		if (option == 'h' || option == '?') {
			print_help(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
		if (take_option(&c, option) < 0)
			return 2;
	}
	c.choice.words = argv + optind;
	c.choice.word_count = (size_t)(argc - optind);
	if (!c.choice.word_count == !c.choice.have_since) {
		message("name executions by their ids, or `last`, or give --since");
		print_help(stderr);
		return 2;
	}
	return policy_command_finish(learn(&c));
}
