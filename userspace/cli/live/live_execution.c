/* SPDX-License-Identifier: Apache-2.0 */
/* Executions as people name them: by as much of the id as tells them apart. */
#include "cli/live/live_execution.h"

#include <string.h>

#include "cli/term/message.h"
#include "control/client.h"

int live_execution_find(int socket, const char *wanted, char ret_id[UUID_TEXT_SIZE])
{
	_cleanup_(json_decrefp) json_t *executions = NULL;
	struct failure failure = {};
	const char *found = NULL;
	unsigned char whole[16];
	json_t *execution;
	size_t i;
	int r;

	if (uuid_parse(wanted, whole) == 0) {
		uuid_format(whole, ret_id);
		return 0;
	}
	r = client_list(socket, &executions, &failure);
	if (r < 0) {
		message("%s", failure.text);
		return r;
	}
	json_array_foreach(executions, i, execution) {
		const char *id = json_string_value(json_object_get(execution, "id"));

		if (!id || !uuid_is_named(id, strlen(id), wanted))
			continue;
		if (found) {
			message("several executions have an id that begins or ends with \"%s\": %s, %s, ...",
				wanted, found, id);
			return -EEXIST;
		}
		found = id;
	}
	if (!found) {
		message("no live execution has an id that begins or ends with \"%s\"; `cordon ps` shows ids",
			wanted);
		return -ENOENT;
	}
	snprintf(ret_id, UUID_TEXT_SIZE, "%s", found);
	return 0;
}
