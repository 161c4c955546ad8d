/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the file of one policy that waits for approval or was decided about. */
#include "daemon/policy/approval_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/policy_store.h"
#include "base/hex.h"
#include "base/io.h"
#include "control/protocol.h"
#include "policy/compile/identity.h"

#define FILE_MAX_SIZE (4u << 20)
#define NAME_SIZE     (SHA256_TEXT_SIZE + 8)

static const char *const states[APPROVAL_STATE_COUNT] = {
	[APPROVAL_WAITING] = "waiting", [APPROVAL_APPROVED] = "approved",
	[APPROVAL_REFUSED] = "refused", [APPROVAL_REVOKED] = "revoked",
	[APPROVAL_EXPIRED] = "expired",
};

/* --- settings ----------------------------------------------------------------------------- */

/*
 * The store goes by the digest of the tables: another policy with the same ones, and other names
 * for itself and its variables, may have been kept first.
 */
static json_t *variables_json(const struct compiled_policy *p)
{
	json_t *variables = json_array();

	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		json_array_append_new(variables, p->anchor_names[i]
							 ? json_string(p->anchor_names[i])
							 : json_null());
	return variables;
}

static int apply_variables(json_t *variables, struct compiled_policy *p)
{
	if (json_array_size(variables) != CORDON_MAX_ANCHORS)
		return -EBADMSG;
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++) {
		const char *name = json_string_value(json_array_get(variables, i));

		free(p->anchor_names[i]);
		p->anchor_names[i] = name ? strdup(name) : NULL;
		if (name && !p->anchor_names[i])
			return -ENOMEM;
	}
	return 0;
}

static int apply_names(const struct approval_entry *entry, struct compiled_policy *p)
{
	free(p->name);
	free(p->file);
	p->name = strdup(entry->name);
	p->file = strdup(entry->file);
	return p->name && p->file ? 0 : -ENOMEM;
}

static json_t *settings_json(const struct compiled_policy *p)
{
	const struct policy_environment *e = &p->environment;

	return json_pack("{s:o,s:b,s:o,s:o,s:o,s:i,s:o,s:o}", "limits",
			 protocol_limits(&p->limits, true), "keep_all", e->keep_all, "keep",
			 protocol_strings(e->keep), "set_names", protocol_strings(e->set_names),
			 "set_values", protocol_strings(e->set_values), "arguments",
			 (int)p->arguments, "run_by", protocol_strings(p->run_by), "variables",
			 variables_json(p));
}

static int apply_settings(json_t *settings, struct compiled_policy *p)
{
	struct policy_environment *e = &p->environment;
	json_t *limits, *keep, *names, *values, *run_by, *variables;
	int keep_all, arguments, r;

	if (json_unpack(settings, "{s:o,s:b,s:o,s:o,s:o,s:i,s:o,s:o!}", "limits", &limits,
			"keep_all", &keep_all, "keep", &keep, "set_names", &names, "set_values",
			&values, "arguments", &arguments, "run_by", &run_by, "variables",
			&variables) < 0 ||
	    json_array_size(names) != json_array_size(values))
		return -EBADMSG;
	/* The store leaves them empty. */
	protocol_strings_free(e->keep);
	protocol_strings_free(e->set_names);
	protocol_strings_free(e->set_values);
	*e = (struct policy_environment){.keep_all = keep_all};
	p->arguments = (enum policy_arguments)arguments;
	(void)((r = protocol_limits_of(limits, &p->limits, NULL)) < 0 ||
	       (r = protocol_strings_of(keep, false, &e->keep)) < 0 ||
	       (r = protocol_strings_of(names, false, &e->set_names)) < 0 ||
	       (r = protocol_strings_of(values, false, &e->set_values)) < 0 ||
	       (r = protocol_strings_of(run_by, false, &p->run_by)) < 0 ||
	       (r = apply_variables(variables, p)) < 0);
	return r == -EINVAL ? -EBADMSG : r;
}

int approval_entry_load_policy(const char *directory, struct approval_entry *entry,
			       struct failure *failure)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	unsigned char identity[SHA256_SIZE];
	int r;

	r = policy_store_get(directory, entry->digest, &policy, failure);
	if (r >= 0)
		r = apply_settings(entry->settings, policy);
	if (r >= 0)
		r = apply_names(entry, policy);
	if (r >= 0)
		r = approval_identity(policy, entry->use, identity);
	/* Whoever changed the file has not changed what was approved. */
	if (r >= 0 && memcmp(identity, entry->identity, SHA256_SIZE) != 0)
		r = -EBADMSG;
	if (r < 0)
		return failure_set(failure, r, "the approved policy %s: %m", entry->name);
	entry->policy = TAKE_PTR(policy);
	return 0;
}

/* --- entries ------------------------------------------------------------------------------ */

int approval_identity(const struct compiled_policy *policy, const char *use,
		      unsigned char ret_identity[SHA256_SIZE])
{
	_cleanup_(sha256_freep) struct sha256 *hash = NULL;
	int r = policy_identity(policy, ret_identity);

	if (r < 0 || !use)
		return r;
	/* A digest of a digest and more is none of a policy. */
	hash = sha256_new();
	r = hash ? sha256_update(hash, ret_identity, SHA256_SIZE) : -ENOMEM;
	if (r == 0)
		r = sha256_update(hash, use, strlen(use));
	return r < 0 ? r : sha256_finish(hash, ret_identity);
}

struct approval_entry *approval_entry_new(const struct compiled_policy *policy, const char *use,
					  const unsigned char identity[SHA256_SIZE])
{
	struct approval_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	memcpy(entry->identity, identity, SHA256_SIZE);
	memcpy(entry->digest, policy->digest_text, sizeof(entry->digest));
	entry->name = strdup(policy->name);
	entry->file = strdup(policy->file);
	entry->use = use ? strdup(use) : NULL;
	entry->settings = settings_json(policy);
	if ((use && !entry->use) || !entry->name || !entry->file || !entry->settings) {
		approval_entry_free(entry);
		return NULL;
	}
	return entry;
}

void approval_entry_free(struct approval_entry *entry)
{
	free(entry->name);
	free(entry->file);
	free(entry->use);
	protocol_strings_free(entry->witnesses);
	free(entry->reason);
	json_decref(entry->settings);
	if (entry->policy)
		compiled_policy_free(entry->policy);
	free(entry);
}

json_t *approval_entry_json(const struct approval_entry *entry)
{
	char identity[SHA256_TEXT_SIZE], base[SHA256_TEXT_SIZE];

	hex_encode(entry->identity, SHA256_SIZE, identity);
	hex_encode(entry->base, SHA256_SIZE, base);
	return json_pack("{s:s,s:s,s:s,s:s,s:s?,s:s,s:s?,s:o,s:I,s:I,s:I,s:I,s:I,s:s?}", "digest",
			 identity, "state", states[entry->state], "policy", entry->name, "file",
			 entry->file, "use", entry->use, "tables", entry->digest, "base",
			 entry->have_base ? base : NULL, "witnesses",
			 protocol_strings(entry->witnesses), "asked", (json_int_t)entry->asked,
			 "asked_by", (json_int_t)entry->asked_by, "decided",
			 (json_int_t)entry->decided, "decided_by", (json_int_t)entry->decided_by,
			 "expires", (json_int_t)entry->expires, "reason", entry->reason);
}

int approval_entry_refuse(const struct approval_entry *entry, char **ret_message,
			  struct failure *failure)
{
	static const char *const why[] = {
		[APPROVAL_WAITING] = "waits for approval",
		[APPROVAL_APPROVED] = "is approved",
		[APPROVAL_REFUSED] = "was refused approval",
		[APPROVAL_REVOKED] = "has had its approval revoked",
		[APPROVAL_EXPIRED] = "had an approval that has expired",
	};
	char digest[SHA256_TEXT_SIZE];
	size_t size;
	FILE *out = open_memstream(ret_message, &size);

	if (!out)
		return failure_set(failure, ENOMEM, "%m");
	hex_encode(entry->identity, SHA256_SIZE, digest);
	fprintf(out, "policy %s%s %s", entry->name, entry->use ? " in this use" : "",
		why[entry->state]);
	if (!entry->have_base)
		fputs(entry->use ? "; it is the first" : "; none of this name is approved", out);
	else if (entry->witnesses && entry->witnesses[0])
		fputs("; it allows what the approved one does not:", out);
	for (char **line = entry->have_base ? entry->witnesses : NULL; line && *line; line++)
		fprintf(out, "\n  %s", *line);
	fprintf(out, "\nan authorised person may say: cordon approve %.16s --reason TEXT", digest);
	if (fclose(out) != 0) {
		free(*ret_message);
		*ret_message = NULL;
		return failure_set(failure, ENOMEM, "%m");
	}
	return failure_set(failure, EPERM, "policy %s %s", entry->name, why[entry->state]);
}

/* --- files -------------------------------------------------------------------------------- */

static int make_private(const char *path, int *ret_fd)
{
	_cleanup_(closep) int fd = -1;
	struct stat found;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &found) < 0)
		return -errno;
	if (found.st_uid != geteuid() || (found.st_mode & 022) != 0)
		return -EPERM;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int approval_directory_open(const char *parent, const char *path, int *ret_fd)
{
	_cleanup_(closep) int parent_fd = -1;
	int r = make_private(parent, &parent_fd);

	return r < 0 ? r : make_private(path, ret_fd);
}

static void file_name(const struct approval_entry *entry, const char *suffix, char name[NAME_SIZE])
{
	char identity[SHA256_TEXT_SIZE];

	hex_encode(entry->identity, SHA256_SIZE, identity);
	snprintf(name, NAME_SIZE, "%s%s", identity, suffix);
}

int approval_file_save(int dir_fd, const struct approval_entry *entry)
{
	_cleanup_(freep) char *text = NULL;
	char name[NAME_SIZE], fresh[NAME_SIZE];
	json_t *object = approval_entry_json(entry);

	if (object && json_object_set(object, "settings", entry->settings) == 0 &&
	    json_object_set_new(object, "listed", json_boolean(entry->listed)) == 0)
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (!text)
		return -ENOMEM;
	file_name(entry, ".json", name);
	file_name(entry, ".new", fresh);
	return io_replace_file(dir_fd, name, fresh, text, true);
}

void approval_file_remove(int dir_fd, const struct approval_entry *entry)
{
	char name[NAME_SIZE];

	file_name(entry, ".json", name);
	(void)unlinkat(dir_fd, name, 0);
}

static int parse_state(const char *text, enum approval_state *ret_state)
{
	for (int i = 0; i < APPROVAL_STATE_COUNT; i++) {
		if (strcmp(states[i], text) == 0) {
			*ret_state = (enum approval_state)i;
			return 0;
		}
	}
	return -EBADMSG;
}

static int parse_into(json_t *object, struct approval_entry *entry)
{
	json_int_t asked, asked_by, decided, decided_by, expires;
	const char *identity, *state, *name, *file, *use, *tables, *base, *reason;
	json_t *witnesses, *settings, *base_json, *reason_json, *use_json;
	int r, listed = false;

	if (json_unpack(object,
			"{s:s,s:s,s:s,s:s,s:o,s:s,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s?b!}",
			"digest", &identity, "state", &state, "policy", &name, "file", &file, "use",
			&use_json, "tables", &tables, "base", &base_json, "witnesses", &witnesses,
			"asked", &asked, "asked_by", &asked_by, "decided", &decided, "decided_by",
			&decided_by, "expires", &expires, "reason", &reason_json, "settings",
			&settings, "listed", &listed) < 0)
		return -EBADMSG;
	base = json_string_value(base_json);
	reason = json_string_value(reason_json);
	use = json_string_value(use_json);
	if (hex_decode(identity, entry->identity, SHA256_SIZE) < 0 ||
	    strlen(tables) != sizeof(entry->digest) - 1 ||
	    (base && hex_decode(base, entry->base, SHA256_SIZE) < 0))
		return -EBADMSG;
	memcpy(entry->digest, tables, sizeof(entry->digest));
	entry->have_base = base;
	entry->asked = (uint64_t)asked;
	entry->asked_by = (uint32_t)asked_by;
	entry->decided = (uint64_t)decided;
	entry->decided_by = (uint32_t)decided_by;
	entry->expires = (uint64_t)expires;
	entry->settings = json_incref(settings);
	entry->listed = listed;
	entry->name = strdup(name);
	entry->file = strdup(file);
	entry->reason = reason ? strdup(reason) : NULL;
	entry->use = use ? strdup(use) : NULL;
	if (!entry->name || !entry->file || (use && !entry->use) || (reason && !entry->reason))
		return -ENOMEM;
	r = parse_state(state, &entry->state);
	return r < 0 ? r : protocol_strings_of(witnesses, false, &entry->witnesses);
}

int approval_file_load(int dir_fd, const char *name, struct approval_entry **ret_entry)
{
	_cleanup_(json_decrefp) json_t *object = NULL;
	_cleanup_(freep) char *text = NULL;
	struct approval_entry *entry;
	size_t size;
	int r;

	r = io_read_file(dir_fd, name, FILE_MAX_SIZE, &text, &size);
	if (r < 0)
		return r;
	object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	if (!object)
		return -EBADMSG;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	r = parse_into(object, entry);
	if (r < 0)
		approval_entry_free(entry);
	else
		*ret_entry = entry;
	return r == -EINVAL ? -EBADMSG : r;
}

int approval_file_each(int dir_fd, int (*visit)(const char *name, void *context), void *context)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int r = io_open_directory(dir_fd, ".", &dir);

	while (r == 0 && (entry = readdir(dir)) != NULL) {
		size_t length = strlen(entry->d_name);

		if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0)
			r = visit(entry->d_name, context);
	}
	return r;
}
