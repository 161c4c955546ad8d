/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `cordon approvals` shows of a policy that waits: the rules that `cordon policy diff` lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/host/approval_rules.h"
#include "policy/compile/compile.h"

#define BASE "version: 1\nname: p\nfiles:\n  - {allow: [read], paths: ['/srv/**']}\n"
#define WIDER                                                                                      \
	BASE "  - {allow: [read], paths: [/x]}\n"                                                  \
	     "  - {allow: [read], paths: ['/root/**']}\n"                                          \
	     "network:\n  - {allow: [connect], to: any, ports: [443]}\n"

static char directory[] = "/tmp/cordon-approval-rules-XXXXXX";
static const struct style plain = {.unicode = true};

static void write_file(const char *name, const char *text)
{
	FILE *out = fopen(name, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* An entry as the daemon lists it. `digest` stands for the identity. */
static json_t *entry_of(const char *file, const char *digest, const char *base)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;

	assert_int_equal(policy_compile(file, NULL, d, &p), 0);
	return json_pack("{s:s, s:s, s:s, s:s, s:s?}", "digest", digest, "state",
			 base ? "waiting" : "approved", "file", file, "tables", p->digest_text,
			 "base", base);
}

/* Caller frees; NULL: nothing was written, as it should be where nothing can be told. */
static char *written(const json_t *entries, const json_t *entry)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool told = approval_rules_write(out, &plain, entries, entry);

	assert_int_equal(fclose(out), 0);
	assert_int_equal(told, size > 0);
	if (told)
		return text;
	free(text);
	return NULL;
}

static json_t *entries_of_both(void)
{
	json_t *entries = json_array();

	write_file("./base.yaml", BASE);
	write_file("./wider.yaml", WIDER);
	json_array_append_new(entries, entry_of("./base.yaml", "aa", NULL));
	json_array_append_new(entries, entry_of("./wider.yaml", "bb", "aa"));
	return entries;
}

static void test_text(void **state)
{
	_cleanup_(json_decrefp) json_t *entries = entries_of_both();
	_cleanup_(freep) char *first = written(entries, json_array_get(entries, 0));
	_cleanup_(freep) char *second = written(entries, json_array_get(entries, 1));

	(void)state;
	assert_string_equal(first,
			    "  allows, by 1 rule:\n"
			    "    + files read, list /srv/a and others without end below /srv/\n"
			    "        allowed by ./base.yaml:4: allow read /srv/**\n");
	assert_string_equal(
		second,
		"  allows what the approved one does not, by 3 rules:\n"
		"    + this lets it read credentials: files read, list /root/a and others without "
		"end below /root/\n"
		"        allowed by ./wider.yaml:6: allow read /root/**\n"
		"        such as /root/.ssh/id_rsa\n"
		"    + this lets it connect anywhere: network connect tcp:97.97.97.97:443 and more "
		"than a million others\n"
		"        allowed by ./wider.yaml:8: allow connect over tcp to any ports 443\n"
		"        such as tcp:198.51.100.1:443\n"
		"    + files read, list /x\n"
		"        allowed by ./wider.yaml:5: allow read /x\n");
}

static void test_json(void **state)
{
	_cleanup_(json_decrefp) json_t *entries = entries_of_both();
	json_t *entry = json_array_get(entries, 1);
	const json_t *rules, *anywhere;

	(void)state;
	approval_rules_add(entries, entry);
	rules = json_object_get(entry, "wider_rules");
	assert_int_equal(json_array_size(rules), 3);
	assert_true(json_is_true(json_object_get(entry, "complete")));
	anywhere = json_array_get(rules, 1);
	assert_string_equal(json_string_value(json_object_get(anywhere, "alarm")),
			    "connect anywhere");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(anywhere, "rule"), "line")), 8);
}

/* What the file says by now is not what waits. */
static void test_changed_file(void **state)
{
	_cleanup_(json_decrefp) json_t *entries = entries_of_both();
	json_t *entry = json_array_get(entries, 1);

	(void)state;
	write_file("./wider.yaml", BASE);
	assert_null(written(entries, entry));
	approval_rules_add(entries, entry);
	assert_true(json_is_null(json_object_get(entry, "wider_rules")));
	/* Nor is it known beyond what it goes where the approved one cannot be had. */
	write_file("./wider.yaml", WIDER);
	write_file("./base.yaml", WIDER);
	assert_null(written(entries, entry));
	json_array_remove(entries, 0);
	assert_null(written(entries, json_array_get(entries, 0)));
}

static int enter_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
	(void)state;
	(void)unlink("base.yaml");
	(void)unlink("wider.yaml");
	return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_changed_file),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
