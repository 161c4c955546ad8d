/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the seccomp filter that executions under a policy get:  filter POLICY.yaml FILTER */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "launch/seccomp.h"
#include "policy/compile/compile.h"

static int complain(const char *what)
{
	fprintf(stderr, "filter: cannot %s\n", what);
	return 1;
}

int main(int count, char **arguments)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	_cleanup_(closep) int source = -1, filter = -1, target = -1;
	struct policy_system_calls calls;
	static char text[65536];
	struct failure failure = {};
	ssize_t size;

	if (count != 3 || !diagnostics)
		return complain("go on: usage: filter POLICY.yaml FILTER");
	source = open(arguments[1], O_RDONLY | O_CLOEXEC);
	size = source < 0 ? -1 : read(source, text, sizeof(text));
	if (size <= 0)
		return complain("read the policy");
	if (policy_compile_text(text, (size_t)size, arguments[1], NULL, diagnostics, &policy) < 0 ||
	    policy_system_calls(policy, &calls) < 0)
		return complain("compile the policy");
	if (seccomp_filter_build(&calls, &filter, &failure) < 0 || filter < 0)
		return complain("build the filter");
	target = open(arguments[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size = pread(filter, text, sizeof(text), 0);
	if (target < 0 || size <= 0 || write(target, text, (size_t)size) != size)
		return complain("write the filter");
	return 0;
}
