/* SPDX-License-Identifier: Apache-2.0 */
/* Takes names out of the records of a log that are exported. */
#include "cli/log/private_export.h"

#include <errno.h>

#include "audit/search/search.h"
#include "cli/term/message.h"
#include "insight/text/view.h"

/* Paths of executions beyond these are classed as those of any process. */
#define EXECUTIONS_MAX 100000u

void private_export_note(struct private_export *private, const json_t *record)
{
	const char *execution = view_text(record, "cordon.execution.id");
	json_t *places;

	if (!private->path || !execution || !view_is(record, "execution-start") ||
	    json_object_size(private->places) >= EXECUTIONS_MAX)
		return;
	places = private_places(record);
	if (places)
		(void)json_object_set_new(private->places, execution, places);
}

static int note(void *data, json_t *record)
{
	private_export_note(data, record);
	return 0;
}

int private_export_begin(struct private_export *private, const char *directory)
{
	static const struct audit_query starts = {.action = "execution-start"};
	static const struct search_options all = {};
	struct search_result result;
	struct failure failure = {};
	int r;

	if (!private->path)
		return 0;
	private->places = json_object();
	r = private->places ? private_key_read(private->path, &private->key, &failure)
			    : failure_set(&failure, ENOMEM, "%m");
	if (r < 0) {
		message("log export: %s", failure.text);
		return r;
	}
	/* What keeps from reading the log is said by whoever reads the records. */
	(void)audit_search(directory, &starts, &all, note, private, &result, &failure);
	return 0;
}

void private_export_end(struct private_export *private)
{
	json_decref(private->places);
}

int private_export_record(struct private_export *private, json_t *record)
{
	const char *execution = view_text(record, "cordon.execution.id");
	const json_t *places = execution ? json_object_get(private->places, execution) : NULL;

	return private->path ? private_record(&private->key, places, record) : 0;
}
