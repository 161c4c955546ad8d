/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a policy may be used, from those that were approved. */
#include "daemon/policy/approvals.h"

#include <string.h>

#include "audit/storage/policy_store.h"
#include "base/clock.h"
#include "base/hex.h"
#include "daemon/policy/approval_listing.h"
#include "daemon/policy/approvals_parts.h"
#include "daemon/host/process.h"
#include "policy/ask/widening.h"

/* --- opening ------------------------------------------------------------------------------ */

static int add_entry(struct approvals *a, struct approval_entry *entry)
{
	struct approval_entry **larger =
		reallocarray(a->entries, a->count + 1, sizeof(struct approval_entry *));

	if (!larger)
		return -ENOMEM;
	a->entries = larger;
	a->entries[a->count++] = entry;
	return 0;
}

static int load_entry(const char *name, void *context)
{
	struct approvals *a = context;
	struct approval_entry *entry;
	int r = approval_file_load(a->fd, name, &entry);

	if (r < 0)
		return r;
	r = add_entry(a, entry);
	if (r < 0)
		approval_entry_free(entry);
	return r;
}

static int open_store(struct approvals *a, const char *directory, struct failure *failure)
{
	int r;

	if (asprintf(&a->path, "%s/approvals", directory) < 0)
		return failure_set(failure, ENOMEM, "%m");
	r = approval_directory_open(directory, a->path, &a->fd);
	if (r < 0)
		return failure_set(failure, r, "cannot keep approvals in %s: %m", a->path);
	r = approval_file_each(a->fd, load_entry, a);
	if (r < 0)
		return failure_set(
			failure, r,
			"an approval in %s cannot be read (%m): move it away, and what it "
			"is about waits for approval again",
			a->path);
	return 0;
}

int approvals_open(const char *directory, struct approvals **ret_approvals, struct failure *failure)
{
	struct approvals *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return failure_set(failure, ENOMEM, "%m");
	a->fd = -1;
	r = open_store(a, directory, failure);
	if (r < 0)
		approvals_free(a);
	else
		*ret_approvals = a;
	return r;
}

void approvals_free(struct approvals *a)
{
	for (size_t i = 0; i < a->count; i++)
		approval_entry_free(a->entries[i]);
	comparison_forget_all(a);
	free(a->entries);
	free(a->path);
	closep(&a->fd);
	free(a);
}

/* --- looking ------------------------------------------------------------------------------ */

struct approval_entry *approvals_find(const struct approvals *a,
				      const unsigned char identity[SHA256_SIZE])
{
	for (size_t i = 0; i < a->count; i++)
		if (memcmp(a->entries[i]->identity, identity, SHA256_SIZE) == 0)
			return a->entries[i];
	return NULL;
}

static void fill_who(struct audit_approval *record, const struct ucred *who)
{
	record->pid = (uint32_t)who->pid;
	record->uid = who->uid;
	record->have_login = process_login(who->pid, &record->login_uid) == 0;
}

static int write_down(const struct approval_entry *entry, enum audit_approval_decision decision,
		      const struct ucred *who, const char *reason, approvals_recorder record,
		      void *context)
{
	struct audit_approval approval = {
		.decision = decision,
		.subject = entry->name,
		.have_base = entry->have_base,
		.reason = reason,
		.witnesses = entry->witnesses,
		.expires = entry->expires,
	};

	memcpy(approval.digest, entry->identity, SHA256_SIZE);
	memcpy(approval.base, entry->base, SHA256_SIZE);
	fill_who(&approval, who);
	return record(context, &approval);
}

bool approvals_is_approved(struct approvals *a, struct approval_entry *entry,
			   const struct question *q)
{
	const struct ucred self = {.pid = getpid(), .uid = geteuid()};

	if (entry->state != APPROVAL_APPROVED)
		return false;
	if (entry->expires == 0 || q->now < entry->expires)
		return true;
	entry->state = APPROVAL_EXPIRED;
	comparison_forget_based_on(a, entry->identity);
	(void)write_down(entry, AUDIT_APPROVAL_EXPIRED, &self, NULL, q->record, q->context);
	(void)approval_file_save(a->fd, entry);
	return false;
}

/* --- waiting ------------------------------------------------------------------------------ */

void approvals_forget(struct approvals *a, size_t i)
{
	approvals_remove_text(a, a->entries[i]->file, a->entries[i]);
	approval_file_remove(a->fd, a->entries[i]);
	approval_entry_free(a->entries[i]);
	memmove(&a->entries[i], &a->entries[i + 1],
		(--a->count - i) * sizeof(struct approval_entry *));
}

/* Those that wait longest make room. */
static void forget_one(struct approvals *a)
{
	size_t oldest = a->count;

	for (size_t i = 0; i < a->count; i++)
		if (a->entries[i]->state == APPROVAL_WAITING &&
		    (oldest == a->count || a->entries[i]->asked < a->entries[oldest]->asked))
			oldest = i;
	if (oldest < a->count)
		approvals_forget(a, oldest);
}

int approvals_keep(struct approvals *a, const struct question *q, struct comparison *with,
		   struct approval_entry **ret_entry, struct failure *failure)
{
	struct approval_entry *entry;
	int r;

	if (a->count >= APPROVALS_MAX)
		forget_one(a);
	if (a->count >= APPROVALS_MAX)
		return failure_set(failure, ENOSPC, "%d approvals are kept, and no more can be",
				   APPROVALS_MAX);
	entry = approval_entry_new(q->policy, q->use, q->identity);
	if (!entry)
		return failure_set(failure, ENOMEM, "%m");
	entry->asked = q->now;
	entry->asked_by = q->uid;
	entry->compared = true;
	entry->expires = with->expires;
	if (with->have_base) {
		entry->have_base = true;
		memcpy(entry->base, with->base, SHA256_SIZE);
	}
	entry->witnesses = with->wider;
	with->wider = NULL;
	r = policy_store_put(a->path, q->policy, failure);
	if (r >= 0)
		r = approval_file_save(a->fd, entry);
	if (r >= 0)
		r = add_entry(a, entry);
	if (r < 0) {
		approval_entry_free(entry);
		return failure_set(failure, r, "cannot keep what waits for approval in %s: %m",
				   a->path);
	}
	*ret_entry = entry;
	return 0;
}

/* One that nobody decided about; `entry`: it waits already, or its approval has expired. */
static int check_undecided(struct approvals *a, const struct question *q,
			   struct approval_entry *entry, char **ret_message,
			   struct failure *failure)
{
	struct comparison with = {};
	int r = comparison_find(a, q, &with);

	if (r == 0 && comparison_is_covered(&with)) {
		comparison_keep(a, &with);
		return 0;
	}
	if (r == 0 && entry)
		entry->compared = true;
	else if (r == 0)
		r = approvals_keep(a, q, &with, &entry, failure);
	comparison_release(&with);
	return r < 0 ? failure_set(failure, r, "%m")
		     : approval_entry_refuse(entry, ret_message, failure);
}

int approvals_check(struct approvals *a, const struct compiled_policy *policy, const char *use,
		    uint32_t uid, uint64_t now, approvals_recorder record, void *context,
		    char **ret_message, struct failure *failure)
{
	struct question q = {policy, use, {}, uid, now, record, context};
	int r = approval_identity(policy, use, q.identity);
	struct approval_entry *entry;

	*ret_message = NULL;
	if (r < 0)
		return failure_set(failure, r, "%m");
	/* Expiries are noticed when they matter, and then all of them. */
	for (size_t i = 0; i < a->count; i++)
		(void)approvals_is_approved(a, a->entries[i], &q);
	entry = approvals_find(a, q.identity);
	if (entry && entry->state == APPROVAL_APPROVED)
		return 0;
	/* What was refused or revoked is not let in by another that allows more. */
	if (entry && (entry->state == APPROVAL_REFUSED || entry->state == APPROVAL_REVOKED))
		return approval_entry_refuse(entry, ret_message, failure);
	if (comparison_covers(a, q.identity))
		return 0;
	if (entry && entry->compared)
		return approval_entry_refuse(entry, ret_message, failure);
	return check_undecided(a, &q, entry, ret_message, failure);
}

/* --- deciding ----------------------------------------------------------------------------- */

static int find_by_digest(const struct approvals *a, const char *digest,
			  struct approval_entry **ret_entry, struct failure *failure)
{
	struct approval_entry *found = NULL;
	size_t length = strlen(digest);

	for (size_t i = 0; i < a->count; i++) {
		char text[SHA256_TEXT_SIZE];

		hex_encode(a->entries[i]->identity, SHA256_SIZE, text);
		if (strncasecmp(text, digest, length) != 0)
			continue;
		if (found)
			return failure_set(failure, ENOTUNIQ,
					   "several policies have a digest that begins with %.64s",
					   digest);
		found = a->entries[i];
	}
	if (!found)
		return failure_set(failure, ENOENT,
				   "no policy with the digest %.64s waits or was decided about; "
				   "`cordon approvals` lists them",
				   digest);
	*ret_entry = found;
	return 0;
}

static int find_ahead(struct approvals *a, const struct approval_decision *decision, uint64_t now,
		      approvals_recorder record, void *context, struct approval_entry **ret_entry,
		      struct failure *failure)
{
	struct question q = {decision->ahead, NULL, {}, decision->who.uid, now, record, context};
	struct comparison with = {};
	bool covered;
	int r = approval_identity(decision->ahead, NULL, q.identity);

	if (r == 0)
		*ret_entry = approvals_find(a, q.identity);
	if (r < 0 || *ret_entry)
		return r;
	r = comparison_find(a, &q, &with);
	if (r < 0)
		return r;
	covered = comparison_is_covered(&with);
	r = approvals_keep(a, &q, &with, ret_entry, failure);
	/* What is not decided in the end may be used as before. */
	if (r == 0 && covered)
		comparison_keep(a, &with);
	comparison_release(&with);
	return r;
}

/* What was proposed until then is approved until then, unless whoever decides says otherwise. */
static uint64_t expires_after(const struct approval_entry *entry,
			      const struct approval_decision *decision)
{
	if (decision->decision != AUDIT_APPROVAL_GRANTED)
		return 0;
	return decision->expires == 0 && entry->state == APPROVAL_WAITING ? entry->expires
									  : decision->expires;
}

/*
 * Proposed by whoever decides: by its user, or by the user who is logged in, whatever that became.
 * What waits because somebody ran it is root's file.
 */
static bool is_own(const struct approvals *a, const struct approval_entry *entry,
		   const struct approval_decision *decision)
{
	size_t length = strlen(a->path);
	uint32_t login;

	/* A proposal's text is kept here; all else is somebody's file. */
	if (strncmp(entry->file, a->path, length) != 0 || entry->file[length] != '/')
		return false;
	return entry->asked_by == decision->who.uid ||
	       (process_login(decision->who.pid, &login) == 0 && entry->asked_by == login);
}

static int check_decision(const struct approvals *a, const struct approval_entry *entry,
			  const struct approval_decision *decision, uint64_t now,
			  struct failure *failure)
{
	if (decision->decision == AUDIT_APPROVAL_REVOKED && entry->state != APPROVAL_APPROVED)
		return failure_set(failure, EINVAL, "policy %s is not approved", entry->name);
	if (decision->decision == AUDIT_APPROVAL_REFUSED && entry->state == APPROVAL_APPROVED)
		return failure_set(failure, EINVAL, "policy %s is approved: revoke that",
				   entry->name);
	if (decision->decision == AUDIT_APPROVAL_REFUSED && entry->state == APPROVAL_REFUSED)
		return failure_set(failure, EALREADY, "policy %s is refused already", entry->name);
	if (decision->decision == AUDIT_APPROVAL_GRANTED && is_own(a, entry, decision) &&
	    decision->who.uid != 0 && !decision->own_allowed)
		return failure_set(failure, EPERM,
				   "cannot approve policy %s: you proposed it. Ask another member "
				   "of cordon-approvers, or root",
				   entry->name);
	if (decision->decision == AUDIT_APPROVAL_GRANTED && expires_after(entry, decision) > 0 &&
	    expires_after(entry, decision) <= now)
		return failure_set(failure, EINVAL, "the approval would have expired already");
	return 0;
}

bool approvals_is_own(const struct approvals *a, const struct approval_decision *decision)
{
	struct approval_entry *entry;

	return decision->decision == AUDIT_APPROVAL_GRANTED && !decision->ahead &&
	       find_by_digest(a, decision->digest, &entry, NULL) == 0 && is_own(a, entry, decision);
}

/*
 * More, or less, may be approved than what others were compared with. Only those of the same name
 * are: all else that was found stays, for it takes its time.
 */
static void forget_comparisons(struct approvals *a, const struct approval_entry *decided)
{
	if (decided->state == APPROVAL_REVOKED)
		comparison_forget_based_on(a, decided->identity);
	if (decided->state != APPROVAL_APPROVED)
		return;
	comparison_forget_wider(a);
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->entries[i]->name, decided->name) == 0)
			a->entries[i]->compared = false;
}

static const enum approval_state state_after[] = {
	[AUDIT_APPROVAL_GRANTED] = APPROVAL_APPROVED,
	[AUDIT_APPROVAL_REFUSED] = APPROVAL_REFUSED,
	[AUDIT_APPROVAL_REVOKED] = APPROVAL_REVOKED,
};

int approvals_decide(struct approvals *a, const struct approval_decision *decision, uint64_t now,
		     approvals_recorder record, void *context, json_t **ret_entry,
		     struct failure *failure)
{
	struct approval_entry *entry = NULL, before;
	char *reason;
	int r;

	r = decision->ahead ? find_ahead(a, decision, now, record, context, &entry, failure)
			    : find_by_digest(a, decision->digest, &entry, failure);
	if (r == 0)
		r = check_decision(a, entry, decision, now, failure);
	if (r < 0)
		return failure_set(failure, r, "%m");
	reason = strdup(decision->reason);
	if (!reason)
		return failure_set(failure, ENOMEM, "%m");
	before = *entry;
	entry->expires = expires_after(entry, decision);
	entry->state = state_after[decision->decision];
	entry->decided = now;
	entry->decided_by = decision->who.uid;
	entry->reason = reason;
	/* On record first: a decision that nobody can look up was not made. */
	r = write_down(entry, decision->decision, &decision->who, reason, record, context);
	if (r == 0)
		r = approval_file_save(a->fd, entry);
	if (r < 0) {
		*entry = before;
		free(reason);
		return failure_set(failure, r, "the decision cannot be kept: %m");
	}
	free(before.reason);
	forget_comparisons(a, entry);
	*ret_entry = approval_entry_json(entry);
	return *ret_entry ? 0 : -ENOMEM;
}

/* --- what it allows ----------------------------------------------------------------------- */

int approvals_subject(struct approvals *a, const struct approval_decision *decision, uint64_t now,
		      approvals_recorder record, void *context,
		      unsigned char ret_identity[SHA256_SIZE], struct failure *failure)
{
	struct approval_entry *entry = NULL;
	int r = decision->ahead ? find_ahead(a, decision, now, record, context, &entry, failure)
				: find_by_digest(a, decision->digest, &entry, failure);

	if (r == 0)
		memcpy(ret_identity, entry->identity, SHA256_SIZE);
	return r;
}

int approvals_write_rules(const struct approvals *a, const unsigned char identity[SHA256_SIZE],
			  const char *const *directories, FILE *to, struct failure *failure)
{
	struct approval_entry *entry = approvals_find(a, identity);
	struct approval_entry *base = entry && entry->have_base ? approvals_find(a, entry->base)
								: NULL;

	if (!entry || (entry->have_base && !base))
		return failure_set(failure, ENOENT, "what was to be compared is gone");
	return approval_listing_write(a->path, entry, base, directories, to, failure);
}

int approvals_take_rules(struct approvals *a, const unsigned char identity[SHA256_SIZE],
			 const char *lines, size_t size)
{
	struct approval_entry *entry = approvals_find(a, identity);
	char **taken;
	int r = entry ? approval_listing_read(lines, size, &taken) : -ENOENT;

	if (r < 0)
		return r;
	widening_free(entry->witnesses);
	entry->witnesses = taken;
	entry->listed = true;
	return 0;
}

int approvals_take_texts(struct approvals *a, const unsigned char identity[SHA256_SIZE])
{
	struct approval_entry *entry = approvals_find(a, identity);
	struct failure ignored = {};
	char **taken;
	int r;

	if (!entry || entry->have_base)
		return entry ? 0 : -ENOENT;
	r = entry->policy ? 0 : approval_entry_load_policy(a->path, entry, &ignored);
	if (r < 0)
		return r;
	r = approval_listing_texts(entry, &taken);
	if (r < 0)
		return r;
	widening_free(entry->witnesses);
	entry->witnesses = taken;
	return 0;
}

bool approvals_know_rules(const struct approvals *a, const unsigned char identity[SHA256_SIZE])
{
	const struct approval_entry *entry = approvals_find(a, identity);

	return entry && entry->listed;
}

/* --- listing ------------------------------------------------------------------------------ */

json_t *approvals_list(const struct approvals *a, size_t from, size_t room, size_t *ret_next)
{
	json_t *list = json_array();

	*ret_next = 0;
	for (size_t i = from; list && i < a->count; i++) {
		json_t *entry = approval_entry_json(a->entries[i]);
		size_t size = entry ? json_dumpb(entry, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII)
				    : 0;

		/* Its witnesses alone have no bound. */
		if (entry && size + 1 > room && i == from) {
			json_object_set_new(entry, "witnesses", json_array());
			size = json_dumpb(entry, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII);
		}
		if (size + 1 > room) {
			json_decref(entry);
			*ret_next = i;
			break;
		}
		room -= size + 1;
		json_array_append_new(list, entry);
	}
	return list;
}
