/* SPDX-License-Identifier: Apache-2.0 */
/* Serializes strings and lists of strings between processes of the same program. */
#include "base/parcel.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * The size of a string includes its NUL, and the size of a list is its length plus one: 0 means
 * NULL.
 */
static void put_size(FILE *to, size_t size)
{
	const uint32_t number = (uint32_t)size;

	(void)fwrite(&number, sizeof(number), 1, to);
}

void parcel_put_text(FILE *to, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	put_size(to, size);
	if (text)
		(void)fwrite(text, 1, size, to);
}

void parcel_put_list(FILE *to, char *const *list, size_t count)
{
	put_size(to, list ? count + 1 : 0);
	for (size_t i = 0; list && i < count; i++)
		parcel_put_text(to, list[i]);
}

const void *parcel_take(struct parcel *from, size_t size)
{
	const void *at = from->at;

	if (size > from->left)
		return NULL;
	from->at += size;
	from->left -= size;
	return at;
}

static int take_size(struct parcel *from, uint32_t *ret_size)
{
	const void *at = parcel_take(from, sizeof(*ret_size));

	if (!at)
		return -EPROTO;
	memcpy(ret_size, at, sizeof(*ret_size));
	return 0;
}

int parcel_take_text(struct parcel *from, char **ret_text)
{
	char *copy = NULL;
	const char *text;
	uint32_t size;
	int r = take_size(from, &size);

	if (r < 0)
		return r;
	if (size > 0) {
		text = parcel_take(from, size);
		if (!text || strnlen(text, size) != size - 1)
			return -EPROTO;
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
	}
	*ret_text = copy;
	return 0;
}

int parcel_take_list(struct parcel *from, char ***ret_list, size_t *ret_count)
{
	char **list = NULL;
	uint32_t size;
	int r = take_size(from, &size);

	/* Each string needs at least the bytes of its size. */
	if (r == 0 && size > 0 && size - 1 > from->left / sizeof(size))
		r = -EPROTO;
	if (r == 0 && size > 0) {
		list = calloc(size, sizeof(*list));
		r = list ? 0 : -ENOMEM;
	}
	*ret_list = list;
	*ret_count = list ? size - 1 : 0;
	for (size_t i = 0; r == 0 && i < *ret_count; i++)
		r = parcel_take_text(from, &list[i]);
	return r;
}
