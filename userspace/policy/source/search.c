/* SPDX-License-Identifier: Apache-2.0 */
/* Search directories for policies that are named without a path. */
#include "policy/source/search.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/suggest.h"

static const char *const host_directories[] = {
	"/etc/cordon/policies",
	"/usr/local/share/cordon/policies",
	"/usr/share/cordon/policies",
};

void policy_search_free(char **directories)
{
	for (size_t i = 0; directories && directories[i]; i++)
		free(directories[i]);
	free(directories);
}

static bool ends_with(const char *s, const char *end)
{
	size_t length = strlen(s), most = strlen(end);

	return length >= most && strcmp(s + length - most, end) == 0;
}

/* Removes the last components of a path. NULL: the path has fewer, or no memory. */
static char *directory_above(const char *path, unsigned int levels)
{
	_cleanup_(freep) char *root = strdup(path);

	for (; root && levels; levels--) {
		char *slash = strrchr(root, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
	}
	return TAKE_PTR(root);
}

/*
 * The policies of PREFIX/bin/cordon and PREFIX/lib/cordon/cordon are in
 * PREFIX/share/cordon/policies. The policies of SOURCE/build/cordon and
 * SOURCE/build/lib/cordon/cordon are in SOURCE/policies, next to SOURCE/bpf.
 */
static char *own_directory(const char *executable)
{
	const bool in_lib = ends_with(executable, "/lib/cordon/cordon");
	const struct {
		unsigned int up;
		const char *policies, *marker;
	} places[] = {{in_lib ? 3 : 2, "share/cordon/policies", "share/cordon/policies"},
		      {in_lib ? 4 : 2, "policies", "bpf/abi.h"}};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_(freep) char *root = directory_above(executable, places[i].up);
		_cleanup_(freep) char *marker = NULL;
		struct stat found;
		char *policies;

		if (!root || asprintf(&marker, "%s/%s", root, places[i].marker) < 0)
			return NULL;
		if (stat(marker, &found) == 0)
			return asprintf(&policies, "%s/%s", root, places[i].policies) < 0
				       ? NULL
				       : policies;
	}
	return NULL;
}

static bool is_listed(char *const *directories, const char *directory)
{
	for (; *directories; directories++)
		if (strcmp(*directories, directory) == 0)
			return true;
	return false;
}

char **policy_search_directories(const char *executable)
{
	_cleanup_(policy_search_freep) char **directories =
		calloc(ARRAY_SIZE(host_directories) + 2, sizeof(*directories));
	_cleanup_(freep) char *own = NULL;
	size_t n = 0;

	if (!directories)
		return NULL;
	for (; n < ARRAY_SIZE(host_directories); n++) {
		directories[n] = strdup(host_directories[n]);
		if (!directories[n])
			return NULL;
	}
	own = own_directory(executable);
	if (own && !is_listed(directories, own))
		directories[n] = TAKE_PTR(own);
	return TAKE_PTR(directories);
}

char **policy_search_own_directories(void)
{
	char executable[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);

	executable[length > 0 ? length : 0] = '\0';
	return policy_search_directories(executable);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_directory(struct arena *a, const char *directory, const char ***names,
			  size_t *count)
{
	_cleanup_(closedirp) DIR *files = opendir(directory);
	const struct dirent *e;

	while (files && (e = readdir(files))) {
		size_t length = strlen(e->d_name);
		const char **larger;

		if (length <= 5 || strcmp(e->d_name + length - 5, ".yaml") != 0)
			continue;
		larger = arena_grow(a, *names, *count, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		*names = larger;
		larger[*count] = arena_copy(a, e->d_name, length - 5);
		if (!larger[*count])
			return -ENOMEM;
		++*count;
	}
	return 0;
}

static size_t sort_names(const char **names, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
			names[kept++] = names[i];
	return kept;
}

int policy_search_list(struct arena *a, const struct policy_search *search,
		       const char *const **ret_names, size_t *ret_count)
{
	const char **names = NULL;
	size_t count = 0;

	for (size_t i = 0; search && search->directories && search->directories[i]; i++)
		if (list_directory(a, search->directories[i], &names, &count) < 0)
			return -ENOMEM;
	*ret_count = sort_names(names, count);
	*ret_names = names;
	return 0;
}

/* Adds the fragments of one directory, by the names for `include`. */
static int list_fragments(struct arena *a, const char *directory, const char ***names,
			  size_t *count)
{
	const char *fragments = arena_printf(a, "%s/runtime", directory);
	size_t first = *count;

	if (!fragments || list_directory(a, fragments, names, count) < 0)
		return -ENOMEM;
	for (; first < *count; first++)
		if (!((*names)[first] = arena_printf(a, "runtime/%s", (*names)[first])))
			return -ENOMEM;
	return 0;
}

int policy_search_fragments(struct arena *a, const struct policy_search *search,
			    const char *const **ret_names)
{
	const char **names = NULL, **ended;
	size_t count = 0;

	for (size_t i = 0; search && search->directories && search->directories[i]; i++)
		if (list_fragments(a, search->directories[i], &names, &count) < 0)
			return -ENOMEM;
	count = sort_names(names, count);
	ended = arena_grow(a, names, count, sizeof(*ended));
	if (!ended)
		return -ENOMEM;
	ended[count] = NULL;
	*ret_names = ended;
	return 0;
}

const char *policy_search_near(struct arena *a, const struct policy_search *search,
			       const char *name)
{
	const char **names = NULL;
	size_t count = 0, length = strlen(name);
	const char *near;

	for (size_t i = 0; search && search->directories && search->directories[i]; i++)
		if (list_directory(a, search->directories[i], &names, &count) < 0 ||
		    list_fragments(a, search->directories[i], &names, &count) < 0)
			return NULL;
	near = count ? suggest(name, names, count) : NULL;
	/* An existing name does not help: the policy could not be read for another reason. */
	return near && strncmp(near, name, length + 1) != 0 ? near : NULL;
}
