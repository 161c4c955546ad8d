/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the configured ClickHouse server, for the store and for queries. */
#include "fleet/clickhouse/settings.h"

#include <errno.h>
#include <string.h>

int clickhouse_settings_load(const char *path, struct config_fleet **ret_fleet,
			     struct failure *failure)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	const char *file = path ? path : CONFIG_FLEET_FILE;
	struct config_fleet *fleet = NULL;
	int r;

	if (!diagnostics)
		return failure_set(failure, ENOMEM, "out of memory");
	r = config_fleet_load(file, diagnostics, &fleet);
	if (r == -ENOENT && !path)
		r = 0;
	if (r == 0) {
		*ret_fleet = fleet;
		return 0;
	}
	text = diagnostics_format(diagnostics, 0);
	if (text && text[0])
		text[strlen(text) - 1] = '\0';
	if (text && text[0])
		return failure_set(failure, r, "%s", text);
	return failure_set(failure, r, "cannot read %s: %m", file);
}
