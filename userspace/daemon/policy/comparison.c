/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy allows beyond those of its name that are approved. */
#include "daemon/policy/comparison.h"

#include <string.h>

#include "base/parcel.h"
#include "daemon/policy/approvals_parts.h"
#include "policy/ask/diff.h"
#include "policy/ask/widening.h"

/* A quarter of what a command may take: it is the daemon's memory. */
#define TUPLES_MAX (POLICY_TUPLES_MAX / 4)
/* One for each right and each setting: there are not so many. */
#define LINES_MAX 1024

static size_t lines_in(char *const *lines)
{
	size_t count = 0;

	while (lines && lines[count])
		count++;
	return count;
}

void comparison_release(struct comparison *c)
{
	widening_free(c->wider);
	*c = (struct comparison){};
}

bool comparison_is_covered(const struct comparison *c)
{
	return c->have_base && !lines_in(c->wider);
}

/* --- comparing ---------------------------------------------------------------------------- */

static int say_incomparable(char ***ret_lines)
{
	char **lines = calloc(2, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	lines[0] = strdup(WIDENING_INCOMPARABLE);
	if (!lines[0]) {
		free(lines);
		return -ENOMEM;
	}
	*ret_lines = lines;
	return 0;
}

static bool is_base(const struct approval_entry *entry, const struct question *q)
{
	return entry->state == APPROVAL_APPROVED &&
	       (entry->expires == 0 || q->now < entry->expires) &&
	       strcmp(entry->name, q->policy->name) == 0 && approvals_same_use(entry->use, q->use);
}

/* The policy of an entry is read from the store once. -E2BIG: too large to tell. */
static int describe(const struct approvals *a, struct approval_entry *entry,
		    const struct question *q, size_t tuples_max, char ***ret_wider)
{
	struct failure ignored = {};
	int r = entry->policy ? 0 : approval_entry_load_policy(a->path, entry, &ignored);

	return r < 0 ? r : widening_describe_all(entry->policy, q->policy, tuples_max, ret_wider);
}

/* With each that is approved under its name, for the same use. What cannot be compared is wider. */
static int compare(const struct approvals *a, const struct question *q, size_t tuples_max,
		   struct comparison *best)
{
	memcpy(best->identity, q->identity, SHA256_SIZE);
	for (size_t i = 0; i < a->count && !comparison_is_covered(best); i++) {
		struct approval_entry *entry = a->entries[i];
		char **wider = NULL;
		bool incomparable;
		int r;

		if (!is_base(entry, q))
			continue;
		r = describe(a, entry, q, tuples_max, &wider);
		incomparable = r == -E2BIG;
		if (incomparable && !best->have_base)
			r = say_incomparable(&wider);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			continue;
		if (best->have_base && !best->incomparable &&
		    lines_in(wider) >= lines_in(best->wider)) {
			widening_free(wider);
			continue;
		}
		widening_free(best->wider);
		best->wider = wider;
		best->incomparable = incomparable;
		best->have_base = true;
		memcpy(best->base, entry->identity, SHA256_SIZE);
	}
	return 0;
}

/* --- what was found ----------------------------------------------------------------------- */

static struct comparison *find_kept(struct approvals *a, const unsigned char identity[SHA256_SIZE])
{
	/* One that has found nothing to compare with, and nothing to say of it, is none. */
	for (size_t i = 0; i < COMPARISONS_MAX; i++)
		if (a->comparisons[i].have_base &&
		    memcmp(a->comparisons[i].identity, identity, SHA256_SIZE) == 0)
			return &a->comparisons[i];
	return NULL;
}

bool comparison_covers(struct approvals *a, const unsigned char identity[SHA256_SIZE])
{
	const struct comparison *kept = find_kept(a, identity);

	return kept && comparison_is_covered(kept);
}

int comparison_find(struct approvals *a, const struct question *q, struct comparison *ret)
{
	struct comparison *kept = find_kept(a, q->identity), found = {};
	int r;

	if (kept) {
		*ret = *kept;
		*kept = (struct comparison){};
		return 0;
	}
	/* An entry of cordon.yaml comes without an errand: what is wider is to be told anyway. */
	r = compare(a, q, q->use ? TUPLES_MAX : WIDENING_TUPLES_LOOP, &found);
	if (r < 0)
		comparison_release(&found);
	else
		*ret = found;
	return r;
}

void comparison_keep(struct approvals *a, struct comparison *comparison)
{
	struct comparison *kept = find_kept(a, comparison->identity);

	if (!kept) {
		kept = &a->comparisons[a->comparison_next];
		a->comparison_next = (a->comparison_next + 1) % COMPARISONS_MAX;
	}
	comparison_release(kept);
	*kept = *comparison;
	*comparison = (struct comparison){};
}

void comparison_forget_wider(struct approvals *a)
{
	a->generation++;
	for (size_t i = 0; i < COMPARISONS_MAX; i++)
		if (!comparison_is_covered(&a->comparisons[i]))
			comparison_release(&a->comparisons[i]);
}

void comparison_forget_based_on(struct approvals *a, const unsigned char identity[SHA256_SIZE])
{
	a->generation++;
	for (size_t i = 0; i < COMPARISONS_MAX; i++)
		if (memcmp(a->comparisons[i].base, identity, SHA256_SIZE) == 0)
			comparison_release(&a->comparisons[i]);
}

void comparison_forget_all(struct approvals *a)
{
	for (size_t i = 0; i < COMPARISONS_MAX; i++)
		comparison_release(&a->comparisons[i]);
}

/* --- by an errand ------------------------------------------------------------------------- */

static bool has_base(const struct approvals *a, const struct question *q)
{
	for (size_t i = 0; i < a->count; i++)
		if (is_base(a->entries[i], q))
			return true;
	return false;
}

bool approvals_must_compare(struct approvals *a, const struct compiled_policy *policy,
			    const char *use, uint64_t now)
{
	struct question q = {.policy = policy, .use = use, .now = now};
	const struct approval_entry *entry;

	if (approval_identity(policy, use, q.identity) < 0 || find_kept(a, q.identity))
		return false;
	entry = approvals_find(a, q.identity);
	if (entry && (entry->compared || is_base(entry, &q) || entry->state == APPROVAL_REFUSED ||
		      entry->state == APPROVAL_REVOKED))
		return false;
	return has_base(a, &q);
}

int approvals_write_comparison(struct approvals *a, const struct compiled_policy *policy,
			       const char *use, uint64_t now, FILE *to, struct failure *failure)
{
	struct question q = {.policy = policy, .use = use, .now = now};
	struct comparison found = {};
	int r = approval_identity(policy, use, q.identity);

	if (r == 0)
		r = compare(a, &q, TUPLES_MAX, &found);
	if (r == 0) {
		(void)fwrite(&a->generation, sizeof(a->generation), 1, to);
		(void)fwrite(found.identity, SHA256_SIZE, 1, to);
		(void)fwrite(found.base, SHA256_SIZE, 1, to);
		fputc(found.have_base, to);
		fputc(found.incomparable, to);
		parcel_put_list(to, found.wider, lines_in(found.wider));
	}
	comparison_release(&found);
	return r < 0 ? failure_set(failure, r, "%m") : 0;
}

static bool take_bytes(struct parcel *from, void *to, size_t size)
{
	const void *at = parcel_take(from, size);

	if (at)
		memcpy(to, at, size);
	return at != NULL;
}

static int read_comparison(struct parcel *from, uint64_t generation, struct comparison *c)
{
	unsigned char have_base, incomparable;
	uint64_t then;
	size_t count;
	int r;

	if (!take_bytes(from, &then, sizeof(then)) || !take_bytes(from, c->identity, SHA256_SIZE) ||
	    !take_bytes(from, c->base, SHA256_SIZE) || !take_bytes(from, &have_base, 1) ||
	    !take_bytes(from, &incomparable, 1) || have_base > 1 || incomparable > 1)
		return -EPROTO;
	c->have_base = have_base;
	c->incomparable = incomparable;
	r = parcel_take_list(from, &c->wider, &count);
	if (r < 0)
		return r;
	if (from->left > 0 || count > LINES_MAX)
		return -EPROTO;
	return then == generation ? 0 : -ESTALE;
}

int approvals_take_comparison(struct approvals *a, const char *data, size_t size)
{
	struct parcel from = {data, size};
	struct comparison c = {};
	int r = read_comparison(&from, a->generation, &c);

	if (r == 0 && c.have_base)
		comparison_keep(a, &c);
	comparison_release(&c);
	return r;
}
