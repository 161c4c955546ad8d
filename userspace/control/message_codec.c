/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes a message as lengths and contents, and decodes it within its size. */
#include "control/message_codec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(json_t *, json_decref, codec_json_decrefp)

enum tag {
	TAG_NULL,
	TAG_FALSE,
	TAG_TRUE,
	TAG_INTEGER, /* 8 bytes */
	TAG_STRING,  /* 4 bytes of length, the bytes */
	TAG_ARRAY,   /* 4 bytes of count, the values */
	TAG_OBJECT,  /* 4 bytes of count, for each a length, the key, the value */
};

/* --- encoding ----------------------------------------------------------------------------- */

struct output {
	char *data;
	size_t size, capacity;
};

static int put(struct output *out, const void *data, size_t size)
{
	if (size > MESSAGE_CODEC_MAX_SIZE - out->size)
		return -E2BIG;
	if (out->size + size > out->capacity) {
		size_t capacity = 2 * (out->size + size);
		char *grown = realloc(out->data, capacity);

		if (!grown)
			return -ENOMEM;
		out->data = grown;
		out->capacity = capacity;
	}
	memcpy(out->data + out->size, data, size);
	out->size += size;
	return 0;
}

static int put_tag(struct output *out, enum tag tag)
{
	const char byte = (char)tag;

	return put(out, &byte, sizeof(byte));
}

static int put_count(struct output *out, size_t count)
{
	uint32_t number = (uint32_t)count;

	return count > UINT32_MAX ? -E2BIG : put(out, &number, sizeof(number));
}

static int put_text(struct output *out, const char *text, size_t size)
{
	int r = put_count(out, size);

	return r < 0 ? r : put(out, text, size);
}

static int put_value(struct output *out, const json_t *value, int depth);

static int put_array(struct output *out, const json_t *array, int depth)
{
	size_t count = json_array_size(array);
	int r = put_count(out, count);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = put_value(out, json_array_get(array, i), depth);
	return r;
}

static int put_object(struct output *out, const json_t *object, int depth)
{
	int r = put_count(out, json_object_size(object));
	const char *key;
	json_t *value;

	/* json_object_foreach() takes no const, but changes nothing. */
	json_object_foreach((json_t *)(uintptr_t)object, key, value) {
		if (r == 0)
			r = put_text(out, key, strlen(key));
		if (r == 0)
			r = put_value(out, value, depth);
	}
	return r;
}

static int put_integer(struct output *out, json_int_t number)
{
	int64_t fixed = number;

	return put(out, &fixed, sizeof(fixed));
}

static int put_value(struct output *out, const json_t *value, int depth)
{
	static const enum tag tags[] = {
		[JSON_OBJECT] = TAG_OBJECT,   [JSON_ARRAY] = TAG_ARRAY, [JSON_STRING] = TAG_STRING,
		[JSON_INTEGER] = TAG_INTEGER, [JSON_TRUE] = TAG_TRUE,	[JSON_FALSE] = TAG_FALSE,
		[JSON_NULL] = TAG_NULL,
	};
	int r;

	if (json_is_real(value))
		return -EINVAL;
	if (depth == MESSAGE_CODEC_MAX_DEPTH)
		return -E2BIG;
	r = put_tag(out, tags[json_typeof(value)]);
	if (r < 0)
		return r;
	if (json_is_object(value))
		return put_object(out, value, depth + 1);
	if (json_is_array(value))
		return put_array(out, value, depth + 1);
	if (json_is_string(value))
		return put_text(out, json_string_value(value), json_string_length(value));
	return json_is_integer(value) ? put_integer(out, json_integer_value(value)) : 0;
}

int message_encode(const json_t *message, char **ret_data, size_t *ret_size)
{
	struct output out = {};
	int r = put_value(&out, message, 0);

	if (r < 0) {
		free(out.data);
		return r;
	}
	*ret_data = out.data;
	*ret_size = out.size;
	return 0;
}

/* --- decoding ----------------------------------------------------------------------------- */

struct input {
	const char *data;
	size_t left;
};

static bool take(struct input *in, void *into, size_t size)
{
	if (size > in->left)
		return false;
	memcpy(into, in->data, size);
	in->data += size;
	in->left -= size;
	return true;
}

/* Returns a pointer into the input, not NUL-terminated. */
static bool take_text(struct input *in, const char **ret_text, uint32_t *ret_size)
{
	uint32_t size;

	if (!take(in, &size, sizeof(size)) || size > in->left || memchr(in->data, '\0', size))
		return false;
	*ret_text = in->data;
	*ret_size = size;
	in->data += size;
	in->left -= size;
	return true;
}

/* Returns NULL for malformed input, and if out of memory, which is handled like malformed input. */
static json_t *take_value(struct input *in, int depth);

static json_t *take_array(struct input *in, int depth)
{
	_cleanup_(codec_json_decrefp) json_t *array = json_array();
	uint32_t count;

	if (!array || !take(in, &count, sizeof(count)))
		return NULL;
	/* Each value takes at least one byte, so that the input bounds the work. */
	for (uint32_t i = 0; i < count; i++)
		if (json_array_append_new(array, take_value(in, depth)) < 0)
			return NULL;
	return TAKE_PTR(array);
}

static int take_member(struct input *in, json_t *object, int depth)
{
	_cleanup_(freep) char *key = NULL;
	const char *text;
	uint32_t size;

	if (!take_text(in, &text, &size))
		return -EBADMSG;
	key = strndup(text, size);
	if (!key || json_object_get(object, key))
		return -EBADMSG;
	/* Fails if the key is not UTF-8 or the value is NULL. */
	return json_object_set_new(object, key, take_value(in, depth)) < 0 ? -EBADMSG : 0;
}

static json_t *take_object(struct input *in, int depth)
{
	_cleanup_(codec_json_decrefp) json_t *object = json_object();
	uint32_t count;

	if (!object || !take(in, &count, sizeof(count)))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		if (take_member(in, object, depth) < 0)
			return NULL;
	return TAKE_PTR(object);
}

static json_t *take_string(struct input *in)
{
	const char *text;
	uint32_t size;

	/* Fails if the text is not UTF-8. */
	return take_text(in, &text, &size) ? json_stringn(text, size) : NULL;
}

static json_t *take_integer(struct input *in)
{
	int64_t number;

	return take(in, &number, sizeof(number)) ? json_integer(number) : NULL;
}

static json_t *take_value(struct input *in, int depth)
{
	unsigned char tag;

	if (depth == MESSAGE_CODEC_MAX_DEPTH || !take(in, &tag, sizeof(tag)))
		return NULL;
	switch ((enum tag)tag) {
	case TAG_NULL:
		return json_null();
	case TAG_FALSE:
		return json_false();
	case TAG_TRUE:
		return json_true();
	case TAG_INTEGER:
		return take_integer(in);
	case TAG_STRING:
		return take_string(in);
	case TAG_ARRAY:
		return take_array(in, depth + 1);
	case TAG_OBJECT:
		return take_object(in, depth + 1);
	}
	return NULL;
}

int message_decode(const char *data, size_t size, json_t **ret_message)
{
	struct input in = {.data = data, .left = size};
	json_t *message = size <= MESSAGE_CODEC_MAX_SIZE ? take_value(&in, 0) : NULL;

	if (!message || in.left > 0 || !json_is_object(message)) {
		json_decref(message);
		return -EBADMSG;
	}
	*ret_message = message;
	return 0;
}
