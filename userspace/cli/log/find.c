/* SPDX-License-Identifier: Apache-2.0 */
/* Finds records for commands through the log's index, and brings it up to date if that can be. */
#include "cli/log/find.h"

#include <ctype.h>
#include <string.h>

#include "audit/search/index.h"
#include "base/uuid.h"
#include "cli/term/interrupt.h"
#include "cli/term/message.h"
#include "cli/term/progress.h"
#include "insight/text/share.h"
#include "insight/text/view.h"

#define CANDIDATES_SHOWN 10

/* `prints`: what is found goes to standard output at once. */
static int find(const char *directory, const struct audit_query *query,
		const struct search_options *asked, bool prints,
		int (*visit)(void *data, json_t *record), void *data, int *ret_status)
{
	struct search_options options = *asked;
	struct index_result updated;
	struct search_result result;
	struct index_progress indexing;
	struct failure failure = {0};
	struct progress progress;
	int r;

	/* Whoever may only read takes the index as it is, and the log for the rest. */
	if (!options.no_index) {
		progress_begin(&progress, "indexing the log", false);
		indexing = (struct index_progress){progress_step, &progress, interrupt_hold()};
		(void)index_update(directory, false, false, &indexing, &updated, &failure);
		progress_end(&progress);
		interrupt_release();
	}
	failure.text[0] = '\0';
	progress_begin(&progress, "reading the log", prints);
	options.progress = progress_step;
	options.progress_data = &progress;
	r = audit_search(directory, query, &options, visit, data, &result, &failure);
	progress_end(&progress);
	if (r < 0) {
		if (r != -ECANCELED)
			message("%s", failure.text);
		return r;
	}
	if (result.stale)
		message("the index in %s is of no use, and all of the log was read; `cordon log "
			"index --log %s` mends it",
			directory, directory);
	if (result.damaged > 0)
		message("%llu records of this log are damaged, and marked: see `cordon log verify "
			"--log %s`",
			(unsigned long long)result.damaged, directory);
	if (result.lost > 0)
		message("%llu records of this log are gone: see `cordon log verify --log %s`",
			(unsigned long long)result.lost, directory);
	*ret_status = result.damaged + result.lost > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	return 0;
}

int find_records(const char *directory, const struct audit_query *query,
		 const struct search_options *options, int (*visit)(void *data, json_t *record),
		 void *data, int *ret_status)
{
	return find(directory, query, options, true, visit, data, ret_status);
}

static int append(void *data, json_t *record)
{
	return json_array_append(data, record) < 0 ? -ENOMEM : 0;
}

/* Records that stay until the last is there. */
struct kept {
	json_t *ids;	 /* of executions, as keys; NULL: all records are wanted */
	json_t *records; /* of the first of them */
	struct share *share;
	bool (*wanted)(const json_t *record); /* NULL: each */
};

static int kept_init(struct kept *kept)
{
	kept->records = json_array();
	kept->share = share_new();
	if (kept->records && kept->share)
		return 0;
	message("out of memory");
	return -ENOMEM;
}

static void kept_release(struct kept *kept)
{
	json_decref(kept->ids);
	json_decref(kept->records);
	if (kept->share)
		share_free(kept->share);
}

static int keep(void *data, json_t *record)
{
	const struct kept *kept = data;

	if (kept->wanted && !kept->wanted(record))
		return 0;
	share_record(kept->share, record);
	return append(kept->records, record);
}

int find_all(const char *directory, const struct audit_query *query, json_t **ret_records,
	     int *ret_status)
{
	_cleanup_(kept_release) struct kept kept = {};
	const struct search_options options = {0};
	int r = kept_init(&kept);

	if (r == 0)
		r = find(directory, query, &options, false, keep, &kept, ret_status);
	if (r == 0)
		*ret_records = TAKE_PTR(kept.records);
	return r;
}

/* Ids are compared as they are written: lower case. */
static bool parse_prefix(const char *text, char prefix[UUID_TEXT_SIZE])
{
	size_t length = strlen(text);

	if (length == 0 || length >= UUID_TEXT_SIZE ||
	    strspn(text, "0123456789abcdefABCDEF-") != length)
		return false;
	for (size_t i = 0; i <= length; i++)
		prefix[i] = (char)tolower((unsigned char)text[i]);
	return true;
}

/* The id of the execution that started last. */
static int find_last(const char *directory, char id[UUID_TEXT_SIZE], int *ret_status)
{
	const struct audit_query query = {.action = "execution-start"};
	const struct search_options options = {.limit = 1};
	json_t *records = json_array();
	const char *found;
	int r;

	if (!records)
		return -ENOMEM;
	r = find(directory, &query, &options, false, append, records, ret_status);
	found = view_text(json_array_get(records, 0), "cordon.execution.id");
	if (r == 0 && (!found || strlen(found) >= UUID_TEXT_SIZE)) {
		message("no execution is on record in %s", directory);
		r = -ENOENT;
	}
	if (r == 0)
		snprintf(id, UUID_TEXT_SIZE, "%s", found);
	json_decref(records);
	return r;
}

static int collect(void *data, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");
	struct kept *kept = data;

	if (!id)
		return 0;
	if (!json_object_get(kept->ids, id) && json_object_set_new(kept->ids, id, json_true()) < 0)
		return -ENOMEM;
	return json_object_size(kept->ids) == 1 ? keep(kept, record) : 0;
}

/* Is it one execution? Says otherwise. */
static int check_one(const struct kept *kept, const char *directory, const char *prefix)
{
	size_t count = json_object_size(kept->ids), shown = 0;
	const char *id;
	json_t *value;

	if (count == 0)
		message("no execution in %s has an id that begins or ends with %s; `cordon events --log "
			"%s` shows them",
			directory, prefix, directory);
	if (count <= 1)
		return count == 1 ? 0 : -ENOENT;
	message("%zu executions have an id that begins or ends with %s; write more of it:", count,
		prefix);
	json_object_foreach(kept->ids, id, value) {
		if (shown++ == CANDIDATES_SHOWN)
			break;
		message("  %s", id);
	}
	return -ENOENT;
}

int find_execution(const char *directory, const char *word, bool (*wanted)(const json_t *record),
		   json_t **ret_records, int *ret_status)
{
	_cleanup_(kept_release) struct kept kept = {.wanted = wanted};
	char id[UUID_TEXT_SIZE];
	const struct audit_query query = {.execution = id};
	const struct search_options options = {0};
	int r;

	if (strcmp(word, "last") == 0) {
		r = find_last(directory, id, ret_status);
		if (r < 0)
			return r;
	} else if (!parse_prefix(word, id)) {
		message("\"%s\" is no id of an execution: give hexadecimal digits as `cordon "
			"events` shows them, or `last`",
			word);
		return -EINVAL;
	}
	r = kept_init(&kept);
	kept.ids = json_object();
	if (r == 0)
		r = kept.ids ? find(directory, &query, &options, false, collect, &kept, ret_status)
			     : -ENOMEM;
	if (r == 0)
		r = check_one(&kept, directory, id);
	if (r == 0)
		*ret_records = TAKE_PTR(kept.records);
	return r;
}
