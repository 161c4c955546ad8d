/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy diff`: what does one policy allow that another does not? */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "cli/policy/widening_view.h"
#include "cli/term/terminal.h"
#include "policy/ask/wider_rules.h"
#include "policy/source/settings.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy diff [--json] [A] B\n"
	      "\n"
	      "Lists every rule by which B allows what A does not, the gravest and the largest\n"
	      "first, with a shortest example; then says for each right and setting whether B\n"
	      "is equal to A, narrower, wider, or both in different places. Nothing is sampled:\n"
	      "the answer holds for every name and address there can be, wherever the policies'\n"
	      "variables are bound below the root. With B alone, lists every rule by which it\n"
	      "allows anything.\n"
	      "\n"
	      "Exit status 0: B allows nothing that A does not, 1: it does, 2: no answer.\n",
	      out);
}

static const char *const words[] = {"equal", "narrower", "wider", "wider and narrower"};

struct comparison {
	struct compiled_policy *a, *b;	/* a: NULL: with nothing */
	struct policy_written *written; /* of b, or NULL */
	struct policy_difference differences[POLICY_DIFFERENCES];
	struct widenings widenings;
	bool partial; /* some rules that widen are known, and nothing else about rules */
	enum setting_change change; /* of everything together */
	struct style style;
};

static void comparison_release(struct comparison *c)
{
	if (c->a)
		compiled_policy_free(c->a);
	if (c->b)
		compiled_policy_free(c->b);
	if (c->written)
		policy_written_free(c->written);
	policy_diff_release(c->differences);
	widenings_release(&c->widenings);
}

/* What tells the two apart: their names, or where these are the same, their files. */
static const char *called(const struct comparison *c, const struct compiled_policy *p)
{
	if (!p)
		return "nothing";
	return c->a && strcmp(c->a->name, c->b->name) == 0 ? p->file : p->name;
}

static json_t *rights_json(const struct comparison *c)
{
	json_t *rights = json_array();

	for (size_t i = 0; !c->partial && i < POLICY_DIFFERENCES; i++) {
		const struct policy_difference *d = &c->differences[i];
		json_t *o = json_pack("{s:s, s:s, s:s}", "section", d->section, "right", d->right,
				      "change", words[d->change]);

		if (d->wider.object)
			json_object_set_new(o, "wider",
					    widening_view_witness(&d->wider, c->b, c->a));
		if (d->narrower.object)
			json_object_set_new(o, "narrower",
					    widening_view_witness(&d->narrower, c->a, c->b));
		json_array_append_new(rights, o);
	}
	return rights;
}

static json_t *settings_json(const struct comparison *c)
{
	json_t *settings = json_array();
	char x[SETTING_TEXT], y[SETTING_TEXT];

	for (size_t i = 0; setting_describe(c->a, i, x) && setting_describe(c->b, i, y); i++)
		json_array_append_new(settings,
				      json_pack("{s:s, s:s, s:s, s:s}", "name", setting_name(i),
						"change", words[setting_compare(c->a, c->b, i)],
						"a", x, "b", y));
	return settings;
}

static int print_json(const struct comparison *c)
{
	json_t *o = json_pack("{s:s?, s:s, s:s?, s:s, s:s, s:o, s:b}", "a",
			      c->a ? c->a->name : NULL, "b", c->b->name, "a_file",
			      c->a ? c->a->file : NULL, "b_file", c->b->file, "change",
			      words[c->change], "wider_rules",
			      widening_view_json(&c->widenings, c->a, c->b), "complete",
			      c->widenings.complete);
	int r;

	if (o && c->a) {
		json_object_set_new(o, "rights", rights_json(c));
		json_object_set_new(o, "settings", settings_json(c));
	}
	r = o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;
	putchar('\n');
	json_decref(o);
	return r == 0 ? 0 : -ENOMEM;
}

static void print_rule(FILE *out, const char *what, const struct compiled_policy *p,
		       uint16_t number)
{
	if (number < p->rule_count)
		fprintf(out, "      %s %s:%u: %s\n", what, p->rules[number].file,
			p->rules[number].line, p->rules[number].text);
}

static void print_witness(FILE *out, char sign, const struct policy_difference *d,
			  const struct policy_witness *w, const struct compiled_policy *allowing,
			  const struct compiled_policy *refusing)
{
	if (!w->object)
		return;
	fprintf(out, "  %c %s %s%s%s%s\n", sign, d->right, w->object, *w->bindings ? "  (" : "",
		w->bindings, *w->bindings ? ")" : "");
	print_rule(out, "allowed by", allowing, w->allowing);
	print_rule(out, "refused by", refusing, w->refusing);
}

/* Every rule of the second policy that widens, the gravest first. */
static void print_widenings(FILE *out, const struct comparison *c)
{
	size_t count = c->widenings.count;

	if (count == 0)
		return;
	if (c->a)
		fprintf(out, "%s allows what %s does not, by %zu rule%s:\n", called(c, c->b),
			called(c, c->a), count, count == 1 ? "" : "s");
	else
		fprintf(out, "%s allows, by %zu rule%s:\n", called(c, c->b), count,
			count == 1 ? "" : "s");
	widening_view_write(out, &c->style, &c->widenings, c->b, 2);
	if (c->written && !c->widenings.complete)
		fputs("  " WIDENINGS_INCOMPLETE "\n", out);
	if (c->a)
		fputc('\n', out);
}

static void print_text(FILE *out, const struct comparison *c)
{
	char x[SETTING_TEXT], y[SETTING_TEXT];

	print_widenings(out, c);
	if (!c->a) {
		if (c->widenings.count == 0)
			fprintf(out, "%s allows nothing\n", called(c, c->b));
		return;
	}
	for (size_t i = 0; !c->partial && i < POLICY_DIFFERENCES; i++) {
		const struct policy_difference *d = &c->differences[i];

		if (d->change == SETTING_EQUAL)
			continue;
		fprintf(out, "%s %s: %s\n", d->section, d->right, words[d->change]);
		print_witness(out, '+', d, &d->wider, c->b, c->a);
		print_witness(out, '-', d, &d->narrower, c->a, c->b);
	}
	for (size_t i = 0; setting_describe(c->a, i, x) && setting_describe(c->b, i, y); i++)
		if (strcmp(x, y) != 0)
			fprintf(out, "%s: %s\n  - %s\n  + %s\n", setting_name(i),
				words[setting_compare(c->a, c->b, i)], x, y);
	fprintf(out, "%s is %s%s %s\n", called(c, c->b), words[c->change],
		c->change == SETTING_EQUAL ? " to" : " than", called(c, c->a));
}

/* What the second policy allows at all. */
static int list_allowed(struct comparison *c)
{
	int r = widenings_find(NULL, c->b, c->written, POLICY_TUPLES_MAX, &c->widenings);

	if (r < 0)
		message("cannot take %s apart: %s", c->b->name,
			r == -E2BIG ? "its rules combine in too many ways" : strerror(-r));
	c->change = r == 0 && c->widenings.count > 0 ? SETTING_WIDER : SETTING_EQUAL;
	return r;
}

static int compare(struct comparison *c)
{
	bool wider = false;
	int r = policy_diff(c->a, c->b, c->differences);

	for (size_t i = 0; r == 0 && i < POLICY_DIFFERENCES; i++)
		wider |= c->differences[i].change & SETTING_WIDER;
	c->partial = r == -E2BIG;
	if (wider || c->partial)
		r = widenings_find(c->a, c->b, c->written, POLICY_TUPLES_MAX, &c->widenings);
	if (c->partial && r == 0 && c->widenings.count > 0)
		c->change = SETTING_WIDER;
	else if (c->partial && r == 0)
		r = -E2BIG;
	/*
	 * One rule apart from the other takes more memory than all of them together: the examples
	 * remain.
	 */
	if (r == -E2BIG && c->differences[0].section)
		r = 0;
	if (r < 0) {
		message("cannot compare %s with %s: %s", called(c, c->a), called(c, c->b),
			r == -E2BIG ? "their rules combine in too many ways" : strerror(-r));
		return r;
	}
	c->widenings.complete |= !wider && !c->partial;
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++)
		c->change |= c->differences[i].change;
	for (size_t i = 0; setting_name(i); i++)
		c->change |= setting_compare(c->a, c->b, i);
	return 0;
}

int policy_command_print_diff(FILE *out, struct compiled_policy *a, struct compiled_policy *b)
{
	struct comparison c = {.a = a, .b = b, .style = {.unicode = true}};
	int r = compare(&c);

	if (r == 0)
		print_text(out, &c);
	c.a = c.b = NULL;
	comparison_release(&c);
	return r;
}

/* `first`: NULL: compared with nothing. */
static int diff(const struct policy_search *search, const char *first, const char *second,
		bool json)
{
	_cleanup_(comparison_release) struct comparison c = {.style = terminal_style(stdout)};

	if ((first && policy_command_load(first, search, &c.a) < 0) ||
	    policy_command_load_written(second, search, &c.written, &c.b) < 0 ||
	    (c.a ? compare(&c) : list_allowed(&c)) < 0)
		return 2;
	if (!json)
		print_text(stdout, &c);
	else if (print_json(&c) < 0)
		return 2;
	return c.change & SETTING_WIDER ? 1 : 0;
}

int policy_command_diff(const struct policy_search *search, int argc, char **argv)
{
	int status = 0;
	bool json;

	if (policy_command_options(argc, argv, print_help, &json, &status) < 0)
		return status;
	if (argc - optind != 2 && argc - optind != 1) {
		message("name two policies to compare, or one to see all that it allows");
		print_help(stderr);
		return 2;
	}
	status = diff(search, argc - optind == 2 ? argv[optind] : NULL, argv[argc - 1], json);
	return policy_command_finish(status);
}
