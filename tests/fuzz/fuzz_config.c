/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as cordon.yaml and as fleet.yaml: a configuration, or errors with a place. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each list ends, and each text is one. */
static size_t length_of(const char *const *list)
{
	size_t length = 0;

	for (; *list; list++)
		length += strlen(*list);
	return length;
}

static void read_entry(const struct config_executor *is)
{
	size_t length = strlen(is->name) + strlen(is->executable) + strlen(is->policy) +
			length_of(is->programs) + length_of(is->except) +
			length_of((const char *const *)is->workdir_under) +
			length_of((const char *const *)is->binds) + length_of(is->gate);

	if (length == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *text = NULL;
	struct config *config = NULL;
	int r;

	if (!d)
		return 0;
	r = config_parse((const char *)data, size, "/etc/cordon/cordon.yaml", d, &config);
	text = diagnostics_format(d, 0);
	if (r == -ENOMEM || !text)
		return 0;
	if ((r < 0) != (diagnostics_errors(d) > 0))
		abort();
	if (r < 0)
		return 0;
	for (size_t i = 0; i < config_executor_count(config); i++) {
		read_entry(config_executor_at(config, i));
		if (config_executor_at(config, i)->itself)
			read_entry(config_executor_at(config, i)->itself);
	}
	config_free(config);
	return 0;
}
