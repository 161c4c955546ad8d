/* SPDX-License-Identifier: Apache-2.0 */
/* Formats samples for Prometheus. */
#include "watch/exposition.h"

#include <math.h>
#include <stdio.h>

void exposition_begin(struct exposition *x, const struct exposition_family *family)
{
	x->family = family;
	x->headed = false;
}

/* HELP texts have two escapes, label values three. */
static void add_escaped(struct buffer *to, const char *text, size_t size, bool quoted)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\\')
			buffer_literal(to, "\\\\");
		else if (text[i] == '\n')
			buffer_literal(to, "\\n");
		else if (text[i] == '"' && quoted)
			buffer_literal(to, "\\\"");
		else
			buffer_add(to, text + i, 1);
	}
}

static void add_header(struct exposition *x)
{
	const struct exposition_family *family = x->family;

	if (x->headed)
		return;
	x->headed = true;
	buffer_literal(&x->text, "# HELP ");
	buffer_string(&x->text, family->name);
	buffer_literal(&x->text, " ");
	add_escaped(&x->text, family->help, strlen(family->help), false);
	buffer_literal(&x->text, "\n# TYPE ");
	buffer_string(&x->text, family->name);
	buffer_literal(&x->text, " ");
	buffer_string(&x->text, family->type);
	buffer_literal(&x->text, "\n");
}

/* Truncates at a character's boundary. */
static size_t cut(const char *value)
{
	size_t size = strlen(value);

	if (size <= EXPOSITION_MAX_LABEL)
		return size;
	size = EXPOSITION_MAX_LABEL;
	while (size > 0 && ((unsigned char)value[size] & 0xc0) == 0x80)
		size--;
	return size;
}

static bool begin_sample(struct exposition *x, const char *suffix,
			 const struct exposition_label *label)
{
	if (x->series + x->reserved >= EXPOSITION_MAX_SERIES) {
		x->left_out++;
		return false;
	}
	x->series++;
	add_header(x);
	buffer_string(&x->text, x->family->name);
	buffer_string(&x->text, suffix);
	if (label) {
		buffer_literal(&x->text, "{");
		buffer_string(&x->text, label->name);
		buffer_literal(&x->text, "=\"");
		add_escaped(&x->text, label->value, cut(label->value), true);
		buffer_literal(&x->text, "\"}");
	}
	buffer_literal(&x->text, " ");
	return true;
}

void exposition_add(struct exposition *x, const char *suffix, const struct exposition_label *label,
		    uint64_t number)
{
	if (!begin_sample(x, suffix, label))
		return;
	buffer_number(&x->text, number);
	buffer_literal(&x->text, "\n");
}

void exposition_add_real(struct exposition *x, const char *suffix,
			 const struct exposition_label *label, double number)
{
	if (!isfinite(number)) {
		x->left_out++;
		return;
	}
	if (begin_sample(x, suffix, label))
		buffer_print(&x->text, "%.9g\n", number);
}
