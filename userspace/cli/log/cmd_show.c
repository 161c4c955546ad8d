/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon show`: one execution, from its start to its end. */
#include <jansson.h>
#include <signal.h>

#include "audit/record/record.h"
#include "cli/term/commands.h"
#include "cli/log/find.h"
#include "cli/log/story_options.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"
#include "insight/story/story.h"

static const char help[] =
	"usage: cordon show ID|last [--log DIR] [--json]\n"
	"\n"
	"Shows one execution from start to end, with its denials. ID is an execution's\n"
	"id or the beginning of it (`cordon events` lists ids); `last` is the execution\n"
	"that started last.\n"
	"\n"
	"      --json           the records, as JSON\n"
	"      --utc            times in UTC instead of local time\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

static int show_text(const json_t *found)
{
	struct style style = terminal_style(stdout);
	size_t count = json_array_size(found);
	json_t **records = calloc(count + 1, sizeof(*records));
	int r = -ENOMEM;

	for (size_t i = 0; records && i < count; i++)
		records[i] = json_array_get(found, i);
	if (records)
		r = story_write(stdout, &style, records, count);
	free(records);
	if (r < 0) {
		message("out of memory");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int run(const char *directory, const char *word, bool json)
{
	_cleanup_(json_decrefp) json_t *found = NULL;
	int status = EXIT_FAILURE, shown;
	int r = find_execution(directory, word, NULL, &found, &status);

	if (r < 0)
		return r == -EINVAL ? 2 : EXIT_FAILURE;
	if (json) {
		r = json_dumpf(found, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
		shown = r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	} else {
		shown = show_text(found);
	}
	shown = terminal_finish(stdout, shown);
	return shown != EXIT_SUCCESS ? shown : status;
}

int cmd_show(int argc, char **argv)
{
	struct story_options o;
	int status = story_options_read(argc, argv, help, "show takes one id, or `last`", &o);

	return status < 0 ? run(o.directory, o.word, o.json) : status;
}
