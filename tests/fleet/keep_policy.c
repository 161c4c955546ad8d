/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps policies beside a log as a host's daemon does, for tests of what reads them:   keep_policy
 * DIRECTORY POLICY...
 *
 * Prints the digest of each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "audit/storage/policy_store.h"
#include "policy/compile/compile.h"

static int keep(const char *directory, const char *path)
{
	static const char *const nowhere[] = {NULL};
	const struct policy_search search = {.directories = nowhere};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	struct failure failure = {};

	if (!d || policy_compile(path, &search, d, &policy) < 0) {
		fprintf(stderr, "keep_policy: %s cannot be compiled\n", path);
		return -1;
	}
	if (policy_store_put(directory, policy, &failure) < 0) {
		fprintf(stderr, "keep_policy: %s\n", failure.text);
		return -1;
	}
	puts(policy->digest_text);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: keep_policy DIRECTORY POLICY...\n", stderr);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		if (keep(argv[1], argv[i]) < 0)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
