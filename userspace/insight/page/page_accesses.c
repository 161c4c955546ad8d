/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "insight/text/html.h"
#include "insight/page/page.h"
#include "insight/page/page_parts.h"
#include "insight/text/view.h"

/* --- denials by rule ---------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Decided by the same rule, or for the same reason without one? */
static bool same_rule(const json_t *a, const json_t *b)
{
	return same_text(view_text(a, "cordon.rule.file"), view_text(b, "cordon.rule.file")) &&
	       view_number(a, "cordon.rule.line") == view_number(b, "cordon.rule.line") &&
	       same_text(view_text(a, "cordon.rule.text"), view_text(b, "cordon.rule.text")) &&
	       same_text(view_text(a, "cordon.reason"), view_text(b, "cordon.reason"));
}

static void write_rule_head(FILE *out, const json_t *record)
{
	const char *file = view_text(record, "cordon.rule.file");
	const char *text = view_text(record, "cordon.rule.text");
	const char *severity = view_text(record, "cordon.rule.severity");
	const char *message = view_text(record, "cordon.rule.message");

	fputs("<h4>", out);
	if (file) {
		fputs("<code>", out);
		html_format(out, "%s:%llu", file,
			    (unsigned long long)view_number(record, "cordon.rule.line"));
		fputs("</code>", out);
	} else {
		html_format(out, "Without a rule: %s", denial_reason_phrase(record));
	}
	if (severity) {
		fputs(" <span class=\"tag bad\">severity ", out);
		html_text(out, severity);
		fputs("</span>", out);
	}
	fputs("</h4>\n", out);
	if (text) {
		fputs("<pre>", out);
		html_text(out, text);
		fputs("</pre>\n", out);
	}
	if (message) {
		fputs("<p>Message to whoever is refused: <q>", out);
		html_text(out, message);
		fputs("</q></p>\n", out);
	}
}

static void write_denial(FILE *out, const struct page_execution *e,
			 const struct denial_group *group)
{
	_cleanup_(freep) char *phrase = denial_phrase(group->first);
	const char *name = view_text(group->first, "process.name");

	fputs("<li>", out);
	html_text(out, phrase);
	if (group->count > 1)
		fprintf(out, " <strong>&times;%llu</strong>", (unsigned long long)group->count);
	fputs(" <span class=\"soft\">", out);
	page_offset(out, e, group->first);
	html_format(out, ", %s[%llu], %s, seq %llu", name ? name : "?",
		    (unsigned long long)view_number(group->first, "process.pid"),
		    view_text(group->first, "cordon.error")
			    ? view_text(group->first, "cordon.error")
			    : "?",
		    (unsigned long long)view_number(group->first, "seq"));
	fputs("</span></li>\n", out);
}

/* A suggested rule, without its section's line where the one before it was of the same section. */
static void write_suggestion(FILE *out, const char *rule, const char *before)
{
	size_t head = strcspn(rule, "\n");

	if (before && rule[head] && strncmp(rule, before, head + 1) == 0)
		rule += head + 1;
	while (*rule) {
		size_t length = strcspn(rule, "\n");
		_cleanup_(freep) char *line = strndup(rule, length);

		html_text(out, line);
		fputc('\n', out);
		rule += length + (rule[length] == '\n');
	}
}

static void write_changes(FILE *out, const struct denial_groups *groups, size_t first)
{
	const json_t *decided = groups->items[first].first;
	const char *why = view_text(decided, "cordon.suggestion.why");
	const char *before = NULL;
	size_t shown = 0;

	for (size_t i = first; i < groups->count && shown < PAGE_ROWS_MAX; i++) {
		const char *rule = view_text(groups->items[i].first, "cordon.suggestion.rule");

		if (!rule || !same_rule(groups->items[i].first, decided))
			continue;
		if (shown++ == 0)
			fputs("<p>The smallest change that would allow it:</p>\n<pre>", out);
		write_suggestion(out, rule, before);
		before = rule;
	}
	if (shown > 0)
		fputs("</pre>\n", out);
	if (shown == 0 && why) {
		fputs("<p>No rule would allow it: ", out);
		html_text(out, why);
		fputs(".</p>\n", out);
	}
}

static bool is_first_of_rule(const struct denial_groups *groups, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (same_rule(groups->items[i].first, groups->items[index].first))
			return false;
	return true;
}

void page_denials(FILE *out, const struct page_execution *e)
{
	const struct denial_groups *groups = &e->denials;
	size_t limit = groups->count < PAGE_ROWS_MAX ? groups->count : PAGE_ROWS_MAX;

	fputs("<section>\n<h3>What was refused, by rule</h3>\n", out);
	if (groups->count == 0)
		fputs("<p>Nothing was refused.</p>\n", out);
	for (size_t i = 0; i < limit; i++) {
		if (!is_first_of_rule(groups, i))
			continue;
		fputs("<div class=\"rule\">\n", out);
		write_rule_head(out, groups->items[i].first);
		fputs("<ul>\n", out);
		for (size_t j = i; j < limit; j++)
			if (same_rule(groups->items[j].first, groups->items[i].first))
				write_denial(out, e, &groups->items[j]);
		fputs("</ul>\n", out);
		write_changes(out, groups, i);
		fputs("</div>\n", out);
	}
	if (limit < groups->count)
		fprintf(out, "<p class=\"soft\">... and %zu more.</p>\n", groups->count - limit);
	fputs("</section>\n", out);
}

/* --- files and network -------------------------------------------------------------------- */

static const char *verdict_tag(const json_t *record)
{
	if (view_is(record, "denial"))
		return "<span class=\"tag bad\">refused</span>";
	if (view_is(record, "would-deny"))
		return "<span class=\"tag warn\">would be refused</span>";
	return "<span class=\"tag plain\">allowed</span>";
}

static void write_row(FILE *out, const struct page_execution *e, const struct denial_group *group)
{
	const json_t *rights = view_field(group->first, "cordon.rights");
	const char *name = view_text(group->first, "process.name");

	fputs("<tr><th scope=\"row\" class=\"mono\">", out);
	html_text(out, view_text(group->first, "cordon.object.text"));
	if (view_text(group->first, "network.transport")) {
		fputs(" <span class=\"soft\">", out);
		html_text(out, view_text(group->first, "network.transport"));
		fputs("</span>", out);
	}
	fputs("</th><td>", out);
	for (size_t i = 0; i < json_array_size(rights); i++) {
		fputs(i > 0 ? ", " : "", out);
		html_text(out, json_string_value(json_array_get(rights, i)));
	}
	fprintf(out, "</td><td>%s</td><td class=\"mono who\">", verdict_tag(group->first));
	html_format(out, "%s[%llu]", name ? name : "?",
		    (unsigned long long)view_number(group->first, "process.pid"));
	fputs("</td><td class=\"n\">", out);
	page_offset(out, e, group->first);
	fprintf(out, "</td><td class=\"n\">%llu</td></tr>\n", (unsigned long long)group->count);
}

static bool is_one_of(const char *const *kinds, const char *kind)
{
	for (; kind && *kinds; kinds++)
		if (strcmp(kind, *kinds) == 0)
			return true;
	return false;
}

/* One table of accesses whose object is of some kinds; all of the execution's processes together. */
static int write_accesses(FILE *out, const struct page_execution *e, const char *title,
			  const char *const *kinds, const char *none)
{
	struct denial_groups groups = {0};
	size_t index, limit;
	int r = 0, is_new;

	for (size_t i = 0; r == 0 && i < e->count; i++) {
		if (is_one_of(kinds, view_text(e->records[i], "cordon.object.kind")))
			r = denial_groups_add(&groups, e->records[i], &index, &is_new);
	}
	limit = groups.count < PAGE_ROWS_MAX ? groups.count : PAGE_ROWS_MAX;
	fprintf(out, "<section>\n<h3>%s</h3>\n", title);
	if (limit == 0) {
		fprintf(out, "<p>%s</p>\n", none);
	} else {
		fprintf(out,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n<table>\n"
			"<thead><tr><th scope=\"col\">Object</th><th scope=\"col\">Right</th><th "
			"scope=\"col\">Verdict</th><th scope=\"col\">Process</th><th scope=\"col\" "
			"class=\"n\">First</th><th scope=\"col\" class=\"n\">Times</th></tr></thead>\n"
			"<tbody>\n",
			title);
		for (size_t i = 0; i < limit; i++)
			write_row(out, e, &groups.items[i]);
		fputs("</tbody></table></div>\n", out);
	}
	if (limit < groups.count)
		fprintf(out, "<p class=\"soft\">... and %zu more.</p>\n", groups.count - limit);
	fputs("</section>\n", out);
	denial_groups_free(&groups);
	return r;
}

void page_accesses(FILE *out, const struct page_execution *e)
{
	static const char *const files[] = {"path", "special", NULL};
	static const char *const network[] = {"net", "host", "socket", "abstract", NULL};

	(void)write_accesses(out, e, "Files", files,
			     "No file was refused, and the policy records none that was opened.");
	(void)write_accesses(out, e, "Network", network, "No connection was made or refused.");
}
