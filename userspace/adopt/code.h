/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifies the code that a command is about to run, for its record: the digest, never the text.
 */
#ifndef CORDON_ADOPT_CODE_H
#define CORDON_ADOPT_CODE_H

#include <stdbool.h>

#include "audit/record/record.h"
#include "base/failure.h"

/* Larger scripts are rejected, because hashing them would exceed the deadline. */
#define CODE_MAX_SIZE (1ull << 30)

struct code {
	struct audit_code audit;
	const char *language; /* "python", "shell", ...; static; NULL: unknown */
	/*
	 * The interpreter reads its code from a pipe or socket. The digest is known only at the
	 * end: the launcher forwards the data and hashes it meanwhile.
	 */
	bool stream;
	int fd; /* the hashed file, at any offset; -1: none */
};

struct code_question {
	size_t argc;
	char *const *argv;
	const char *path;    /* value of PATH for argv[0], or NULL */
	const char *workdir; /* base of relative names */
	int workdir_fd;
	int stdin_fd;
	/*
	 * Names are relative to another root directory, such as a container's; `workdir` is a path
	 * below it.
	 */
	bool elsewhere;
	int root_fd;
};

/*
 * Identifies the code. A script file is hashed through a descriptor that stays open. Standard
 * input, if it is a file, is hashed from its current offset, which does not change. If the script
 * does not exist, nothing is hashed, because the command itself will fail.
 *
 * Code that cannot be hashed must not run. Returns 0, -EFBIG if it exceeds CODE_MAX_SIZE, -EAGAIN
 * if another process has a lease on it, -EBUSY if it is being written, -EINVAL if it is not a
 * regular file, other errors of open(2) and read(2), -EIO if libcrypto fails, or -ENOMEM. The
 * caller calls code_release().
 */
int code_identify(const struct code_question *question, struct code *ret_code,
		  struct failure *failure);

void code_release(struct code *code);

#endif
