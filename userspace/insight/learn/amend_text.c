/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a proposal to people. */
#include "insight/learn/amend.h"

#include <string.h>

#include "insight/text/view.h"

static void label(FILE *out, const struct style *style, const char *text)
{
	style_begin(out, style, STYLE_DIM);
	fprintf(out, "  %-9s ", text);
	style_end(out, style, STYLE_DIM);
}

static void write_text(FILE *out, const struct style *style, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, "\n");
		char *line = strndup(text, size);

		fputs("    ", out);
		style_text_in(out, style, STYLE_NAME, line ? line : "?", 0);
		fputc('\n', out);
		free(line);
		text += size + (text[size] == '\n');
	}
}

static void write_denied(FILE *out, const struct style *style, const json_t *denied)
{
	const char *owner = view_text(denied, "owner");

	label(out, style, "denied");
	style_text(out, style, view_text(denied, "operation"));
	fputc(' ', out);
	style_text(out, style, view_text(denied, "object"));
	fputc('\n', out);
	label(out, style, "");
	fputs("by ", out);
	style_text(out, style, view_text(denied, "file"));
	fprintf(out, ":%llu", (unsigned long long)view_number(denied, "line"));
	if (owner) {
		fputs(", a file of ", out);
		style_text(out, style, owner);
	}
	fputs(": a deny wins over every allow, so only that rule can be narrowed\n", out);
}

void amendment_write(FILE *out, const struct style *style, const struct amendment *amendment)
{
	const json_t *one;
	size_t i;

	style_begin(out, style, STYLE_BOLD);
	fprintf(out, "proposal for all %zu denials", amendment->denials);
	style_end(out, style, STYLE_BOLD);
	if (amendment->text && amendment->settled < amendment->denials)
		fprintf(out, ", which allows %zu of them", amendment->settled);
	fputc('\n', out);
	if (amendment->policy) {
		label(out, style, "run under");
		style_text_in(out, style, STYLE_NAME, amendment->policy, 0);
		fputs(", which allows all of them\n", out);
	}
	if (amendment->text) {
		label(out, style, amendment->policy ? "or amend" : "amend");
		fputs("the policy, by this file:\n", out);
		write_text(out, style, amendment->text);
	}
	json_array_foreach(amendment->denied, i, one)
		write_denied(out, style, one);
	json_array_foreach(amendment->notes, i, one) {
		label(out, style, "note");
		style_text(out, style, json_string_value(one));
		fputc('\n', out);
	}
}
