/* SPDX-License-Identifier: Apache-2.0 */
#include "insight/export/plain_json.h"

#include <string.h>

/* Deeper than any record. */
#define DEPTH_MAX 8u
#define NAME_SIZE 128u

struct walk {
	const char *at, *end;
	bool (*take)(void *data, const char *name, size_t name_size,
		     const struct plain_value *value);
	void *data;
	char name[NAME_SIZE];
	size_t name_size;
	unsigned int depth, arrays; /* that it is in */
};

/* The end of the line is no character of JSON. */
static char next(const struct walk *w)
{
	return w->at < w->end ? *w->at : '\0';
}

static bool expect(struct walk *w, char wanted)
{
	if (next(w) != wanted)
		return false;
	w->at++;
	return true;
}

/* Behind the quote that opens it, to behind the one that closes it. */
static bool take_string(struct walk *w, struct plain_value *ret)
{
	const char *at = w->at;

	*ret = (struct plain_value){.kind = PLAIN_STRING, .data = at};
	for (; at < w->end && *at != '"'; at++) {
		if (*at < ' ' || *at > '~')
			return false;
		if (*at != '\\')
			continue;
		/* \u and \/ have more than one way to be written. */
		ret->escaped = true;
		at++;
		if (at == w->end || !*at || !strchr("\"\\bfnrt", *at))
			return false;
	}
	if (at == w->end)
		return false;
	ret->size = (size_t)(at - w->at);
	w->at = at + 1;
	return true;
}

/* Up to 18 digits: any such integer is one to a parser, too. */
static bool take_integer(struct walk *w, struct plain_value *ret)
{
	const char *at = w->at, *digits;

	at += *at == '-';
	digits = at;
	while (at < w->end && *at >= '0' && *at <= '9')
		at++;
	*ret = (struct plain_value){PLAIN_INTEGER, w->at, (size_t)(at - w->at), false};
	if (at == digits || at - digits > 18 || (*digits == '0' && ret->size > 1))
		return false;
	w->at = at;
	/* A fraction or an exponent: not written, and written in many ways. */
	return !memchr(".eE", next(w), 3);
}

static bool take_word(struct walk *w, struct plain_value *ret)
{
	static const char *const words[] = {"null", "true", "false"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t size = strlen(words[i]);

		if ((size_t)(w->end - w->at) >= size && memcmp(w->at, words[i], size) == 0) {
			*ret = (struct plain_value){PLAIN_WORD, w->at, size, false};
			w->at += size;
			return true;
		}
	}
	return false;
}

static bool take_scalar(struct walk *w, struct plain_value *ret)
{
	if (expect(w, '"'))
		return take_string(w, ret);
	if (next(w) == '-' || (next(w) >= '0' && next(w) <= '9'))
		return take_integer(w, ret);
	return take_word(w, ret);
}

static bool take_object(struct walk *w);

/* Behind the bracket that opens it. Nothing in it has a name of its own. */
static bool take_array(struct walk *w, struct plain_value *ret)
{
	const char *start = w->at - 1;
	struct plain_value ignored;

	if (w->depth++ == DEPTH_MAX)
		return false;
	w->arrays++;
	while (next(w) != ']') {
		if (w->at > start + 1 && !expect(w, ','))
			return false;
		if (!(expect(w, '{')   ? take_object(w)
		      : expect(w, '[') ? take_array(w, &ignored)
				       : take_scalar(w, &ignored)))
			return false;
	}
	w->at++;
	w->arrays--;
	w->depth--;
	*ret = (struct plain_value){PLAIN_ARRAY, start, (size_t)(w->at - start), false};
	return true;
}

static bool take_member(struct walk *w)
{
	size_t size = w->name_size;
	struct plain_value key, value;
	bool good;

	/* A dot in a name would make another name of it. */
	if (!expect(w, '"') || !take_string(w, &key) || key.escaped || !expect(w, ':') ||
	    size + key.size + 1 > sizeof(w->name) || memchr(key.data, '.', key.size))
		return false;
	memcpy(w->name + size, key.data, key.size);
	w->name_size = size + key.size;
	if (expect(w, '{')) {
		w->name[w->name_size++] = '.';
		good = take_object(w);
	} else {
		good = (expect(w, '[') ? take_array(w, &value) : take_scalar(w, &value)) &&
		       (w->arrays > 0 || w->take(w->data, w->name, w->name_size, &value));
	}
	w->name_size = size;
	return good;
}

/* Behind the brace that opens it. */
static bool take_object(struct walk *w)
{
	if (w->depth++ == DEPTH_MAX)
		return false;
	for (bool first = true; next(w) != '}'; first = false)
		if ((!first && !expect(w, ',')) || !take_member(w))
			return false;
	w->at++;
	w->depth--;
	return true;
}

bool plain_json_walk(const char *line, size_t size,
		     bool (*take)(void *data, const char *name, size_t name_size,
				  const struct plain_value *value),
		     void *data)
{
	struct walk w = {.at = line, .end = line + size, .take = take, .data = data};

	return expect(&w, '{') && take_object(&w) && w.at == w.end;
}
