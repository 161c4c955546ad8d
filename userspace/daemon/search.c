/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/search.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "daemon/protocol.h"

static const char *const host_directories[] = {
	"/etc/cordon/policies",
	"/usr/local/share/cordon/policies",
	"/usr/share/cordon/policies",
};

/* PREFIX/bin/cordon has PREFIX/share/cordon/policies; SOURCE/build/cordon has SOURCE/policies beside SOURCE/bpf. */
static char *own_directory(const char *executable)
{
	static const struct {
		const char *policies, *marker;
	} places[] = {{"share/cordon/policies", "share/cordon/policies"},
		      {"policies", "bpf/abi.h"}};
	_cleanup_(freep) char *root = strdup(executable);

	for (int up = 0; root && up < 2; up++) {
		char *slash = strrchr(root, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
	}
	for (size_t i = 0; root && i < ARRAY_SIZE(places); i++) {
		_cleanup_(freep) char *marker = NULL;
		struct stat found;
		char *policies;

		if (asprintf(&marker, "%s/%s", root, places[i].marker) < 0)
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

char **search_directories(const char *executable)
{
	_cleanup_(protocol_strings_freep) char **directories =
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
