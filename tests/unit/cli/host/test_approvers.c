/* SPDX-License-Identifier: Apache-2.0 */
/* Which accounts `cordon doctor` names as members of both groups of approvals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cli/host/approvers.h"
#include "control/protocol.h"

static char *propose_members[] = {"root", "zoe", "alice", "zoe", NULL};
static char *approve_members[] = {"root", "zoe", "carol", NULL};
static const struct group groups[] = {
	{.gr_name = "cordon", .gr_gid = 100, .gr_mem = propose_members},
	{.gr_name = "cordon-approvers", .gr_gid = 101, .gr_mem = approve_members},
};
/* The primary group of bob is the first group, alice has the second group. */
static const struct passwd accounts[] = {
	{.pw_name = "root", .pw_gid = 0},	{.pw_name = "alice", .pw_gid = 101},
	{.pw_name = "bob", .pw_gid = 100},	{.pw_name = "carol", .pw_gid = 7},
	{.pw_name = "nobody", .pw_gid = 0xfff},
};
static size_t known = 2, at;

static const struct group *group(const char *name)
{
	for (size_t i = 0; i < known; i++)
		if (strcmp(groups[i].gr_name, name) == 0)
			return &groups[i];
	return NULL;
}

static void to_begin(void)
{
	at = 0;
}

static const struct passwd *next(void)
{
	return at < sizeof(accounts) / sizeof(accounts[0]) ? &accounts[at++] : NULL;
}

static const struct approvers_host host = {group, to_begin, next};

static void names_members_of_both(void **state)
{
	_cleanup_(protocol_strings_freep) char **names = NULL;

	(void)state;
	known = 2;
	assert_int_equal(approvers_in_both(&host, &names), 0);
	assert_string_equal(names[0], "alice");
	assert_string_equal(names[1], "zoe");
	assert_null(names[2]);
}

static void names_nobody_without_a_group(void **state)
{
	(void)state;
	for (known = 0; known < 2; known++) {
		_cleanup_(protocol_strings_freep) char **names = NULL;

		assert_int_equal(approvers_in_both(&host, &names), 0);
		assert_null(names[0]);
	}
}

static void reads_this_host(void **state)
{
	_cleanup_(protocol_strings_freep) char **names = NULL;

	(void)state;
	assert_int_equal(approvers_in_both(&approvers_of_this_host, &names), 0);
	assert_non_null(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_members_of_both),
		cmocka_unit_test(names_nobody_without_a_group),
		cmocka_unit_test(reads_this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
