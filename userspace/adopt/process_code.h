/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that has not run an instruction yet is about to run, as /proc tells. */
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
	char **arguments; /* as in struct audit_execution; NULL unless asked for */
	struct audit_code code;
	int code_fd; /* of the file that was hashed; -1: none */
	const char *language;
	bool contradicted; /* the file's name carries a digest (AutoGen's), which is not its own */
	uint32_t uid, gid;
};

/*
 * The caller owns what ret_code points to. -ESRCH: it is gone; -EFBIG: see code_identify();
 * -ENOMEM.
 */
int process_code_read(pid_t pid, bool arguments, struct process_code *ret_code,
		      struct failure *failure);

/*
 * The SHA-256 digest that a file name carries, as AutoGen's "tmp_code_<64 hexadecimal digits>.py"
 * does. False: none.
 */
bool process_code_claimed(const char *path, unsigned char ret_digest[32]);

/* Overwrites variables of a process that does not run. *ret_removed: their names. */
int process_environment_clean(pid_t pid, const struct policy_environment *policy,
			      char ***ret_removed, struct failure *failure);

/* The names that are left. */
int process_environment_note(pid_t pid, char ***ret_kept, struct failure *failure);

#endif
