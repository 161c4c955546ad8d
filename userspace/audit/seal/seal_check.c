/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the seals of a log. */
#include "audit/seal/seal_check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <string.h>

#include "base/clock.h"
#include "base/hex.h"

/* Deriving the keys of that many seals takes a minute. */
#define SEALS_MAX (UINT64_C(1) << 26)
/* Between two seals the wall clock may drift from the boot clock by that much. */
#define STEP_NSEC (2 * NSEC_PER_SEC)

#define PLACE "%s:%" PRIu64 ": "

static bool same_id(const unsigned char a[SEAL_ID_SIZE], const unsigned char b[SEAL_ID_SIZE])
{
	return memcmp(a, b, SEAL_ID_SIZE) == 0;
}

static const char *id_text(const unsigned char id[SEAL_ID_SIZE], char text[SEAL_ID_TEXT_SIZE])
{
	hex_encode(id, SEAL_ID_SIZE, text);
	return text;
}

static struct seal_check_key *find_key(struct seal_check *c, const unsigned char id[SEAL_ID_SIZE])
{
	for (size_t i = 0; i < c->key_count; i++)
		if (same_id(c->keys[i].first.id, id))
			return &c->keys[i];
	return NULL;
}

/* Derives on to the key of this seal. False: it is behind, or too far. */
static bool derive_to(struct seal_key *key, uint64_t number)
{
	if (number < key->number || number - key->number > SEALS_MAX)
		return false;
	while (key->number < number)
		if (seal_key_advance(key) < 0)
			return false;
	return true;
}

/* --- beginning ---------------------------------------------------------------------------- */

static int take_keys(struct seal_check *c, const unsigned char (*keys)[SEAL_KEY_SIZE], size_t count)
{
	if (count > SEAL_KEYS_MAX)
		return -E2BIG;
	for (size_t i = 0; i < count; i++) {
		int r = seal_key_first(keys[i], &c->keys[i].first);

		if (r < 0)
			return r;
		c->keys[i].key = c->keys[i].first;
		c->key_count++;
	}
	return 0;
}

static void read_key_on_disk(struct seal_check *c)
{
	_cleanup_(closep) int fd = open(c->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	c->on_disk = (struct seal_key){};
	c->on_disk_error = fd < 0 ? -errno : seal_file_read(fd, &c->on_disk);
}

int seal_check_begin(struct seal_check *check, struct findings *findings,
		     const unsigned char (*keys)[SEAL_KEY_SIZE], size_t key_count,
		     const char *directory)
{
	*check = (struct seal_check){.findings = findings, .directory = directory};
	read_key_on_disk(check);
	return take_keys(check, keys, key_count);
}

/* --- one seal ----------------------------------------------------------------------------- */

/* Is the MAC the one that only the owner of this seal's key could make? */
static void check_mac(struct seal_check *c, struct seal_check_key *key,
		      const struct seal_claim *claim, const char *line,
		      const struct seal_place *place)
{
	unsigned char mac[SHA256_SIZE];

	/* There are no more seals than records. */
	if (claim->number > place->sequence || !derive_to(&key->key, claim->number)) {
		findings_problem(c->findings,
				 PLACE "seal %" PRIu64 " is repeated, or out of all bounds",
				 place->path, place->line, claim->number);
	} else if (seal_mac(&key->key, place->previous, line, claim->covered, mac) < 0 ||
		   CRYPTO_memcmp(mac, claim->mac, sizeof(mac)) != 0) {
		findings_problem(c->findings,
				 PLACE "seal %" PRIu64
				       " is forged, or what it seals was written anew",
				 place->path, place->line, claim->number);
	} else if (c->findings->problems > 0) {
		/* It proves what is chained to it, but not what is damaged further up. */
		c->behind = place->sequence;
		return;
	} else {
		c->sealed = place->sequence;
		c->proven++;
		return;
	}
	c->lost = true;
}

/* The one before it says which comes now, and with which key. */
static void check_order(struct seal_check *c, const struct seal_claim *claim,
			const struct seal_place *place)
{
	const struct seal_claim *last = &c->last;
	const unsigned char *id = last->last ? last->next : last->id;
	uint64_t number = last->last ? 1 : last->number + 1;

	if (last->number == 0)
		return;
	if (!same_id(claim->id, id)) {
		findings_problem(c->findings,
				 PLACE "seal %" PRIu64
				       " was made with another key than seal %" PRIu64 " says",
				 place->path, place->line, claim->number, last->number);
		c->lost = true;
	} else if (claim->number != number) {
		findings_problem(c->findings, PLACE "seal %" PRIu64 " follows seal %" PRIu64,
				 place->path, place->line, claim->number, last->number);
	}
}

static void check_time(struct seal_check *c, const struct seal_claim *claim,
		       const struct seal_place *place)
{
	uint64_t now, by;
	int64_t wall, real;

	if (!place->time || clock_parse(place->time, &now) < 0)
		return;
	/* A smaller one: the host was started anew. */
	if (c->last.number > 0 && claim->boot_nsec >= c->last.boot_nsec) {
		wall = (int64_t)(now - c->time);
		real = (int64_t)(claim->boot_nsec - c->last.boot_nsec);
		by = (uint64_t)(wall > real ? wall - real : real - wall);
		if (by > STEP_NSEC)
			findings_note(c->findings,
				      "the clock was set %s by %llu s between the seals %" PRIu64
				      " and %" PRIu64 ", which is seq %" PRIu64,
				      wall > real ? "forward" : "back", by / NSEC_PER_SEC,
				      c->last.number, claim->number, place->sequence);
	}
	c->time = now;
}

static void note_use(struct seal_check *c, const unsigned char id[SEAL_ID_SIZE])
{
	struct seal_check_key *key = find_key(c, id);

	if (key)
		key->used = true;
}

void seal_check_line(struct seal_check *c, const char *line, size_t size,
		     const struct seal_place *place)
{
	char id[SEAL_ID_TEXT_SIZE];
	struct seal_claim claim;
	struct seal_check_key *key;

	if (seal_claim_parse(line, size, &claim) < 0) {
		findings_problem(c->findings, PLACE "the seal is damaged", place->path,
				 place->line);
		return;
	}
	c->seals++;
	check_order(c, &claim, place);
	check_time(c, &claim, place);
	c->last = claim;
	key = find_key(c, claim.id);
	if (!key)
		c->unchecked++;
	else if (place->previous && !c->lost)
		check_mac(c, key, &claim, line, place);
	note_use(c, claim.id);
	if (!claim.last)
		return;
	note_use(c, claim.next);
	findings_note(c->findings,
		      "the key was replaced at seal %" PRIu64 ", which is seq %" PRIu64
		      ": from there on it is %s",
		      claim.number, place->sequence, id_text(claim.next, id));
}

/* --- the end ------------------------------------------------------------------------------ */

/* The key that the next seal is made with, as the log says. */
static const unsigned char *next_id(const struct seal_check *c)
{
	return c->last.last ? c->last.next : c->last.id;
}

static uint64_t next_number(const struct seal_check *c)
{
	return c->last.last ? 1 : c->last.number + 1;
}

/*
 * A change of keys is on record, and the key on disk still the one before it: one of the two came
 * later.
 */
static bool is_before_change(const struct seal_check *c)
{
	return c->last.last && same_id(c->on_disk.id, c->last.id) &&
	       c->on_disk.number <= c->last.number;
}

/*
 * The key on the host is that of the next seal, and cannot be turned back: it tells how many there
 * were.
 */
static void check_count(struct seal_check *c)
{
	if (c->on_disk.number > next_number(c))
		findings_problem(c->findings,
				 "the end was cut off: the log ends with seal %" PRIu64
				 ", but %" PRIu64 " were made",
				 next_number(c) - 1, c->on_disk.number - 1);
}

/* Is what is on disk really the key of that number? */
static bool is_genuine(const struct seal_check *c, const struct seal_check_key *key)
{
	struct seal_key expected = key->first;
	bool genuine = derive_to(&expected, c->on_disk.number) &&
		       CRYPTO_memcmp(expected.key, c->on_disk.key, sizeof(expected.key)) == 0;

	seal_key_erase(&expected);
	return genuine;
}

static bool is_expected(struct seal_check *c)
{
	const struct seal_check_key *key = find_key(c, c->on_disk.id);

	return (!key || is_genuine(c, key)) &&
	       (same_id(c->on_disk.id, next_id(c)) || is_before_change(c));
}

static void check_key_on_disk(struct seal_check *c)
{
	if (is_expected(c)) {
		if (!is_before_change(c))
			check_count(c);
		return;
	}
	/* The key was replaced, and more was sealed, while the log was read. */
	read_key_on_disk(c);
	if (c->on_disk_error < 0 || !is_expected(c))
		findings_problem(
			c->findings,
			"%s is not of this key: sealing was begun anew, or the file was changed",
			SEAL_FILE);
}

static void check_file(struct seal_check *c)
{
	int error = c->on_disk_error;

	if (error == 0)
		check_key_on_disk(c);
	else if (c->key_count == 0)
		return;
	else if (error == -EACCES || error == -EPERM)
		findings_note(c->findings,
			      "%s cannot be read: whether the end was cut off behind seal %" PRIu64
			      " is not proven; verify as root",
			      SEAL_FILE, c->last.number);
	else
		findings_problem(c->findings,
				 "%s is %s: that nothing was cut off behind seal %" PRIu64
				 " cannot be proven",
				 SEAL_FILE, error == -ENOENT ? "missing" : "damaged",
				 c->last.number);
}

static size_t count_used(const struct seal_check *c)
{
	size_t used = 0;

	for (size_t i = 0; i < c->key_count; i++)
		used += c->keys[i].used;
	return used;
}

/* Which seals are not proven for want of their key. */
static void check_keys(struct seal_check *c)
{
	char id[SEAL_ID_TEXT_SIZE];

	if (c->key_count == 0)
		return;
	if (count_used(c) == 0) {
		findings_problem(c->findings, "no seal was made with the key that was given");
		return;
	}
	if (c->unchecked > 0)
		findings_note(c->findings,
			      "%" PRIu64 " of %" PRIu64
			      " seals were made with keys that were not given, and are not checked",
			      c->unchecked, c->seals);
	if (!find_key(c, next_id(c)))
		findings_note(c->findings,
			      "the next seal is to be made with the key %s, which was not given: "
			      "that the end was not cut off is not proven",
			      id_text(next_id(c), id));
}

void seal_check_end(struct seal_check *c)
{
	if (c->seals == 0) {
		if (c->key_count > 0)
			findings_problem(c->findings, "nothing is sealed");
		return;
	}
	check_keys(c);
	check_file(c);
}

void seal_check_release(struct seal_check *c)
{
	OPENSSL_cleanse(c->keys, sizeof(c->keys));
	seal_key_erase(&c->on_disk);
}
