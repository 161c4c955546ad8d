/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the store's rows which records of each host's logs it has. */
#include "fleet/ask/host_states.h"

#include <string.h>

#include "base/clock.h"

/* Two logs of a host grow simultaneously if both grow this long after the newer one began. */
#define OVERLAP_SECONDS 60
/* After this delay the store has the messages that the stream has acknowledged. */
#define ON_ITS_WAY (10 * NSEC_PER_SEC)

static const char hosts_sql[] =
	"SELECT h.id, h.host, h.name, h.last_heard, h.ahead,"
	" (SELECT count(*) FROM apart a WHERE a.host = h.host),"
	" (SELECT l.last_action FROM logs l WHERE l.host = h.id ORDER BY l.last_grown DESC LIMIT 1),"
	" EXISTS(SELECT 1 FROM logs l, logs m WHERE l.host = h.id AND m.host = h.id AND l.id != m.id"
	"  AND l.last_grown > m.first_heard + ?1 AND m.last_grown > l.first_heard + ?1"
	"  AND abs(l.last_grown - m.last_grown) < ?1),"
	" p.log, p.state, p.daemon, p.acknowledged, p.every, p.at, p.closed,"
	" (SELECT count(*) FROM later y WHERE y.held = 0 AND y.host = h.host),"
	" (SELECT count(*) FROM later y WHERE y.held = 1 AND y.host = h.host),"
	" (SELECT count FROM excess x WHERE x.host = h.host),"
	" (SELECT reason FROM troubles t WHERE t.host = h.host ORDER BY t.log LIMIT 1)"
	" FROM hosts h LEFT JOIN presence p ON p.host = h.id ORDER BY coalesce(h.name, h.host), h.host";
static const char logs_sql[] = "SELECT id, contiguous, log FROM logs WHERE host = ?1";
static const char seal_sql[] =
	"SELECT contiguous, nullif(sealed, 0) FROM logs WHERE host = ?1 ORDER BY last_grown DESC LIMIT 1";
static const char ranges_sql[] =
	"SELECT first, last, 1 FROM waiting WHERE log = ?1 AND last > ?2"
	" UNION ALL SELECT seq, seq, 0 FROM early WHERE log = ?1 AND seq > ?2 ORDER BY 1";
/*
 * The first result excludes the records that arrived in the queue "first"; the second has all
 * records given up.
 */
static const char holes_sql[] =
	"SELECT coalesce(sum(h.last - h.first + 1 - (SELECT count(*) FROM early e WHERE e.log = h.log"
	"  AND e.seq BETWEEN h.first AND h.last)), 0), coalesce(sum(h.last - h.first + 1), 0)"
	" FROM holes h WHERE h.log = ?1";
/* The highest sequence number of messages that are not read yet, as their headers state it. */
static const char later_sql[] =
	"SELECT max(last) FROM later WHERE held IN (0, 1) AND host = ?1 AND log = ?2";

static void finalizep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

static sqlite3_stmt *prepare(struct rows *rows, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	(void)sqlite3_prepare_v2(rows_database(rows), sql, -1, &statement, NULL);
	return statement;
}

static int sql_failure(struct rows *rows, struct failure *failure)
{
	return failure_set(failure, EIO, "cannot read the store's rows: %s",
			   sqlite3_errmsg(rows_database(rows)));
}

static char *copy_text(sqlite3_stmt *statement, int number)
{
	const char *text = (const char *)sqlite3_column_text(statement, number);

	return text ? strdup(text) : NULL;
}

static int add_host(struct host_states *states, struct completeness_host **ret_host)
{
	struct completeness_host *hosts =
		reallocarray(states->hosts, states->count + 1, sizeof(*hosts));

	if (!hosts)
		return -ENOMEM;
	states->hosts = hosts;
	*ret_host = &hosts[states->count++];
	**ret_host = (struct completeness_host){};
	return 0;
}

/* Saturate: a malicious host can send any sequence number. */
static void add_missing(struct completeness_host *host, uint64_t count)
{
	host->missing = host->missing + count < host->missing || host->missing + count > INT64_MAX
				? INT64_MAX
				: host->missing + count;
}

static int read_numbers(struct rows *rows, sqlite3_stmt *statement, uint64_t *ret_first,
			uint64_t *ret_second, struct failure *failure)
{
	int r = sqlite3_step(statement);

	if (r != SQLITE_ROW)
		return sql_failure(rows, failure);
	*ret_first = (uint64_t)sqlite3_column_int64(statement, 0);
	*ret_second = sqlite3_column_count(statement) > 1
			      ? (uint64_t)sqlite3_column_int64(statement, 1)
			      : 0;
	return 0;
}

static int read_holes(struct rows *rows, int64_t log, uint64_t *ret_gone, uint64_t *ret_all,
		      struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = prepare(rows, holes_sql);

	sqlite3_bind_int64(statement, 1, log);
	return read_numbers(rows, statement, ret_gone, ret_all, failure);
}

static int read_later(struct rows *rows, const char *host, const char *log, uint64_t *ret_last,
		      struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = prepare(rows, later_sql);
	uint64_t none;

	sqlite3_bind_text(statement, 1, host, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, log, -1, SQLITE_STATIC);
	return read_numbers(rows, statement, ret_last, &none, failure);
}

static int read_ranges(struct rows *rows, int64_t log, uint64_t contiguous,
		       struct completeness_host *host, uint64_t *ret_reached,
		       struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = prepare(rows, ranges_sql);
	uint64_t reached = contiguous;
	int r;

	sqlite3_bind_int64(statement, 1, log);
	sqlite3_bind_int64(statement, 2, (sqlite3_int64)contiguous);
	/* Sum them up row by row, because there may be many. */
	while ((r = sqlite3_step(statement)) == SQLITE_ROW) {
		struct completeness_range range = {
			(uint64_t)sqlite3_column_int64(statement, 0),
			(uint64_t)sqlite3_column_int64(statement, 1),
		};

		if (sqlite3_column_int(statement, 2) != 0 && range.last > reached)
			host->waiting +=
				range.last - (range.first > reached ? range.first - 1 : reached);
		add_missing(host, completeness_missing(reached, &range, 1, &reached));
	}
	*ret_reached = reached;
	return r == SQLITE_DONE ? 0 : sql_failure(rows, failure);
}

/* Count records as missing that the stream acknowledged to the shipper a while ago. */
static void count_acknowledged(struct completeness_host *host, const char *log, uint64_t reached,
			       uint64_t now)
{
	const struct presence *presence = &host->presence;

	if (presence->state != PRESENCE_UNKNOWN && strcmp(presence->log, log) == 0 &&
	    presence->acknowledged > reached && now > presence->at &&
	    now - presence->at > ON_ITS_WAY)
		add_missing(host, presence->acknowledged - reached);
}

static int read_seal(struct rows *rows, int64_t id, struct completeness_host *host,
		     struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = prepare(rows, seal_sql);
	int r;

	sqlite3_bind_int64(statement, 1, id);
	r = sqlite3_step(statement);
	if (r != SQLITE_ROW)
		return r == SQLITE_DONE ? 0 : sql_failure(rows, failure);
	host->sealed = sqlite3_column_type(statement, 1) != SQLITE_NULL;
	if (host->sealed)
		host->unsealed = (uint64_t)(sqlite3_column_int64(statement, 0) -
					    sqlite3_column_int64(statement, 1));
	return 0;
}

static int read_logs(struct rows *rows, int64_t id, struct completeness_host *host,
		     struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = prepare(rows, logs_sql);
	uint64_t now = clock_nsec(CLOCK_REALTIME);
	int r;

	sqlite3_bind_int64(statement, 1, id);
	while ((r = sqlite3_step(statement)) == SQLITE_ROW) {
		uint64_t contiguous = (uint64_t)sqlite3_column_int64(statement, 1);
		const char *log = (const char *)sqlite3_column_text(statement, 2);
		uint64_t reached = contiguous, gone = 0, holes = 0, last = 0;
		int error = read_ranges(rows, sqlite3_column_int64(statement, 0), contiguous, host,
					&reached, failure);

		if (error == 0)
			error = read_holes(rows, sqlite3_column_int64(statement, 0), &gone, &holes,
					   failure);
		if (error == 0 && host->later + host->held > 0)
			error = read_later(rows, host->host, log, &last, failure);
		if (error < 0)
			return error;
		if (last > reached) {
			add_missing(host, last - reached);
			reached = last;
		}
		count_acknowledged(host, log, reached, now);
		host->logs++;
		host->contiguous += contiguous - holes;
		host->gone += gone;
	}
	return r == SQLITE_DONE ? 0 : sql_failure(rows, failure);
}

static void read_presence(sqlite3_stmt *statement, struct presence *presence)
{
	const char *log = (const char *)sqlite3_column_text(statement, 8);

	if (!log)
		return;
	(void)snprintf(presence->log, sizeof(presence->log), "%s", log);
	presence->state = (enum presence_state)sqlite3_column_int(statement, 9);
	presence->daemon = (enum presence_daemon)sqlite3_column_int(statement, 10);
	presence->acknowledged = (uint64_t)sqlite3_column_int64(statement, 11);
	presence->every = (uint64_t)sqlite3_column_int64(statement, 12);
	presence->at = (uint64_t)sqlite3_column_int64(statement, 13);
	presence->closed = (uint64_t)sqlite3_column_int64(statement, 14);
}

static int read_host(struct rows *rows, sqlite3_stmt *statement, struct host_states *states,
		     struct failure *failure)
{
	const char *action = (const char *)sqlite3_column_text(statement, 6);
	struct completeness_host *host;
	int r;

	if (add_host(states, &host) < 0)
		return failure_set(failure, ENOMEM, "out of memory");
	host->host = copy_text(statement, 1);
	host->name = copy_text(statement, 2);
	if (!host->host)
		return failure_set(failure, ENOMEM, "out of memory");
	host->last_heard = (uint64_t)sqlite3_column_int64(statement, 3);
	host->ahead = sqlite3_column_int64(statement, 4);
	host->apart = (uint64_t)sqlite3_column_int64(statement, 5);
	host->two_grow = sqlite3_column_int(statement, 7) != 0;
	host->later = (uint64_t)sqlite3_column_int64(statement, 15);
	host->held = (uint64_t)sqlite3_column_int64(statement, 16);
	host->dropped = (uint64_t)sqlite3_column_int64(statement, 17);
	host->trouble = copy_text(statement, 18);
	(void)snprintf(host->last_action, sizeof(host->last_action), "%s", action ? action : "");
	read_presence(statement, &host->presence);
	r = read_logs(rows, sqlite3_column_int64(statement, 0), host, failure);
	if (r == 0 && (host->presence.state == PRESENCE_REWRITTEN ||
		       host->presence.daemon == PRESENCE_KILLED))
		r = read_seal(rows, sqlite3_column_int64(statement, 0), host, failure);
	return r;
}

static struct completeness_host *find(const struct host_states *states, const char *host)
{
	for (size_t i = 0; i < states->count; i++)
		if (strcmp(states->hosts[i].host, host) == 0)
			return &states->hosts[i];
	return NULL;
}

const struct completeness_host *host_states_find(const struct host_states *states, const char *host)
{
	return find(states, host);
}

/* Returns the next word and advances *line behind it; NULL at the end. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t\n");
	size_t size = strcspn(word, " \t\n#");

	if (size == 0)
		return NULL;
	*line = word + size + (word[size] != '\0' && word[size] != '#');
	if (word[size] == '#')
		**line = '\0';
	word[size] = '\0';
	return word;
}

static int expect(struct host_states *states, const char *id, const char *name)
{
	struct completeness_host *host = find(states, id);

	if (!host) {
		if (add_host(states, &host) < 0)
			return -ENOMEM;
		host->never_heard = true;
		host->host = strdup(id);
	}
	if (name && !host->expected)
		host->expected = strdup(name);
	return host->host && (!name || host->expected) ? 0 : -ENOMEM;
}

#define ID_MIN 4u

static int add_expected(const char *path, struct host_states *states, struct failure *failure)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	_cleanup_(freep) char *line = NULL;
	size_t capacity = 0;

	if (!file)
		return failure_set(failure, errno, "cannot open %s: %m; it has a host's id a line",
				   path);
	for (unsigned int number = 1; getline(&line, &capacity, file) > 0; number++) {
		char *rest = line, *id = next_word(&rest), *name = id ? next_word(&rest) : NULL;

		if (!id)
			continue;
		if (!delivery_id_is_valid(id) || strchr(id, '-') || strlen(id) < ID_MIN)
			return failure_set(
				failure, EINVAL,
				"%s:%u: \"%.60s\" is not a host id. Write the id, then your name for "
				"it: a host can report any name. `cordon-fleet hosts` shows ids",
				path, number, id);
		if (expect(states, id, name) < 0)
			return failure_set(failure, ENOMEM, "out of memory");
	}
	return 0;
}

static const char *called(const struct completeness_host *host)
{
	return host->expected ? host->expected : host->name ? host->name : "";
}

static int compare_called(const void *a, const void *b)
{
	const struct completeness_host *const *one = a, *const *other = b;

	return strcmp(called(*one), called(*other));
}

/* Marks names that several hosts share, because such a name identifies none of them. */
static int find_shared(struct host_states *states)
{
	_cleanup_(freep) struct completeness_host **sorted =
		calloc(states->count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < states->count; i++)
		sorted[i] = &states->hosts[i];
	qsort(sorted, states->count, sizeof(*sorted), compare_called);
	for (size_t i = 1; i < states->count; i++)
		if (called(sorted[i])[0] && compare_called(&sorted[i - 1], &sorted[i]) == 0)
			sorted[i - 1]->name_shared = sorted[i]->name_shared = true;
	return 0;
}

static int read_hosts(struct rows *rows, struct host_states *states, struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = prepare(rows, hosts_sql);
	int r;

	sqlite3_bind_int64(statement, 1, (sqlite3_int64)(OVERLAP_SECONDS * NSEC_PER_SEC));
	while ((r = sqlite3_step(statement)) == SQLITE_ROW) {
		int error = read_host(rows, statement, states, failure);

		if (error < 0)
			return error;
	}
	return r == SQLITE_DONE ? 0 : sql_failure(rows, failure);
}

int host_states_read(struct rows *rows, const char *expected, struct host_states *ret_states,
		     struct failure *failure)
{
	struct host_states states = {};
	int r = read_hosts(rows, &states, failure);

	if (r == 0 && expected)
		r = add_expected(expected, &states, failure);
	if (r == 0 && find_shared(&states) < 0)
		r = failure_set(failure, ENOMEM, "out of memory");
	if (r < 0) {
		host_states_free(&states);
		return r;
	}
	*ret_states = states;
	return 0;
}

void host_states_free(struct host_states *states)
{
	for (size_t i = 0; i < states->count; i++) {
		free(states->hosts[i].host);
		free(states->hosts[i].name);
		free(states->hosts[i].expected);
		free(states->hosts[i].trouble);
	}
	free(states->hosts);
	*states = (struct host_states){};
}
