/* SPDX-License-Identifier: Apache-2.0 */
/* Which code a command is about to run, for its record: the digest, never the text. */
#ifndef CORDON_ADOPT_CODE_H
#define CORDON_ADOPT_CODE_H

#include <stdbool.h>

#include "audit/record/record.h"
#include "base/failure.h"

/* A script larger than this is refused: it could not be hashed before its deadline. */
#define CODE_MAX_SIZE (1ull << 30)

struct code {
	struct audit_code audit;
	const char *language; /* "python", "shell", ...; static; NULL: unknown */
	/*
	 * The interpreter reads its code from a pipe or socket: the digest is known only when all
	 * has passed. The launcher hands it through and hashes meanwhile.
	 */
	bool stream;
	int fd; /* of the file that was hashed, at no particular offset; -1: none was */
};

struct code_question {
	size_t argc;
	char *const *argv;
	const char *path;    /* value of PATH for argv[0], or NULL */
	const char *workdir; /* what relative names start from, for the record */
	int workdir_fd;
	int stdin_fd;
	/*
	 * Names are those of another root directory, such as a container's: `workdir` is then a
	 * path below it.
	 */
	bool elsewhere;
	int root_fd;
};

/*
 * A script file is hashed by an opened descriptor, which stays open; standard input, if it is a
 * file, from its current offset and without moving it. Where there is no file by the script's name
 * there is nothing to hash, and the command's own error comes soon. Code that is there and cannot
 * be hashed shall not run:
 *
 * -EFBIG: larger than CODE_MAX_SIZE; -EAGAIN: somebody has a lease on it; -EBUSY: it is being
 * written; -EINVAL: not a
 * regular file; other errors of open(2) and read(2); -EIO: libcrypto; -ENOMEM. Caller releases.
 */
int code_identify(const struct code_question *question, struct code *ret_code,
		  struct failure *failure);

void code_release(struct code *code);

#endif
