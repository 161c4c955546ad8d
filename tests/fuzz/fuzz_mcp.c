/* SPDX-License-Identifier: Apache-2.0 */
/* Lines from a model's client to `cordon mcp`: no call starts a command that its words lack. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mcp/rpc.h"
#include "cli/mcp/session.h"
#include "cli/mcp/tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tool_settings settings = {
	.policies = {"a", "b"}, .policy_count = 2, .workdir = "/w"};

static json_t *list(void *context)
{
	(void)context;
	return tools_describe(&settings);
}

/* All words are texts, and a command comes behind "--": none is an option of `cordon run`. */
static void check_words(const struct tool *tool, json_t *words)
{
	bool separated = false;
	json_t *word;
	size_t i;

	json_array_foreach(words, i, word) {
		if (!json_is_string(word))
			abort();
		separated |= strcmp(json_string_value(word), "--") == 0;
	}
	if (strcmp(tool->name, "run") == 0 && !separated)
		abort();
}

static json_t *call(void *context, const json_t *id, const char *name, json_t *arguments)
{
	const struct tool *tool = tool_find(name);
	json_t *words = json_pack("[s]", "cordon");

	(void)context;
	if (tool && words && !tool->words(&settings, arguments, words))
		check_words(tool, words);
	json_decref(words);
	return rpc_result(id, json_object());
}

static void cancel(void *context, const json_t *id)
{
	(void)context;
	(void)id;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mcp_tools tools = {list, call, cancel, NULL};
	struct mcp_session session = {.tools = &tools};
	const char *at = (const char *)data, *end = at + size;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);
		char *line = strndup(at, length);

		if (line)
			json_decref(mcp_session_take(&session, line, strlen(line)));
		free(line);
		at = stop ? stop + 1 : end;
	}
	return 0;
}
