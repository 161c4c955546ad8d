/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy learn`, `try` and `explain --record` on a log: what their exit statuses tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/policy_store.h"
#include "audit/write/log.h"
#include "base/io.h"
#include "cli/policy/policy_command.h"

#define FIRST  "019aa3c4-11d2-7abc-8def-000000000001"
#define SECOND "019aa3c4-11d2-7abc-8def-000000000002"

static const char *const directories[] = {"policies", NULL};
static const struct policy_search search = {.directories = directories};

struct place {
	char directory[64], log[96], policy[96], output[96];
	struct compiled_policy *decider;
};

typedef int command(const struct policy_search *search, int argc, char **argv);

/* The words behind the command, up to a NULL. */
static int run(command *c, ...)
{
	char *argv[16] = {"command"};
	int argc = 1;
	va_list arguments;

	va_start(arguments, c);
	while ((argv[argc] = va_arg(arguments, char *)))
		argc++;
	va_end(arguments);
	optind = 0;
	return c(&search, argc, argv);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void append(struct audit_log *log, json_t *record)
{
	assert_non_null(record);
	assert_int_equal(audit_log_append(log, record), 0);
	json_decref(record);
}

static json_t *policy_json(const struct place *p)
{
	return json_pack("{s:s, s:s, s:s}", "name", "old", "file", p->policy, "digest",
			 p->decider->digest_text);
}

static void append_start(struct audit_log *log, const struct place *p, const char *id,
			 const char *time)
{
	append(log, json_pack("{s:s, s:{s:s}, s:{s:{s:s, s:s, s:s, s:{s:s}}, s:o}}", "@timestamp",
			      time, "event", "action", "execution-start", "cordon", "execution",
			      "id", id, "program", "job", "mode", "enforce", "directories",
			      "workdir", "/srv/w", "policy", policy_json(p)));
}

static void append_read(struct audit_log *log, const struct place *p, const char *id,
			const char *action, const char *path)
{
	append(log,
	       json_pack(
		       "{s:s, s:{s:s}, s:{s:I, s:s, s:s}, s:{s:{s:s}, s:s, s:{s:s, s:s}, s:[s], s:o}}",
		       "@timestamp", "2026-11-22T01:00:00.000000000Z", "event", "action", action,
		       "process", "pid", (json_int_t)7, "entity_id", "7-1", "name", "cat", "cordon",
		       "execution", "id", id, "operation", "open", "object", "kind", "path", "text",
		       path, "rights", "read", "policy", policy_json(p)));
}

static int marking(const struct compiled_policy *policy)
{
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].tags && policy->rules[i].tags[0])
			return (int)i;
	fail();
	return -1;
}

static int prepare(void **state)
{
	static const char policy[] = "version: 1\nname: old\n"
				     "files:\n"
				     "  - {allow: [read], paths: [/etc/hosts]}\n"
				     "  - {deny: [delete], paths: [/srv/key], tags: [keys]}\n";
	struct place *p = calloc(1, sizeof(*p));
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct audit_log *log = NULL;
	uint64_t repaired;

	strcpy(p->directory, "/tmp/cordon-recorded-XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	snprintf(p->log, sizeof(p->log), "%s/log", p->directory);
	snprintf(p->policy, sizeof(p->policy), "%s/old.yaml", p->directory);
	snprintf(p->output, sizeof(p->output), "%s/new.yaml", p->directory);
	assert_int_equal(mkdir(p->log, 0750), 0);
	write_text(p->policy, policy);
	assert_int_equal(policy_compile(p->policy, &search, d, &p->decider), 0);
	assert_int_equal(audit_log_open(p->log, NULL, &log, &repaired, NULL), 0);
	append_start(log, p, FIRST, "2026-11-22T00:00:00.000000000Z");
	append_read(log, p, FIRST, "open", "/etc/hosts");
	append_read(log, p, FIRST, "open", "/srv/w/in");
	append_start(log, p, SECOND, "2026-11-22T02:00:00.000000000Z");
	append_read(log, p, SECOND, "open", "/etc/hosts");
	append_read(log, p, SECOND, "denial", "/etc/group");
	append(log, json_pack("{s:s, s:{s:s}, s:{s:{s:s}, s:s, s:{s:s, s:s}, s:[], s:{s:i}, s:o}}",
			      "@timestamp", "2026-11-22T02:00:00.000000000Z", "event", "action",
			      "attempt", "cordon", "execution", "id", SECOND, "operation", "lookup",
			      "object", "kind", "path", "text", "/srv/key", "rights", "rule",
			      "number", marking(p->decider), "policy", policy_json(p)));
	assert_int_equal(audit_log_flush(log, false), 0);
	audit_log_close(log);
	*state = p;
	return 0;
}

static int clean_up(void **state)
{
	struct place *p = *state;
	char command_line[128];

	snprintf(command_line, sizeof(command_line), "rm -r %s", p->directory);
	assert_int_equal(system(command_line), 0);
	compiled_policy_free(p->decider);
	free(p);
	return 0;
}

static void test_learn(void **state)
{
	const struct place *p = *state;
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *learnt = NULL;

	assert_int_equal(run(policy_command_learn, "--log", p->log, "-o", p->output, "--name",
			     "new", FIRST, "last", NULL),
			 0);
	assert_int_equal(policy_compile(p->output, &search, d, &learnt), 0);
	assert_string_equal(learnt->name, "new");
	compiled_policy_free(learnt);
	/* It is there already. */
	assert_int_equal(run(policy_command_learn, "--log", p->log, "-o", p->output, "last", NULL),
			 1);
	assert_int_equal(run(policy_command_learn, "--log", p->log, "--baseline", p->policy,
			     "--since", "2026-11-22T01:00:00Z", NULL),
			 0);
	assert_int_equal(run(policy_command_learn, "--log", p->log, "--json", "last", NULL), 0);
	assert_int_equal(run(policy_command_learn, "--log", p->log, "--since", "2031-01-01", NULL),
			 1);
	assert_int_equal(run(policy_command_learn, "--log", p->log, "0199", NULL), 1);
	assert_int_equal(run(policy_command_learn, "--log", p->log, "019aa3c4", NULL), 1);
	assert_int_equal(run(policy_command_learn, "--log", p->log, "job", NULL), 1);
	assert_int_equal(run(policy_command_learn, "--log", p->directory, "last", NULL), 1);
	assert_int_equal(run(policy_command_learn, "--log", p->log, "--baseline", "no-such-policy",
			     "last", NULL),
			 2);
	assert_int_equal(run(policy_command_learn, "--log", p->log, NULL), 2);
	assert_int_equal(run(policy_command_learn, "--since", "soon", NULL), 2);
	assert_int_equal(run(policy_command_learn, "--since", "1h", "last", NULL), 2);
}

static void test_try(void **state)
{
	const struct place *p = *state;

	assert_int_equal(run(policy_command_try, "--log", p->log, p->policy, "last", NULL), 0);
	assert_int_equal(run(policy_command_try, "--log", p->log, p->policy, NULL), 1);
	assert_int_equal(run(policy_command_try, "--log", p->log, "--json", p->policy, FIRST, NULL),
			 1);
	assert_int_equal(run(policy_command_try, "--log", p->log, "python-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_try, "--log", p->log, "lockdown", "last", NULL), 1);
	assert_int_equal(run(policy_command_try, "--log", p->log, "no-such-policy", NULL), 2);
	assert_int_equal(run(policy_command_try, "--log", p->directory, p->policy, NULL), 2);
	assert_int_equal(run(policy_command_try, NULL), 2);
}

static void test_explain(void **state)
{
	const struct place *p = *state;

	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "2", NULL), 0);
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "3", NULL), 1);
	assert_int_equal(
		run(policy_command_explain, "--log", p->log, "--record", "6", "--json", NULL), 1);
	/* What permissions refused: by the rule that marks it. */
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "7", NULL), 1);
	assert_int_equal(
		run(policy_command_explain, "--log", p->log, "--record", "7", "--json", NULL), 1);
	/* Of no access, not there, no number, not alone. */
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "1", NULL), 2);
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "8", NULL), 2);
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "x", NULL), 2);
	assert_int_equal(
		run(policy_command_explain, "--log", p->log, "--record", "2", "read", NULL), 2);
	/* The policy says something else by now; then it is gone. */
	write_text(p->policy, "version: 1\nname: old\n");
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "2", NULL), 2);
	assert_int_equal(unlink(p->policy), 0);
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "2", NULL), 2);
	/* Beside the log it is kept. */
	assert_int_equal(policy_store_put(p->log, p->decider, NULL), 0);
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "2", NULL), 0);
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "3", NULL), 1);
	assert_int_equal(run(policy_command_explain, "--log", p->log, "--record", "7", NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_learn, prepare, clean_up),
		cmocka_unit_test_setup_teardown(test_try, prepare, clean_up),
		cmocka_unit_test_setup_teardown(test_explain, prepare, clean_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
