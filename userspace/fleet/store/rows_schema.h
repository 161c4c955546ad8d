/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of DIR/fleet.sqlite. Times of the store are ns since the epoch; times in records are
 * text.
 */
#ifndef CORDON_FLEET_ROWS_SCHEMA_H
#define CORDON_FLEET_ROWS_SCHEMA_H

/* Schema version, stored in the database's user_version. */
#define ROWS_VERSION 4

/*
 * Tables added in version 4.
 * holes: records given up; after them begins a covered run.
 * skips: an operator's order to give up records, for the running store.
 * later: stream numbers of deferred messages, see later.h.
 * excess: messages dropped because their host was over all quotas.
 * troubles: copies that cannot be opened; log '': the host's folder.
 */
#define ROWS_OF_VERSION_4                                                                           \
	"CREATE TABLE holes(log INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"   \
	" at INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY(log, first));"                     \
	"CREATE TABLE skips(host TEXT NOT NULL, log TEXT NOT NULL, seq INTEGER NOT NULL,"           \
	" reason TEXT NOT NULL, PRIMARY KEY(host, log));"                                           \
	"CREATE TABLE later(kind INTEGER NOT NULL, number INTEGER NOT NULL, host TEXT NOT NULL,"    \
	" log TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, held INTEGER NOT NULL," \
	" tries INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL, PRIMARY KEY(kind, number));"      \
	"CREATE INDEX later_turn ON later(held, host, kind, number);"                               \
	"CREATE TABLE later_counts(host TEXT PRIMARY KEY, count INTEGER NOT NULL);"                 \
	"CREATE INDEX later_held ON later(host, log, first) WHERE held = 1;"                        \
	"CREATE TABLE excess(host TEXT PRIMARY KEY, count INTEGER NOT NULL, reason TEXT NOT NULL);" \
	"CREATE TABLE troubles(host TEXT NOT NULL, log TEXT NOT NULL, at INTEGER NOT NULL,"         \
	" reason TEXT NOT NULL, PRIMARY KEY(host, log));"

static const char rows_upgrade_3[] =
	"ALTER TABLE hosts ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE logs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE waiting ADD COLUMN at INTEGER NOT NULL DEFAULT 0;" ROWS_OF_VERSION_4
	"UPDATE hosts SET parked = coalesce((SELECT sum(length(w.data) + 256 * (w.last - w.first + 1))"
	" FROM waiting w JOIN logs l ON l.id = w.log WHERE l.host = hosts.id), 0)"
	" + coalesce((SELECT sum(length(e.line) + 256) FROM early e JOIN logs l ON l.id = e.log"
	" WHERE l.host = hosts.id), 0);"
	"PRAGMA user_version = 4;";

static const char rows_schema[] =
	"CREATE TABLE hosts(id INTEGER PRIMARY KEY, host TEXT UNIQUE NOT NULL, name TEXT,"
	" first_heard INTEGER NOT NULL, last_heard INTEGER NOT NULL, ahead INTEGER NOT NULL DEFAULT 0,"
	/* Bytes of its records that no chain covers yet. */
	" parked INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE logs(id INTEGER PRIMARY KEY, host INTEGER NOT NULL REFERENCES hosts, log TEXT NOT NULL,"
	" contiguous INTEGER NOT NULL DEFAULT 0, last_time TEXT, last_action TEXT,"
	" first_heard INTEGER NOT NULL, last_grown INTEGER NOT NULL DEFAULT 0, sealed INTEGER NOT NULL DEFAULT 0,"
	/* Rows up to `sent` are in ClickHouse; those up to `sending` are on their way there. */
	" sent INTEGER NOT NULL DEFAULT 0, sending INTEGER NOT NULL DEFAULT 0,"
	/* Of its copy and its policies. */
	" bytes INTEGER NOT NULL DEFAULT 0, UNIQUE(host, log));"
	/* A row: records are counted in ClickHouse. `token`: of the last batch, or ''. */
	"CREATE TABLE forwarding(id INTEGER PRIMARY KEY CHECK(id = 1), token TEXT NOT NULL);"
	/* Times as ns, and what digests begin with: there is one for each record of each host. */
	"CREATE TABLE records(host INTEGER NOT NULL, log INTEGER NOT NULL, seq INTEGER NOT NULL,"
	" time INTEGER, action TEXT, execution TEXT, policy TEXT, digest TEXT, rule TEXT, operation TEXT,"
	" template TEXT,"
	/* NULL: of the first lane; -N: in the message N that waits; neither is in the log's file */
	" segment INTEGER, offset INTEGER, size INTEGER, PRIMARY KEY(host, log, seq)) WITHOUT ROWID;"
	"CREATE INDEX records_time ON records(time);"
	"CREATE INDEX records_action ON records(action, time);"
	"CREATE INDEX records_execution ON records(execution) WHERE execution != '';"
	"CREATE TABLE early(log INTEGER NOT NULL, seq INTEGER NOT NULL, line BLOB NOT NULL, PRIMARY KEY(log, seq));"
	"CREATE TABLE waiting(id INTEGER PRIMARY KEY, log INTEGER NOT NULL, first INTEGER NOT NULL,"
	" last INTEGER NOT NULL, digest BLOB NOT NULL, data BLOB NOT NULL, at INTEGER NOT NULL DEFAULT 0, UNIQUE(log, first, digest));"
	"CREATE TABLE retention(log INTEGER NOT NULL, last INTEGER NOT NULL, chain TEXT NOT NULL,"
	" PRIMARY KEY(log, last));"
	/* Counts of covered records per hour ("2026-01-31 12:00:00"); texts may be ''. */
	"CREATE TABLE rollups(hour TEXT NOT NULL, host INTEGER NOT NULL, action TEXT NOT NULL, policy TEXT NOT NULL,"
	" rule TEXT NOT NULL, operation TEXT NOT NULL, template TEXT NOT NULL, count INTEGER NOT NULL,"
	" PRIMARY KEY(hour, host, action, policy, rule, operation, template)) WITHOUT ROWID;"
	"CREATE TABLE policies(host INTEGER NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL,"
	" first_time TEXT NOT NULL, last_time TEXT NOT NULL, records INTEGER NOT NULL,"
	" PRIMARY KEY(host, name, digest)) WITHOUT ROWID;"
	"CREATE TABLE apart(host TEXT NOT NULL, log TEXT NOT NULL, at INTEGER NOT NULL, reason TEXT NOT NULL,"
	" file TEXT NOT NULL, bytes INTEGER NOT NULL, UNIQUE(host, file));"
	/* The last presence message. `asked`: the server was checked for a connection since. */
	"CREATE TABLE presence(host INTEGER PRIMARY KEY REFERENCES hosts, log TEXT NOT NULL, state INTEGER NOT NULL,"
	" daemon INTEGER NOT NULL, acknowledged INTEGER NOT NULL, every INTEGER NOT NULL, at INTEGER NOT NULL,"
	" asked INTEGER NOT NULL DEFAULT 0, closed INTEGER NOT NULL DEFAULT 0);" ROWS_OF_VERSION_4
	"PRAGMA user_version = 4;";

#endif
