/* SPDX-License-Identifier: Apache-2.0 */
/* Converts names to patterns: parts that change between runs become wildcards. */
#include "insight/learn/learn_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "policy/core/utf8.h"

#define UUID_SIZE 36u
/* Fewer hexadecimal digits may be a word or a date. */
#define HASH_SIZE 16u
/* mkstemp(3) uses six random characters, and similar functions use at least as many. */
#define RANDOM_SIZE 6u

static bool is_word(unsigned char c)
{
	return isalnum(c) && c < 0x80;
}

static bool is_uuid(const char *text, size_t size)
{
	if (size < UUID_SIZE || (size > UUID_SIZE && is_word((unsigned char)text[UUID_SIZE])))
		return false;
	for (size_t i = 0; i < UUID_SIZE; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	}
	return true;
}

static size_t word_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && is_word((unsigned char)text[n]))
		n++;
	return n;
}

static size_t number_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

static bool is_hash(const char *word, size_t size)
{
	size_t digits = 0;

	if (size < HASH_SIZE)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!isxdigit((unsigned char)word[i]))
			return false;
		digits += isdigit((unsigned char)word[i]) != 0;
	}
	return digits > 0;
}

static int class_of(unsigned char c)
{
	return isdigit(c) ? 0 : isupper(c) ? 1 : 2;
}

/* Words seldom change between letters, capitals and digits, but random text often does. */
static bool is_random(const char *word, size_t size, bool marked)
{
	size_t changes = 0;

	if (size < RANDOM_SIZE)
		return false;
	for (size_t i = 1; i < size; i++)
		changes += class_of((unsigned char)word[i]) != class_of((unsigned char)word[i - 1]);
	/* "x.Ab3dEf": after a separator and with the usual length, fewer changes suffice. */
	return changes >= (marked && (size == RANDOM_SIZE || size == 10) ? 2u : 3u);
}

/*
 * Python and others use names such as "tmpab_12cd". Returns the size of the part after "tmp"; 0:
 * another name.
 */
static size_t temporary_size(const char *text, size_t size)
{
	size_t n = 3;

	if (size < 3 + RANDOM_SIZE || memcmp(text, "tmp", 3) != 0)
		return 0;
	while (n < size && (is_word((unsigned char)text[n]) || text[n] == '_'))
		n++;
	return n >= 3 + RANDOM_SIZE ? n - 3 : 0;
}

/* The size of the rest of "3.11.4" after its first number. 0: not a version. */
static size_t version_tail(const char *text, size_t size, size_t first)
{
	size_t n = first, more;

	while (n + 1 < size && text[n] == '.' && (more = number_size(text + n + 1, size - n - 1)))
		n += 1 + more;
	return n - first;
}

struct generaliser {
	FILE *out;
	const char *name;
	size_t size, at;
	unsigned int flags;
	bool wild; /* the last output was a "*" */
};

static void put_wild(struct generaliser *g, size_t size)
{
	if (!g->wild)
		putc('*', g->out);
	g->wild = true;
	g->at += size;
}

static void put_character(struct generaliser *g)
{
	unsigned char c = (unsigned char)g->name[g->at];
	size_t n = utf8_length(g->name + g->at, g->size - g->at);

	g->wild = false;
	if (n == 0) {
		/* A byte of a name that is not UTF-8. */
		fprintf(g->out, "\\x%02x", c);
		g->at++;
		return;
	}
	/* In "@(", for example: patterns do not have the groups of a shell. */
	if ((c < 0x80 && strchr("*?[]{}\\$", c)) ||
	    (c == '(' && g->at > 0 && strchr("!@+", g->name[g->at - 1])))
		putc('\\', g->out);
	fwrite(g->name + g->at, 1, n, g->out);
	g->at += n;
}

/* At the start of a word. True: a wildcard was written for it. */
static bool put_variable_word(struct generaliser *g)
{
	const char *text = g->name + g->at;
	size_t size = g->size - g->at, word = word_size(text, size), n;
	bool marked = g->at > 0;

	if (is_uuid(text, size)) {
		put_wild(g, UUID_SIZE);
		return true;
	}
	if (is_hash(text, word)) {
		put_wild(g, word);
		return true;
	}
	if (!(g->flags & LEARN_CREATED))
		return false;
	n = temporary_size(text, size);
	if (n) {
		fwrite(text, 1, 3, g->out);
		g->at += 3;
		put_wild(g, n);
		return true;
	}
	if (is_random(text, word, marked)) {
		put_wild(g, word);
		return true;
	}
	return false;
}

/* At the start of a number. True: a wildcard was written for it. */
static bool put_variable_number(struct generaliser *g)
{
	const char *text = g->name + g->at;
	size_t size = g->size - g->at, n = number_size(text, size);
	size_t tail = g->flags & LEARN_INSTALLED ? version_tail(text, size, n) : 0;

	if (tail) {
		fwrite(text, 1, n + 1, g->out);
		g->at += n + 1;
		put_wild(g, tail - 1);
		return true;
	}
	if ((g->flags & LEARN_NUMBERED && n == g->size) || (g->flags & LEARN_CREATED && n >= 3)) {
		fputs("[0-9]", g->out);
		put_wild(g, n);
		return true;
	}
	return false;
}

const char *learn_pattern(struct arena *a, const char *name, size_t size, unsigned int flags)
{
	_cleanup_(freep) char *text = NULL;
	size_t text_size;
	struct generaliser g = {
		.out = open_memstream(&text, &text_size),
		.name = name,
		.size = size,
		.flags = flags,
	};

	if (!g.out)
		return NULL;
	while (g.at < size) {
		unsigned char c = (unsigned char)name[g.at];
		unsigned char before = g.at ? (unsigned char)name[g.at - 1] : 0;

		if (is_word(c) && !is_word(before) && put_variable_word(&g))
			continue;
		if (isdigit(c) && !isdigit(before) && put_variable_number(&g))
			continue;
		put_character(&g);
	}
	if (fclose(g.out) != 0)
		return NULL;
	return arena_copy(a, text, text_size);
}

/* The size of the pattern's next element. */
static size_t element_size(const char *pattern)
{
	size_t n;

	if (*pattern == '\\' && pattern[1])
		return pattern[1] == 'x' && isxdigit((unsigned char)pattern[2]) &&
				       isxdigit((unsigned char)pattern[3])
			       ? 4
			       : 2;
	n = utf8_length(pattern, strlen(pattern));
	return n ? n : 1;
}

int learn_is_wild(const char *pattern)
{
	for (; *pattern; pattern += element_size(pattern))
		if (strchr("*?[", *pattern))
			return 1;
	return 0;
}

/* The length of the common prefix of two patterns, up to the first wildcard. */
static size_t common_head(const char *x, const char *y, size_t limit)
{
	size_t at = 0, n;

	while (at < limit && x[at] && !strchr("*?[", x[at])) {
		n = element_size(x + at);
		if (at + n > limit || strncmp(x + at, y + at, n) != 0)
			break;
		at += n;
	}
	return at;
}

/* The length of the common suffix, at most `limit`; only bytes that need no escape. */
static size_t common_tail(const char *x, const char *y, size_t limit)
{
	size_t n = 0, x_size = strlen(x), y_size = strlen(y);

	while (n < limit && n < x_size && n < y_size && x[x_size - n - 1] == y[y_size - n - 1] &&
	       (is_word((unsigned char)x[x_size - n - 1]) || strchr("-_.", x[x_size - n - 1])))
		n++;
	return n;
}

/* Reduces the tail so that it starts with a whole element of the pattern. */
static size_t whole_tail(const char *pattern, size_t tail)
{
	size_t size = strlen(pattern), at = 0;

	while (at < size - tail)
		at += element_size(pattern + at);
	return size - at;
}

const char *learn_common(struct arena *a, const char *const *patterns, size_t count)
{
	size_t head = strlen(patterns[0]), shortest = head, tail;

	for (size_t i = 1; i < count; i++) {
		head = common_head(patterns[0], patterns[i], head);
		if (strlen(patterns[i]) < shortest)
			shortest = strlen(patterns[i]);
	}
	tail = shortest > head ? shortest - head : 0;
	for (size_t i = 1; i < count; i++)
		tail = common_tail(patterns[0], patterns[i], tail);
	for (size_t i = 0; i < count; i++)
		tail = whole_tail(patterns[i], tail);
	/* The "1" that "2021" and "2031" share is a coincidence: numbers vary as a whole. */
	while (head && isdigit((unsigned char)patterns[0][head - 1]))
		head--;
	while (tail && isdigit((unsigned char)patterns[0][strlen(patterns[0]) - tail]))
		tail--;
	return arena_printf(a, "%.*s*%s", (int)head, patterns[0],
			    patterns[0] + strlen(patterns[0]) - tail);
}
