/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tenant of a log, its key, and the directories of an execution. */
#include "fleet/ask/privacy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/uuid.h"
#include "fleet/store/host_log.h"
#include "insight/export/private_record.h"
#include "insight/text/view.h"

#define KEY_SUFFIX   ".key"
#define DEFAULT_NAME "default"
/* Limit of a tenant's name; see config/fleet.h. */
#define TENANT_MAX 64u
/* Size of the cache of executions; a full cache is emptied. */
#define PLACES_MAX 4096u

struct tenant_key {
	char tenant[TENANT_MAX];
	struct private_key key;
};

struct fleet_privacy {
	const char *store;
	struct rows *rows;
	struct tenant_key *keys;
	size_t count;
	struct tenant_key *fallback; /* the key "default" in `keys`; NULL: none */
	json_t *tenants;	     /* "HOST/LOG" to the tenant's name, "" for none */
	json_t *places;		     /* "HOST/LOG/EXECUTION" to the result of private_places() */
};

/* --- keys --------------------------------------------------------------------------------- */

static bool is_key_name(const char *name, char ret_tenant[TENANT_MAX])
{
	size_t size = strlen(name), suffix = strlen(KEY_SUFFIX);

	if (size <= suffix || size - suffix >= TENANT_MAX ||
	    strcmp(name + size - suffix, KEY_SUFFIX) != 0)
		return false;
	memcpy(ret_tenant, name, size - suffix);
	ret_tenant[size - suffix] = '\0';
	for (char *c = ret_tenant; *c; c++)
		if (*c == '%')
			*c = '/';
	return true;
}

static int add_key(struct fleet_privacy *p, const char *directory, const char *name,
		   struct failure *failure)
{
	struct tenant_key *keys, key = {};
	char path[PATH_MAX];
	int r;

	if (!is_key_name(name, key.tenant))
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG, "%s/%s: %m", directory, name);
	r = private_key_read(path, &key.key, failure);
	if (r < 0)
		return r;
	keys = reallocarray(p->keys, p->count + 1, sizeof(*keys));
	if (!keys)
		return failure_set(failure, ENOMEM, "%m");
	p->keys = keys;
	p->keys[p->count++] = key;
	return 0;
}

static int read_keys(struct fleet_privacy *p, const char *directory, struct failure *failure)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	const struct dirent *found;
	int r = io_open_directory(AT_FDCWD, directory, &dir);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return failure_set(failure, r, "cannot read the keys of pseudonyms in %s: %m",
				   directory);
	while (r == 0 && (found = readdir(dir)))
		r = add_key(p, directory, found->d_name, failure);
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->keys[i].tenant, DEFAULT_NAME) == 0)
			p->fallback = &p->keys[i];
	return r;
}

int fleet_privacy_open(const char *directory, const char *store, struct rows *rows,
		       struct fleet_privacy **ret_privacy, struct failure *failure)
{
	_cleanup_(fleet_privacy_closep) struct fleet_privacy *p = calloc(1, sizeof(*p));
	int r;

	if (!p || !(p->tenants = json_object()) || !(p->places = json_object()))
		return failure_set(failure, ENOMEM, "%m");
	p->store = store;
	p->rows = rows;
	r = read_keys(p, directory, failure);
	if (r < 0)
		return r;
	*ret_privacy = TAKE_PTR(p);
	return 0;
}

void fleet_privacy_close(struct fleet_privacy *p)
{
	json_decref(p->tenants);
	json_decref(p->places);
	free(p->keys);
	free(p);
}

/* --- tenants and directories ----------------------------------------------------------------- */

static json_t *read_record(const struct fleet_privacy *p, const char *host, const char *log,
			   uint64_t segment, uint64_t offset)
{
	_cleanup_(freep) char *line = NULL;
	char path[PATH_MAX];
	size_t size;

	if (snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER "/%s/%s", p->store, host, log) >=
		    (int)sizeof(path) ||
	    host_log_read(path, segment, offset, &line, &size) < 0)
		return NULL;
	return json_loadb(line, size, 0, NULL);
}

/*
 * Returns the last record of a log with this action, and with this execution unless it is NULL.
 * NULL: not found.
 */
static json_t *find_record(const struct fleet_privacy *p, const char *host, const char *log,
			   const char *action, const char *execution)
{
	static const char sql[] =
		"SELECT r.segment, r.offset FROM records r JOIN hosts h ON h.id = r.host"
		" JOIN logs l ON l.id = r.log WHERE h.host = ?1 AND l.log = ?2 AND r.action = ?3"
		" AND (?4 IS NULL OR (r.execution != '' AND r.execution = ?4))"
		" AND r.segment IS NOT NULL ORDER BY r.seq DESC LIMIT 1";
	sqlite3_stmt *row = NULL;
	json_t *record = NULL;

	(void)sqlite3_prepare_v2(rows_database(p->rows), sql, -1, &row, NULL);
	(void)sqlite3_bind_text(row, 1, host, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(row, 2, log, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(row, 3, action, -1, SQLITE_STATIC);
	if (execution)
		(void)sqlite3_bind_text(row, 4, execution, -1, SQLITE_STATIC);
	if (row && sqlite3_step(row) == SQLITE_ROW)
		record = read_record(p, host, log, (uint64_t)sqlite3_column_int64(row, 0),
				     (uint64_t)sqlite3_column_int64(row, 1));
	sqlite3_finalize(row);
	return record;
}

/* Returns the tenant in the log's latest identity record, or "". NULL: out of memory. */
static const char *tenant_of(struct fleet_privacy *p, const char *host, const char *log)
{
	char name[2 * DELIVERY_ID_SIZE];
	const char *tenant;
	json_t *identity;

	(void)snprintf(name, sizeof(name), "%s/%s", host, log);
	tenant = json_string_value(json_object_get(p->tenants, name));
	if (tenant)
		return tenant;
	identity = find_record(p, host, log, "identity", NULL);
	tenant = view_text(identity, "cordon.identity.tenant");
	(void)json_object_set_new(p->tenants, name, json_string(tenant ? tenant : ""));
	json_decref(identity);
	return json_string_value(json_object_get(p->tenants, name));
}

/* Returns 1 with the key of the log's tenant, 0 if it has none, or -ERRNO. */
static int key_of(struct fleet_privacy *p, const char *host, const char *log,
		  struct private_key *ret_key)
{
	const char *tenant = tenant_of(p, host, log);
	int r;

	if (!tenant)
		return -ENOMEM;
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->keys[i].tenant, tenant) == 0) {
			*ret_key = p->keys[i].key;
			return 1;
		}
	if (!p->fallback)
		return 0;
	r = private_key_of_tenant(&p->fallback->key, tenant, ret_key);
	return r < 0 ? r : 1;
}

/* Returns the execution's directories; the cache owns them. NULL: unknown. */
static const json_t *places_of(struct fleet_privacy *p, const char *host, const char *log,
			       const json_t *record)
{
	const char *execution = view_text(record, "cordon.execution.id");
	char name[2 * DELIVERY_ID_SIZE + UUID_TEXT_SIZE];
	json_t *start, *places;

	if (!execution)
		return NULL;
	(void)snprintf(name, sizeof(name), "%s/%s/%s", host, log, execution);
	if (json_object_get(p->places, name))
		return json_object_get(p->places, name);
	if (json_object_size(p->places) >= PLACES_MAX)
		json_object_clear(p->places);
	start = view_is(record, "execution-start")
			? json_incref((json_t *)record)
			: find_record(p, host, log, "execution-start", execution);
	places = private_places(start);
	json_decref(start);
	if (!places || json_object_set_new(p->places, name, places) < 0)
		return NULL;
	return json_object_get(p->places, name);
}

int fleet_privacy_record(struct fleet_privacy *p, const char *host, const char *log, json_t *record)
{
	struct private_key key;
	int r = p->count > 0 ? key_of(p, host, log, &key) : 0;

	return r == 1 ? private_record(&key, places_of(p, host, log, record), record) : r;
}
