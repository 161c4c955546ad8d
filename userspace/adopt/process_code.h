/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from /proc the code of a process that has not executed an instruction yet. */
#ifndef CORDON_ADOPT_PROCESS_CODE_H
#define CORDON_ADOPT_PROCESS_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/record/record.h"
#include "base/failure.h"

struct process_code {
	char *program;
	size_t argument_count;
	unsigned char arguments_digest[32];
	uint64_t arguments_length;
	char **arguments; /* as in struct audit_execution; NULL unless requested */
	struct audit_code code;
	int code_fd; /* the hashed file; -1: none */
	const char *language;
	bool contradicted; /* the digest in the file's name (AutoGen) differs from the file's */
	uint32_t uid, gid;
};

/*
 * The caller owns the members of *ret_code. Returns 0, -ESRCH if the process exited, -EFBIG as for
 * code_identify(), or -ENOMEM.
 */
int process_code_read(pid_t pid, bool arguments, struct process_code *ret_code,
		      struct failure *failure);

/*
 * Returns the SHA-256 digest in a file name such as AutoGen's "tmp_code_<64 hexadecimal
 * digits>.py". Returns false if there is none.
 */
bool process_code_claimed(const char *path, unsigned char ret_digest[32]);

/* Overwrites variables of a process that does not run. *ret_removed: their names. */
int process_environment_clean(pid_t pid, const struct policy_environment *policy,
			      char ***ret_removed, struct failure *failure);

/* Returns the names of the remaining variables. */
int process_environment_note(pid_t pid, char ***ret_kept, struct failure *failure);

#endif
