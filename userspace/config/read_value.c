/* SPDX-License-Identifier: Apache-2.0 */
/* Parses single values of cordon.yaml. */
#include "config/read_value.h"

#include <string.h>

#include "config/config.h"

int config_read_text(struct reader *r, const struct node *n, const char *what, const char **target)
{
	const char *text;

	if (!reader_string(r, n, what, &text))
		return 0;
	if (strlen(text) != n->size || !*text || n->size > 255) {
		report_error(r->diagnostics, &n->place, "1 to 255 bytes", "%s is empty or too long",
			     what);
		return 0;
	}
	*target = text;
	return 0;
}

static bool is_path(struct reader *r, const struct place *place, const char *what, const char *path)
{
	if (path[0] != '/') {
		report_error(r->diagnostics, place, "write the whole path, from / on",
			     "%s \"%s\" is not an absolute path", what, path);
		return false;
	}
	if (strlen(path) > CONFIG_PATH_MAX) {
		report_error(r->diagnostics, place, "the kernel compares that much",
			     "%s is longer than %u bytes", what, CONFIG_PATH_MAX);
		return false;
	}
	return true;
}

int config_read_path(struct reader *r, const struct node *n, const char *what, const char **target)
{
	const char *path;

	if (reader_string(r, n, what, &path) && is_path(r, &n->place, what, path))
		*target = path;
	return 0;
}

int config_read_strings(struct reader *r, const struct node *n, const char *what,
			const char *example, const char ***target)
{
	const char **strings = NULL, **ended;
	size_t count = 0;
	int e = reader_strings(r, n, what, example, &strings, &count);

	if (e < 0 || count == 0)
		return e;
	ended = arena_grow(r->arena, strings, count, sizeof(*ended));
	if (!ended)
		return -ENOMEM;
	ended[count] = NULL;
	*target = ended;
	return 0;
}

int config_read_paths(struct reader *r, const struct node *n, const char *what, const char *example,
		      const char ***target)
{
	const char **paths = NULL;
	int e = config_read_strings(r, n, what, example, &paths);

	for (size_t i = 0; paths && paths[i]; i++)
		if (!is_path(r, reader_place_of(n, paths[i]), what, paths[i]))
			return 0;
	if (paths)
		*target = paths;
	return e;
}

int config_read_pattern(struct reader *r, const struct node *n, const char *what,
			const char **target)
{
	const char *text;

	if (!reader_string(r, n, what, &text))
		return 0;
	if (strlen(text) != n->size || !*text || n->size > CONFIG_PATTERN_MAX) {
		report_error(r->diagnostics, &n->place, "* matches any text",
			     "%s must have 1 to %u bytes", what, CONFIG_PATTERN_MAX);
		return 0;
	}
	*target = text;
	return 0;
}
