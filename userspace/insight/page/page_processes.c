/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the page's part on processes. */
#include "base/cleanup.h"
#include "insight/text/html.h"
#include "insight/page/page.h"
#include "insight/page/page_parts.h"
#include "insight/story/clusters.h"
#include "insight/text/style.h"
#include "insight/text/view.h"

/* Dimensions of the drawing in its own units. */
#define WIDTH	    1000.0
#define LABEL_WIDTH 270.0
#define CHART_WIDTH 700.0
#define ROW_HEIGHT  26.0
#define TOP	    30.0
#define INDENT	    14.0
#define INDENT_MAX  6u
#define LABEL_LIMIT 26
#define GRID_LINES  5
#define MIN_BAR	    3.0
#define MARK	    5.0
/* Marks of a process are at least one mark's width apart. */
#define LANES 64u

struct chart {
	FILE *out;
	const struct page_execution *e;
	uint64_t start, end;
	size_t order[PAGE_PROCESSES_MAX]; /* processes, depth first */
	size_t rows, light;
};

void page_offset(FILE *out, const struct page_execution *e, const json_t *record)
{
	uint64_t start = view_steady_time(e->start	 ? e->start
					  : e->count > 0 ? e->records[0]
							 : NULL);
	uint64_t time = view_steady_time(record);

	if (start > 0 && time >= start)
		fprintf(out, "+%.3f s", (double)(time - start) / 1e9);
}

static void take_process(struct chart *c, size_t index)
{
	const struct tree_process *p = &c->e->tree.processes[index];

	/*
	 * Half of the rows is reserved for processes with severe denials, and for their ancestors.
	 */
	if (c->rows == PAGE_PROCESSES_MAX ||
	    (p->weight == 0 && c->light++ >= PAGE_PROCESSES_MAX / 2))
		return;
	c->order[c->rows++] = index;
	for (size_t i = 0; i < p->item_count; i++)
		if (p->items[i].kind == TREE_CHILD)
			take_process(c, p->items[i].index);
}

static double x_of(const struct chart *c, uint64_t time)
{
	if (time <= c->start)
		return LABEL_WIDTH;
	if (time >= c->end)
		return LABEL_WIDTH + CHART_WIDTH;
	return LABEL_WIDTH + CHART_WIDTH * (double)(time - c->start) / (double)(c->end - c->start);
}

static uint64_t end_of(const struct chart *c, const struct tree_process *p)
{
	return p->exit ? view_steady_time(p->exit) : c->end;
}

static void draw_grid(const struct chart *c, double height)
{
	for (int i = 0; i <= GRID_LINES; i++) {
		double x = LABEL_WIDTH + CHART_WIDTH * i / GRID_LINES;
		double seconds = (double)(c->end - c->start) / 1e9 * i / GRID_LINES;

		fprintf(c->out,
			"<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.2f s</text>\n",
			x, TOP - 6, x, height, x, TOP - 12, i == GRID_LINES ? "end" : "middle",
			seconds);
	}
}

/* Denials of a process at about the same time, drawn as one mark. */
struct lane {
	const struct denial_group *gravest;
	uint64_t count;
	size_t groups;
};

static void draw_mark(const struct chart *c, const struct lane *lane, double x, double y)
{
	const json_t *record = lane->gravest->first;
	_cleanup_(freep) char *phrase = denial_phrase(record);

	fputs("<g><title>", c->out);
	html_text(c->out, phrase);
	if (lane->groups > 1)
		fprintf(c->out, " and %zu others, %llu times in all", lane->groups - 1,
			(unsigned long long)lane->count);
	fputs(" ", c->out);
	page_offset(c->out, c->e, record);
	if (view_is_refused(record))
		fprintf(c->out,
			"</title><path class=\"hit\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\"/></g>\n",
			x, y - MARK - 2, MARK + 1, MARK + 2, -MARK - 1, MARK + 2, -MARK - 1,
			-MARK - 2);
	else
		fprintf(c->out,
			"</title><circle class=\"would\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/></g>\n",
			x, y, MARK);
}

/*
 * Draws a diamond, or a disc for would-deny. Overlapping marks become one with the name of the most
 * severe denial.
 */
static void draw_marks(const struct chart *c, const struct tree_process *p, double y)
{
	struct lane lanes[2][LANES] = {};

	for (size_t i = 0; i < p->accesses.count; i++) {
		const struct denial_group *g = &p->accesses.items[i];
		double x = x_of(c, view_steady_time(g->first)) - LABEL_WIDTH;
		struct lane *lane;

		if (!view_is_denial(g->first))
			continue;
		lane = &lanes[view_is(g->first, "would-deny")]
			     [(size_t)(x / CHART_WIDTH * (LANES - 1))];
		lane->groups++;
		lane->count += g->count;
		if (!lane->gravest || denial_weight(g->first) > denial_weight(lane->gravest->first))
			lane->gravest = g;
	}
	for (size_t i = 0; i < 2 * LANES; i++) {
		const struct lane *lane = &lanes[i / LANES][i % LANES];

		if (lane->gravest)
			draw_mark(c, lane, x_of(c, view_steady_time(lane->gravest->first)), y);
	}
}

static void draw_row(const struct chart *c, size_t row)
{
	const struct tree_process *p = &c->e->tree.processes[c->order[row]];
	double y = TOP + ROW_HEIGHT * (double)row + ROW_HEIGHT / 2;
	double from = x_of(c, view_steady_time(p->first)), to = x_of(c, end_of(c, p));
	double indent = INDENT * (p->depth < INDENT_MAX ? p->depth : INDENT_MAX);

	if (to - from < MIN_BAR)
		to = from + MIN_BAR;
	if (p->depth > 0)
		fprintf(c->out, "<path class=\"link\" d=\"M%.1f %.1fv%.1fh%.1f\"/>", indent - 6,
			y - ROW_HEIGHT / 2, ROW_HEIGHT / 2, 7.0);
	fprintf(c->out, "<text x=\"%.1f\" y=\"%.1f\">", indent + 4, y + 4);
	html_format(c->out, "%.*s[%llu]", LABEL_LIMIT, tree_name(p),
		    (unsigned long long)view_number(p->first, "process.pid"));
	fprintf(c->out,
		"</text><rect class=\"life\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"8\" "
		"rx=\"3\"/>\n",
		from, y - 4, to - from);
	draw_marks(c, p, y);
}

static void draw(const struct chart *c, size_t number)
{
	double height = TOP + ROW_HEIGHT * (double)c->rows + 8;

	fprintf(c->out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Time line\">\n"
		"<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"t%zu d%zu\">\n"
		"<title id=\"t%zu\">Processes over time</title>\n<desc id=\"d%zu\">%zu processes over "
		"%.2f seconds. The table below has the same data.</desc>\n",
		WIDTH, height, number, number, number, number, c->rows,
		(double)(c->end - c->start) / 1e9);
	draw_grid(c, height - 4);
	for (size_t i = 0; i < c->rows; i++)
		draw_row(c, i);
	fputs("</svg>\n<p class=\"legend\">Bars: while the process lived. &#9670; refused, &#9679; "
	      "would be denied. Point at one for what it was.</p></div>\n",
	      c->out);
}

static void write_exit(const struct chart *c, const struct tree_process *p)
{
	const char *killer = view_text(p->exit, "process.signal");

	if (tree_was_killed(p))
		fputs("<span class=\"tag bad\">killed at the end</span>", c->out);
	else if (killer)
		html_text(c->out, killer);
	else if (view_has_number(p->exit, "process.exit_code"))
		fprintf(c->out, "exit %llu",
			(unsigned long long)view_number(p->exit, "process.exit_code"));
}

static void write_command(const struct chart *c, const struct tree_process *p)
{
	const json_t *arguments = view_field(p->exec, "process.args");
	size_t count = json_array_size(arguments);

	if (!p->exec) {
		fputs("forked", c->out);
		return;
	}
	html_text(c->out, view_text(p->exec, "process.executable"));
	for (size_t i = 1; i < count && i < 40; i++) {
		const char *text = json_string_value(json_array_get(arguments, i));

		fputc(' ', c->out);
		html_text(c->out, text ? text : "<code>");
	}
}

static void write_table(const struct chart *c)
{
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Processes\">\n<table>\n"
	      "<caption>Processes, parents before children</caption>\n<thead><tr><th "
	      "scope=\"col\">Process</th><th scope=\"col\">Program</th><th scope=\"col\" "
	      "class=\"n\">From</th><th scope=\"col\" class=\"n\">To</th><th "
	      "scope=\"col\">End</th><th scope=\"col\" class=\"n\">Refused</th></tr></thead>\n<tbody>\n",
	      c->out);
	for (size_t i = 0; i < c->rows; i++) {
		const struct tree_process *p = &c->e->tree.processes[c->order[i]];
		unsigned long long refused = 0;

		for (size_t j = 0; j < p->accesses.count; j++)
			if (view_is_refused(p->accesses.items[j].first))
				refused += p->accesses.items[j].count;
		fprintf(c->out,
			"<tr><th scope=\"row\" class=\"mono who\" style=\"padding-left:%.1frem\">",
			0.8 + 0.9 * (p->depth < INDENT_MAX ? p->depth : INDENT_MAX));
		html_format(c->out, "%s[%llu]", tree_name(p),
			    (unsigned long long)view_number(p->first, "process.pid"));
		fputs("</th><td class=\"mono\">", c->out);
		write_command(c, p);
		fputs("</td><td class=\"n\">", c->out);
		page_offset(c->out, c->e, p->first);
		fputs("</td><td class=\"n\">", c->out);
		page_offset(c->out, c->e, p->exit);
		fputs("</td><td>", c->out);
		write_exit(c, p);
		fprintf(c->out, "</td><td class=\"n\">%llu</td></tr>\n", refused);
	}
	fputs("</tbody></table></div>\n", c->out);
	if (c->rows < c->e->tree.count)
		fprintf(c->out, "<p class=\"soft\">... and %zu more processes.</p>\n",
			c->e->tree.count - c->rows);
}

void page_processes(FILE *out, const struct page_execution *e, size_t number)
{
	_cleanup_(freep) struct chart *c = calloc(1, sizeof(*c));

	if (!c || e->tree.count == 0)
		return;
	c->out = out;
	c->e = e;
	c->start = view_steady_time(e->start ? e->start : e->records[0]);
	c->end = view_steady_time(e->end ? e->end : e->records[e->count - 1]);
	if (c->end <= c->start)
		c->end = c->start + 1000000;
	for (size_t i = 0; i < e->tree.count; i++)
		if (e->tree.processes[i].parent == TREE_NONE)
			take_process(c, i);
	fputs("<section>\n<h3>Processes</h3>\n", out);
	draw(c, number);
	write_table(c);
	fputs("</section>\n", out);
}
