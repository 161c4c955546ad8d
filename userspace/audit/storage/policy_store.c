/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the policies in force, each a file named by the digest of its tables. */
#include "audit/storage/policy_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/hex.h"
#include "base/json_bounds.h"
#include "base/sha256.h"
#include "policy/ask/evaluate.h"

DEFINE_CLEANUP(json_t *, json_decref, store_json_decrefp)

/* What is read may come from a host that was taken over: what it takes of memory has bounds. */
#define HEAD_MAX_SIZE	(16u << 20) /* of the line of JSON */
#define TABLES_MAX_SIZE (128u << 20)
/* A rule is an object with a list of tags. */
#define CONTAINERS_MAX (2u * CORDON_NO_RULE + 64u)
#define VALUES_MAX     (1u << 20)
#define READ_SIZE      (1u << 16)

/* --- writing ------------------------------------------------------------------------------ */

static json_t *string_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *describe_rule(const struct policy_rule *rule)
{
	json_t *tags = json_array();

	for (char **tag = rule->tags; tag && *tag; tag++)
		json_array_append_new(tags, json_string(*tag));
	return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o}", "file", rule->file, "line",
			 (int)rule->line, "text", rule->text, "severity",
			 string_or_null(rule->severity), "message", string_or_null(rule->message),
			 "tags", tags);
}

static char *describe(const struct compiled_policy *p)
{
	json_t *rules = json_array(), *variables = json_array();
	_cleanup_(store_json_decrefp) json_t *object = NULL;

	for (size_t i = 0; i < p->rule_count; i++)
		if (json_array_append_new(rules, describe_rule(&p->rules[i])) < 0)
			return NULL;
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		if (json_array_append_new(variables, string_or_null(p->anchor_names[i])) < 0)
			return NULL;
	object = json_pack("{s:s, s:s, s:o, s:b, s:o, s:o}", "name", p->name, "file", p->file,
			   "description", string_or_null(p->description), "observe", p->observe,
			   "variables", variables, "rules", rules);
	return object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
}

static int write_packed(int fd, const struct compiled_policy *policy)
{
	_cleanup_(freep) char *text = describe(policy);
	int copy = text ? dup(fd) : -1, error = 0;
	size_t size;
	gzFile out;

	if (!text)
		return -ENOMEM;
	out = copy >= 0 ? gzdopen(copy, "wb") : NULL;
	if (!out) {
		closep(&copy);
		return -ENOMEM;
	}
	size = strlen(text);
	text[size] = '\n';
	if (gzwrite(out, text, (unsigned int)size + 1) != (int)size + 1 ||
	    gzwrite(out, policy->tables, (unsigned int)policy->tables_size) !=
		    (int)policy->tables_size)
		error = errno ? errno : EIO;
	if (gzclose(out) != Z_OK && !error)
		error = errno ? errno : EIO;
	return -error;
}

int policy_store_put_at(int directory_fd, const char *directory,
			const struct compiled_policy *policy, struct failure *failure)
{
	_cleanup_(closep) int store = -1, fd = -1;
	struct stat log, found;
	char fresh[96];
	int r;

	if (mkdirat(directory_fd, POLICY_STORE_NAME, 0750) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot create %s/" POLICY_STORE_NAME ": %m",
				   directory);
	store = openat(directory_fd, POLICY_STORE_NAME,
		       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (store < 0)
		return failure_set(failure, errno, "cannot open %s/" POLICY_STORE_NAME ": %m",
				   directory);
	/* The group that may read the log may read its policies: `cordon could`, cordon-ship. */
	if (fstat(directory_fd, &log) == 0 && fstat(store, &found) == 0 &&
	    found.st_gid != log.st_gid)
		(void)fchown(store, (uid_t)-1, log.st_gid);
	if (faccessat(store, policy->digest_text, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	/* Several may be at it; the same comes of each. */
	snprintf(fresh, sizeof(fresh), "%s.new-%d", policy->digest_text, getpid());
	(void)unlinkat(store, fresh, 0);
	fd = openat(store, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return failure_set(failure, errno, "cannot create %s/" POLICY_STORE_NAME "/%s: %m",
				   directory, fresh);
	if (fstat(store, &found) == 0)
		(void)fchown(fd, (uid_t)-1, found.st_gid);
	r = write_packed(fd, policy);
	if (r == 0 && (fsync(fd) < 0 || renameat(store, fresh, store, policy->digest_text) < 0))
		r = -errno;
	if (r < 0) {
		(void)unlinkat(store, fresh, 0);
		return failure_set(failure, r,
				   "cannot keep policy %s in %s/" POLICY_STORE_NAME ": %m",
				   policy->name, directory);
	}
	return 0;
}

int policy_store_put(const char *directory, const struct compiled_policy *policy,
		     struct failure *failure)
{
	_cleanup_(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return failure_set(failure, errno, "cannot open %s: %m", directory);
	return policy_store_put_at(fd, directory, policy, failure);
}

/* --- reading ------------------------------------------------------------------------------ */

/* The line of JSON, newline not included: caller frees. */
static int read_head(gzFile in, char **ret_head, size_t *ret_size)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0, capacity = 0;

	do {
		if (capacity - size < READ_SIZE) {
			char *grown = capacity < HEAD_MAX_SIZE
					      ? realloc(data, capacity * 2 + READ_SIZE)
					      : NULL;

			if (!grown)
				return capacity < HEAD_MAX_SIZE ? -ENOMEM : -EBADMSG;
			data = grown;
			capacity = capacity * 2 + READ_SIZE;
		}
		if (!gzgets(in, data + size, READ_SIZE) || data[size] == '\0')
			return -EBADMSG;
		size += strlen(data + size);
	} while (data[size - 1] != '\n');
	*ret_head = TAKE_PTR(data);
	*ret_size = size - 1;
	return 0;
}

/* As large as their header says; caller frees. */
static int read_tables(gzFile in, unsigned char **ret_tables, size_t *ret_size)
{
	_cleanup_(freep) unsigned char *tables = NULL;
	struct cordon_policy_header header;
	char more;
	size_t size;

	if (gzread(in, &header, sizeof(header)) != (int)sizeof(header) || header.pages == 0 ||
	    header.pages > TABLES_MAX_SIZE / CORDON_PAGE_SIZE)
		return -EBADMSG;
	size = (size_t)header.pages * CORDON_PAGE_SIZE;
	tables = malloc(size);
	if (!tables)
		return -ENOMEM;
	memcpy(tables, &header, sizeof(header));
	if (gzread(in, tables + sizeof(header), (unsigned int)(size - sizeof(header))) !=
		    (int)(size - sizeof(header)) ||
	    gzread(in, &more, 1) != 0)
		return -EBADMSG;
	*ret_tables = TAKE_PTR(tables);
	*ret_size = size;
	return 0;
}

struct unpacked {
	char *head;
	unsigned char *tables;
	size_t head_size, tables_size;
};

static void unpacked_release(struct unpacked *unpacked)
{
	free(unpacked->head);
	free(unpacked->tables);
}

static int unpack(int fd, struct unpacked *ret_unpacked)
{
	int copy = dup(fd), r;
	gzFile in = copy >= 0 ? gzdopen(copy, "rb") : NULL;

	if (!in) {
		closep(&copy);
		return -ENOMEM;
	}
	r = read_head(in, &ret_unpacked->head, &ret_unpacked->head_size);
	if (r == 0)
		r = read_tables(in, &ret_unpacked->tables, &ret_unpacked->tables_size);
	if (gzclose_r(in) != Z_OK && r == 0)
		r = -EBADMSG;
	return r;
}

static int copy_string(const json_t *value, char **ret)
{
	if (!json_is_string(value))
		return 0;
	*ret = strdup(json_string_value(value));
	return *ret ? 0 : -ENOMEM;
}

static int take_rule(const json_t *object, struct policy_rule *rule)
{
	const json_t *tags = json_object_get(object, "tags");
	size_t count = json_array_size(tags);

	if (!json_is_string(json_object_get(object, "file")) ||
	    !json_is_string(json_object_get(object, "text")))
		return -EBADMSG;
	rule->line = (unsigned int)json_integer_value(json_object_get(object, "line"));
	if (copy_string(json_object_get(object, "file"), &rule->file) < 0 ||
	    copy_string(json_object_get(object, "text"), &rule->text) < 0 ||
	    copy_string(json_object_get(object, "severity"), &rule->severity) < 0 ||
	    copy_string(json_object_get(object, "message"), &rule->message) < 0)
		return -ENOMEM;
	if (count == 0)
		return 0;
	rule->tags = calloc(count + 1, sizeof(*rule->tags));
	if (!rule->tags)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!json_is_string(json_array_get(tags, i)))
			return -EBADMSG;
		if (copy_string(json_array_get(tags, i), &rule->tags[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_description(const json_t *object, struct compiled_policy *p)
{
	const json_t *rules = json_object_get(object, "rules");
	const json_t *variables = json_object_get(object, "variables");
	size_t count = json_array_size(rules);

	if (!json_is_string(json_object_get(object, "name")) ||
	    !json_is_string(json_object_get(object, "file")) ||
	    json_array_size(variables) != CORDON_MAX_ANCHORS)
		return -EBADMSG;
	p->observe = json_is_true(json_object_get(object, "observe"));
	if (copy_string(json_object_get(object, "name"), &p->name) < 0 ||
	    copy_string(json_object_get(object, "file"), &p->file) < 0 ||
	    copy_string(json_object_get(object, "description"), &p->description) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		if (copy_string(json_array_get(variables, i), &p->anchor_names[i]) < 0)
			return -ENOMEM;
	p->rules = calloc(count + 1, sizeof(*p->rules));
	if (!p->rules)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int r = take_rule(json_array_get(rules, i), &p->rules[p->rule_count++]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int take_tables(struct unpacked *unpacked, const char *digest, struct compiled_policy *p)
{
	p->tables = TAKE_PTR(unpacked->tables);
	p->tables_size = unpacked->tables_size;
	if (policy_tables_check(p->tables, p->tables_size) < 0)
		return -EBADMSG;
	memcpy(p->digest, ((const struct cordon_policy_header *)p->tables)->digest,
	       sizeof(p->digest));
	hex_encode(p->digest, sizeof(p->digest), p->digest_text);
	return strcmp(p->digest_text, digest) == 0 ? 0 : -EBADMSG;
}

/* What the compiler always sets, so that it can be released and looked at as any other. */
static int set_nothing(struct compiled_policy *p)
{
	p->environment.keep = calloc(1, sizeof(char *));
	p->environment.set_names = calloc(1, sizeof(char *));
	p->environment.set_values = calloc(1, sizeof(char *));
	return p->environment.keep && p->environment.set_names && p->environment.set_values
		       ? 0
		       : -ENOMEM;
}

static int parse(struct unpacked *unpacked, const char *digest, struct compiled_policy **ret_policy)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = calloc(1, sizeof(*p));
	_cleanup_(store_json_decrefp) json_t *object = NULL;
	int r;

	if (!p)
		return -ENOMEM;
	if (!json_bounds_hold(unpacked->head, unpacked->head_size, CONTAINERS_MAX, VALUES_MAX))
		return -EBADMSG;
	object = json_loadb(unpacked->head, unpacked->head_size, JSON_REJECT_DUPLICATES, NULL);
	r = set_nothing(p);
	if (r == 0)
		r = take_description(object, p);
	if (r == 0)
		r = take_tables(unpacked, digest, p);
	if (r < 0)
		return r;
	*ret_policy = TAKE_PTR(p);
	return 0;
}

int policy_store_read(int fd, const char *digest, struct compiled_policy **ret_policy)
{
	_cleanup_(unpacked_release) struct unpacked unpacked = {};
	int r = unpack(fd, &unpacked);

	return r < 0 ? r : parse(&unpacked, digest, ret_policy);
}

int policy_store_open(const char *directory, const char *digest, int *ret_fd,
		      struct failure *failure)
{
	unsigned char bytes[SHA256_SIZE];
	char path[PATH_MAX];
	int fd;

	if (hex_decode(digest, bytes, sizeof(bytes)) < 0)
		return failure_set(failure, EINVAL, "\"%s\" is no digest of a policy", digest);
	if (snprintf(path, sizeof(path), "%s/" POLICY_STORE_NAME "/%s", directory, digest) >=
	    (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG, "the name of the log is too long");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return failure_set(failure, errno,
				   "cannot open the policy that was in force, %s: %m", path);
	*ret_fd = fd;
	return 0;
}

int policy_store_get(const char *directory, const char *digest, struct compiled_policy **ret_policy,
		     struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	int r = policy_store_open(directory, digest, &fd, failure);

	if (r < 0)
		return r;
	r = policy_store_read(fd, digest, ret_policy);
	if (r < 0)
		return failure_set(failure, r,
				   "%s/" POLICY_STORE_NAME
				   "/%s is not the policy that its name says",
				   directory, digest);
	return 0;
}

#define PREFIX_MIN 8u

int policy_store_complete(const char *directory, const char *prefix,
			  char ret_digest[SHA256_TEXT_SIZE])
{
	size_t length = strlen(prefix), found = 0;
	_cleanup_(closedirp) DIR *store = NULL;
	const struct dirent *entry;
	char path[PATH_MAX];

	if (length < PREFIX_MIN || length >= SHA256_TEXT_SIZE ||
	    strspn(prefix, "0123456789abcdef") != length)
		return -EINVAL;
	if (snprintf(path, sizeof(path), "%s/" POLICY_STORE_NAME, directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	store = opendir(path);
	if (!store)
		return -errno;
	while ((entry = readdir(store)) != NULL) {
		if (strlen(entry->d_name) != SHA256_TEXT_SIZE - 1 ||
		    strncmp(entry->d_name, prefix, length) != 0)
			continue;
		if (found++ == 0)
			memcpy(ret_digest, entry->d_name, SHA256_TEXT_SIZE);
	}
	return found == 1 ? 0 : found == 0 ? -ENOENT : -ENOTUNIQ;
}
