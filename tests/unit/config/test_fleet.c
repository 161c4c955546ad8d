// SPDX-License-Identifier: Apache-2.0
/* fleet.yaml: what is taken, and what is said of what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "config/fleet.h"

static int load(const char *text, struct config_fleet **ret_fleet, char **ret_message)
{
	char path[] = "/tmp/cordon-fleet-XXXXXX";
	struct diagnostics *d = diagnostics_new();
	int fd = mkstemp(path), r;

	assert_non_null(d);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
	r = config_fleet_load(path, d, ret_fleet);
	unlink(path);
	*ret_message = diagnostics_format(d, 0);
	diagnostics_free(d);
	return r;
}

static void refused(const char *text, const char *message)
{
	struct config_fleet *fleet = NULL;
	char *said = NULL;

	assert_int_equal(load(text, &fleet, &said), -EINVAL);
	if (!strstr(said, message))
		fail_msg("expected \"%s\", not: %s", message, said);
	free(said);
}

static void whole(void **state)
{
	struct config_fleet *fleet = NULL;
	const char *const *labels;
	char *said = NULL;

	(void)state;
	if (load("version: 1\ntenant: acme\nlabels: {role: web, site: \"7\"}\n", &fleet, &said) < 0)
		fail_msg("%s", said);
	free(said);
	labels = config_fleet_labels(fleet);
	assert_string_equal(config_fleet_tenant(fleet), "acme");
	assert_string_equal(labels[0], "role");
	assert_string_equal(labels[3], "7");
	assert_null(labels[4]);
	config_fleet_free(fleet);
	if (load("version: 1\n", &fleet, &said) < 0)
		fail_msg("%s", said);
	free(said);
	assert_null(config_fleet_tenant(fleet));
	assert_null(config_fleet_labels(fleet)[0]);
	config_fleet_free(fleet);
}

static void rows(void **state)
{
	const struct config_clickhouse *c;
	struct config_fleet *fleet = NULL;
	char *said = NULL;

	(void)state;
	if (load("version: 1\nclickhouse: {url: \"https://c.example:8443\", user: u, "
		 "password_file: /p, ca: /ca, cert: /cert, key: /key}\n",
		 &fleet, &said) < 0)
		fail_msg("%s", said);
	free(said);
	c = config_fleet_clickhouse(fleet);
	assert_string_equal(c->url, "https://c.example:8443");
	assert_string_equal(c->database, "cordon");
	assert_string_equal(c->user, "u");
	assert_string_equal(c->password_file, "/p");
	assert_string_equal(c->key, "/key");
	config_fleet_free(fleet);
	if (load("version: 1\n", &fleet, &said) < 0)
		fail_msg("%s", said);
	free(said);
	assert_null(config_fleet_clickhouse(fleet));
	config_fleet_free(fleet);
}

static void mistakes_about_rows(void **state)
{
	(void)state;
	refused("version: 1\nclickhouse: yes\n", "must be a mapping");
	refused("version: 1\nclickhouse: {database: d}\n", "clickhouse has no url");
	refused("version: 1\nclickhouse: {url: \"ftp://h\"}\n", "no URL of a ClickHouse server");
	refused("version: 1\nclickhouse: {url: \"http://\"}\n", "no URL of a ClickHouse server");
	refused("version: 1\nclickhouse: {url: \"http://u:p@h\"}\n", "no URL of a ClickHouse");
	refused("version: 1\nclickhouse: {url: \"http://h/?a=b\"}\n", "no URL of a ClickHouse");
	refused("version: 1\nclickhouse: {url: \"http://h\", database: \"a;b\"}\n",
		"cannot be a database");
	refused("version: 1\nclickhouse: {url: \"http://h\", user: u, password_file: p}\n",
		"no absolute path");
	refused("version: 1\nclickhouse: {url: \"http://h\", password_file: /p}\n",
		"goes with a user");
	refused("version: 1\nclickhouse: {url: \"http://h\", key: /k}\n", "goes with cert");
	refused("version: 1\nclickhouse: {url: \"http://h\", password: p}\n", "password");
}

static void mistakes(void **state)
{
	char many[1024] = "version: 1\nlabels:\n";

	(void)state;
	refused("tenant: acme\n", "the configuration has no version");
	refused("version: 2\n", "version 1 only");
	refused("version: 1\ntenant: \"a b\"\n", "cannot be a name in a fleet");
	refused("version: 1\ntenant: \"\"\n", "cannot be a name in a fleet");
	refused("version: 1\ntenant: 7\n", "must be a string");
	refused("version: 1\nlabels: [a]\n", "a mapping");
	refused("version: 1\nlabels: {a: [b]}\n", "must be a string");
	refused("version: 1\nlabels: {\"a\\nb\": c}\n", "cannot be a name in a fleet");
	refused("version: 1\ntenants: acme\n", "tenant");
	for (int i = 0; i < 17; i++)
		sprintf(many + strlen(many), "  n%d: v\n", i);
	refused(many, "more than 16 labels");
}

static void absent(void **state)
{
	struct diagnostics *d = diagnostics_new();
	struct config_fleet *fleet = NULL;

	(void)state;
	assert_int_equal(config_fleet_load("/nowhere/fleet.yaml", d, &fleet), -ENOENT);
	assert_int_equal(diagnostics_count(d), 0);
	diagnostics_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),    cmocka_unit_test(rows),
		cmocka_unit_test(mistakes), cmocka_unit_test(mistakes_about_rows),
		cmocka_unit_test(absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
