/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody asks for besides a policy: it waits as another policy would, and has an end. */
#include <string.h>

#include "base/hex.h"
#include "base/io.h"
#include "daemon/policy/approvals_parts.h"
#include "policy/ask/widening.h"

void approvals_remove_text(const struct approvals *a, const char *file,
			   const struct approval_entry *but)
{
	size_t length = strlen(a->path);

	if (strncmp(file, a->path, length) != 0 || file[length] != '/' ||
	    strchr(file + length + 1, '/'))
		return;
	for (size_t i = 0; i < a->count; i++)
		if (a->entries[i] != but && strcmp(a->entries[i]->file, file) == 0)
			return;
	(void)unlinkat(a->fd, file + length + 1, 0);
}

/* One that waits and whose time is up asks for nothing any more. */
static bool is_overdue(const struct approval_entry *entry, uint64_t now)
{
	return entry->state == APPROVAL_WAITING && entry->expires > 0 && entry->expires <= now;
}

void approvals_forget_overdue(struct approvals *a, uint64_t now)
{
	for (size_t i = a->count; i-- > 0;)
		if (is_overdue(a->entries[i], now))
			approvals_forget(a, i);
}

static bool is_for_ended(const struct approval_entry *entry, approvals_lives *lives,
			 const void *context)
{
	json_t *use = entry->use ? json_loads(entry->use, 0, NULL) : NULL;
	const char *execution = json_string_value(json_object_get(use, "execution"));
	bool ended = execution && !lives(context, execution);

	json_decref(use);
	return ended;
}

void approvals_forget_ended(struct approvals *a, approvals_lives *lives, const void *context)
{
	for (size_t i = a->count; i-- > 0;)
		if (a->entries[i]->state == APPROVAL_WAITING &&
		    is_for_ended(a->entries[i], lives, context))
			approvals_forget(a, i);
}

void approvals_withdraw(struct approvals *a, const char *digest, uint64_t expires)
{
	unsigned char identity[SHA256_SIZE];

	if (hex_decode(digest, identity, sizeof(identity)) < 0)
		return;
	for (size_t i = 0; i < a->count; i++) {
		const struct approval_entry *entry = a->entries[i];

		if (entry->state != APPROVAL_WAITING || entry->expires != expires ||
		    memcmp(entry->identity, identity, sizeof(identity)) != 0)
			continue;
		approvals_forget(a, i);
		return;
	}
}

static size_t count_proposed(const struct approvals *a, uint32_t uid, uint64_t now)
{
	size_t count = 0;

	for (size_t i = 0; i < a->count; i++)
		count += a->entries[i]->state == APPROVAL_WAITING && a->entries[i]->expires > now &&
			 a->entries[i]->asked_by == uid;
	return count;
}

static int check_proposal(const struct approvals *a, const struct approval_proposal *p,
			  uint64_t now, struct failure *failure)
{
	if (p->expires <= now)
		return failure_set(failure, ETIME,
				   "its time is up before anybody could look at it");
	if (!p->wider || !p->wider[0])
		return failure_set(failure, ENODATA,
				   "policy %s allows all that was denied by now: try again",
				   p->base->name);
	if (count_proposed(a, p->uid, now) >= APPROVALS_PROPOSED_MAX)
		return failure_set(failure, EDQUOT,
				   "%d proposals of this user wait already, and no more can",
				   APPROVALS_PROPOSED_MAX);
	return 0;
}

static int answer_proposal(const struct approval_entry *entry, json_t **ret_entry,
			   struct failure *failure)
{
	if (entry->state == APPROVAL_REFUSED || entry->state == APPROVAL_REVOKED)
		return failure_set(failure, EPERM, "this was proposed before, and is %s%s%s",
				   entry->state == APPROVAL_REFUSED ? "refused" : "revoked",
				   entry->reason ? ": " : "", entry->reason ? entry->reason : "");
	*ret_entry = approval_entry_json(entry);
	return *ret_entry ? 0 : failure_set(failure, ENOMEM, "%m");
}

/* The same was asked for before, and its time was up. */
static int ask_again(const struct approvals *a, struct approval_entry *entry,
		     const struct approval_proposal *p, uint64_t now, struct failure *failure)
{
	int r;

	entry->state = APPROVAL_WAITING;
	entry->expires = p->expires;
	entry->asked = now;
	entry->asked_by = p->uid;
	r = approval_file_save(a->fd, entry);
	return r < 0 ? failure_set(failure, r, "cannot keep what waits for approval in %s: %m",
				   a->path)
		     : 0;
}

static int put(struct approvals *a, const struct question *q, struct approval_proposal *p,
	       struct approval_entry **ret_entry, struct failure *failure)
{
	struct comparison with = {.have_base = true, .expires = p->expires, .wider = p->wider};
	int r = approval_identity(p->base, NULL, with.base);

	if (r < 0)
		return failure_set(failure, r, "%m");
	p->wider = NULL;
	r = approvals_keep(a, q, &with, ret_entry, failure);
	comparison_release(&with);
	return r;
}

int approvals_propose(struct approvals *a, struct approval_proposal *p, uint64_t now,
		      json_t **ret_entry, struct failure *failure)
{
	struct question q = {.policy = p->policy, .use = p->use, .uid = p->uid, .now = now};
	struct approval_entry *entry;
	int r = approval_identity(p->policy, p->use, q.identity);

	if (r < 0)
		return failure_set(failure, r, "%m");
	entry = approvals_find(a, q.identity);
	if (entry && entry->state != APPROVAL_EXPIRED && !is_overdue(entry, now))
		return answer_proposal(entry, ret_entry, failure);
	r = check_proposal(a, p, now, failure);
	if (r == 0)
		r = entry ? ask_again(a, entry, p, now, failure) : put(a, &q, p, &entry, failure);
	if (r < 0 || !entry)
		return r;
	approvals_forget_overdue(a, now);
	return answer_proposal(entry, ret_entry, failure);
}

void approvals_drop_text(struct approvals *a, const char *path)
{
	approvals_remove_text(a, path, NULL);
}

int approvals_text_path(const struct approvals *a, const char *text, char **ret_path)
{
	char digest[SHA256_TEXT_SIZE];
	unsigned char hash[SHA256_SIZE];
	int r = sha256_of(text, strlen(text), hash);

	if (r < 0)
		return r;
	hex_encode(hash, SHA256_SIZE, digest);
	return asprintf(ret_path, "%s/proposal-%.32s.yaml", a->path, digest) < 0 ? -ENOMEM : 0;
}

int approvals_keep_text(struct approvals *a, const char *text, char **ret_path,
			struct failure *failure)
{
	_cleanup_(freep) char *path = NULL;
	int r = approvals_text_path(a, text, &path);

	if (r < 0)
		return failure_set(failure, r, "%m");
	r = io_replace_file(a->fd, path + strlen(a->path) + 1, "proposal.new", text, true);
	if (r < 0)
		return failure_set(failure, r, "cannot keep the proposal in %s: %m", a->path);
	*ret_path = TAKE_PTR(path);
	return 0;
}

const char *approvals_amended(struct approvals *a, const struct compiled_policy *base,
			      const char *use, uint64_t now, approvals_recorder record,
			      void *context)
{
	struct question q = {
		.policy = base, .use = use, .now = now, .record = record, .context = context};
	const struct approval_entry *last = NULL;

	if (approval_identity(base, NULL, q.identity) < 0)
		return NULL;
	for (size_t i = 0; i < a->count; i++) {
		struct approval_entry *entry = a->entries[i];

		if (entry->have_base && memcmp(entry->base, q.identity, SHA256_SIZE) == 0 &&
		    approvals_same_use(entry->use, use) && approvals_is_approved(a, entry, &q) &&
		    (!last || entry->decided >= last->decided))
			last = entry;
	}
	return last ? last->file : NULL;
}
