/* SPDX-License-Identifier: Apache-2.0 */
/* A request to prepare an execution in which everything is right. */
#ifndef CORDON_TESTS_UNIT_DAEMON_REQUEST_FIXTURE_H
#define CORDON_TESTS_UNIT_DAEMON_REQUEST_FIXTURE_H

#include <jansson.h>

#define FIXTURE_DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static inline json_t *good_prepare(void)
{
	return json_pack(
		"{s:s,s:i,s:s,s:s,s:b,s:[s],s:s,s:n,s:n,s:s,s:{s:I},s:b,s:n,s:s,s:i,s:s,s:i,s:[s,n],"
		"s:{s:s,s:s,s:s,s:i},s:i,s:i,s:s,s:s}",
		"op", "prepare", "version", 2, "policy", "python-sandbox", "workdir", "/srv/work",
		"home", 1, "binds", "docs", "session", "s-1", "agent", "executor", "language",
		"python", "limits", "wall_nsec", (json_int_t)5000000000, "observe", 0, "log",
		"program", "python3", "argument_count", 2, "arguments_sha256", FIXTURE_DIGEST,
		"arguments_length", 17, "arguments", "python3", "code", "source", "file", "path",
		"/srv/work/a.py", "sha256", FIXTURE_DIGEST, "length", 100, "uid", 1000, "gid", 1001,
		"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"conversation", "c-17");
}

#endif
