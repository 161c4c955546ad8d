/* SPDX-License-Identifier: Apache-2.0 */
/* Decides from a server's URL whether records would cross a network unencrypted. */
#include "fleet/ship/clear_text.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define HOST_SIZE 256

static bool begins(const char *url, size_t size, const char *scheme)
{
	size_t length = strlen(scheme);

	return size >= length && strncasecmp(url, scheme, length) == 0;
}

static bool is_encrypted(const char *url, size_t size)
{
	return begins(url, size, "tls://") || begins(url, size, "https://");
}

/* Copies HOST of SCHEME://USER@HOST:PORT/PATH. Returns false if it is too long. */
static bool find_host(const char *url, size_t size, char host[HOST_SIZE])
{
	const char *end = url + size, *at = memmem(url, size, "://", 3), *found;

	at = at ? at + 3 : url;
	found = memchr(at, '/', (size_t)(end - at));
	end = found ? found : end;
	found = memrchr(at, '@', (size_t)(end - at));
	at = found ? found + 1 : at;
	if (at < end && *at == '[') {
		at++;
		found = memchr(at, ']', (size_t)(end - at));
	} else {
		found = memchr(at, ':', (size_t)(end - at));
	}
	end = found ? found : end;
	if ((size_t)(end - at) >= HOST_SIZE)
		return false;
	memcpy(host, at, (size_t)(end - at));
	host[end - at] = '\0';
	return true;
}

static bool is_loopback(const char *host)
{
	struct in6_addr six;
	struct in_addr four;

	if (strcasecmp(host, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool clear_text_is_encrypted(const char *urls)
{
	for (const char *at = urls; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] != '\0'))
		if (is_encrypted(at, strcspn(at, ",")))
			return true;
	return false;
}

bool clear_text_leaves_machine(const char *urls)
{
	const char *at = urls;

	while (*at) {
		size_t size = strcspn(at, ","), blank = strspn(at, " ");
		char host[HOST_SIZE];

		if (blank > size)
			blank = size;
		if (size > blank && !is_encrypted(at + blank, size - blank) &&
		    (!find_host(at + blank, size - blank, host) || !is_loopback(host)))
			return true;
		at += size + (at[size] != '\0');
	}
	return false;
}
