/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which arguments of a command carry code? Code is recorded by its digest, never as text, so an
 * answer that says "code" too often costs a word in a record, one that says it too seldom leaks.
 */
#ifndef CORDON_AUDIT_ARGUMENTS_H
#define CORDON_AUDIT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arguments_code_kind {
	ARGUMENTS_CODE_NONE,	 /* no interpreter, or one that runs no code of the caller's */
	ARGUMENTS_CODE_ARGUMENT, /* -c, -e and the like */
	ARGUMENTS_CODE_FILE,	 /* a script file */
	ARGUMENTS_CODE_STDIN,	 /* what the interpreter reads from standard input */
};

struct arguments_code {
	enum arguments_code_kind kind;
	size_t index;  /* ARGUMENT: the first that carries code; FILE: the script's name */
	size_t offset; /* where in argv[index] the code or name starts: "-cprint(1)" has 2 */
	/* "python", "shell", "javascript", "perl", "ruby", "php", "powershell", or NULL: unknown */
	const char *language;
};

/*
 * Looks through prefixes such as `env NAME=VALUE`, `timeout 5` and `nice`. What it says of a
 * program it does not know: NONE, language NULL.
 *
 * -EINVAL: argc is 0.
 */
int arguments_find_code(size_t argc, const char *const *argv, struct arguments_code *ret);

/*
 * SHA-256 and length of the code that the arguments carry: the very bytes, several pieces
 * (perl -e A -e B) joined by a newline.
 *
 * -ENODATA: arguments_find_code() says something else than ARGUMENT; -EINVAL; -ENOMEM, -EIO.
 */
int arguments_hash_code(size_t argc, const char *const *argv, unsigned char ret_digest[32],
			uint64_t *ret_length);

/*
 * Sets carries[i] for each argument that carries code or may: also behind programs unknown to
 * arguments_find_code(), as in `find . -exec sh -c CODE`, and for every argument of more than one
 * line. Sets all the others to false.
 */
void arguments_mark_code(size_t argc, const char *const *argv, bool *carries);

#endif
