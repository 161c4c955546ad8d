/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the page of a report: one HTML file without dependencies. */
#include "insight/page/page.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/uuid.h"
#include "insight/text/html.h"
#include "insight/page/page_parts.h"
#include "insight/story/clusters.h"
#include "insight/text/view.h"

struct document {
	const struct page *page;
	FILE *out;
	struct page_execution *executions;
	size_t count, capacity;
	json_t *index; /* id to index in executions */
	uint64_t denied, would, connects, missing;
};

static void release(struct document *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->executions[i].records);
		denial_groups_free(&d->executions[i].denials);
		tree_free(&d->executions[i].tree);
	}
	free(d->executions);
	json_decref(d->index);
}

/* --- sorting records by execution --------------------------------------------------------- */

static struct page_execution *find_execution(struct document *d, const char *id)
{
	const json_t *known = json_object_get(d->index, id);

	if (known)
		return &d->executions[json_integer_value(known)];
	if (d->count == d->capacity) {
		size_t capacity = d->capacity ? d->capacity * 2 : 8;
		struct page_execution *grown =
			reallocarray(d->executions, capacity, sizeof(*grown));

		if (!grown)
			return NULL;
		d->executions = grown;
		d->capacity = capacity;
	}
	if (json_object_set_new(d->index, id, json_integer((json_int_t)d->count)) < 0)
		return NULL;
	d->executions[d->count] = (struct page_execution){.id = id};
	return &d->executions[d->count++];
}

static int add_record(struct document *d, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");
	struct page_execution *e = id ? find_execution(d, id) : NULL;
	size_t index;
	int is_new;

	if (!id)
		return 0;
	if (!e)
		return -ENOMEM;
	if (e->count == e->capacity) {
		size_t capacity = e->capacity ? e->capacity * 2 : 64;
		json_t **grown = reallocarray(e->records, capacity, sizeof(json_t *));

		if (!grown)
			return -ENOMEM;
		e->records = grown;
		e->capacity = capacity;
	}
	e->records[e->count++] = record;
	if (view_is(record, "execution-start"))
		e->start = record;
	else if (view_is(record, "execution-end"))
		e->end = record;
	else if (view_is(record, "connect"))
		d->connects++;
	else if (view_is(record, "gap"))
		d->missing += view_number(record, "cordon.gap.missing");
	if (!view_is_denial(record))
		return 0;
	if (denial_weight(record) > e->weight)
		e->weight = denial_weight(record);
	if (view_is(record, "attempt"))
		e->attempts += 1 + view_number(record, "cordon.repeats");
	else if (view_is(record, "denial"))
		e->denied += 1 + view_number(record, "cordon.repeats");
	else
		e->would += 1 + view_number(record, "cordon.repeats");
	return denial_groups_add(&e->denials, record, &index, &is_new);
}

/* The kernel's counts are exact, if they exist. */
static void settle(struct document *d, struct page_execution *e)
{
	uint64_t denied = view_number(e->end, "cordon.counters.denials");
	uint64_t would = view_number(e->end, "cordon.counters.would_denials");

	e->denied = (denied > e->denied ? denied : e->denied) + e->attempts;
	e->would = would > e->would ? would : e->would;
	d->denied += e->denied;
	d->would += e->would;
}

static int sort_records(struct document *d)
{
	int r = 0;

	d->index = json_object();
	if (!d->index)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < d->page->count; i++)
		r = add_record(d, d->page->records[i]);
	for (size_t i = 0; r == 0 && i < d->count; i++) {
		settle(d, &d->executions[i]);
		r = tree_build(&d->executions[i].tree, d->executions[i].records,
			       d->executions[i].count);
	}
	return r;
}

/* --- the page ----------------------------------------------------------------------------- */

static void write_moment(FILE *out, uint64_t nsec)
{
	time_t seconds = (time_t)(nsec / NSEC_PER_SEC);
	char text[64] = "";
	struct tm tm;

	if (nsec > 0 && gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	html_text(out, text[0] ? text : "not logged");
}

static void write_head(const struct document *d)
{
	FILE *out = d->out;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      out);
	html_format(out, "cordon report: %s", d->page->title);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", page_style);
	fputs("<a class=\"skip\" href=\"#content\">Skip to the content</a>\n"
	      "<header class=\"top\">\n<p class=\"eyebrow\">cordon audit report</p>\n<h1>",
	      out);
	html_text(out, d->page->title);
	fputs("</h1>\n<p class=\"soft\">Made ", out);
	write_moment(out, d->page->time);
	fputs(" from the log in <code>", out);
	html_text(out, d->page->directory);
	fputs("</code>. Times below are UTC.</p>\n</header>\n<main id=\"content\">\n", out);
}

static void write_fact(FILE *out, const char *class, uint64_t number, const char *what)
{
	fprintf(out, "<li%s%s%s><b>%llu</b><span>%s</span></li>\n", class ? " class=\"" : "",
		class ? class : "", class ? "\"" : "", (unsigned long long)number, what);
}

static void write_contents(const struct document *d)
{
	FILE *out = d->out;

	if (d->count < 2)
		return;
	fputs("<nav aria-labelledby=\"contents\">\n<h3 id=\"contents\">Executions</h3>\n<div "
	      "class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"contents\">\n<table>\n"
	      "<thead><tr><th scope=\"col\">Execution</th><th scope=\"col\">Started</th>"
	      "<th scope=\"col\">Agent</th><th scope=\"col\">Program</th><th scope=\"col\">Result</th>"
	      "<th scope=\"col\" class=\"n\">Refused</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = 0; i < d->count; i++) {
		const struct page_execution *e = &d->executions[i];

		if (!e->listed)
			continue;
		fputs("<tr><th scope=\"row\" class=\"mono\">", out);
		if (e->whole)
			fprintf(out, "<a href=\"#e%zu\">", i + 1);
		html_format(out, "%s", uuid_end(e->id));
		fprintf(out, "%s</th><td>", e->whole ? "</a>" : "");
		write_moment(out, view_time(e->start));
		fputs("</td><td>", out);
		html_text(out, e->start ? view_text(e->start, "cordon.execution.agent") : NULL);
		fputs("</td><td class=\"mono\">", out);
		html_text(out, view_text(e->start, "cordon.execution.program"));
		fputs("</td><td>", out);
		page_result(out, e);
		fprintf(out, "</td><td class=\"n\">%llu</td></tr>\n",
			(unsigned long long)e->denied);
	}
	fputs("</tbody></table></div>\n", out);
	if (d->count > PAGE_EXECUTIONS_MAX)
		fprintf(out,
			"<p class=\"soft\">Of %zu executions the %u to which the gravest accesses were "
			"refused follow whole, and %zu are listed: make a report of one by its id.</p>\n",
			d->count, PAGE_EXECUTIONS_MAX,
			d->count < PAGE_LISTED_MAX ? d->count : (size_t)PAGE_LISTED_MAX);
	fputs("</nav>\n", out);
}

static void write_summary(const struct document *d)
{
	FILE *out = d->out;

	fputs("<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n"
	      "<ul class=\"facts\">\n",
	      out);
	write_fact(out, NULL, d->count, d->count == 1 ? "execution" : "executions");
	write_fact(out, d->denied > 0 ? "bad" : "good", d->denied,
		   d->denied == 1 ? "access denied" : "accesses denied");
	if (d->would > 0)
		write_fact(out, "warn", d->would, "would be denied if enforced");
	write_fact(out, NULL, d->connects,
		   d->connects == 1 ? "connection made" : "connections made");
	write_fact(out, d->missing > 0 ? "bad" : NULL, d->missing, "events known to be missing");
	fputs("</ul>\n", out);
	page_integrity_write(d->out, &d->page->integrity, d->missing);
	write_contents(d);
	fputs("</section>\n", out);
}

static int write_execution(const struct document *d, size_t number)
{
	const struct page_execution *e = &d->executions[number];
	FILE *out = d->out;
	int r;

	fprintf(out, "<article aria-labelledby=\"e%zu\">\n<h2 id=\"e%zu\" tabindex=\"-1\">",
		number + 1, number + 1);
	html_text(out, e->start ? view_text(e->start, "cordon.execution.program") : "Execution");
	fputs(" <span class=\"mono soft\">", out);
	html_text(out, e->id);
	fputs("</span></h2>\n", out);
	page_facts(out, e);
	page_processes(out, e, number + 1);
	r = page_denials(out, e);
	if (r == 0)
		r = page_accesses(out, e);
	fputs("</article>\n", out);
	return r;
}

static int compare_weights(const void *left, const void *right)
{
	const struct page_execution *a = *(const struct page_execution *const *)left;
	const struct page_execution *b = *(const struct page_execution *const *)right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->denied != b->denied)
		return a->denied > b->denied ? -1 : 1;
	return (a > b) - (a < b);
}

/* Of many executions, those with the most severe denials are described completely. */
static int choose_executions(struct document *d)
{
	_cleanup_(freep) struct page_execution **order = calloc(d->count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < d->count; i++)
		order[i] = &d->executions[i];
	qsort(order, d->count, sizeof(struct page_execution *), compare_weights);
	for (size_t i = 0; i < d->count && i < PAGE_LISTED_MAX; i++) {
		order[i]->listed = true;
		order[i]->whole = i < PAGE_EXECUTIONS_MAX;
	}
	return 0;
}

int page_write(FILE *out, const struct page *page)
{
	struct document d = {.page = page, .out = out};
	int r = sort_records(&d);

	if (r == 0)
		r = choose_executions(&d);
	if (r == 0) {
		write_head(&d);
		write_summary(&d);
		for (size_t i = 0; r == 0 && i < d.count; i++)
			if (d.executions[i].whole)
				r = write_execution(&d, i);
		if (d.count == 0)
			fputs("<p>No execution of this log matches.</p>\n", out);
		fputs("</main>\n<footer>", out);
		html_format(out, "cordon %s. This page needs no network and runs no script.",
			    page->version);
		fputs("</footer>\n</body>\n</html>\n", out);
	}
	release(&d);
	return r;
}
