/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --help, the man pages and the completions say must agree: every long option in one is in
 * the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/term/commands.h"
#include "cli/log/log_command.h"
#include "cli/policy/policy_command.h"

#define HELP_COLUMNS 80u

static const struct policy_search search;

static int policy_explain(int argc, char **argv)
{
	return policy_command_explain(&search, argc, argv);
}

static int policy_learn(int argc, char **argv)
{
	return policy_command_learn(&search, argc, argv);
}

static int policy_show(int argc, char **argv)
{
	return policy_command_show(&search, argc, argv);
}

static int policy_propose(int argc, char **argv)
{
	return policy_command_propose(&search, argc, argv);
}

static int policy_try(int argc, char **argv)
{
	return policy_command_try(&search, argc, argv);
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"run", cmd_run},
	{"events", cmd_events},
	{"show", cmd_show},
	{"ps", cmd_ps},
	{"top", cmd_top},
	{"approve", cmd_approve},
	{"approvals", cmd_approvals},
	{"kill", cmd_kill},
	{"who", cmd_who},
	{"setup", cmd_setup},
	{"mcp", cmd_mcp},
	{"propose", cmd_propose},
	{"status", cmd_status},
	{"wait", cmd_wait},
	{"disable", cmd_disable},
	{"doctor", cmd_doctor},
	{"log verify", log_command_verify},
	{"log setup-keys", log_command_setup_keys},
	{"log renew-keys", log_command_renew_keys},
	{"policy", cmd_policy},
	{"daemon", cmd_daemon},
	{"why", cmd_why},
	{"could", cmd_could},
	{"report", cmd_report},
	{"log export", log_command_export},
	{"log query", log_command_query},
	{"log index", log_command_index},
	{"policy show", policy_show},
	{"policy explain", policy_explain},
	{"policy learn", policy_learn},
	{"policy propose", policy_propose},
	{"policy try", policy_try},
};

static char *read_text(const char *path)
{
	char *text;
	size_t size;

	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &text, &size), 0);
	return text;
}

/* What `cordon NAME --help` prints to standard output. */
static char *help_of(const struct command *command)
{
	char name[24], option[] = "--help", *argv[] = {name, option, NULL}, *text;
	int fds[2], status;
	size_t size;
	pid_t pid;

	snprintf(name, sizeof(name), "%s", command->name);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		status = command->run(2, argv);
		fflush(stdout);
		_exit(status);
	}
	close(fds[1]);
	assert_int_equal(io_read_all(fds[0], 1 << 20, &text, &size), 0);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(size > 0);
	return text;
}

/* Takes the backslashes out of "\-\-option". */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != '\\')
			*to++ = *text;
	*to = '\0';
}

/* The part of `text` from `begin` to before the next `end`, which stays in the text. */
static char *part(const char *text, const char *begin, const char *end)
{
	const char *from = strstr(text, begin), *to;

	if (!from)
		fail_msg("there is no '%s'", begin);
	to = strstr(from + strlen(begin), end);
	return to ? strndup(from, (size_t)(to - from)) : strdup(from);
}

/* The man page's words on a command. */
static char *manual_of(const struct command *command)
{
	_cleanup_(freep) char *page = NULL;
	char begin[32], *section;

	if (strcmp(command->name, "run") == 0) {
		section = read_text("packaging/man/cordon-run.1");
	} else {
		page = read_text("packaging/man/cordon.1");
		snprintf(begin, sizeof(begin), "\n.SS %s", command->name);
		unescape(page);
		section = part(page, begin, "\n.S");
	}
	unescape(section);
	return section;
}

static size_t option_length(const char *at)
{
	size_t length = 2;

	while (islower((unsigned char)at[length]) ||
	       (at[length] == '-' && islower((unsigned char)at[length + 1])))
		length++;
	return length;
}

/* The next "--word" from `text` on, or NULL. */
static const char *next_option(const char *text)
{
	for (; (text = strstr(text, "--")) != NULL; text++)
		if (islower((unsigned char)text[2]))
			return text;
	return NULL;
}

static bool has_option(const char *text, const char *option, size_t length)
{
	while ((text = next_option(text)) != NULL) {
		if (option_length(text) == length && memcmp(text, option, length) == 0)
			return true;
		text += 2;
	}
	return false;
}

/* Everything that `text` names is in `other`; --help itself may go without saying. */
static void assert_covered(const struct command *command, const char *text, const char *other,
			   const char *where)
{
	size_t found = 0;

	while ((text = next_option(text)) != NULL) {
		size_t length = option_length(text);

		if (strncmp(text, "--help", length) != 0 && !has_option(other, text, length))
			fail_msg("cordon %s: %.*s is missing in %s", command->name, (int)length,
				 text, where);
		text += length;
		found++;
	}
	assert_true(found > 0);
}

/* The narrowest terminal that people have. */
static void test_width(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		_cleanup_(freep) char *text = help_of(&commands[i]);

		for (const char *line = text; *line;) {
			size_t n = strcspn(line, "\n");

			if (n > HELP_COLUMNS)
				fail_msg("cordon %s --help: %zu columns: %.*s", commands[i].name, n,
					 (int)n, line);
			line += n + (line[n] == '\n');
		}
	}
}

static void test_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		_cleanup_(freep) char *help = help_of(&commands[i]);
		_cleanup_(freep) char *manual = manual_of(&commands[i]);

		assert_covered(&commands[i], help, manual, "the man page");
		assert_covered(&commands[i], manual, help, "--help");
	}
}

/* There an option has no dashes: "-l policy". */
static void assert_in_fish(const struct command *command, const char *help, const char *fish)
{
	while ((help = next_option(help)) != NULL) {
		size_t length = option_length(help);
		char wanted[64];

		snprintf(wanted, sizeof(wanted), " -l %.*s", (int)length - 2, help + 2);
		if (!strstr(fish, wanted))
			fail_msg("cordon %s: %.*s is missing in the fish completion", command->name,
				 (int)length, help);
		help += length;
	}
}

static void test_completions(void **state)
{
	_cleanup_(freep) char *bash = read_text("packaging/completions/cordon.bash");
	_cleanup_(freep) char *zsh = read_text("packaging/completions/_cordon.zsh");
	_cleanup_(freep) char *fish = read_text("packaging/completions/cordon.fish");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		_cleanup_(freep) char *help = help_of(&commands[i]);
		_cleanup_(freep) char *in_bash = NULL;
		char begin[32];

		snprintf(begin, sizeof(begin), "[%s]=\"", commands[i].name);
		/* A key cannot have a space. */
		for (char *c = begin; *c; c++)
			if (*c == ' ')
				*c = '-';
		in_bash = part(bash, begin, "\"\n");
		assert_covered(&commands[i], help, in_bash, "the bash completion");
		assert_covered(&commands[i], in_bash, help, "--help");
		assert_in_fish(&commands[i], help, fish);
		/* zsh has some branches in common. */
		assert_covered(&commands[i], help, zsh, "the zsh completion");
	}
}

static void assert_in_page(const char *page, const char *word)
{
	if (!strstr(page, word))
		fail_msg("'%s' is missing in cordon-policy(5)", word);
}

/* Keys, and the words that settings may have. */
static void check_schema(json_t *node, const char *page, size_t *found)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach(json_object_get(node, "properties"), key, value) {
		assert_in_page(page, key);
		++*found;
	}
	json_array_foreach(json_object_get(node, "enum"), i, value) {
		if (json_is_string(value))
			assert_in_page(page, json_string_value(value));
	}
	if (json_is_object(node)) {
		json_object_foreach(node, key, value)
			check_schema(value, page, found);
	}
	json_array_foreach(node, i, value)
		check_schema(value, page, found);
}

/* The page has the language's words, and its example compiles. */
static void test_policy_manual(void **state)
{
	static const char *const directories[] = {"policies", NULL};
	static const struct policy_search shipped = {.directories = directories};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	_cleanup_(json_decrefp)
		json_t *schema = json_load_file("policies/policy.schema.json", 0, NULL);
	_cleanup_(freep) char *page = read_text("packaging/man/cordon-policy.5");
	_cleanup_(freep) char *example = NULL;
	size_t found = 0;
	const char *text;

	(void)state;
	unescape(page);
	check_schema(schema, page, &found);
	assert_true(found > 50);
	example = part(page, ".nf\n", "\n.fi");
	text = example + strlen(".nf\n");
	assert_int_equal(policy_compile_text(text, strlen(text), "cordon-policy.5", &shipped, d,
					     &policy),
			 0);
	assert_int_equal(diagnostics_count(d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_completions),
		cmocka_unit_test(test_policy_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
