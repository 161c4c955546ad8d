/* SPDX-License-Identifier: Apache-2.0 */
/* Writes rules that widen as text and as JSON. */
#include "cli/policy/widening_view.h"

json_t *widening_view_rule(const struct compiled_policy *p, uint16_t number)
{
	if (!p || number >= p->rule_count)
		return json_null();
	return json_pack("{s:s, s:i, s:s}", "file", p->rules[number].file, "line",
			 (int)p->rules[number].line, "text", p->rules[number].text);
}

json_t *widening_view_witness(const struct policy_witness *w,
			      const struct compiled_policy *allowing,
			      const struct compiled_policy *refusing)
{
	/* Names may be no UTF-8. */
	json_t *object = json_string(w->object);

	return json_pack("{s:o, s:s, s:o, s:o}", "object",
			 object ? object : json_string("(not UTF-8)"), "variables", w->bindings,
			 "allowed_by", widening_view_rule(allowing, w->allowing), "refused_by",
			 widening_view_rule(refusing, w->refusing));
}

static json_t *one(const struct widening *w, const struct compiled_policy *a,
		   const struct compiled_policy *b)
{
	json_t *rights = json_array(), *example = widening_view_witness(&w->by.witness, b, a);

	for (size_t i = 0; i < w->by.right_count; i++)
		json_array_append_new(rights, json_string(w->by.rights[i]));
	return json_pack("{s:o, s:s, s:o, s:s?, s:s?, s:b, s:b, s:s?, s:o?, s:o}", "rule",
			 widening_view_rule(b, w->by.rule), "section", w->by.section, "rights",
			 rights, "alarm", w->alarm.text, "alarm_example", w->alarm.example,
			 "behind", w->behind, "unbounded", w->by.unbounded, "below", w->by.below,
			 "count",
			 w->by.unbounded || w->by.count > INT64_MAX
				 ? NULL
				 : json_integer((json_int_t)w->by.count),
			 "example", example);
}

json_t *widening_view_json(const struct widenings *widenings, const struct compiled_policy *a,
			   const struct compiled_policy *b)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < widenings->count; i++)
		json_array_append_new(rules, one(&widenings->list[i], a, b));
	return rules;
}

void widening_view_write(FILE *out, const struct style *style, const struct widenings *widenings,
			 const struct compiled_policy *b, unsigned int indent)
{
	for (size_t i = 0; i < widenings->count; i++) {
		const struct widening *w = &widenings->list[i];
		const struct policy_rule *rule = &b->rules[w->by.rule];
		_cleanup_(freep) char *phrase = widening_phrase(w);

		fprintf(out, "%*s+ ", (int)indent, "");
		style_text_in(out, style, w->alarm.text ? STYLE_BAD : STYLE_PLAIN,
			      phrase ? phrase : "?", 0);
		fprintf(out, "\n%*sallowed by ", (int)indent + 4, "");
		style_text(out, style, rule->file);
		fprintf(out, ":%u: ", rule->line);
		style_text(out, style, rule->text);
		putc('\n', out);
		if (!w->alarm.text)
			continue;
		fprintf(out, "%*ssuch as ", (int)indent + 4, "");
		style_text(out, style, w->alarm.example);
		putc('\n', out);
	}
}
