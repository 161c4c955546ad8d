/* SPDX-License-Identifier: Apache-2.0 */
/* UUID version 7 (RFC 9562, section 5.7): execution ids that sort by time of creation. */
#include "base/uuid.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "base/hex.h"

int uuid_generate_v7(unsigned char ret_id[16])
{
	unsigned char id[16];
	struct timespec now;
	uint64_t milliseconds;

	if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return -errno;
	clock_gettime(CLOCK_REALTIME, &now);
	milliseconds = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	for (int i = 0; i < 6; i++)
		id[i] = (unsigned char)(milliseconds >> (8 * (5 - i)));
	id[6] = (unsigned char)((id[6] & 0x0f) | 0x70);
	id[8] = (unsigned char)((id[8] & 0x3f) | 0x80);
	memcpy(ret_id, id, sizeof(id));
	return 0;
}

void uuid_format(const unsigned char id[16], char text[UUID_TEXT_SIZE])
{
	static const int ends[] = {4, 6, 8, 10, 16};
	int from = 0;

	for (int group = 0; group < 5; group++) {
		hex_encode(id + from, (size_t)(ends[group] - from), text);
		text += 2 * (ends[group] - from);
		from = ends[group];
		*text++ = group < 4 ? '-' : '\0';
	}
}

const char *uuid_end(const char *id)
{
	size_t size = strlen(id);

	return size > UUID_END_SIZE ? id + size - UUID_END_SIZE : id;
}

bool uuid_is_named(const char *id, size_t size, const char *word)
{
	size_t length = strlen(word), end = size > UUID_END_SIZE ? size - UUID_END_SIZE : 0;

	return length <= size &&
	       (strncasecmp(id, word, length) == 0 ||
		strncasecmp(id + size - length, word, length) == 0 ||
		(length <= size - end && strncasecmp(id + end, word, length) == 0));
}

int uuid_parse(const char *text, unsigned char ret_id[16])
{
	char digits[33];
	int n = 0;

	if (strlen(text) != UUID_TEXT_SIZE - 1)
		return -EINVAL;
	for (int i = 0; i < UUID_TEXT_SIZE - 1; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (text[i] != '-')
				return -EINVAL;
		} else {
			digits[n++] = text[i];
		}
	}
	digits[n] = '\0';
	return hex_decode(digits, ret_id, 16);
}
