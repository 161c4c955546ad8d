/* SPDX-License-Identifier: Apache-2.0 */
/* Finds files of the work directory that host programs read through links and git settings. */
#include "launch/indirections.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/listed.h"
#include "policy/core/utf8.h"

#define LINKS_MAX   40	  /* in one path, as in the kernel */
#define ENTRIES_MAX 8192  /* of the directories that are searched */
#define DEPTH_MAX   4	  /* of directories below the work directory */
#define TEXT_MAX    1024u /* of a name, a target, a reason */
#define REASONS_MAX 16u

struct search {
	const struct git_places *places;
	const struct git_repository *repository;
	struct indirections found;
	unsigned int entries;
	int result;
};

/*
 * --- results -----------------------------------------------------------------------------------
 */

static void free_list(char **list)
{
	for (char **text = list; text && *text; text++)
		free(*text);
	free(list);
}

void indirections_release(struct indirections *indirections)
{
	free_list(indirections->texts);
	free_list(indirections->unresolved);
	*indirections = (struct indirections){};
}

int indirections_unresolved(struct indirections *indirections, const char *format, ...)
{
	size_t count = list_length(indirections->unresolved);
	va_list arguments;
	char **larger, *text;
	int n;

	if (count == REASONS_MAX)
		return 0;
	larger = reallocarray(indirections->unresolved, count + 2, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	indirections->unresolved = larger;
	larger[count] = NULL;
	va_start(arguments, format);
	n = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (n < 0)
		return -ENOMEM;
	larger[count] = text;
	larger[count + 1] = NULL;
	return 0;
}

static bool is_text(const char *text)
{
	size_t length = strnlen(text, TEXT_MAX), n;

	if (length == 0 || length == TEXT_MAX)
		return false;
	for (size_t i = 0; i < length; i += n) {
		n = utf8_length(text + i, length - i);
		if (n == 0 || (unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	}
	return true;
}

/*
 * Rejects components that a pattern cannot express. A "." is permitted only as the last of several
 * components.
 */
static bool is_target(const char *target)
{
	for (size_t part = 0;; part++) {
		size_t length = strcspn(target, "/");
		bool last = target[length] == '\0';

		if (length == 0 || (length == 2 && memcmp(target, "..", 2) == 0) ||
		    (length == 1 && target[0] == '.' && !(last && part > 0)))
			return false;
		if (last)
			return true;
		target += length + 1;
	}
}

static bool is_valid(const char *name, const char *target, const char *by)
{
	return is_text(name) && is_text(target) && is_text(by) && is_target(target) &&
	       (strncmp(name, "${workdir}/", 11) == 0 || strncmp(name, "${home}/", 8) == 0);
}

bool indirections_are_valid(char *const *texts, char *const *unresolved)
{
	size_t count = list_length(texts);

	if (count % INDIRECTIONS_TEXTS != 0 || count / INDIRECTIONS_TEXTS > INDIRECTIONS_MAX ||
	    list_length(unresolved) > REASONS_MAX)
		return false;
	for (size_t i = 0; i < count; i += INDIRECTIONS_TEXTS)
		if (!is_valid(texts[i], texts[i + 1], texts[i + 2]))
			return false;
	for (; unresolved && *unresolved; unresolved++)
		if (!is_text(*unresolved))
			return false;
	return true;
}

static void note_unresolved(struct search *s, const char *name, const char *why)
{
	if (s->result == 0)
		s->result = indirections_unresolved(&s->found, "%s: %s", name, why);
}

static int append(struct indirections *found, const char *text)
{
	size_t count = list_length(found->texts);
	char **larger = reallocarray(found->texts, count + 2, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	found->texts = larger;
	larger[count] = strdup(text);
	larger[count + 1] = NULL;
	found->size += strlen(text) + 1;
	return larger[count] ? 0 : -ENOMEM;
}

static void add(struct search *s, const char *name, const char *target, const char *by)
{
	struct indirections *found = &s->found;

	if (s->result < 0)
		return;
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->texts[INDIRECTIONS_TEXTS * i], name) == 0 &&
		    strcmp(found->texts[INDIRECTIONS_TEXTS * i + 1], target) == 0)
			return;
	if (!is_valid(name, target, by)) {
		note_unresolved(s, is_text(name) ? name : "a link",
				"leads to a name that no rule can have");
		return;
	}
	if (found->count == INDIRECTIONS_MAX ||
	    found->size + strlen(name) + strlen(target) + strlen(by) > INDIRECTIONS_SIZE_MAX) {
		note_unresolved(s, name, "there are more than can be kept");
		return;
	}
	(void)((s->result = append(found, name)) < 0 || (s->result = append(found, target)) < 0 ||
	       (s->result = append(found, by)) < 0);
	found->count += s->result == 0;
}

void indirections_put(const struct indirections *indirections, FILE *to)
{
	parcel_put_list(to, indirections->texts, list_length(indirections->texts));
	parcel_put_list(to, indirections->unresolved, list_length(indirections->unresolved));
}

/* Deserialized lists may contain NULL before their end. */
static bool is_whole(char *const *list, size_t count)
{
	return list_length(list) == count;
}

int indirections_take(struct parcel *from, struct indirections *ret_indirections)
{
	struct indirections found = {};
	size_t texts = 0, reasons = 0;
	int r;

	(void)((r = parcel_take_list(from, &found.texts, &texts)) < 0 ||
	       (r = parcel_take_list(from, &found.unresolved, &reasons)) < 0);
	if (r == 0 && (!is_whole(found.texts, texts) || !is_whole(found.unresolved, reasons) ||
		       !indirections_are_valid(found.texts, found.unresolved)))
		r = -EPROTO;
	found.count = texts / INDIRECTIONS_TEXTS;
	if (r < 0)
		indirections_release(&found);
	else
		*ret_indirections = found;
	return r;
}

/*
 * --- path walks --------------------------------------------------------------------------------
 */

/* A path walk, one component at a time. */
struct way {
	struct search *search;
	const char *name, *by;
	int fd;	    /* of the directory reached */
	int links;  /* symbolic links followed */
	bool lost;  /* the walk failed, or followed too many links */
	bool below; /* it ends below the work directory */
};

static bool path_of(int fd, char ret_path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret_path, PATH_MAX - 1);
	if (n <= 0)
		return false;
	ret_path[n] = '\0';
	return true;
}

/*
 * Returns the part of an absolute path below the work directory, "" for the directory itself, or
 * NULL.
 */
static const char *below_workdir(const struct search *s, const char *path)
{
	size_t length = strlen(s->places->workdir);

	if (strncmp(path, s->places->workdir, length) != 0)
		return NULL;
	if (path[length] == '\0')
		return "";
	return path[length] == '/' ? path + length + 1 : NULL;
}

/*
 * Adds the path `rest` in the directory reached, if it is below the work directory. `itself`: a
 * rule for this object alone.
 */
static void note_place(struct way *way, const char *rest, bool itself)
{
	char directory[PATH_MAX], path[2 * PATH_MAX + 4];
	const char *target;

	if (!path_of(way->fd, directory))
		return;
	snprintf(path, sizeof(path), "%s%s%s", strcmp(directory, "/") == 0 ? "" : directory,
		 *rest ? "/" : "", rest);
	target = below_workdir(way->search, path);
	/* Skip the work directory itself: a rule that denied it would deny all work. */
	if (!target || !*target)
		return;
	if (itself)
		strcat(path, "/.");
	else
		way->below = true;
	add(way->search, way->name, target, way->by);
}

static void move_to(struct way *way, int fd)
{
	closep(&way->fd);
	way->fd = fd;
	way->lost |= fd < 0;
}

/* Restarts the walk at the root directory, for an absolute path. */
static void begin_at_root(struct way *way)
{
	move_to(way, git_files_open(way->search->places, "/", O_PATH | O_DIRECTORY));
}

static void walk(struct way *way, const char *text);

/* Follows the link `name` in the directory reached, then continues with `rest`. */
static void follow(struct way *way, int link, const char *name, const char *rest)
{
	char target[PATH_MAX], path[2 * PATH_MAX + 2];
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);

	if (n <= 0 || ++way->links > LINKS_MAX) {
		way->lost = true;
		return;
	}
	target[n] = '\0';
	note_place(way, name, true);
	if (snprintf(path, sizeof(path), "%s%s%s", target, *rest ? "/" : "", rest) >= PATH_MAX)
		way->lost = true;
	else
		walk(way, path);
}

/* Walks a path. Adds each link on the way and the object at its end, whether or not that exists. */
static void walk(struct way *way, const char *text)
{
	if (*text == '/')
		begin_at_root(way);
	while (!way->lost) {
		char name[NAME_MAX + 1];
		size_t length;
		struct stat st;
		int fd;

		text += strspn(text, "/");
		length = strcspn(text, "/");
		if (length == 0) {
			note_place(way, "", false);
			return;
		}
		if (length > NAME_MAX) {
			way->lost = true;
			return;
		}
		memcpy(name, text, length);
		name[length] = '\0';
		fd = openat(way->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			if (errno == ENOENT && !strstr(text, ".."))
				note_place(way, text, false);
			else
				way->lost = true;
			return;
		}
		text += length;
		if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
			follow(way, fd, name, text + strspn(text, "/"));
			close(fd);
			return;
		}
		if (!S_ISDIR(st.st_mode)) {
			note_place(way, name, false);
			close(fd);
			return;
		}
		move_to(way, fd);
	}
}

/*
 * Resolves `text`, the target of a link or the value of a setting, from the directory `fd`. Returns
 * whether it is below the work directory.
 */
static bool resolve(struct search *s, int fd, const char *text, const char *name, const char *by)
{
	struct way way = {.search = s, .name = name, .by = by};

	if (s->result < 0)
		return false;
	way.fd = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	way.lost = way.fd < 0;
	walk(&way, text);
	closep(&way.fd);
	if (way.lost)
		note_unresolved(s, name, "where it leads cannot be found out");
	return way.below;
}

/* --- links -------------------------------------------------------------------------------- */

/* Names without a leading '.' that host programs search for. */
static const char *const plain_names[] = {
	"mise.toml",
	"mise.local.toml",
	"mise",
	"opencode.json",
	"crush.json",
	"bunfig.toml",
	"pip.conf",
	"rust-toolchain",
	"rust-toolchain.toml",
	"ansible.cfg",
	"lefthook.yml",
	"lefthook-local.yml",
	"azure-pipelines.yml",
	"bitbucket-pipelines.yml",
	"Jenkinsfile",
	"appveyor.yml",
	"cloudbuild.yaml",
	"CLAUDE.md",
	"CLAUDE.local.md",
	"AGENTS.md",
	"AGENT.md",
	"GEMINI.md",
	"AGENTS.override.md",
	"terraform.tfstate",
	"id_rsa",
	"id_ed25519",
	"id_ecdsa",
	"id_dsa",
	NULL,
};

/*
 * Skip directories with third-party or generated files: programs do not search for configuration
 * there.
 */
static const char *const skipped[] = {
	"node_modules", "__pycache__", ".venv",		".tox",		 ".nox", ".mypy_cache",
	".cache",	".ruff_cache", ".pytest_cache", "site-packages", NULL,
};

/* A directory that is searched, and its name for programs. */
struct place {
	const char *name; /* "${workdir}", "${home}/.config" */
	bool obeyed;	  /* a component of its name has a leading '.' */
	bool home;
	bool linked; /* the name is a link, also for the names below it */
};

/* In these directories every file counts, whatever its name: mise/config.toml. */
static bool is_obeyed_directory(const char *name)
{
	return name[0] == '.' || strcmp(name, "mise") == 0;
}

static bool is_wanted(const struct place *place, const char *name)
{
	return place->obeyed || name[0] == '.' || (!place->home && is_listed(plain_names, name));
}

static void look_through(struct search *s, int parent, const char *directory,
			 const struct place *place, unsigned int depth);

static void on_link(struct search *s, int fd, const char *entry, const struct place *place,
		    const char *name, unsigned int depth)
{
	struct place below = {.name = name, .obeyed = true, .home = place->home, .linked = true};
	char target[PATH_MAX];
	ssize_t n = readlinkat(fd, entry, target, sizeof(target) - 1);

	if (n <= 0)
		return;
	target[n] = '\0';
	/* Entries of the target also have names below the link's name. */
	if (resolve(s, fd, target, name, "symbolic link") && (depth > 0 || place->home))
		look_through(s, fd, entry, &below, 0);
}

static bool is_directory_at(int fd, const char *name)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
	       S_ISDIR(st.st_mode);
}

static void on_entry(struct search *s, int fd, const struct dirent *entry,
		     const struct place *place, unsigned int depth)
{
	struct place below = {.obeyed = place->obeyed || is_obeyed_directory(entry->d_name),
			      .home = place->home};
	_cleanup_(freep) char *name = NULL;

	if (asprintf(&name, "%s/%s", place->name, entry->d_name) < 0) {
		name = NULL;
		s->result = -ENOMEM;
		return;
	}
	below.name = name;
	if (entry->d_type == DT_LNK) {
		if (is_wanted(place, entry->d_name) && place->linked)
			(void)resolve(s, fd, entry->d_name, name, "symbolic link");
		else if (is_wanted(place, entry->d_name))
			on_link(s, fd, entry->d_name, place, name, depth);
		return;
	}
	/* For example ~/.config is a link: a rule may deny only ~/.config/fish. */
	if (place->linked && place->home)
		(void)resolve(s, fd, entry->d_name, name, "symbolic link");
	if (depth == 0 || is_listed(skipped, entry->d_name) || (place->home && !below.obeyed) ||
	    (entry->d_type != DT_DIR &&
	     (entry->d_type != DT_UNKNOWN || !is_directory_at(fd, entry->d_name))))
		return;
	/* look_at_repository() handles the repository. */
	if (strcmp(entry->d_name, ".git") != 0)
		look_through(s, fd, entry->d_name, &below, depth - 1);
}

static void look_through(struct search *s, int parent, const char *directory,
			 const struct place *place, unsigned int depth)
{
	int fd = openat(parent, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_(closedirp) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		closep(&fd);
		return;
	}
	while (s->result == 0 && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++s->entries > ENTRIES_MAX) {
			if (s->entries == ENTRIES_MAX + 1)
				note_unresolved(s, place->name,
						"there are more names than are looked at");
			return;
		}
		on_entry(s, dirfd(dir), entry, place, depth);
	}
}

/* --- git ---------------------------------------------------------------------------------- */

/* Entries of a repository's directory that git reads or runs, and that rules protect. */
static const char *const kept_in_repository[] = {
	"config", "config.worktree", "hooks",	 "commondir", "gitdir",
	"info",	  "remotes",	     "branches", NULL,
};

static void look_at_repository(struct search *s, int workdir)
{
	static const char *const directories[] = {".git", ".git/hooks", ".git/info", NULL};
	const struct git_repository *repository = s->repository;
	const char *inside = below_workdir(s, repository->directory);
	struct stat st;

	for (size_t i = 0; directories[i]; i++) {
		char name[64];
		struct place place = {.name = name, .obeyed = true};

		snprintf(name, sizeof(name), "${workdir}/%s", directories[i]);
		look_through(s, workdir, directories[i], &place, 0);
	}
	if (fstatat(workdir, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode) ||
	    !repository->found)
		return;
	/* ".git" is a file or a link to a repository below the work directory. */
	for (size_t i = 0; kept_in_repository[i] && (inside || S_ISLNK(st.st_mode)); i++) {
		char name[64], path[PATH_MAX];

		snprintf(name, sizeof(name), "${workdir}/.git/%s", kept_in_repository[i]);
		if (git_files_path(s->places, repository->directory, kept_in_repository[i], path) ==
		    0)
			(void)resolve(s, workdir, path, name, "gitdir in .git");
	}
}

/* Settings with the name of a file or a directory, which may not exist yet. */
static const struct {
	const char *setting, *name;
} path_settings[] = {
	{"core.hookspath", "${workdir}/.git/hooks"},
	{"init.templatedir", "${workdir}/.git/hooks"},
	{"core.attributesfile", "${workdir}/.git/info/attributes"},
	{"core.excludesfile", "${workdir}/.git/info/exclude"},
	{"include.path", "${workdir}/.git/config"},
};

/* Formats "core.hooksPath in .git/config". */
static void describe(const struct search *s, const struct git_origin *origin, const char *setting,
		     char by[TEXT_MAX])
{
	const char *inside = below_workdir(s, origin->file);

	snprintf(by, TEXT_MAX, "%s in %s",
		 strcmp(setting, "core.hookspath") == 0 ? "core.hooksPath" : setting,
		 inside && *inside ? inside : origin->file);
}

static bool is_conditional_include(const char *name)
{
	size_t length = strlen(name);

	return strncmp(name, "includeif.", 10) == 0 && length > 15 &&
	       strcmp(name + length - 5, ".path") == 0;
}

/*
 * Includes are relative to their file; other paths are relative to the top directory, where git
 * runs programs.
 */
static void on_path_setting(struct search *s, int workdir, const struct git_origin *origin,
			    const char *obeyed, const char *setting, const char *value)
{
	bool include = strcmp(obeyed, "${workdir}/.git/config") == 0;
	char base[PATH_MAX], path[PATH_MAX], by[TEXT_MAX];
	const char *slash = strrchr(origin->file, '/');

	snprintf(base, sizeof(base), "%.*s", include ? (int)(slash - origin->file) : PATH_MAX,
		 include ? origin->file : s->places->workdir);
	describe(s, origin, setting, by);
	if (git_files_path(s->places, base, value, path) == 0)
		(void)resolve(s, workdir, path, obeyed, by);
}

/* Reads the next word of a command; supports only simple quotes. */
static const char *next_word(const char *at, char word[PATH_MAX])
{
	size_t length = 0;
	char quote = '\0';

	while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '!')
		at++;
	for (; *at && (quote || !strchr(" \t\n;|&<>()", *at)); at++) {
		if (quote ? *at == quote : *at == '"' || *at == '\'') {
			quote = quote ? '\0' : *at;
			continue;
		}
		if (length + 1 < PATH_MAX)
			word[length++] = *at;
	}
	word[length] = '\0';
	while (*at && strchr(" \t\n;|&<>()", *at))
		at++;
	return at;
}

/* Settings that git never runs as a program: their words may be file names by coincidence. */
static bool is_harmless(const char *setting)
{
	static const char *const sections[] = {"alias.",     "branch.",	   "remote.",	 "url.",
					       "user.",	     "submodule.", "color.",	 "author.",
					       "committer.", "safe.",	   "includeif.", NULL};

	for (size_t i = 0; sections[i]; i++)
		if (strncmp(setting, sections[i], strlen(sections[i])) == 0)
			return true;
	return false;
}

/* A setting with a command that runs a file of the work directory. */
static void on_command(struct search *s, int workdir, const struct git_origin *origin,
		       const char *setting, const char *value)
{
	char word[PATH_MAX], path[PATH_MAX], by[TEXT_MAX];

	describe(s, origin, setting, by);
	while (*value) {
		_cleanup_(closep) int fd = -1;
		struct stat st;

		value = next_word(value, word);
		if (!strchr(word, '/') ||
		    git_files_path(s->places, s->places->workdir, word, path) < 0)
			continue;
		fd = git_files_open(s->places, path, O_PATH);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			(void)resolve(s, workdir, path, "${workdir}/.git/config", by);
	}
}

struct git_search {
	struct search *search;
	int workdir;
};

static void on_setting(void *context, const struct git_origin *origin, const char *name,
		       const char *value)
{
	const struct git_search *g = context;

	if (!value || !*value)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(path_settings); i++) {
		if (strcmp(path_settings[i].setting, name) != 0)
			continue;
		on_path_setting(g->search, g->workdir, origin, path_settings[i].name, name, value);
		return;
	}
	if (is_conditional_include(name))
		on_path_setting(g->search, g->workdir, origin, "${workdir}/.git/config", name,
				value);
	else if (!is_harmless(name))
		on_command(g->search, g->workdir, origin, name, value);
}

static void look_at_settings(struct search *s, int workdir)
{
	struct git_search g = {s, workdir};
	int r = git_files_each(s->places, s->repository, on_setting, &g);

	if (r < 0)
		note_unresolved(s, "${workdir}/.git/config",
				r == -ELOOP ? "it includes too many files"
					    : "git's configuration cannot be read to its end");
}

/* ------------------------------------------------------------------------------------------ */

/* Directories in a home directory that programs read by default. */
static const char *const home_directories[] = {
	".config", ".ssh",    ".gnupg", ".aws",	  ".azure", ".kube",
	".docker", ".claude", ".codex", ".cargo", NULL,
};

static void look_at_home(struct search *s, int home)
{
	struct place top = {.name = "${home}", .home = true};

	look_through(s, home, ".", &top, 0);
	for (size_t i = 0; home_directories[i]; i++) {
		char name[64];
		struct place place = {.name = name, .obeyed = true, .home = true};

		snprintf(name, sizeof(name), "${home}/%s", home_directories[i]);
		look_through(s, home, home_directories[i], &place, i == 0 ? 1 : 0);
	}
}

static int compare_indirections(const void *a, const void *b)
{
	char *const *one = a, *const *other = b;

	for (size_t i = 0; i < INDIRECTIONS_TEXTS; i++) {
		int order = strcmp(one[i], other[i]);

		if (order != 0)
			return order;
	}
	return 0;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort, because the order of directory entries depends on the file system. */
static void sort(struct indirections *found)
{
	if (found->count > 0)
		qsort(found->texts, found->count, INDIRECTIONS_TEXTS * sizeof(*found->texts),
		      compare_indirections);
	if (found->unresolved)
		qsort(found->unresolved, list_length(found->unresolved), sizeof(*found->unresolved),
		      compare_texts);
}

int indirections_find(const struct git_places *places, const struct git_repository *repository,
		      struct indirections *ret_indirections)
{
	_cleanup_(closep) int workdir =
		git_files_open(places, places->workdir, O_PATH | O_DIRECTORY);
	_cleanup_(closep) int home =
		places->home ? git_files_open(places, places->home, O_PATH | O_DIRECTORY) : -1;
	struct search s = {.places = places, .repository = repository};
	struct place top = {.name = "${workdir}"};

	if (workdir >= 0) {
		look_at_repository(&s, workdir);
		look_at_settings(&s, workdir);
	}
	if (home >= 0)
		look_at_home(&s, home);
	if (workdir >= 0)
		look_through(&s, workdir, ".", &top, DEPTH_MAX);
	if (s.result < 0) {
		indirections_release(&s.found);
		return s.result;
	}
	sort(&s.found);
	*ret_indirections = s.found;
	return 0;
}
