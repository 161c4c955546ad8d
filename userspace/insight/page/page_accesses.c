/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the page's part on accesses. */
#include <string.h>

#include "base/cleanup.h"
#include "insight/text/html.h"
#include "insight/page/page.h"
#include "insight/page/page_parts.h"
#include "insight/story/clusters.h"
#include "insight/text/view.h"

/* --- denials by rule ---------------------------------------------------------------------- */

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
		fputs("<p>Message to whoever is denied: <q>", out);
		html_text(out, message);
		fputs("</q></p>\n", out);
	}
}

static void write_place(FILE *out, const struct page_execution *e, const struct denial_place *place)
{
	const json_t *record = place->first->first;
	_cleanup_(freep) char *phrase = denial_place_phrase(place);
	const char *name = view_text(record, "process.name");

	fputs("<li>", out);
	page_damage(out, record);
	html_text(out, phrase);
	if (place->count > 1)
		fprintf(out, " <strong>&times;%llu</strong>", (unsigned long long)place->count);
	fputs(" <span class=\"soft\">", out);
	if (place->objects > 1)
		fputs("first ", out);
	page_offset(out, e, record);
	html_format(out, ", %s[%llu], %s, seq %llu", name ? name : "?",
		    (unsigned long long)view_number(record, "process.pid"),
		    view_text(record, "cordon.error") ? view_text(record, "cordon.error") : "?",
		    (unsigned long long)view_number(record, "seq"));
	fputs("</span></li>\n", out);
}

/* Writes a suggested rule, without the line of its section if the previous rule had the same. */
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

static void write_changes(FILE *out, const struct denial_cluster *cluster)
{
	const char *why = view_text(cluster->first, "cordon.suggestion.why");
	_cleanup_(freep) char *before = NULL;

	for (size_t i = 0; i < cluster->place_count; i++) {
		char *rule = denial_place_rule(&cluster->places[i]);

		if (!rule)
			continue;
		if (!before)
			fputs("<p>The smallest change that would allow it:</p>\n<pre>", out);
		write_suggestion(out, rule, before);
		free(before);
		before = rule;
	}
	if (before) {
		fputs("</pre>\n", out);
	} else if (why) {
		fputs("<p>No rule would allow it: ", out);
		html_text(out, why);
		fputs(".</p>\n", out);
	}
}

int page_denials(FILE *out, const struct page_execution *e)
{
	_cleanup_(denial_clusters_free) struct denial_clusters clusters;
	int r = denial_clusters_build(&e->denials, &clusters);

	if (r < 0)
		return r;
	fputs("<section>\n<h3>What was denied, by rule</h3>\n", out);
	if (clusters.count == 0)
		fputs("<p>Nothing was denied.</p>\n", out);
	for (size_t i = 0; i < clusters.count; i++) {
		const struct denial_cluster *c = &clusters.items[i];

		fputs("<div class=\"rule\">\n", out);
		write_rule_head(out, c->first);
		fputs("<ul>\n", out);
		for (size_t k = 0; k < c->place_count; k++)
			write_place(out, e, &c->places[k]);
		if (c->omitted > 0)
			fprintf(out, "<li class=\"soft\">and in %zu more places</li>\n",
				c->omitted);
		fputs("</ul>\n", out);
		write_changes(out, c);
		fputs("</div>\n", out);
	}
	fputs("</section>\n", out);
	return 0;
}

/* --- files and network -------------------------------------------------------------------- */

static const char *verdict_tag(const json_t *record)
{
	if (view_is_refused(record))
		return "<span class=\"tag bad\">refused</span>";
	if (view_is(record, "would-deny"))
		return "<span class=\"tag warn\">would be denied</span>";
	return "<span class=\"tag plain\">allowed</span>";
}

static void write_object(FILE *out, const struct denial_place *place)
{
	if (place->objects == 1)
		html_text(out, view_text(place->first->first, "cordon.object.text"));
	else
		html_format(out, "%zu %s %.*s", place->objects, place->below ? "below" : "in",
			    (int)place->length, place->where);
}

static void write_row(FILE *out, const struct page_execution *e, const struct denial_place *place)
{
	const json_t *record = place->first->first;
	const json_t *rights = view_field(record, "cordon.rights");
	const char *name = view_text(record, "process.name");

	fputs("<tr><th scope=\"row\" class=\"mono\">", out);
	page_damage(out, record);
	write_object(out, place);
	if (view_text(record, "network.transport")) {
		fputs(" <span class=\"soft\">", out);
		html_text(out, view_text(record, "network.transport"));
		fputs("</span>", out);
	}
	fputs("</th><td>", out);
	for (size_t i = 0; i < json_array_size(rights); i++) {
		fputs(i > 0 ? ", " : "", out);
		html_text(out, json_string_value(json_array_get(rights, i)));
	}
	fprintf(out, "</td><td>%s</td><td class=\"mono who\">", verdict_tag(record));
	html_format(out, "%s[%llu]", name ? name : "?",
		    (unsigned long long)view_number(record, "process.pid"));
	fputs("</td><td class=\"n\">", out);
	page_offset(out, e, record);
	fprintf(out, "</td><td class=\"n\">%llu</td></tr>\n", (unsigned long long)place->count);
}

/* Writes denials by place, then permitted accesses. Returns the number of omitted rows. */
static size_t write_rows(FILE *out, const struct page_execution *e,
			 const struct denial_groups *groups, const struct denial_clusters *clusters)
{
	size_t rows = 0, omitted = 0;

	for (size_t i = 0; i < clusters->count; i++) {
		const struct denial_cluster *c = &clusters->items[i];

		omitted += c->omitted;
		for (size_t k = 0; k < c->place_count; k++) {
			if (rows++ < PAGE_ROWS_MAX || c->weight > 0)
				write_row(out, e, &c->places[k]);
			else
				omitted++;
		}
	}
	for (size_t i = 0; i < groups->count; i++) {
		const struct denial_group *g = &groups->items[i];

		if (view_is_denial(g->first))
			continue;
		if (rows++ < PAGE_ROWS_MAX)
			write_row(out, e,
				  &(struct denial_place){
					  .first = g, .objects = 1, .count = g->count});
		else
			omitted++;
	}
	return omitted;
}

static bool is_one_of(const char *const *kinds, const char *kind)
{
	for (; kind && *kinds; kinds++)
		if (strcmp(kind, *kinds) == 0)
			return true;
	return false;
}

/* Writes one table of accesses to objects of some kinds, for all processes of the execution. */
static int write_accesses(FILE *out, const struct page_execution *e, const char *title,
			  const char *const *kinds, const char *none)
{
	_cleanup_(denial_clusters_free) struct denial_clusters clusters = {};
	struct denial_groups groups = {0};
	size_t index, omitted = 0;
	int r = 0, is_new;

	for (size_t i = 0; r == 0 && i < e->count; i++) {
		if (is_one_of(kinds, view_text(e->records[i], "cordon.object.kind")))
			r = denial_groups_add(&groups, e->records[i], &index, &is_new);
	}
	if (r == 0)
		r = denial_clusters_build(&groups, &clusters);
	fprintf(out, "<section>\n<h3>%s</h3>\n", title);
	if (groups.count == 0) {
		fprintf(out, "<p>%s</p>\n", none);
	} else {
		fprintf(out,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n<table>\n"
			"<thead><tr><th scope=\"col\">Object</th><th scope=\"col\">Right</th><th "
			"scope=\"col\">Verdict</th><th scope=\"col\">Process</th><th scope=\"col\" "
			"class=\"n\">First</th><th scope=\"col\" class=\"n\">Times</th></tr></thead>\n"
			"<tbody>\n",
			title);
		omitted = write_rows(out, e, &groups, &clusters);
		fputs("</tbody></table></div>\n", out);
	}
	if (omitted > 0)
		fprintf(out, "<p class=\"soft\">... and %zu more.</p>\n", omitted);
	fputs("</section>\n", out);
	denial_groups_free(&groups);
	return r;
}

int page_accesses(FILE *out, const struct page_execution *e)
{
	static const char *const files[] = {"path", "special", NULL};
	static const char *const network[] = {"net", "host", "socket", "abstract", NULL};

	int r = write_accesses(out, e, "Files", files,
			       "No file was denied, and the policy records none that was opened.");

	return r < 0 ? r
		     : write_accesses(out, e, "Network", network,
				      "No connection was made or refused.");
}
