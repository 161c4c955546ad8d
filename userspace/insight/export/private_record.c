/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces names in records. */
#include "insight/export/private_record.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/io.h"
#include "base/sha256.h"
#include "insight/text/view.h"

#define FILE_MAX	256u
#define NAME_MAX_SIZE	512u
#define PSEUDONYM_BYTES ((PRIVATE_NAME_SIZE - 2) / 2)

/* --- keys --------------------------------------------------------------------------------- */

int private_key_read(const char *path, struct private_key *ret_key, struct failure *failure)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	_cleanup_(freep) char *text = NULL;
	struct stat status;
	size_t size;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return failure_set(failure, errno, "cannot read the key of pseudonyms in %s: %m",
				   path);
	if (S_ISREG(status.st_mode) && (status.st_mode & S_IRWXO) != 0)
		return failure_set(
			failure, EPERM,
			"all users can read %s and resolve pseudonyms with it: remove that "
			"permission (chmod o= %s), and create another key",
			path, path);
	r = S_ISREG(status.st_mode) ? io_read_all(fd, FILE_MAX, &text, &size) : -EINVAL;
	if (r == 0 && size > 0 && text[size - 1] == '\n')
		text[--size] = '\0';
	if (r == 0 && (size != 2 * (size_t)PRIVATE_KEY_SIZE ||
		       hex_decode(text, ret_key->key, PRIVATE_KEY_SIZE) < 0))
		r = -EINVAL;
	if (r == -EINVAL || r == -EFBIG)
		return failure_set(
			failure, EINVAL,
			"%s is no key of pseudonyms, which is 64 hexadecimal digits: make "
			"one with `openssl rand -hex 32`",
			path);
	return r < 0 ? failure_set(failure, r, "cannot read %s: %m", path) : 0;
}

static int digest_of(const struct private_key *key, const char *text, size_t size,
		     unsigned char ret_digest[SHA256_SIZE])
{
	return HMAC(EVP_sha256(), key->key, PRIVATE_KEY_SIZE, (const unsigned char *)text, size,
		    ret_digest, NULL)
		       ? 0
		       : -EIO;
}

int private_key_of_tenant(const struct private_key *key, const char *tenant,
			  struct private_key *ret_key)
{
	char text[NAME_MAX_SIZE];
	/* Names have no NUL, so that a pseudonym never equals a tenant's key. */
	int size = snprintf(text, sizeof(text), "tenant%c%s", '\0', tenant);

	if (size >= (int)sizeof(text))
		return -EIO;
	return digest_of(key, text, (size_t)size, ret_key->key);
}

static int pseudonym(const struct private_key *key, const char *text, size_t size,
		     char ret_name[PRIVATE_NAME_SIZE])
{
	unsigned char digest[SHA256_SIZE];
	int r = digest_of(key, text, size, digest);

	if (r < 0)
		return r;
	ret_name[0] = '~';
	hex_encode(digest, PSEUDONYM_BYTES, ret_name + 1);
	return 0;
}

int private_name(const struct private_key *key, const char *name, char ret_name[PRIVATE_NAME_SIZE])
{
	return pseudonym(key, name, strlen(name), ret_name);
}

/* --- paths -------------------------------------------------------------------------------- */

/* Directories of the distribution and the kernel: their names identify no person. */
static const char *const own_names[] = {
	"/usr/bin",   "/usr/sbin",    "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec",
	"/usr/share", "/usr/include", "/bin",	  "/sbin",	"/lib",	      "/lib32",
	"/lib64",     "/proc",	      "/sys",	  "/dev",
};

/* Classes of common directories, for all executions. The first match counts. */
static const struct {
	const char *directory, *class;
} usual_places[] = {
	{"/home", "home"},   {"/root", "home"}, {"/tmp", "tmp"},   {"/var/tmp", "tmp"},
	{"/dev/shm", "tmp"}, {"/etc", "etc"},	{"/var", "var"},   {"/opt", "opt"},
	{"/srv", "srv"},     {"/mnt", "mnt"},	{"/media", "mnt"}, {"/run", "run"},
	{"/boot", "boot"},   {"/usr", "usr"},	{"/nix", "nix"},
};

/* File name extensions that are kept; others may be part of a name. */
static const char *const endings[] = {
	".c",	 ".cfg",  ".conf",  ".cpp",  ".crt", ".csv",  ".db",  ".docx",	 ".env", ".gz",
	".h",	 ".html", ".ipynb", ".jpg",  ".js",  ".json", ".key", ".log",	 ".md",	 ".pdf",
	".pem",	 ".png",  ".py",    ".rs",   ".sh",  ".so",   ".sql", ".sqlite", ".svg", ".tar",
	".toml", ".ts",	  ".txt",   ".xlsx", ".xml", ".yaml", ".yml", ".zip",
};

static bool is_below(const char *path, size_t size, const char *directory)
{
	size_t length = strlen(directory);

	while (length > 1 && directory[length - 1] == '/')
		length--;
	return length > 1 && size >= length && memcmp(path, directory, length) == 0 &&
	       (size == length || path[length] == '/');
}

static bool is_own_name(const char *path, size_t size)
{
	/* These resolve to any path, and the record has the requested name. */
	if (is_below(path, size, "/proc") && (strstr(path, "/root/") || strstr(path, "/cwd/") ||
					      strstr(path, "/fd/") || strstr(path, "/map_files/")))
		return false;
	if (is_below(path, size, "/dev/shm"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(own_names); i++)
		if (is_below(path, size, own_names[i]))
			return true;
	return false;
}

/* `ret_whole`: the path is the directory itself. */
static const char *class_of(const json_t *places, const char *path, size_t size, bool *ret_whole)
{
	const char *name, *class = NULL;
	size_t longest = 0;
	json_t *place;

	json_object_foreach((json_t *)places, name, place) {
		const char *directory = json_string_value(place);

		if (!directory || strlen(directory) <= longest || !is_below(path, size, directory))
			continue;
		longest = strlen(directory);
		class = name;
		*ret_whole = size <= longest;
	}
	for (size_t i = 0; !class && i < ARRAY_SIZE(usual_places); i++)
		if (is_below(path, size, usual_places[i].directory)) {
			*ret_whole = size == strlen(usual_places[i].directory);
			class = usual_places[i].class;
		}
	return class ? class : "other";
}

static const char *ending_of(const char *path, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t length = strlen(endings[i]);

		if (size > length && path[size - length - 1] != '/' &&
		    memcmp(path + size - length, endings[i], length) == 0)
			return endings[i];
	}
	return "";
}

static json_t *private_path(const struct private_key *key, const json_t *places, const char *path)
{
	size_t size = strlen(path);
	bool is_directory = size > 1 && path[size - 1] == '/', whole = false;
	char name[PRIVATE_NAME_SIZE];
	const char *class;

	size -= is_directory;
	if (size <= 1 || is_own_name(path, size))
		return json_string(path);
	class = class_of(places, path, size, &whole);
	if (whole)
		return json_sprintf("%s%s", class, is_directory ? "/" : "");
	if (pseudonym(key, path, size, name) < 0)
		return NULL;
	return json_sprintf("%s/%s%s%s", class, name, ending_of(path, size),
			    is_directory ? "/" : "");
}

/* --- records ------------------------------------------------------------------------------ */

/*
 * Fields with constants of cordon, digests, times and numbers, and names that operators gave to
 * policies.
 */
static const char *const kept[] = {
	"@timestamp",
	"cordon.approval.base",
	"cordon.approval.decision",
	"cordon.approval.digest",
	"cordon.approval.expires",
	"cordon.arguments.code.sha256",
	"cordon.arguments.sha256",
	"cordon.damaged",
	"cordon.end.cause",
	"cordon.end.signal",
	"cordon.error",
	"cordon.execution.code.opened.ctime",
	"cordon.execution.code.sha256",
	"cordon.execution.code.source",
	"cordon.execution.id",
	"cordon.execution.language",
	"cordon.execution.mode",
	"cordon.gap.error",
	"cordon.gap.from",
	"cordon.gap.of",
	"cordon.gap.to",
	"cordon.identity.log",
	"cordon.identity.tenant",
	"cordon.identity.version",
	"cordon.object.kind",
	"cordon.operation",
	"cordon.policy.digest",
	"cordon.policy.file",
	"cordon.policy.name",
	"cordon.previous_policy.digest",
	"cordon.previous_policy.file",
	"cordon.previous_policy.name",
	"cordon.reason",
	"cordon.resolution.until",
	"cordon.retention.reason",
	"cordon.rights",
	"cordon.rule.file",
	"cordon.rule.severity",
	"cordon.rule.tags",
	"cordon.seal.key",
	"cordon.seal.mac",
	"cordon.seal.next",
	"cordon.segment.sha256",
	"cordon.started_by.processes.arguments_sha256",
	"cordon.started_by.processes.started",
	"cordon.traffic.direction",
	"event.action",
	"event.kind",
	"event.outcome",
	"group.id",
	"host.id",
	"host.os.kernel",
	"network.transport",
	"network.type",
	"process.entity_id",
	"process.parent.entity_id",
	"process.signal",
	"user.id",
};

static int compare(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

struct walk {
	const struct private_key *key;
	const json_t *places;
	const char *executable; /* if it belongs to the distribution, else NULL */
};

/* A process's name is kept if it equals its program's. */
static bool is_of_program(const struct walk *w, const char *name, const char *text)
{
	const char *base = w->executable ? strrchr(w->executable, '/') : NULL;

	return base && text[0] && strcmp(name, "process.name") == 0 &&
	       strncmp(base + 1, text, strlen(text)) == 0;
}

static bool is_loopback(const char *text)
{
	return strcmp(text, "::1") == 0 ||
	       (strncmp(text, "127.", 4) == 0 && strspn(text, "0123456789.") == strlen(text));
}

static bool is_harmless(const struct walk *w, const char *name, const char *text)
{
	return !text[0] || is_loopback(text) ||
	       bsearch(name, kept, ARRAY_SIZE(kept), sizeof(kept[0]), compare) ||
	       is_of_program(w, name, text);
}

/* Returns a new reference for a text, or NULL if out of memory. */
static json_t *replaced(const struct walk *w, const char *name, const json_t *text)
{
	const char *value = json_string_value(text);
	char other[PRIVATE_NAME_SIZE];

	if (is_harmless(w, name, value))
		return json_incref((json_t *)text);
	if (value[0] == '/')
		return private_path(w->key, w->places, value);
	return pseudonym(w->key, value, json_string_length(text), other) < 0 ? NULL
									     : json_string(other);
}

static int walk_value(const struct walk *w, const char *name, json_t *value, json_t **ret_value);

static int walk_list(const struct walk *w, const char *name, json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *value = NULL;
		int r = walk_value(w, name, json_array_get(list, i), &value);

		if (r < 0)
			return r;
		if (json_array_set_new(list, i, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Remove exact bytes and values that would confirm a guess of the record. */
static bool is_to_go(const char *key)
{
	static const char bytes[] = "_base64";
	size_t size = strlen(key);

	return strcmp(key, "chain") == 0 ||
	       (size >= sizeof(bytes) && strcmp(key + size - (sizeof(bytes) - 1), bytes) == 0);
}

static int walk_object(const struct walk *w, const char *name, json_t *object)
{
	const char *key;
	json_t *member;
	void *next;

	json_object_foreach_safe(object, next, key, member) {
		char below[NAME_MAX_SIZE];
		json_t *value = NULL;
		int r;

		if (is_to_go(key)) {
			(void)json_object_del(object, key);
			continue;
		}
		/* A longer name matches no kept field. */
		(void)snprintf(below, sizeof(below), "%s%s%s", name, name[0] ? "." : "", key);
		r = walk_value(w, below, member, &value);
		if (r < 0)
			return r;
		if (json_object_set_new(object, key, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The depth is limited, because jansson parsed the record. */
static int walk_value(const struct walk *w, const char *name, json_t *value, json_t **ret_value)
{
	json_t *other = value;
	int r = 0;

	if (json_is_object(value))
		r = walk_object(w, name, value);
	else if (json_is_array(value))
		r = walk_list(w, name, value);
	else if (json_is_string(value))
		return (*ret_value = replaced(w, name, value)) ? 0 : -ENOMEM;
	if (r == 0)
		*ret_value = json_incref(other);
	return r;
}

json_t *private_places(const json_t *start)
{
	const json_t *directories = view_field(start, "cordon.execution.directories");
	const char *workdir = view_text(start, "cordon.execution.workdir");
	json_t *places = directories ? json_deep_copy(directories) : json_object();

	if (places && workdir && json_object_set_new(places, "workdir", json_string(workdir)) < 0) {
		json_decref(places);
		return NULL;
	}
	return places;
}

int private_record(const struct private_key *key, const json_t *places, json_t *record)
{
	struct walk w = {.key = key, .places = places};
	const char *given = view_text(record, "process.executable");
	json_t *executable = NULL;
	int r;

	/* It must outlive its member of the record. */
	if (given && is_own_name(given, strlen(given)))
		executable = json_string(given);
	w.executable = json_string_value(executable);
	r = walk_object(&w, "", record);
	json_decref(executable);
	return r;
}
