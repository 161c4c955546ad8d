/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the digest of a whole policy: rules, name, limits, environment and the users that may
 * launch it.
 */
#include "policy/compile/identity.h"

#include <endian.h>
#include <string.h>

/* Each part is preceded by its length, so that different parts cannot have the same bytes. */
static int add(struct sha256 *hash, const void *data, size_t size)
{
	uint64_t length = htole64(size);
	int r = sha256_update(hash, &length, sizeof(length));

	return r < 0 ? r : sha256_update(hash, data, size);
}

static int add_text(struct sha256 *hash, const char *text)
{
	return add(hash, text ? text : "", text ? strlen(text) : 0);
}

static int add_number(struct sha256 *hash, uint64_t number)
{
	uint64_t fixed = htole64(number);

	return add(hash, &fixed, sizeof(fixed));
}

static int add_texts(struct sha256 *hash, char *const *texts)
{
	size_t count = 0;
	int r;

	while (texts && texts[count])
		count++;
	r = add_number(hash, count);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_text(hash, texts[i]);
	return r;
}

static int add_limits(struct sha256 *hash, const struct policy_limits *limits)
{
	const uint64_t *each = &limits->wall_nsec;
	int r = 0;

	_Static_assert(sizeof(*limits) % sizeof(*each) == 0, "numbers, one after the other");
	for (size_t i = 0; r == 0 && i < sizeof(*limits) / sizeof(*each); i++)
		r = add_number(hash, each[i]);
	return r;
}

int policy_identity(const struct compiled_policy *p, unsigned char ret_identity[SHA256_SIZE])
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	int r;

	if (!hash)
		return -ENOMEM;
	(void)((r = add_text(hash, p->name)) < 0 ||
	       (r = add(hash, p->digest, sizeof(p->digest))) < 0 ||
	       (r = add_limits(hash, &p->limits)) < 0 ||
	       (r = add_number(hash, p->environment.keep_all)) < 0 ||
	       (r = add_texts(hash, p->environment.keep)) < 0 ||
	       (r = add_texts(hash, p->environment.set_names)) < 0 ||
	       (r = add_texts(hash, p->environment.set_values)) < 0 ||
	       (r = add_number(hash, p->arguments)) < 0 || (r = add_number(hash, p->observe)) < 0 ||
	       (r = add_texts(hash, p->run_by)) < 0);
	for (size_t i = 0; r == 0 && i < CORDON_MAX_ANCHORS; i++)
		r = add_text(hash, p->anchor_names[i]);
	return r < 0 ? r : sha256_finish(hash, ret_identity);
}
