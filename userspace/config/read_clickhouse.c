/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the section `clickhouse` of fleet.yaml: server, user and certificates. */
#include "config/read_clickhouse.h"

#include <errno.h>
#include <string.h>

#define DATABASE_MAX 63u

static int read_url(struct reader *r, const struct node *n, void *target)
{
	struct config_clickhouse *c = target;
	const char *text;

	if (!reader_string(r, n, "the URL", &text))
		return 0;
	if ((strncmp(text, "http://", 7) == 0 && text[7]) ||
	    (strncmp(text, "https://", 8) == 0 && text[8])) {
		if (text[strcspn(text, "?#@ ")] == '\0') {
			c->url = text;
			return 0;
		}
	}
	report_error(r->diagnostics, &n->place,
		     "write https://HOST:8443; set credentials with user and password_file",
		     "\"%s\" is no URL of a ClickHouse server", text);
	return 0;
}

static int read_database(struct reader *r, const struct node *n, void *target)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	struct config_clickhouse *c = target;
	const char *text;

	if (!reader_string(r, n, "the database", &text))
		return 0;
	if (n->size == 0 || n->size > DATABASE_MAX || strspn(text, letters) != n->size)
		report_error(r->diagnostics, &n->place, "1 to 63 letters, digits and _",
			     "\"%s\" cannot be a database", text);
	else
		c->database = text;
	return 0;
}

static int read_user(struct reader *r, const struct node *n, void *target)
{
	struct config_clickhouse *c = target;

	(void)reader_string(r, n, "the user", &c->user);
	return 0;
}

static void read_path(struct reader *r, const struct node *n, const char *what, const char **ret)
{
	const char *text;

	if (!reader_string(r, n, what, &text))
		return;
	if (text[0] == '/')
		*ret = text;
	else
		report_error(r->diagnostics, &n->place, "begin it with /",
			     "%s \"%s\" is no absolute path", what, text);
}

static int read_password_file(struct reader *r, const struct node *n, void *target)
{
	read_path(r, n, "password_file", &((struct config_clickhouse *)target)->password_file);
	return 0;
}

static int read_ca(struct reader *r, const struct node *n, void *target)
{
	read_path(r, n, "ca", &((struct config_clickhouse *)target)->ca);
	return 0;
}

static int read_certificate(struct reader *r, const struct node *n, void *target)
{
	read_path(r, n, "cert", &((struct config_clickhouse *)target)->certificate);
	return 0;
}

static int read_key(struct reader *r, const struct node *n, void *target)
{
	read_path(r, n, "key", &((struct config_clickhouse *)target)->key);
	return 0;
}

int config_read_clickhouse(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"url", read_url},   {"database", read_database},
		{"user", read_user}, {"password_file", read_password_file},
		{"ca", read_ca},     {"cert", read_certificate},
		{"key", read_key},   {NULL, NULL},
	};
	const struct config_clickhouse **to = target;
	struct config_clickhouse *c = arena_alloc(r->arena, sizeof(*c));
	int e;

	if (!c)
		return -ENOMEM;
	*c = (struct config_clickhouse){.database = "cordon"};
	e = reader_mapping(r, n, "clickhouse", keys, c);
	if (e < 0 || n->type != NODE_MAPPING)
		return e;
	if (!node_get(n, "url"))
		report_error(r->diagnostics, &n->place, "add url: https://HOST:8443",
			     "clickhouse has no url");
	if (c->password_file && !c->user)
		report_error(r->diagnostics, &n->place, "add user",
			     "password_file goes with a user");
	if (c->key && !c->certificate)
		report_error(r->diagnostics, &n->place, "add cert", "key goes with cert");
	*to = c;
	return 0;
}
