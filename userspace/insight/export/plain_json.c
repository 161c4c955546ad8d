/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the restricted JSON that the log's writer usually produces, and rejects other text. */
#include "insight/export/plain_json.h"

#include <string.h>

/* Larger than any record's depth. */
#define DEPTH_MAX 8u
#define NAME_SIZE 128u

struct walk {
	const char *at, *end;
	bool (*take)(void *data, const char *name, size_t name_size,
		     const struct plain_value *value);
	void *data;
	char name[NAME_SIZE];
	size_t name_size;
	unsigned int depth;
	unsigned int nameless; /* current depth of lists and skipped members */
	bool dumped;	       /* text written by jansson: accept all of it */
};

/* NUL, at the end of the line, is not valid JSON. */
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

/* Reads a string after its opening quote up to the closing one. */
static bool take_string(struct walk *w, struct plain_value *ret)
{
	const char *at = w->at;

	*ret = (struct plain_value){.kind = PLAIN_STRING, .data = at};
	for (; at < w->end && *at != '"'; at++) {
		if ((*at < ' ' || *at > '~') && !w->dumped)
			return false;
		if (*at != '\\')
			continue;
		/* \u and \/ are not unique representations. */
		ret->escaped = true;
		at++;
		if (at == w->end || (!(*at && strchr("\"\\bfnrt", *at)) && !w->dumped))
			return false;
	}
	if (at == w->end)
		return false;
	ret->size = (size_t)(at - w->at);
	w->at = at + 1;
	return true;
}

static bool take_other_number(struct walk *w, struct plain_value *ret)
{
	const char *at = w->at;
	bool integer = true;

	for (; at < w->end && *at && strchr("-+0123456789.eE", *at); at++)
		integer &= !strchr(".eE", *at);
	*ret = (struct plain_value){integer ? PLAIN_INTEGER : PLAIN_WORD, w->at,
				    (size_t)(at - w->at), false};
	w->at = at;
	return ret->size > 0;
}

/* Reads up to 18 digits, which any parser accepts as an integer. */
static bool take_integer(struct walk *w, struct plain_value *ret)
{
	const char *at = w->at, *digits;

	if (w->dumped)
		return take_other_number(w, ret);
	at += *at == '-';
	digits = at;
	while (at < w->end && *at >= '0' && *at <= '9')
		at++;
	*ret = (struct plain_value){PLAIN_INTEGER, w->at, (size_t)(at - w->at), false};
	if (at == digits || at - digits > 18 || (*digits == '0' && ret->size > 1))
		return false;
	w->at = at;
	/* Reject fractions and exponents: cordon does not write them, and they are not unique. */
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

/* Reads a list after its opening bracket. Its values have no names. */
static bool take_array(struct walk *w, struct plain_value *ret)
{
	const char *start = w->at - 1;
	struct plain_value ignored;

	if (w->depth++ == DEPTH_MAX && !w->dumped)
		return false;
	w->nameless++;
	while (next(w) != ']') {
		if (w->at > start + 1 && !expect(w, ','))
			return false;
		if (!(expect(w, '{')   ? take_object(w)
		      : expect(w, '[') ? take_array(w, &ignored)
				       : take_scalar(w, &ignored)))
			return false;
	}
	w->at++;
	w->nameless--;
	w->depth--;
	*ret = (struct plain_value){PLAIN_ARRAY, start, (size_t)(w->at - start), false};
	return true;
}

static bool take_object_value(struct walk *w, struct plain_value *ret)
{
	const char *start = w->at - 1;
	size_t size = w->name_size;

	if (w->nameless == 0)
		w->name[w->name_size++] = '.';
	if (!take_object(w))
		return false;
	w->name_size = size;
	*ret = (struct plain_value){PLAIN_OBJECT, start, (size_t)(w->at - start), false};
	return true;
}

static bool take_member(struct walk *w)
{
	size_t size = w->name_size;
	struct plain_value key, value;
	bool named, good;

	if (!expect(w, '"') || !take_string(w, &key) || !expect(w, ':'))
		return false;
	/* A dot in a key would make the dotted name ambiguous. */
	named = !key.escaped && size + key.size + 1 <= sizeof(w->name) &&
		!memchr(key.data, '.', key.size);
	if (!named && !w->dumped)
		return false;
	w->nameless += !named;
	if (w->nameless == 0) {
		memcpy(w->name + size, key.data, key.size);
		w->name_size = size + key.size;
	}
	good = (expect(w, '{')	 ? take_object_value(w, &value)
		: expect(w, '[') ? take_array(w, &value)
				 : take_scalar(w, &value)) &&
	       (w->nameless > 0 || w->take(w->data, w->name, w->name_size, &value));
	w->nameless -= !named;
	w->name_size = size;
	return good;
}

/* Reads an object after its opening brace. */
static bool take_object(struct walk *w)
{
	if (w->depth++ == DEPTH_MAX && !w->dumped)
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

bool plain_json_walk_dumped(const char *line, size_t size,
			    bool (*take)(void *data, const char *name, size_t name_size,
					 const struct plain_value *value),
			    void *data)
{
	struct walk w = {
		.at = line, .end = line + size, .take = take, .data = data, .dumped = true};

	return expect(&w, '{') && take_object(&w) && w.at == w.end;
}
