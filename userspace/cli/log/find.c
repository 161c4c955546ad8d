/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/log/find.h"

#include <ctype.h>
#include <string.h>

#include "audit/search/index.h"
#include "base/uuid.h"
#include "cli/term/message.h"
#include "cli/term/progress.h"
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
	struct failure failure = {0};
	struct progress progress;
	int r;

	/* Whoever may only read takes the index as it is, and the log for the rest. */
	if (!options.no_index) {
		progress_begin(&progress, "indexing the log", false);
		(void)index_update(directory, false, false,
				   &(struct index_progress){progress_step, &progress}, &updated,
				   &failure);
		progress_end(&progress);
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

int find_all(const char *directory, const struct audit_query *query, json_t **ret_records,
	     int *ret_status)
{
	const struct search_options options = {0};
	json_t *records = json_array();
	int r;

	if (!records) {
		message("out of memory");
		return -ENOMEM;
	}
	r = find(directory, query, &options, false, append, records, ret_status);
	if (r < 0) {
		json_decref(records);
		return r;
	}
	*ret_records = records;
	return 0;
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

struct one {
	json_t *ids;	 /* as keys */
	json_t *records; /* of the first of them */
};

static int collect(void *data, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");
	struct one *one = data;

	if (!id)
		return 0;
	if (!json_object_get(one->ids, id) && json_object_set_new(one->ids, id, json_true()) < 0)
		return -ENOMEM;
	return json_object_size(one->ids) == 1 ? append(one->records, record) : 0;
}

/* Is it one execution? Says otherwise. */
static int check_one(const struct one *one, const char *directory, const char *prefix)
{
	size_t count = json_object_size(one->ids), shown = 0;
	const char *id;
	json_t *value;

	if (count == 0)
		message("no execution in %s has an id that begins with %s; `cordon events --log "
			"%s` shows them",
			directory, prefix, directory);
	if (count <= 1)
		return count == 1 ? 0 : -ENOENT;
	message("%zu executions have an id that begins with %s; say more of it:", count, prefix);
	json_object_foreach(one->ids, id, value) {
		if (shown++ == CANDIDATES_SHOWN)
			break;
		message("  %s", id);
	}
	return -ENOENT;
}

int find_execution(const char *directory, const char *word, json_t **ret_records, int *ret_status)
{
	char id[UUID_TEXT_SIZE];
	const struct audit_query query = {.execution = id};
	const struct search_options options = {0};
	struct one one;
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
	one = (struct one){json_object(), json_array()};
	r = one.ids && one.records
		    ? find(directory, &query, &options, false, collect, &one, ret_status)
		    : -ENOMEM;
	if (r == 0)
		r = check_one(&one, directory, id);
	json_decref(one.ids);
	if (r < 0) {
		json_decref(one.records);
		return r;
	}
	*ret_records = one.records;
	return 0;
}
