/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/search.h"

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

/* SOURCE/build/cordon has SOURCE/policies beside SOURCE/bpf, which no installation has. */
static char *source_directory(const char *executable)
{
	_cleanup_(freep) char *root = strdup(executable), *marker = NULL;
	struct stat found;
	char *policies;

	for (int up = 0; root && up < 2; up++) {
		char *slash = strrchr(root, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
	}
	if (!root || asprintf(&marker, "%s/bpf/abi.h", root) < 0)
		return NULL;
	if (stat(marker, &found) < 0 || asprintf(&policies, "%s/policies", root) < 0)
		return NULL;
	return policies;
}

char **search_directories(const char *executable)
{
	_cleanup_(protocol_strings_freep) char **directories =
		calloc(ARRAY_SIZE(host_directories) + 2, sizeof(*directories));
	size_t n = 0;

	if (!directories)
		return NULL;
	for (; n < ARRAY_SIZE(host_directories); n++) {
		directories[n] = strdup(host_directories[n]);
		if (!directories[n])
			return NULL;
	}
	directories[n] = source_directory(executable);
	return TAKE_PTR(directories);
}
