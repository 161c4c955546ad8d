/* SPDX-License-Identifier: Apache-2.0 */
/* Adds entries to the text of a cordon.yaml. */
#include "cli/setup/setup_file.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/setup/setup_plan.h"
#include "config/config.h"

#define FILE_MAX (1u << 20)

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

static bool is_blank(const char *line)
{
	return strchr("#\r\n", line[strspn(line, " \t")]) != NULL;
}

/* The list of executors, as far as lines show. */
struct list {
	const char *end;     /* where a further item begins */
	unsigned int indent; /* of its items */
};

/* Finds it by its key at the beginning of a line, and what belongs to it by indentation. */
static int find_list(const char *text, struct list *ret)
{
	static const char key[] = "executors:";
	const char *line = text;
	bool first = true;

	while (*line && strncmp(line, key, strlen(key)) != 0)
		line = next_line(line);
	if (!*line)
		return -ENOENT;
	if (!is_blank(line + strlen(key)))
		return -EINVAL;
	line = next_line(line);
	*ret = (struct list){.end = line, .indent = 2};
	for (; *line; line = next_line(line)) {
		size_t indent = strspn(line, " ");

		if (is_blank(line))
			continue;
		if (indent == 0 && *line != '-')
			break;
		if (first && line[indent] != '-')
			return -EINVAL;
		if (first)
			ret->indent = (unsigned int)indent;
		first = false;
		ret->end = next_line(line);
	}
	return 0;
}

static void write_entries(FILE *out, const json_t *items, unsigned int indent)
{
	const json_t *item;
	size_t i;

	json_array_foreach(items, i, item) {
		const json_t *entry = json_object_get(item, "entry"),
			     *user = json_object_get(item, "user");

		if (!entry)
			continue;
		fprintf(out, "%*s# %s%s%s, by cordon setup\n", (int)indent, "",
			json_string_value(json_object_get(item, "agent")), user ? " of " : "",
			user ? json_string_value(user) : "");
		setup_entry_write(out, entry, indent);
	}
}

static int compose(const char *text, const json_t *items, char **ret_text)
{
	static const char head[] =
		"# Programs of this host that start agent code; cordon.yaml(5) describes the keys.\n"
		"version: 1\n";
	struct list list = {.end = text ? text + strlen(text) : NULL, .indent = 2};
	int r = text ? find_list(text, &list) : -ENOENT;
	char *composed = NULL;
	size_t size = 0;
	FILE *out;

	if (r < 0 && r != -ENOENT)
		return r;
	out = open_memstream(&composed, &size);
	if (!out)
		return -ENOMEM;
	if (text)
		fwrite(text, 1, (size_t)(list.end - text), out);
	else
		fputs(head, out);
	if (text && list.end > text && list.end[-1] != '\n')
		fputc('\n', out);
	if (r == -ENOENT)
		fputs("executors:\n", out);
	write_entries(out, items, list.indent);
	if (text)
		fputs(list.end, out);
	if (fclose(out) != 0) {
		free(composed);
		return -ENOMEM;
	}
	*ret_text = composed;
	return 0;
}

/* The entries of before are there, with their names, and all new ones. */
static bool is_correct(const char *before, const char *text, const json_t *items)
{
	_cleanup_(diagnostics_freep) struct diagnostics *ignored = diagnostics_new();
	_cleanup_(config_freep) struct config *old = NULL, *new = NULL;
	size_t count = 0, added = 0, i;
	const json_t *item;

	if (!ignored || config_parse(text, strlen(text), "new", ignored, &new) < 0)
		return false;
	if (before && config_parse(before, strlen(before), "old", ignored, &old) == 0)
		count = config_executor_count(old);
	json_array_foreach(items, i, item)
		added += json_object_get(item, "entry") != NULL;
	if (config_executor_count(new) != count + added)
		return false;
	for (i = 0; i < count; i++)
		if (strcmp(config_executor_at(old, i)->name, config_executor_at(new, i)->name) != 0)
			return false;
	return true;
}

int setup_file_add(const char *text, const json_t *items, char **ret_text)
{
	_cleanup_(freep) char *composed = NULL;
	int r = compose(text, items, &composed);

	if (r < 0)
		return r;
	if (!is_correct(text, composed, items))
		return -EINVAL;
	*ret_text = TAKE_PTR(composed);
	return 0;
}

/* --- the file ----------------------------------------------------------------------------- */

static int write_beside(const char *path, const struct stat *before, const char *text)
{
	char fresh[PATH_MAX];
	_cleanup_(closep) int fd = -1;
	int r;

	if ((size_t)snprintf(fresh, sizeof(fresh), "%s.new", path) >= sizeof(fresh))
		return -ENAMETOOLONG;
	if (unlink(fresh) < 0 && errno != ENOENT)
		return -errno;
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = io_write_all(fd, text, strlen(text));
	if (r == 0 && before && fchown(fd, before->st_uid, before->st_gid) < 0)
		r = -errno;
	if (r == 0 && (fchmod(fd, before ? before->st_mode & 07777 : 0644) < 0 || fsync(fd) < 0 ||
		       rename(fresh, path) < 0))
		r = -errno;
	if (r < 0)
		(void)unlink(fresh);
	return r;
}

int setup_file_replace(const char *path, const char *before, const char *text)
{
	_cleanup_(freep) char *now = NULL, *real = realpath(path, NULL);
	char directory[PATH_MAX];
	struct stat st;
	size_t size = 0;
	int r = io_read_file(AT_FDCWD, path, FILE_MAX, &now, &size);

	if (r < 0 && r != -ENOENT)
		return r;
	if (!now != !before || (now && strcmp(now, before) != 0))
		return -ESTALE;
	if (!before) {
		snprintf(directory, sizeof(directory), "%s", path);
		if (mkdir(dirname(directory), 0755) < 0 && errno != EEXIST)
			return -errno;
		return write_beside(path, NULL, text);
	}
	if (!real || stat(real, &st) < 0)
		return -errno;
	return write_beside(real, &st, text);
}
