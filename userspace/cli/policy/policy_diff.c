/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy diff`: what does one policy allow that another does not? */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "policy/ask/wider_rules.h"
#include "policy/source/settings.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy diff [--json] A B\n"
	      "\n"
	      "Lists every rule by which B allows what A does not, the gravest and the largest first, with a\n"
	      "shortest example; then says for each right and setting whether B is equal to A, narrower,\n"
	      "wider, or both in different places. Nothing is sampled: the answer holds for every\n"
	      "name and address there can be, wherever the policies' variables are bound below the root.\n"
	      "\n"
	      "Exit status 0: B allows nothing that A does not, 1: it does, 2: no answer.\n",
	      out);
}

static const char *const words[] = {"equal", "narrower", "wider", "wider and narrower"};

struct comparison {
	struct compiled_policy *a, *b;
	struct policy_difference differences[POLICY_DIFFERENCES];
	struct widening *widenings;
	size_t widening_count;
	enum setting_change change; /* of everything together */
};

static void comparison_release(struct comparison *c)
{
	compiled_policy_free(c->a);
	compiled_policy_free(c->b);
	policy_diff_release(c->differences);
	widenings_free(c->widenings, c->widening_count);
}

/* What tells the two apart: their names, or where these are the same, their files. */
static const char *called(const struct comparison *c, const struct compiled_policy *p)
{
	return strcmp(c->a->name, c->b->name) == 0 ? p->file : p->name;
}

static json_t *rule_json(const struct compiled_policy *p, uint16_t number)
{
	if (number >= p->rule_count)
		return json_null();
	return json_pack("{s:s, s:i, s:s}", "file", p->rules[number].file, "line",
			 (int)p->rules[number].line, "text", p->rules[number].text);
}

static json_t *witness_json(const struct policy_witness *w, const struct compiled_policy *allowing,
			    const struct compiled_policy *refusing)
{
	/* Names may be no UTF-8. */
	json_t *object = json_string(w->object);

	return json_pack("{s:o, s:s, s:o, s:o}", "object",
			 object ? object : json_string("(not UTF-8)"), "variables", w->bindings,
			 "allowed_by", rule_json(allowing, w->allowing), "refused_by",
			 rule_json(refusing, w->refusing));
}

/* One rule that widens. */
static json_t *widening_json(const struct widening *w, const struct comparison *c)
{
	json_t *rights = json_array(), *object = witness_json(&w->by.witness, c->b, c->a);

	for (size_t i = 0; i < w->by.right_count; i++)
		json_array_append_new(rights, json_string(w->by.rights[i]));
	return json_pack("{s:o, s:s, s:o, s:s?, s:b, s:s?, s:o?, s:o}", "rule",
			 rule_json(c->b, w->by.rule), "section", w->by.section, "rights", rights,
			 "alarm", w->alarm, "unbounded", w->by.unbounded, "below", w->by.below,
			 "count",
			 w->by.unbounded || w->by.count > INT64_MAX
				 ? NULL
				 : json_integer((json_int_t)w->by.count),
			 "example", object);
}

static int print_json(const struct comparison *c)
{
	json_t *rights = json_array(), *settings = json_array(), *rules = json_array(), *o;
	char x[SETTING_TEXT], y[SETTING_TEXT];
	int r;

	for (size_t i = 0; i < POLICY_DIFFERENCES; i++) {
		const struct policy_difference *d = &c->differences[i];

		o = json_pack("{s:s, s:s, s:s}", "section", d->section, "right", d->right, "change",
			      words[d->change]);
		if (d->wider.object)
			json_object_set_new(o, "wider", witness_json(&d->wider, c->b, c->a));
		if (d->narrower.object)
			json_object_set_new(o, "narrower", witness_json(&d->narrower, c->a, c->b));
		json_array_append_new(rights, o);
	}
	for (size_t i = 0; setting_describe(c->a, i, x) && setting_describe(c->b, i, y); i++)
		json_array_append_new(settings,
				      json_pack("{s:s, s:s, s:s, s:s}", "name", setting_name(i),
						"change", words[setting_compare(c->a, c->b, i)],
						"a", x, "b", y));
	for (size_t i = 0; i < c->widening_count; i++)
		json_array_append_new(rules, widening_json(&c->widenings[i], c));
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "a", c->a->name, "b", c->b->name,
		      "a_file", c->a->file, "b_file", c->b->file, "change", words[c->change],
		      "wider_rules", rules, "rights", rights, "settings", settings);
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
	if (c->widening_count > 0)
		fprintf(out, "%s allows what %s does not, by %zu rule%s:\n", called(c, c->b),
			called(c, c->a), c->widening_count, c->widening_count == 1 ? "" : "s");
	for (size_t i = 0; i < c->widening_count; i++) {
		const struct widening *w = &c->widenings[i];
		_cleanup_(freep) char *phrase = widening_phrase(w);

		fprintf(out, "  + %s\n", phrase ? phrase : "?");
		print_rule(out, "allowed by", c->b, w->by.rule);
		if (w->alarm)
			fprintf(out, "      such as %s\n", w->alarm_example);
	}
	if (c->widening_count > 0)
		fputc('\n', out);
}

static void print_text(FILE *out, const struct comparison *c)
{
	char x[SETTING_TEXT], y[SETTING_TEXT];

	print_widenings(out, c);
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++) {
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

static int compare(struct comparison *c)
{
	int r = policy_diff(c->a, c->b, c->differences);

	for (size_t i = 0; r == 0 && i < POLICY_DIFFERENCES && !c->widenings; i++)
		if (c->differences[i].change & SETTING_WIDER)
			r = widenings_find(c->a, c->b, &c->widenings, &c->widening_count);
	/* One rule apart from the other takes more memory than all of them together: the examples remain. */
	if (r == -E2BIG && c->differences[0].section)
		r = 0;
	if (r < 0) {
		message("cannot compare %s with %s: %s", called(c, c->a), called(c, c->b),
			r == -E2BIG ? "their rules combine in too many ways" : strerror(-r));
		return r;
	}
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++)
		c->change |= c->differences[i].change;
	for (size_t i = 0; setting_name(i); i++)
		c->change |= setting_compare(c->a, c->b, i);
	return 0;
}

int policy_command_print_diff(FILE *out, struct compiled_policy *a, struct compiled_policy *b)
{
	struct comparison c = {.a = a, .b = b};
	int r = compare(&c);

	if (r == 0)
		print_text(out, &c);
	policy_diff_release(c.differences);
	widenings_free(c.widenings, c.widening_count);
	return r;
}

static int diff(const struct policy_search *search, const char *first, const char *second,
		bool json)
{
	_cleanup_(comparison_release) struct comparison c = {0};

	if (policy_command_load(first, search, &c.a) < 0 ||
	    policy_command_load(second, search, &c.b) < 0 || compare(&c) < 0)
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
	if (argc - optind != 2) {
		message("name two policies to compare");
		print_help(stderr);
		return 2;
	}
	status = diff(search, argv[optind], argv[optind + 1], json);
	return policy_command_finish(status);
}
