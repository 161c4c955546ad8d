/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, MACs and texts of forward-secure seals. */
#include "audit/seal/seal.h"

#include <ctype.h>
#include <endian.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "base/hex.h"

/* What keeps the uses of a key apart. */
static const char purpose_first[] = "cordon seal 1: first key";
static const char purpose_next[] = "cordon seal 1: next key";
static const char purpose_id[] = "cordon seal 1: name";
static const char purpose_mac[] = "cordon seal 1: record";

static int derive(const unsigned char key[SEAL_KEY_SIZE], const char *purpose,
		  unsigned char ret[SHA256_SIZE])
{
	return HMAC(EVP_sha256(), key, SEAL_KEY_SIZE, (const unsigned char *)purpose,
		    strlen(purpose), ret, NULL)
		       ? 0
		       : -EIO;
}

int seal_key_first(const unsigned char verification[SEAL_KEY_SIZE], struct seal_key *ret_key)
{
	unsigned char id[SHA256_SIZE];
	struct seal_key key = {.number = 1};
	int r = derive(verification, purpose_id, id);

	if (r == 0)
		r = derive(verification, purpose_first, key.key);
	if (r < 0)
		return r;
	memcpy(key.id, id, sizeof(key.id));
	*ret_key = key;
	OPENSSL_cleanse(&key, sizeof(key));
	return 0;
}

int seal_key_advance(struct seal_key *key)
{
	unsigned char next[SHA256_SIZE];
	int r = derive(key->key, purpose_next, next);

	if (r < 0)
		return r;
	memcpy(key->key, next, sizeof(key->key));
	OPENSSL_cleanse(next, sizeof(next));
	key->number++;
	return 0;
}

void seal_key_erase(struct seal_key *key)
{
	OPENSSL_cleanse(key, sizeof(*key));
}

int seal_mac(const struct seal_key *key, const unsigned char previous[SHA256_SIZE],
	     const char *line, size_t size, unsigned char ret_mac[SHA256_SIZE])
{
	unsigned char covered[sizeof(purpose_mac) + 2 * SHA256_SIZE];
	size_t at = sizeof(purpose_mac);

	memcpy(covered, purpose_mac, sizeof(purpose_mac));
	memcpy(covered + at, previous, SHA256_SIZE);
	at += SHA256_SIZE;
	if (sha256_of(line, size, covered + at) < 0)
		return -EIO;
	return HMAC(EVP_sha256(), key->key, SEAL_KEY_SIZE, covered, sizeof(covered), ret_mac, NULL)
		       ? 0
		       : -EIO;
}

/* --- text --------------------------------------------------------------------------------- */

void seal_format(const unsigned char verification[SEAL_KEY_SIZE], char text[SEAL_TEXT_SIZE])
{
	for (size_t i = 0; i < SEAL_KEY_SIZE; i += 4) {
		hex_encode(verification + i, 4, text);
		text += 8;
		*text++ = i + 4 < SEAL_KEY_SIZE ? '-' : '\0';
	}
}

int seal_parse(const char *text, unsigned char ret_verification[SEAL_KEY_SIZE])
{
	char digits[2 * SEAL_KEY_SIZE + 1];
	size_t count = 0;

	for (; *text; text++) {
		if (*text == '-' || isspace((unsigned char)*text))
			continue;
		if (count == sizeof(digits) - 1)
			return -EINVAL;
		digits[count++] = *text;
	}
	digits[count] = '\0';
	return hex_decode(digits, ret_verification, SEAL_KEY_SIZE);
}

/* The members around the values, in one form only. */
static const char before_time[] = "{\"@timestamp\":\"";
static const char before_number[] = "\"," SEAL_EVENT
				    ",\"cordon\":{\"schema\":1,\"seal\":{\"number\":";
static const char before_id[] = ",\"key\":\"";
static const char before_boot[] = "\",\"boot_ns\":";
static const char before_next[] = ",\"next\":\"";
static const char behind_next[] = "\"";
static const char before_mac[] = ",\"mac\":\"";
static const char behind_mac[] = "\"}}}";
#define TIME_LENGTH 30

size_t seal_claim_format(const char *time, const struct seal_key *key, const unsigned char *next,
			 uint64_t boot_nsec, char text[SEAL_RECORD_SIZE])
{
	char id[SEAL_ID_TEXT_SIZE], next_id[SEAL_ID_TEXT_SIZE] = "";

	hex_encode(key->id, sizeof(key->id), id);
	if (next)
		hex_encode(next, SEAL_ID_SIZE, next_id);
	return (size_t)snprintf(text, SEAL_RECORD_SIZE,
				"%s%.*s%s%" PRIu64 "%s%s%s%" PRIu64 "%s%s%s%s", before_time,
				TIME_LENGTH, time, before_number, key->number, before_id, id,
				before_boot, boot_nsec, next ? before_next : "", next_id,
				next ? behind_next : "", before_mac);
}

size_t seal_claim_end(const unsigned char mac[SHA256_SIZE], char *text)
{
	hex_encode(mac, SHA256_SIZE, text);
	memcpy(text + 2 * SHA256_SIZE, behind_mac, sizeof(behind_mac));
	return 2 * SHA256_SIZE + sizeof(behind_mac) - 1;
}

/* A position in a line; NULL once something was not as expected. */
struct cursor {
	const char *at, *end;
};

static void expect(struct cursor *c, const char *text)
{
	size_t length = strlen(text);

	if (!c->at)
		return;
	if ((size_t)(c->end - c->at) < length || memcmp(c->at, text, length) != 0)
		c->at = NULL;
	else
		c->at += length;
}

static uint64_t expect_number(struct cursor *c)
{
	uint64_t value = 0;
	const char *start = c->at;

	if (!c->at)
		return 0;
	while (c->at < c->end && isdigit((unsigned char)*c->at)) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*c->at - '0'), &value))
			break;
		c->at++;
	}
	if (c->at == start || (*start == '0' && c->at > start + 1) || c->at == c->end ||
	    isdigit((unsigned char)*c->at))
		c->at = NULL;
	return value;
}

static void expect_hex(struct cursor *c, unsigned char *bytes, size_t size)
{
	char text[2 * SHA256_SIZE + 1];

	if (!c->at)
		return;
	if ((size_t)(c->end - c->at) < 2 * size) {
		c->at = NULL;
		return;
	}
	memcpy(text, c->at, 2 * size);
	text[2 * size] = '\0';
	c->at = hex_decode(text, bytes, size) < 0 ? NULL : c->at + 2 * size;
}

static bool follows(const struct cursor *c, const char *text)
{
	size_t length = strlen(text);

	return c->at && (size_t)(c->end - c->at) >= length && memcmp(c->at, text, length) == 0;
}

int seal_claim_parse(const char *line, size_t size, struct seal_claim *ret_claim)
{
	struct cursor c = {.at = line, .end = line + size};
	struct seal_claim claim = {};

	expect(&c, "{\"seq\":");
	(void)expect_number(&c);
	expect(&c, ",");
	expect(&c, before_time + 1);
	if (c.at && c.end - c.at > TIME_LENGTH)
		c.at += TIME_LENGTH;
	expect(&c, before_number);
	claim.number = expect_number(&c);
	expect(&c, before_id);
	expect_hex(&c, claim.id, sizeof(claim.id));
	expect(&c, before_boot);
	claim.boot_nsec = expect_number(&c);
	claim.last = follows(&c, before_next);
	if (claim.last) {
		expect(&c, before_next);
		expect_hex(&c, claim.next, sizeof(claim.next));
		expect(&c, behind_next);
	}
	expect(&c, before_mac);
	claim.covered = c.at ? (size_t)(c.at - line) : 0;
	expect_hex(&c, claim.mac, sizeof(claim.mac));
	expect(&c, "\"}},\"chain\":\"");
	if (!c.at)
		return -EBADMSG;
	*ret_claim = claim;
	return 0;
}
