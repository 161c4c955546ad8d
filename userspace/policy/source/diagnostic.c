/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the diagnostics of a policy file, and formats them with excerpts of its lines. */
#include "policy/source/diagnostic.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "policy/core/utf8.h"

#define EXCERPT_MAX 200 /* characters of a line that are shown */

struct diagnostics {
	struct diagnostic *entries;
	size_t count, capacity, errors;
	size_t left_off; /* beyond DIAGNOSTICS_MAX */
	bool failed;
};

struct diagnostics *diagnostics_new(void)
{
	return calloc(1, sizeof(struct diagnostics));
}

static void clear(struct diagnostic *e)
{
	free(e->file);
	free(e->message);
	free(e->hint);
	free(e->excerpt);
}

void diagnostics_free(struct diagnostics *d)
{
	for (size_t i = 0; i < d->count; i++)
		clear(&d->entries[i]);
	free(d->entries);
	free(d);
}

static int reserve(struct diagnostics *d)
{
	struct diagnostic *larger;
	size_t capacity = d->capacity ? d->capacity * 2 : 16;

	if (d->count < d->capacity)
		return 0;
	larger = reallocarray(d->entries, capacity, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	d->entries = larger;
	d->capacity = capacity;
	return 0;
}

static void add_left_off(struct diagnostics *d, bool error)
{
	struct diagnostic *last = &d->entries[d->count - 1];
	char *message = NULL;

	d->left_off++;
	if (asprintf(&message, "%zu more are not shown", d->left_off) < 0) {
		d->failed = true;
		return;
	}
	free(last->message);
	last->message = message;
	/*
	 * The last entry counts the left-out entries: it becomes an error once one of these is an
	 * error.
	 */
	if (error && last->severity != DIAGNOSTIC_ERROR)
		last->severity = DIAGNOSTIC_ERROR;
}

void diagnostics_add(struct diagnostics *d, const struct diagnostic *entry, size_t excerpt_size,
		     const char *format, va_list arguments)
{
	bool error = entry->severity == DIAGNOSTIC_ERROR;
	struct diagnostic e = {.severity = entry->severity};

	d->errors += error;
	if (d->count > DIAGNOSTICS_MAX) {
		add_left_off(d, error);
		return;
	}
	if (reserve(d) < 0) {
		d->failed = true;
		return;
	}
	e.file = strdup(entry->file);
	if (vasprintf(&e.message, format, arguments) < 0)
		e.message = NULL;
	if (!e.file || !e.message) {
		clear(&e);
		d->failed = true;
		return;
	}
	if (d->count == DIAGNOSTICS_MAX) {
		d->entries[d->count++] = e;
		add_left_off(d, error);
		return;
	}
	e.line = entry->line;
	e.column = entry->column;
	if (entry->hint)
		e.hint = strdup(entry->hint);
	if (entry->excerpt)
		e.excerpt = strndup(entry->excerpt, excerpt_size);
	if ((entry->hint && !e.hint) || (entry->excerpt && !e.excerpt)) {
		clear(&e);
		d->failed = true;
		return;
	}
	d->entries[d->count++] = e;
}

int diagnostics_failed(const struct diagnostics *d)
{
	return d->failed;
}

size_t diagnostics_count(const struct diagnostics *d)
{
	return d->count;
}

size_t diagnostics_errors(const struct diagnostics *d)
{
	return d->errors;
}

const struct diagnostic *diagnostics_at(const struct diagnostics *d, size_t index)
{
	return index < d->count ? &d->entries[index] : NULL;
}

/* The file's contents must not control the user's terminal. */
static void put_escaped(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		unsigned char c = (unsigned char)text[i];
		size_t n = utf8_length(text + i, size - i);

		if (n == 0 || c < 0x20 || c == 0x7f ||
		    (n == 2 && c == 0xc2 && (unsigned char)text[i + 1] < 0xa0)) {
			fprintf(out, c == '\t' ? " " : "\\x%02x", c);
			i++;
			continue;
		}
		fwrite(text + i, 1, n, out);
		i += n;
	}
}

/* Number of bytes of the first `characters` characters of `text`. */
static size_t prefix_size(const char *text, size_t size, size_t characters)
{
	size_t i = 0;

	while (characters-- > 0 && i < size) {
		size_t n = utf8_length(text + i, size - i);

		i += n ? n : 1;
	}
	return i;
}

static void put_excerpt(FILE *out, const struct diagnostic *e, int color)
{
	size_t size = strlen(e->excerpt);
	size_t from = 0, caret;

	caret = prefix_size(e->excerpt, size, e->column ? e->column - 1 : 0);
	/* Of a long line, show only the part around the position. */
	if (e->column > EXCERPT_MAX / 2)
		from = prefix_size(e->excerpt, size, e->column - EXCERPT_MAX / 2);
	size = from + prefix_size(e->excerpt + from, size - from, EXCERPT_MAX);
	fprintf(out, "%5u | ", e->line);
	put_escaped(out, e->excerpt + from, size - from);
	fputc('\n', out);
	if (!e->column)
		return;
	fputs("      | ", out);
	for (size_t i = from; i < caret;) {
		size_t n = utf8_length(e->excerpt + i, caret - i);
		unsigned char c = (unsigned char)e->excerpt[i];
		bool escaped = n == 0 || (c < 0x20 && c != '\t') || c == 0x7f;

		fputs(escaped ? "    " : " ", out);
		i += n ? n : 1;
	}
	fputs(color ? "\033[1;32m^\033[0m\n" : "^\n", out);
}

static void put_entry(FILE *out, const struct diagnostic *e, int color)
{
	static const struct {
		const char *word, *color;
	} severities[] = {
		[DIAGNOSTIC_ERROR] = {"error:", "\033[1;31m"},
		[DIAGNOSTIC_WARNING] = {"warning:", "\033[1;33m"},
		[DIAGNOSTIC_NOTE] = {"note:", "\033[1;36m"},
	};

	put_escaped(out, e->file, strlen(e->file));
	if (e->line)
		fprintf(out, ":%u", e->line);
	if (e->line && e->column)
		fprintf(out, ":%u", e->column);
	fputs(": ", out);
	if (color)
		fputs(severities[e->severity].color, out);
	fputs(severities[e->severity].word, out);
	fputs(color ? "\033[0m " : " ", out);
	put_escaped(out, e->message, strlen(e->message));
	fputc('\n', out);
	if (e->excerpt && e->line)
		put_excerpt(out, e, color);
	if (e->hint) {
		fputs("hint: ", out);
		put_escaped(out, e->hint, strlen(e->hint));
		fputc('\n', out);
	}
}

char *diagnostics_format(const struct diagnostics *d, int color)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < d->count; i++)
		put_entry(out, &d->entries[i], color);
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}
