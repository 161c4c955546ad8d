/* SPDX-License-Identifier: Apache-2.0 */
/* Describes one execution for people: its program, its actions, and its denials. */
#include "insight/story/story.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "insight/story/clusters.h"
#include "insight/story/header.h"
#include "insight/story/tree.h"
#include "insight/text/view.h"

#define TIME_WIDTH   10
#define PREFIX_SIZE  (4 * (TREE_DEPTH_MAX + 4) * 3)
#define WIDE_COLUMNS 150 /* minimum columns for reason and rule on one line */
#define OBJECT_LIMIT 120
#define RULE_LIMIT   72 /* file and line identify the rule; --json has all of it */

struct story {
	FILE *out;
	const struct style *style;
	const struct tree *tree;
	uint64_t start;
	size_t shown, hidden; /* processes */
};

struct branch {
	const char *tee, *last, *bar, *blank, *mark, *arrow;
};

static const struct branch unicode_branch = {"├─ ", "└─ ", "│  ", "   ", "✗ ", "→ "};
static const struct branch ascii_branch = {"|- ", "`- ", "|  ", "   ", "x ", "> "};

static const struct branch *branches(const struct story *s)
{
	return s->style->unicode ? &unicode_branch : &ascii_branch;
}

/* Writes "+0.105 s" in its column, or blanks. */
static void write_time(const struct story *s, const json_t *record)
{
	uint64_t time = record ? view_steady_time(record) : 0;
	char text[STYLE_QUANTITY_SIZE] = "";

	if (time >= s->start && s->start > 0)
		snprintf(text, sizeof(text), "+%.3f", (double)(time - s->start) / 1e9);
	style_begin(s->out, s->style, STYLE_DIM);
	fprintf(s->out, "  %*s  ", TIME_WIDTH, text);
	style_end(s->out, s->style, STYLE_DIM);
}

static void write_prefix(const struct story *s, const char *prefix)
{
	style_begin(s->out, s->style, STYLE_DIM);
	fputs(prefix, s->out);
	style_end(s->out, s->style, STYLE_DIM);
}

/* Writes words; those from a record are escaped. */
static void dim_text(const struct story *s, const char *text)
{
	style_text_in(s->out, s->style, STYLE_DIM, text, 0);
}

/* Writes a suggested rule of several lines on one. */
static void write_flat(const struct story *s, const char *rule)
{
	_cleanup_(freep) char *flat = strdup(rule);
	char *to = flat;

	if (!flat)
		return;
	for (const char *from = rule; *from; from++) {
		if (*from != '\n') {
			*to++ = *from;
			continue;
		}
		*to++ = ' ';
		while (from[1] == ' ')
			from++;
	}
	*to = '\0';
	style_text_in(s->out, s->style, STYLE_NAME, flat, 0);
}

/* Begins another line below a denial. */
static void write_margin(const struct story *s, const char *prefix)
{
	write_time(s, NULL);
	write_prefix(s, prefix);
	fputs("  ", s->out);
}

/* Writes the rule of a denial, and the rule that would permit the access. */
static void write_explanation(const struct story *s, const char *prefix, const json_t *record)
{
	const char *file = view_text(record, "cordon.rule.file");
	const char *text = view_text(record, "cordon.rule.text");
	const char *message = view_text(record, "cordon.rule.message");
	const char *suggestion = view_text(record, "cordon.suggestion.rule");

	write_margin(s, prefix);
	if (file) {
		dim_text(s, file);
		style_begin(s->out, s->style, STYLE_DIM);
		fprintf(s->out, ":%llu  ",
			(unsigned long long)view_number(record, "cordon.rule.line"));
		style_end(s->out, s->style, STYLE_DIM);
		style_text_in(s->out, s->style, STYLE_DIM, text ? text : "", RULE_LIMIT);
	} else {
		dim_text(s, denial_reason_phrase(record));
	}
	if (message) {
		fputc('\n', s->out);
		write_margin(s, prefix);
		fputc('"', s->out);
		style_text(s->out, s->style, message);
		fputc('"', s->out);
	}
	if (suggestion) {
		dim_text(s, "; this would:");
		if (s->style->width == 0 || s->style->width >= WIDE_COLUMNS) {
			fputs("  ", s->out);
		} else {
			fputc('\n', s->out);
			write_margin(s, prefix);
			fputs("  ", s->out);
		}
		write_flat(s, suggestion);
	}
	fputc('\n', s->out);
}

static void write_access(const struct story *s, const char *prefix,
			 const struct denial_group *group)
{
	_cleanup_(freep) char *phrase = denial_phrase(group->first);
	bool denied = view_is_refused(group->first), would = view_is(group->first, "would-deny");
	enum style_role role = denied ? STYLE_BAD : would ? STYLE_WARN : STYLE_DIM;
	const char *error = view_text(group->first, "cordon.error");

	write_time(s, group->first);
	write_prefix(s, prefix);
	if (denied || would) {
		style_begin(s->out, s->style, role);
		fputs(branches(s)->mark, s->out);
		style_end(s->out, s->style, role);
	}
	if (view_damage(group->first))
		style_text_in(s->out, s->style, STYLE_BAD, "DAMAGED ", 0);
	style_text_in(s->out, s->style, role, phrase ? phrase : "?", 0);
	if (denied && error) {
		fputs(" (", s->out);
		style_text(s->out, s->style, error);
		fputc(')', s->out);
	}
	if (group->count > 1)
		fprintf(s->out, s->style->unicode ? "  ×%llu" : "  x%llu",
			(unsigned long long)group->count);
	fputc('\n', s->out);
	if (denied || would)
		write_explanation(s, prefix, group->first);
}

static void write_place(const struct story *s, const struct denial_place *place)
{
	const json_t *record = place->first->first;
	const char *file = view_text(record, "cordon.rule.file");
	const char *severity = view_text(record, "cordon.rule.severity");
	_cleanup_(freep) char *phrase = denial_place_phrase(place);

	fprintf(s->out, "  %*llu  ", TIME_WIDTH, (unsigned long long)place->count);
	style_text_in(s->out, s->style, view_is_refused(record) ? STYLE_BAD : STYLE_WARN,
		      phrase ? phrase : "?", 0);
	fputs("  ", s->out);
	if (!file) {
		dim_text(s, denial_reason_phrase(record));
	} else {
		style_text_in(s->out, s->style, STYLE_DIM, file, 0);
		fprintf(s->out, ":%llu",
			(unsigned long long)view_number(record, "cordon.rule.line"));
	}
	if (severity) {
		fputs("  severity ", s->out);
		style_text(s->out, s->style, severity);
	}
	fputc('\n', s->out);
}

/*
 * Writes a summary of all denials, the most severe first, because below they are among other
 * records.
 */
static int write_refused(const struct story *s, json_t *const *records, size_t count)
{
	_cleanup_(denial_clusters_free) struct denial_clusters clusters = {};
	struct denial_groups groups = {};
	size_t index;
	int r = 0, is_new;

	for (size_t i = 0; r == 0 && i < count; i++)
		if (view_is_denial(records[i]))
			r = denial_groups_add(&groups, records[i], &index, &is_new);
	if (r == 0 && groups.count > STORY_REFUSED_MIN)
		r = denial_clusters_build(&groups, &clusters);
	if (clusters.count > 0) {
		fputc('\n', s->out);
		style_text_in(s->out, s->style, STYLE_BOLD, "  Refused", 0);
		dim_text(s, "  how often, the most serious first; `cordon why` explains each");
		fputc('\n', s->out);
	}
	for (size_t i = 0; i < clusters.count; i++) {
		const struct denial_cluster *c = &clusters.items[i];
		size_t limit = c->weight > 0 ? c->place_count : STORY_PLACES_MAX;

		for (size_t k = 0; k < c->place_count && k < limit; k++)
			write_place(s, &c->places[k]);
		if (limit < c->place_count || c->omitted > 0)
			fprintf(s->out, "  %*s  and in %zu more places\n", TIME_WIDTH, "",
				c->place_count + c->omitted -
					(limit < c->place_count ? limit : c->place_count));
	}
	denial_groups_free(&groups);
	return r;
}

static void write_exec(const struct story *s, const json_t *record)
{
	const char *executable = view_text(record, "process.executable");
	const json_t *arguments = view_field(record, "process.args");
	const json_t *code = view_field(record, "cordon.arguments.code");
	size_t count = json_array_size(arguments);

	style_text(s->out, s->style, executable ? executable : "?");
	for (size_t i = 1; i < count; i++) {
		const char *text = json_string_value(json_array_get(arguments, i));

		fputc(' ', s->out);
		style_text_in(s->out, s->style, text ? STYLE_PLAIN : STYLE_DIM,
			      text ? text : "<code>", OBJECT_LIMIT);
	}
	if (count == 0 && view_number(record, "process.args_count") > 1) {
		uint64_t number = view_number(record, "process.args_count") - 1;

		style_begin(s->out, s->style, STYLE_DIM);
		fprintf(s->out, "  %llu argument%s", (unsigned long long)number,
			number == 1 ? "" : "s");
		style_end(s->out, s->style, STYLE_DIM);
	}
	if (json_array_size(code) > 0) {
		const json_t *first = json_array_get(code, 0);
		const char *digest = view_text(first, "sha256");

		style_begin(s->out, s->style, STYLE_DIM);
		fprintf(s->out, ", code of %llu bytes, sha256 ",
			(unsigned long long)view_number(first, "length"));
		style_end(s->out, s->style, STYLE_DIM);
		style_text_in(s->out, s->style, STYLE_DIM, digest ? digest : "?", 15);
	}
}

static void write_exit(const struct story *s, const struct tree_process *process)
{
	const char *name = process->exit ? view_text(process->exit, "process.signal") : NULL;
	uint64_t code = process->exit ? view_number(process->exit, "process.exit_code") : 0;

	if (tree_was_killed(process)) {
		style_text_in(s->out, s->style, STYLE_BAD, "  killed", 0);
	} else if (name) {
		fputs("  ", s->out);
		style_text_in(s->out, s->style, STYLE_BAD, name, 0);
	} else if (code != 0) {
		style_begin(s->out, s->style, STYLE_WARN);
		fprintf(s->out, "  exit %llu", (unsigned long long)code);
		style_end(s->out, s->style, STYLE_WARN);
	}
	if (process->exit && s->start > 0 && view_steady_time(process->exit) >= s->start) {
		style_begin(s->out, s->style, STYLE_DIM);
		fprintf(s->out, "  until +%.3f",
			(double)(view_steady_time(process->exit) - s->start) / 1e9);
		style_end(s->out, s->style, STYLE_DIM);
	}
}

static void write_process(struct story *s, size_t index, const char *prefix, const char *branch,
			  const char *below);

static unsigned int weight_of(const struct story *s, const struct tree_process *process,
			      const struct tree_item *item)
{
	if (item->kind == TREE_CHILD)
		return s->tree->processes[item->index].weight;
	return item->kind == TREE_ACCESS ? denial_weight(process->accesses.items[item->index].first)
					 : 0;
}

/* Order of importance: denials, then processes, then other records. */
enum { RANK_WEIGHTY, RANK_PROCESS, RANK_OTHER, RANK_COUNT };

static int rank_of(const struct story *s, const struct tree_process *process,
		   const struct tree_item *item)
{
	if (weight_of(s, process, item) > 0)
		return RANK_WEIGHTY;
	return item->kind == TREE_ACCESS ? RANK_OTHER : RANK_PROCESS;
}

/* Chooses the shown items if there are too many: by rank, then by time. Returns their number. */
static size_t choose_items(const struct story *s, const struct tree_process *process, bool *chosen)
{
	size_t count = 0;

	for (int rank = 0; rank < RANK_COUNT; rank++)
		for (size_t i = 0; i < process->item_count && count < STORY_ITEMS_MAX; i++)
			if (rank_of(s, process, &process->items[i]) == rank)
				count += chosen[i] = true;
	return count;
}

static void write_items(struct story *s, const struct tree_process *process, const char *prefix)
{
	_cleanup_(freep) bool *chosen = calloc(process->item_count + 1, sizeof(*chosen));
	size_t last_child = TREE_NONE, limit;

	if (!chosen)
		return;
	limit = choose_items(s, process, chosen);
	for (size_t i = 0; i < process->item_count; i++)
		if (chosen[i] && process->items[i].kind == TREE_CHILD)
			last_child = i;
	for (size_t i = 0; i < process->item_count; i++) {
		const struct tree_item *item = &process->items[i];
		char inner[PREFIX_SIZE];

		if (!chosen[i])
			continue;
		if (item->kind == TREE_CHILD) {
			write_process(s, item->index, prefix,
				      i == last_child ? branches(s)->last : branches(s)->tee,
				      i == last_child ? branches(s)->blank : branches(s)->bar);
			continue;
		}
		snprintf(inner, sizeof(inner), "%s%s", prefix,
			 last_child != TREE_NONE && i < last_child ? branches(s)->bar
								   : branches(s)->blank);
		if (item->kind == TREE_ACCESS) {
			write_access(s, inner, &process->accesses.items[item->index]);
			continue;
		}
		write_time(s, item->record);
		write_prefix(s, inner);
		style_text_in(s->out, s->style, STYLE_DIM, branches(s)->arrow, 0);
		write_exec(s, item->record);
		fputc('\n', s->out);
	}
	if (limit < process->item_count) {
		write_time(s, NULL);
		write_prefix(s, prefix);
		fprintf(s->out, "... and %zu more; `cordon show --json` has them all\n",
			process->item_count - limit);
	}
}

/* `branch` is drawn before this process, `below` before its children. */
static void write_process(struct story *s, size_t index, const char *prefix, const char *branch,
			  const char *below)
{
	const struct tree_process *process = &s->tree->processes[index];
	char inner[PREFIX_SIZE];

	if (s->shown >= STORY_PROCESSES_MAX + (process->weight > 0 ? STORY_PROCESSES_MAX : 0)) {
		s->hidden++;
		return;
	}
	s->shown++;
	write_time(s, process->first);
	write_prefix(s, prefix);
	write_prefix(s, branch);
	style_text_in(s->out, s->style, STYLE_BOLD, tree_name(process), 0);
	style_begin(s->out, s->style, STYLE_DIM);
	fprintf(s->out, "[%llu]  ", (unsigned long long)view_number(process->first, "process.pid"));
	style_end(s->out, s->style, STYLE_DIM);
	if (process->exec)
		write_exec(s, process->exec);
	else
		dim_text(s, "forked");
	write_exit(s, process);
	fputc('\n', s->out);
	snprintf(inner, sizeof(inner), "%s%s", prefix, below);
	write_items(s, process, inner);
}

static void write_tree(struct story *s)
{
	style_text_in(s->out, s->style, STYLE_BOLD, "  Processes", 0);
	style_text_in(s->out, s->style, STYLE_DIM, "  by seconds since the start", 0);
	fputc('\n', s->out);
	for (size_t i = 0; i < s->tree->count; i++)
		if (s->tree->processes[i].parent == TREE_NONE)
			write_process(s, i, "", "", "");
	if (s->hidden > 0)
		fprintf(s->out, "  ... and %zu more processes; `cordon show --json` has them all\n",
			s->tree->count - s->shown);
}

static void write_killed(const struct story *s, const json_t *end)
{
	uint64_t killed = view_number(end, "cordon.end.killed_tasks"), named = 0;

	if (killed == 0)
		return;
	fputc('\n', s->out);
	style_text_in(s->out, s->style, STYLE_BOLD, "  Killed at the end", 0);
	fprintf(s->out, "  %llu task%s", (unsigned long long)killed, killed == 1 ? "" : "s");
	for (size_t i = 0; i < s->tree->count; i++) {
		const struct tree_process *process = &s->tree->processes[i];

		if (!tree_was_killed(process))
			continue;
		fputs(named++ == 0 ? ": " : ", ", s->out);
		if (named > 10) {
			fputs("...", s->out);
			break;
		}
		style_text(s->out, s->style, tree_name(process));
		fprintf(s->out, "[%llu]",
			(unsigned long long)view_number(process->first, "process.pid"));
	}
	fputc('\n', s->out);
}

static const json_t *find_record(json_t *const *records, size_t count, const char *action)
{
	for (size_t i = 0; i < count; i++)
		if (view_is(records[i], action))
			return records[i];
	return NULL;
}

/* Writes how many records of this execution are known to be missing. */
static void write_gaps(const struct story *s, json_t *const *records, size_t count,
		       const json_t *end)
{
	uint64_t dropped = view_number(end, "cordon.counters.dropped"), missing = 0;
	uint64_t limited = view_number(end, "cordon.counters.limited");

	for (size_t i = 0; i < count; i++)
		if (view_is(records[i], "gap"))
			missing += view_number(records[i], "cordon.gap.missing");
	/* The kernel's count is exact; gap records may be incomplete. */
	if (dropped > missing)
		missing = dropped;
	if (missing == 0 && limited == 0)
		return;
	fputc('\n', s->out);
	style_begin(s->out, s->style, STYLE_WARN);
	fprintf(s->out, "  Not recorded: %llu events lost, %llu held back by the rate limit\n",
		(unsigned long long)missing, (unsigned long long)limited);
	style_end(s->out, s->style, STYLE_WARN);
}

int story_write(FILE *out, const struct style *style, json_t *const *records, size_t count)
{
	const json_t *start = find_record(records, count, "execution-start");
	const json_t *end = find_record(records, count, "execution-end");
	struct tree tree;
	struct story s = {.out = out, .style = style, .tree = &tree};
	int r;

	r = tree_build(&tree, records, count);
	if (r < 0)
		return r;
	s.start = view_steady_time(start ? start : count > 0 ? records[0] : NULL);
	header_write(out, style, records, count);
	r = write_refused(&s, records, count);
	if (r == 0 && tree.count > 0) {
		fputc('\n', out);
		write_tree(&s);
	}
	write_killed(&s, end);
	write_gaps(&s, records, count, end);
	tree_free(&tree);
	return r;
}
