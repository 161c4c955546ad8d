/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the outermost mapping of a configuration file. */
#include "config/read_root.h"

#include <errno.h>
#include <string.h>

int config_read_version(struct reader *r, const struct node *n, void *target)
{
	(void)target;
	if (n->type != NODE_SCALAR || strcmp(n->text, "1") != 0)
		report_error(r->diagnostics, &n->place, "write version: 1",
			     "this cordon reads configuration version 1 only");
	return 0;
}

static int read_root(struct reader *r, const struct source *s, const struct key *keys, void *target)
{
	struct place bad, start = {s, 1, 1};
	struct node *root = NULL;
	bool nul;
	int e;

	if (source_find_bad_byte(s, &bad, &nul)) {
		report_error(r->diagnostics, &bad, "write UTF-8 text",
			     nul ? "there is a NUL byte" : "this is not UTF-8");
		return 0;
	}
	e = node_parse(r->arena, s, r->diagnostics, &root);
	if (e < 0)
		return e;
	if (!root) {
		report_error(r->diagnostics, &start, "start with version: 1", "the file is empty");
		return 0;
	}
	e = reader_mapping(r, root, "the configuration", keys, target);
	if (e == 0 && root->type == NODE_MAPPING && !node_get(root, "version"))
		report_error(r->diagnostics, &root->place, "add version: 1",
			     "the configuration has no version");
	return e;
}

int config_read_root(struct reader *r, const struct source *s, const struct key *keys, void *target)
{
	int e = read_root(r, s, keys, target);

	if (e < 0)
		return e;
	if (diagnostics_failed(r->diagnostics))
		return -ENOMEM;
	return diagnostics_errors(r->diagnostics) > 0 ? -EINVAL : 0;
}

int config_read_file(const char *path, struct diagnostics *diagnostics, config_take *take,
		     void *ret)
{
	struct arena *arena = arena_new();
	struct source *source = NULL;
	int r;

	if (!arena)
		return -ENOMEM;
	r = source_read(arena, path, path, &source);
	if (r == 0) {
		r = take(arena, source, diagnostics, ret);
	} else if (r != -ENOENT && r != -ENOMEM) {
		struct source named = {.name = path, .path = path};

		report_error(diagnostics, &(struct place){&named, 0, 0},
			     "it must be a file that root can read", "cannot read it: %s",
			     strerror(-r));
	}
	if (r < 0)
		arena_free(arena);
	return r;
}
