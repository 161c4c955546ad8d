/* SPDX-License-Identifier: Apache-2.0 */
/* Verification keys that somebody gives to a command: --key, --key-file. */
#include "cli/log/seal_keys.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/term/message.h"

#define KEY_FILE_MAX 4096

static bool add(struct seal_keys *keys, const char *text)
{
	if (keys->count == SEAL_KEYS_MAX) {
		message("at most %u keys can be given", SEAL_KEYS_MAX);
		return false;
	}
	if (seal_parse(text, keys->keys[keys->count]) < 0) {
		message("that is no verification key: 64 hexadecimal digits");
		return false;
	}
	keys->count++;
	return true;
}

bool seal_keys_take(struct seal_keys *keys, char *text)
{
	bool good = add(keys, text);

	OPENSSL_cleanse(text, strlen(text));
	return good;
}

bool seal_keys_read(struct seal_keys *keys, const char *path)
{
	char *text = NULL;
	size_t size;
	bool good;
	int r = strcmp(path, "-") == 0 ? io_read_all(STDIN_FILENO, KEY_FILE_MAX, &text, &size)
				       : io_read_file(AT_FDCWD, path, KEY_FILE_MAX, &text, &size);

	if (r < 0) {
		message("cannot read the key from %s: %s", path, strerror(-r));
		return false;
	}
	good = add(keys, text);
	OPENSSL_cleanse(text, size);
	free(text);
	return good;
}

void seal_keys_erase(struct seal_keys *keys)
{
	OPENSSL_cleanse(keys, sizeof(*keys));
}
