/* SPDX-License-Identifier: Apache-2.0 */
/* The policy of one execution: another policy, with rules for what protected names lead to. */
#include "daemon/policy/indirect_policy.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hex.h"
#include "base/io.h"
#include "base/sha256.h"
#include "daemon/policy/indirection_rules.h"

/* Of different work directories. A file is a few hundred bytes of memory. */
#define FILES_MAX 4096

static int open_directory(const char *path)
{
	int fd;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void remove_all(int fd)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	const struct dirent *entry;

	if (io_open_directory(fd, ".", &dir) < 0)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			(void)unlinkat(fd, entry->d_name, 0);
}

void indirect_policies_forget(const char *directory)
{
	_cleanup_(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		remove_all(fd);
}

static bool has_room(int fd)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	size_t count = 0;

	if (io_open_directory(fd, ".", &dir) < 0)
		return false;
	while (readdir(dir))
		count++;
	return count < FILES_MAX;
}

/* Between double quotes of YAML. */
static void put_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static int make_text(const char *amended, const char *rules, char **ret_text)
{
	size_t size;
	FILE *out = open_memstream(ret_text, &size);

	if (!out)
		return -ENOMEM;
	fputs("# Made by cordon for one work directory; see obeyed-later.md.\nversion: 1\n"
	      "amends: \"",
	      out);
	put_quoted(out, amended);
	fprintf(out, "\"\nfiles:\n%s", rules);
	if (fclose(out) == 0)
		return 0;
	free(TAKE_PTR(*ret_text));
	return -ENOMEM;
}

/*
 * If there are too many, all others go: what is compiled does not need them, and whoever needs one
 * again makes it again. So one user cannot keep another user's executions from starting.
 */
static int keep(int fd, const char *name, const char *text)
{
	if (faccessat(fd, name, F_OK, 0) == 0)
		return 0;
	if (!has_room(fd))
		remove_all(fd);
	return io_replace_file(fd, name, ".new", text, false);
}

static int make_file(const char *directory, const char *amended, const char *rules, char **ret_path)
{
	_cleanup_(closep) int fd = open_directory(directory);
	_cleanup_(freep) char *text = NULL;
	char name[SHA256_TEXT_SIZE + 5], hex[SHA256_TEXT_SIZE];
	unsigned char digest[SHA256_SIZE];
	int r = fd < 0 ? fd : make_text(amended, rules, &text);

	if (r == 0)
		r = sha256_of(text, strlen(text), digest);
	if (r < 0)
		return r;
	hex_encode(digest, sizeof(digest), hex);
	snprintf(name, sizeof(name), "%s.yaml", hex);
	r = keep(fd, name, text);
	if (r < 0)
		return r;
	return asprintf(ret_path, "%s/%s", directory, name) < 0 ? -ENOMEM : 0;
}

int indirect_policy_make(const char *directory, const struct compiled_policy *policy,
			 char *const *texts, char **ret_path, char ***ret_texts,
			 struct failure *failure)
{
	_cleanup_(freep) char *rules = NULL;
	char **active = NULL, *path = NULL;
	int r = indirection_rules(policy, texts, &rules, &active);

	if (r == 0 && rules)
		r = make_file(directory, policy->file, rules, &path);
	if (r < 0) {
		compiled_strings_free(active);
		return failure_set(failure, r,
				   "cannot protect what names in the work directory lead to: %m");
	}
	*ret_path = path;
	*ret_texts = active;
	return 0;
}
