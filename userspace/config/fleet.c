/* SPDX-License-Identifier: Apache-2.0 */
/* Parses fleet.yaml. */
#include "config/fleet.h"

#include <errno.h>
#include <string.h>

#include "config/read_clickhouse.h"
#include "config/read_root.h"

struct config_fleet {
	struct arena *arena;
	const char *tenant;
	const char *labels[2 * CONFIG_LABELS_MAX + 1];
	size_t label_count;
	const struct config_clickhouse *clickhouse;
};

static bool is_word(const char *text, size_t size)
{
	static const char others[] = "._-/:@+";

	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9');

		if (!plain && (c == '\0' || !strchr(others, c)))
			return false;
	}
	return size > 0 && size <= CONFIG_WORD_MAX;
}

static bool check_word(struct reader *r, const struct place *place, const char *what,
		       const char *text, size_t size)
{
	if (is_word(text, size))
		return true;
	report_error(r->diagnostics, place, "1 to 63 letters, digits and . _ - / : @ +",
		     "%s \"%s\" cannot be a name in a fleet", what, text);
	return false;
}

static int read_tenant(struct reader *r, const struct node *n, void *target)
{
	struct config_fleet *fleet = target;
	const char *text;

	if (reader_string(r, n, "the tenant", &text) &&
	    check_word(r, &n->place, "the tenant", text, n->size))
		fleet->tenant = text;
	return 0;
}

static void read_label(struct reader *r, const struct node *key, const struct node *value,
		       struct config_fleet *fleet)
{
	const char *name = key->text, *text;

	if (!check_word(r, &key->place, "the label", name, key->size) ||
	    !reader_string(r, value, "a label", &text) ||
	    !check_word(r, &value->place, "the label's value", text, value->size))
		return;
	if (fleet->label_count == CONFIG_LABELS_MAX) {
		report_error(r->diagnostics, &key->place, "leave out some of them",
			     "more than %u labels", CONFIG_LABELS_MAX);
		return;
	}
	fleet->labels[2 * fleet->label_count] = name;
	fleet->labels[2 * fleet->label_count + 1] = text;
	fleet->label_count++;
}

static int read_labels(struct reader *r, const struct node *n, void *target)
{
	if (!reader_expect(r, n, NODE_MAPPING, "a mapping", "write labels: {role: web}"))
		return 0;
	for (size_t i = 0; i < n->count; i += 2)
		read_label(r, n->items[i], n->items[i + 1], target);
	return 0;
}

static int read_rows(struct reader *r, const struct node *n, void *target)
{
	return config_read_clickhouse(r, n, &((struct config_fleet *)target)->clickhouse);
}

static int read_source(struct arena *arena, const struct source *s, struct diagnostics *d,
		       void *ret)
{
	struct config_fleet **ret_fleet = ret;
	static const struct key keys[] = {
		{"version", config_read_version},
		{"tenant", read_tenant},
		{"labels", read_labels},
		{"clickhouse", read_rows},
		{NULL, NULL},
	};
	struct reader r = {.arena = arena, .diagnostics = d};
	struct config_fleet *fleet = calloc(1, sizeof(*fleet));
	int e;

	if (!fleet)
		return -ENOMEM;
	e = config_read_root(&r, s, keys, fleet);
	if (e < 0) {
		free(fleet);
		return e;
	}
	fleet->arena = arena;
	*ret_fleet = fleet;
	return 0;
}

int config_fleet_load(const char *path, struct diagnostics *diagnostics,
		      struct config_fleet **ret_fleet)
{
	return config_read_file(path, diagnostics, read_source, ret_fleet);
}

void config_fleet_free(struct config_fleet *fleet)
{
	arena_free(fleet->arena);
	free(fleet);
}

const char *config_fleet_tenant(const struct config_fleet *fleet)
{
	return fleet->tenant;
}

const char *const *config_fleet_labels(const struct config_fleet *fleet)
{
	return fleet->labels;
}

const struct config_clickhouse *config_fleet_clickhouse(const struct config_fleet *fleet)
{
	return fleet->clickhouse;
}
