/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the configuration files that git would read, and parses them. */
#include "launch/git_files.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "launch/git_config.h"

/*
 * Maximum include depth as in git's config.c, and maximum number of files, because includes can
 * multiply.
 */
#define DEPTH_MAX 10
#define FILES_MAX 64

int git_files_open(const struct git_places *places, const char *path, int flags)
{
	/* openat2(2) rejects flags that O_PATH makes meaningless. */
	int wait = flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK;
	struct open_how how = {
		.flags = (unsigned int)(O_CLOEXEC | wait | flags),
		.resolve = RESOLVE_IN_ROOT,
	};
	int fd;

	if (places->root_fd < 0)
		fd = open(path, (int)how.flags);
	else
		fd = (int)syscall(SYS_openat2, places->root_fd, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

int git_files_read(const struct git_places *places, const char *path, char **ret_text,
		   size_t *ret_size)
{
	_cleanup_(closep) int fd = git_files_open(places, path, O_RDONLY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return io_read_all(fd, GIT_CONFIG_SIZE_MAX, ret_text, ret_size);
}

static int join(char ret_path[PATH_MAX], const char *directory, size_t length, const char *name)
{
	int n = snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)length, directory, name);

	return n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int git_files_path(const struct git_places *places, const char *base, const char *text,
		   char ret_path[PATH_MAX])
{
	if (text[0] == '/')
		return snprintf(ret_path, PATH_MAX, "%s", text) >= PATH_MAX ? -ENAMETOOLONG : 0;
	if (text[0] == '~' && text[1] == '/')
		return places->home ? join(ret_path, places->home, strlen(places->home), text + 2)
				    : -ENOENT;
	return join(ret_path, base, strlen(base), text);
}

/* --- the repository ----------------------------------------------------------------------- */

/* Reads the rest of a file's first line after `prefix`. */
static int read_line(const struct git_places *places, const char *path, const char *prefix,
		     char ret_line[PATH_MAX])
{
	_cleanup_(freep) char *text = NULL;
	size_t size, skip = strlen(prefix);
	int r = git_files_read(places, path, &text, &size);

	if (r < 0)
		return r;
	if (strncmp(text, prefix, skip) != 0)
		return -EBADMSG;
	text[strcspn(text, "\r\n")] = '\0';
	return snprintf(ret_line, PATH_MAX, "%s", text + skip) >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static bool is_directory(const struct git_places *places, const char *path)
{
	_cleanup_(closep) int fd = git_files_open(places, path, O_PATH);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

void git_files_repository(const struct git_places *places, struct git_repository *ret_repository)
{
	struct git_repository *g = ret_repository;
	char path[PATH_MAX], line[PATH_MAX];

	*g = (struct git_repository){};
	if (join(g->directory, places->workdir, strlen(places->workdir), ".git") < 0)
		return;
	if (!is_directory(places, g->directory)) {
		if (read_line(places, g->directory, "gitdir: ", line) < 0 ||
		    git_files_path(places, places->workdir, line, path) < 0)
			return;
		memcpy(g->directory, path, sizeof(path));
	}
	g->found = true;
	memcpy(g->common, g->directory, sizeof(g->common));
	if (join(path, g->directory, strlen(g->directory), "commondir") == 0 &&
	    read_line(places, path, "", line) == 0 &&
	    git_files_path(places, g->directory, line, path) == 0)
		memcpy(g->common, path, sizeof(g->common));
}

static char *real_path(const struct git_places *places, const char *path)
{
	_cleanup_(closep) int fd = git_files_open(places, path, O_PATH | O_DIRECTORY);
	char link[64], real[PATH_MAX];
	ssize_t n;

	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	return n > 0 ? strndup(real, (size_t)n) : NULL;
}

/* "COMMON/worktrees/NAME" */
static bool is_of_worktree(const char *directory, const char *common)
{
	static const char between[] = "/worktrees/";
	size_t length = strlen(common), skip = sizeof(between) - 1;

	return strncmp(directory, common, length) == 0 &&
	       strncmp(directory + length, between, skip) == 0 && directory[length + skip] &&
	       !strchr(directory + length + skip, '/');
}

static bool names_back(const struct git_places *places, const char *directory)
{
	_cleanup_(closep) int own = -1, named = -1;
	char path[PATH_MAX], line[PATH_MAX];
	struct stat one, other;

	if (join(path, places->workdir, strlen(places->workdir), ".git") < 0)
		return false;
	own = git_files_open(places, path, O_PATH | O_NOFOLLOW);
	if (join(path, directory, strlen(directory), "gitdir") < 0 ||
	    read_line(places, path, "", line) < 0 ||
	    git_files_path(places, directory, line, path) < 0)
		return false;
	named = git_files_open(places, path, O_PATH | O_NOFOLLOW);
	return own >= 0 && named >= 0 && fstat(own, &one) == 0 && fstat(named, &other) == 0 &&
	       S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool git_files_worktree(const struct git_places *places, const struct git_repository *repository,
			char **ret_directory, char **ret_common)
{
	_cleanup_(freep) char *directory = NULL, *common = NULL;

	if (!repository->found || strcmp(repository->directory, repository->common) == 0)
		return false;
	directory = real_path(places, repository->directory);
	common = real_path(places, repository->common);
	if (!directory || !common || !is_of_worktree(directory, common) ||
	    !names_back(places, directory))
		return false;
	*ret_directory = TAKE_PTR(directory);
	*ret_common = TAKE_PTR(common);
	return true;
}

/*
 * --- files and includes ------------------------------------------------------------------------
 */

struct reading {
	const struct git_places *places;
	const struct git_repository *repository;
	git_files_variable *call;
	void *context;
	unsigned int files;
	int result;
};

struct file {
	struct reading *reading;
	const struct git_origin *origin;
	unsigned int depth;
};

static void read_file(struct reading *r, const struct git_origin *origin, unsigned int depth);

static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

/* Resolves a path in the current file, relative to the file's directory. */
static int path_in(const struct file *file, const char *text, char ret_path[PATH_MAX])
{
	char base[PATH_MAX];

	snprintf(base, sizeof(base), "%.*s", (int)directory_length(file->origin->file),
		 file->origin->file);
	return git_files_path(file->reading->places, base, text, ret_path);
}

/*
 * Matches "gitdir:PATTERN" and "gitdir/i:PATTERN". Unlike in git's wildmatch, '*' also matches '/':
 * user identities may be read from one file too many.
 */
static bool holds(const struct file *file, const char *condition, size_t length)
{
	bool fold = strncmp(condition, "gitdir/i:", 9) == 0;
	const struct git_repository *repository = file->reading->repository;
	char text[PATH_MAX], pattern[PATH_MAX + 8];
	size_t skip = fold ? 9 : 7;

	if ((!fold && strncmp(condition, "gitdir:", 7) != 0) || !repository->found ||
	    length - skip >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(length - skip), condition + skip);
	if (text[0] == '~' || strncmp(text, "./", 2) == 0) {
		char path[PATH_MAX];

		if (path_in(file, text[0] == '.' ? text + 2 : text, path) < 0)
			return false;
		memcpy(text, path, sizeof(text));
	}
	snprintf(pattern, sizeof(pattern), "%s%s%s", text[0] == '/' ? "" : "**/", text,
		 text[0] && text[strlen(text) - 1] == '/' ? "**" : "");
	return fnmatch(pattern, repository->directory, fold ? FNM_CASEFOLD : 0) == 0;
}

static void include(const struct file *file, const char *name, const char *value)
{
	static const char plain[] = "include.path", conditional[] = "includeif.", path[] = ".path";
	size_t length = strlen(name), skip = sizeof(conditional) - 1, end = sizeof(path) - 1;
	struct git_origin origin = *file->origin;
	char target[PATH_MAX];

	if (strncmp(name, conditional, skip) == 0 && length > skip + end &&
	    strcmp(name + length - end, path) == 0)
		origin.applies &= holds(file, name + skip, length - skip - end);
	else if (strcmp(name, plain) != 0)
		return;
	if (!value || path_in(file, value, target) < 0) {
		file->reading->result = -EBADMSG;
		return;
	}
	origin.file = target;
	read_file(file->reading, &origin, file->depth + 1);
}

static int on_variable(void *context, const char *name, const char *value)
{
	const struct file *file = context;

	file->reading->call(file->reading->context, file->origin, name, value);
	include(file, name, value);
	return 0;
}

static void read_file(struct reading *r, const struct git_origin *origin, unsigned int depth)
{
	struct file file = {.reading = r, .origin = origin, .depth = depth};
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int result;

	if (depth > DEPTH_MAX || ++r->files > FILES_MAX) {
		r->result = -ELOOP;
		return;
	}
	result = git_files_read(r->places, origin->file, &text, &size);
	if (result == 0)
		result = git_config_parse(text, size, on_variable, &file);
	if (result < 0 && result != -ENOENT && result != -ENOTDIR)
		r->result = result;
}

static void read_named(struct reading *r, enum git_scope scope, const char *directory,
		       const char *name)
{
	struct git_origin origin = {.scope = scope, .applies = true};
	char path[PATH_MAX];

	if (!directory || join(path, directory, strlen(directory), name) < 0)
		return;
	origin.file = path;
	read_file(r, &origin, 0);
}

int git_files_each(const struct git_places *places, const struct git_repository *repository,
		   git_files_variable *call, void *context)
{
	struct reading r = {
		.places = places,
		.repository = repository,
		.call = call,
		.context = context,
	};

	read_named(&r, GIT_SCOPE_SYSTEM, "/etc", "gitconfig");
	if (places->global && places->global[0] == '/') {
		read_named(&r, GIT_SCOPE_USER, "", places->global + 1);
	} else {
		if (places->xdg && places->xdg[0])
			read_named(&r, GIT_SCOPE_USER, places->xdg, "git/config");
		else
			read_named(&r, GIT_SCOPE_USER, places->home, ".config/git/config");
		read_named(&r, GIT_SCOPE_USER, places->home, ".gitconfig");
	}
	if (repository->found) {
		read_named(&r, GIT_SCOPE_REPOSITORY, repository->common, "config");
		read_named(&r, GIT_SCOPE_REPOSITORY, repository->directory, "config.worktree");
	}
	return r.result;
}
