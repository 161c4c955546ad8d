/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the index of a log in an SQLite database. */
#include "audit/search/index_file.h"

#include <sqlite3.h>
#include <string.h>
#include <zlib.h>

#define APPLICATION_ID 0x636f7264 /* "cord" */
#define BUSY_MSEC      10000
#define CHECKSUM_SIZE  4

enum statement {
	FIND_SEGMENT,
	FIND_STAMP,
	ADD_SEGMENT,
	SET_SEGMENT,
	ADD_BLOCK,
	ADD_POSTING,
	STATEMENT_COUNT,
};

static const char *const statements[STATEMENT_COUNT] = {
	[FIND_SEGMENT] = "SELECT id, indexed, last, last_digest, records, identity, stamp"
			 " FROM segment WHERE identity = ?",
	[FIND_STAMP] = "SELECT id, indexed, last, last_digest, records, identity, stamp"
		       " FROM segment WHERE stamp = ?",
	[ADD_SEGMENT] = "INSERT INTO segment(identity, indexed, last, last_digest, records,"
			" stamp) VALUES(?, ?, ?, ?, ?, ?)",
	[SET_SEGMENT] = "UPDATE segment SET indexed = ?2, last = ?3, last_digest = ?4,"
			" records = ?5, stamp = ?6 WHERE identity = ?1",
	[ADD_BLOCK] = "INSERT INTO block(segment, start, size, records, since, until)"
		      " VALUES(?, ?, ?, ?, ?, ?)",
	[ADD_POSTING] = "INSERT INTO posting(field, value, block, places) VALUES(?, ?, ?, ?)",
};

static const char schema[] =
	"CREATE TABLE segment(id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE,"
	" indexed INTEGER NOT NULL, last INTEGER NOT NULL, last_digest BLOB NOT NULL,"
	" records INTEGER NOT NULL, stamp INTEGER NOT NULL) STRICT;"
	"CREATE TABLE block(id INTEGER PRIMARY KEY, segment INTEGER NOT NULL,"
	" start INTEGER NOT NULL, size INTEGER NOT NULL, records INTEGER NOT NULL,"
	" since TEXT NOT NULL, until TEXT NOT NULL) STRICT;"
	/* `places` begins with a checksum over all of the row. */
	"CREATE TABLE posting(field INTEGER NOT NULL, value BLOB NOT NULL, block INTEGER NOT NULL,"
	" places BLOB NOT NULL, PRIMARY KEY(field, value, block)) STRICT, WITHOUT ROWID;";

struct index_file {
	sqlite3 *db;
	sqlite3_stmt *prepared[STATEMENT_COUNT];
	unsigned char *scratch;
	size_t scratch_size;
};

static int error_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_SCHEMA:
	case SQLITE_ERROR: /* no such table: not as it was made */
	case SQLITE_MISMATCH:
	case SQLITE_CONSTRAINT:
		return -EBADMSG;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_CANTOPEN:
		return -EACCES;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

static int execute(struct index_file *file, const char *sql)
{
	return error_of(sqlite3_exec(file->db, sql, NULL, NULL, NULL));
}

const char *index_file_error(const struct index_file *file)
{
	return sqlite3_errmsg(file->db);
}

void index_file_close(struct index_file *file)
{
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(file->prepared[i]);
	sqlite3_close(file->db);
	free(file->scratch);
	free(file);
}

static int read_number(struct index_file *file, const char *sql, int64_t *ret)
{
	sqlite3_stmt *statement = NULL;
	int r = error_of(sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL));

	if (r == 0)
		r = sqlite3_step(statement) == SQLITE_ROW ? 0 : -EBADMSG;
	if (r == 0)
		*ret = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return r;
}

/* Is it one that this program wrote? */
static int check_version(struct index_file *file)
{
	int64_t application, version;
	int r = read_number(file, "PRAGMA application_id", &application);

	if (r == 0)
		r = read_number(file, "PRAGMA user_version", &version);
	if (r == 0 && (application != APPLICATION_ID || version != INDEX_VERSION))
		r = -EBADMSG;
	return r;
}

static int create(struct index_file *file)
{
	char text[128];
	int r;

	/*
	 * Nothing but this file can be lost, and it is only moved into place when it is finished.
	 */
	r = execute(file, "PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
			  "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-262144");
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		 APPLICATION_ID, INDEX_VERSION);
	r = execute(file, text);
	return r < 0 ? r : execute(file, schema);
}

static int prepare(struct index_file *file, enum index_mode mode)
{
	int r = 0;

	if (mode == INDEX_CREATE)
		r = create(file);
	else
		r = check_version(file);
	if (r == 0 && mode == INDEX_WRITE)
		r = execute(file, "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=NORMAL;"
				  "PRAGMA cache_size=-65536");
	for (size_t i = 0; r == 0 && i < STATEMENT_COUNT; i++)
		r = error_of(sqlite3_prepare_v3(file->db, statements[i], -1,
						SQLITE_PREPARE_PERSISTENT, &file->prepared[i],
						NULL));
	return r;
}

int index_file_open(const char *path, enum index_mode mode, struct index_file **ret_file,
		    struct failure *failure)
{
	_cleanup_(index_file_closep) struct index_file *file = calloc(1, sizeof(*file));
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
	int r;

	if (!file)
		return failure_set(failure, ENOMEM, "no memory for the index");
	if (mode != INDEX_CREATE && access(path, F_OK) < 0)
		return failure_set(failure, errno, "cannot open %s: %m", path);
	flags |= mode == INDEX_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	if (mode == INDEX_CREATE)
		flags |= SQLITE_OPEN_CREATE;
	r = error_of(sqlite3_open_v2(path, &file->db, flags, NULL));
	if (r == 0) {
		sqlite3_busy_timeout(file->db, BUSY_MSEC);
		r = prepare(file, mode);
	}
	if (r < 0)
		return failure_set(failure, r, "cannot use the index %s: %s", path,
				   file->db ? sqlite3_errmsg(file->db) : "no memory");
	*ret_file = TAKE_PTR(file);
	return 0;
}

int index_file_begin(struct index_file *file)
{
	return execute(file, "BEGIN IMMEDIATE");
}

int index_file_commit(struct index_file *file)
{
	return execute(file, "COMMIT");
}

static int run(sqlite3_stmt *statement)
{
	int r = error_of(sqlite3_step(statement));

	sqlite3_reset(statement);
	return r;
}

static int64_t number_at(sqlite3_stmt *statement, int column)
{
	int64_t number = sqlite3_column_int64(statement, column);

	return number > 0 ? number : 0;
}

int index_file_find_segment(struct index_file *file, struct index_segment *segment)
{
	sqlite3_stmt *s = file->prepared[segment->stamp ? FIND_STAMP : FIND_SEGMENT];
	int code, r = 0;

	if (segment->stamp)
		sqlite3_bind_int64(s, 1, (sqlite3_int64)segment->stamp);
	else
		sqlite3_bind_blob(s, 1, segment->identity, SHA256_SIZE, SQLITE_STATIC);
	code = sqlite3_step(s);
	if (code == SQLITE_DONE) {
		r = -ENOENT;
	} else if (code != SQLITE_ROW) {
		r = error_of(code);
	} else if (sqlite3_column_bytes(s, 3) != SHA256_SIZE ||
		   sqlite3_column_bytes(s, 5) != SHA256_SIZE) {
		r = -EBADMSG;
	} else {
		segment->id = number_at(s, 0);
		segment->indexed = (uint64_t)number_at(s, 1);
		segment->last = (uint64_t)number_at(s, 2);
		memcpy(segment->last_digest, sqlite3_column_blob(s, 3), SHA256_SIZE);
		segment->records = (uint64_t)number_at(s, 4);
		memcpy(segment->identity, sqlite3_column_blob(s, 5), SHA256_SIZE);
		segment->stamp = (uint64_t)sqlite3_column_int64(s, 6);
	}
	sqlite3_reset(s);
	return r;
}

int index_file_put_segment(struct index_file *file, struct index_segment *segment)
{
	sqlite3_stmt *s = file->prepared[segment->id ? SET_SEGMENT : ADD_SEGMENT];
	int r;

	sqlite3_bind_blob(s, 1, segment->identity, SHA256_SIZE, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)segment->indexed);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)segment->last);
	sqlite3_bind_blob(s, 4, segment->last_digest, SHA256_SIZE, SQLITE_STATIC);
	sqlite3_bind_int64(s, 5, (sqlite3_int64)segment->records);
	sqlite3_bind_int64(s, 6, (sqlite3_int64)segment->stamp);
	r = run(s);
	if (r == 0 && !segment->id)
		segment->id = sqlite3_last_insert_rowid(file->db);
	return r;
}

int index_file_add_block(struct index_file *file, struct index_block *block)
{
	sqlite3_stmt *s = file->prepared[ADD_BLOCK];
	int r;

	sqlite3_bind_int64(s, 1, block->segment);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)block->start);
	sqlite3_bind_int64(s, 3, block->size);
	sqlite3_bind_int64(s, 4, block->records);
	sqlite3_bind_text(s, 5, block->since, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 6, block->until, -1, SQLITE_STATIC);
	r = run(s);
	if (r == 0)
		block->id = sqlite3_last_insert_rowid(file->db);
	return r;
}

static uint32_t checksum(int64_t block, const struct posting *p, const unsigned char *places,
			 size_t places_size)
{
	uint64_t head[2] = {(uint64_t)block, (uint64_t)p->field};
	uLong sum = crc32(0, (const unsigned char *)head, sizeof(head));

	sum = crc32(sum, (const unsigned char *)p->value, (uInt)p->size);
	return (uint32_t)crc32(sum, places, (uInt)places_size);
}

int index_file_add_posting(struct index_file *file, int64_t block, const struct posting *p)
{
	sqlite3_stmt *s = file->prepared[ADD_POSTING];
	size_t size = p->places_size + CHECKSUM_SIZE;
	uint32_t sum;

	if (size > file->scratch_size) {
		unsigned char *grown = realloc(file->scratch, size * 2);

		if (!grown)
			return -ENOMEM;
		file->scratch = grown;
		file->scratch_size = size * 2;
	}
	sum = checksum(block, p, p->places, p->places_size);
	memcpy(file->scratch, &sum, CHECKSUM_SIZE);
	memcpy(file->scratch + CHECKSUM_SIZE, p->places, p->places_size);
	sqlite3_bind_int(s, 1, (int)p->field);
	sqlite3_bind_blob(s, 2, p->size ? p->value : "", (int)p->size, SQLITE_STATIC);
	sqlite3_bind_int64(s, 3, block);
	sqlite3_bind_blob(s, 4, file->scratch, (int)size, SQLITE_STATIC);
	return run(s);
}

static void take_time(sqlite3_stmt *s, int column, char text[INDEX_TIME_SIZE])
{
	const unsigned char *value = sqlite3_column_text(s, column);

	snprintf(text, INDEX_TIME_SIZE, "%s", value ? (const char *)value : "");
}

static int take_blocks(sqlite3_stmt *s, struct index_block *blocks, size_t count)
{
	size_t taken = 0;
	int code;

	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		struct index_block *b = &blocks[taken];

		/* The id is the place in the list. */
		if (taken == count || number_at(s, 0) != (int64_t)taken + 1 ||
		    number_at(s, 3) > UINT32_MAX || number_at(s, 4) > UINT32_MAX)
			return -EBADMSG;
		b->id = number_at(s, 0);
		b->segment = number_at(s, 1);
		b->start = (uint64_t)number_at(s, 2);
		b->size = (uint32_t)number_at(s, 3);
		b->records = (uint32_t)number_at(s, 4);
		take_time(s, 5, b->since);
		take_time(s, 6, b->until);
		taken++;
	}
	if (code != SQLITE_DONE)
		return error_of(code);
	return taken == count ? 0 : -EBADMSG;
}

int index_file_blocks(struct index_file *file, struct index_block **ret_blocks, size_t *ret_count)
{
	_cleanup_(freep) struct index_block *blocks = NULL;
	sqlite3_stmt *s = NULL;
	int64_t count;
	int r = read_number(file, "SELECT count(*) FROM block", &count);

	if (r < 0)
		return r;
	blocks = calloc((size_t)count + 1, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	r = error_of(sqlite3_prepare_v2(file->db,
					"SELECT id, segment, start, size, records, since, until"
					" FROM block ORDER BY id",
					-1, &s, NULL));
	if (r == 0)
		r = take_blocks(s, blocks, (size_t)count);
	sqlite3_finalize(s);
	if (r < 0)
		return r;
	*ret_blocks = TAKE_PTR(blocks);
	*ret_count = (size_t)count;
	return 0;
}

/* One row of postings; the checksum must be right. */
static int take_posting(sqlite3_stmt *s, struct posting *posting, int64_t *block)
{
	const unsigned char *places = sqlite3_column_blob(s, 3);
	size_t size = (size_t)sqlite3_column_bytes(s, 3);
	uint32_t sum;

	if (size < CHECKSUM_SIZE)
		return -EBADMSG;
	memcpy(&sum, places, CHECKSUM_SIZE);
	posting->field = (enum skim_field)sqlite3_column_int(s, 0);
	posting->value = sqlite3_column_blob(s, 1);
	posting->size = (size_t)sqlite3_column_bytes(s, 1);
	posting->places = places + CHECKSUM_SIZE;
	posting->places_size = size - CHECKSUM_SIZE;
	*block = sqlite3_column_int64(s, 2);
	return checksum(*block, posting, posting->places, posting->places_size) == sum ? 0
										       : -EBADMSG;
}

static int walk(sqlite3_stmt *s,
		int (*visit)(void *data, int64_t block, const struct posting *posting), void *data)
{
	int code;

	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		struct posting posting;
		int64_t block;
		int r = take_posting(s, &posting, &block);

		if (r == 0)
			r = visit(data, block, &posting);
		if (r < 0)
			return r;
	}
	return error_of(code);
}

int index_file_walk(struct index_file *file, enum skim_field field, const char *prefix, bool whole,
		    int (*visit)(void *data, int64_t block, const struct posting *posting),
		    void *data)
{
	_cleanup_(freep) char *after = strdup(prefix);
	size_t size = strlen(prefix), after_size = size;
	sqlite3_stmt *s = NULL;
	int r;

	if (!after)
		return -ENOMEM;
	/* The first value behind all that begin with it. */
	while (after_size > 0 && (unsigned char)after[after_size - 1] == 0xff)
		after_size--;
	if (after_size > 0)
		after[after_size - 1]++;
	r = error_of(sqlite3_prepare_v2(
		file->db,
		whole ? "SELECT field, value, block, places FROM posting WHERE field = ?"
			" AND value = ? ORDER BY field, value, block"
		      : "SELECT field, value, block, places FROM posting WHERE field = ?"
			" AND value >= ? AND (?3 IS NULL OR value < ?3)"
			" ORDER BY field, value, block",
		-1, &s, NULL));
	if (r == 0) {
		sqlite3_bind_int(s, 1, (int)field);
		sqlite3_bind_blob(s, 2, prefix, (int)size, SQLITE_STATIC);
		if (!whole && after_size > 0)
			sqlite3_bind_blob(s, 3, after, (int)after_size, SQLITE_STATIC);
		r = walk(s, visit, data);
	}
	sqlite3_finalize(s);
	return r;
}

static int ignore(void *data, int64_t block, const struct posting *posting)
{
	(void)data;
	(void)block;
	(void)posting;
	return 0;
}

int index_file_check(struct index_file *file)
{
	_cleanup_(freep) struct index_block *blocks = NULL;
	sqlite3_stmt *s = NULL;
	size_t count;
	int r = error_of(sqlite3_prepare_v2(file->db, "PRAGMA quick_check(1)", -1, &s, NULL));

	if (r == 0 && (sqlite3_step(s) != SQLITE_ROW || sqlite3_column_type(s, 0) != SQLITE_TEXT ||
		       strcmp((const char *)sqlite3_column_text(s, 0), "ok") != 0))
		r = -EBADMSG;
	sqlite3_finalize(s);
	if (r == 0)
		r = index_file_blocks(file, &blocks, &count);
	for (unsigned int field = 0; r == 0 && field < SKIM_FIELD_COUNT; field++)
		r = index_file_walk(file, (enum skim_field)field, "", false, ignore, NULL);
	return r;
}
