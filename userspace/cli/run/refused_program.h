/* SPDX-License-Identifier: Apache-2.0 */
/* Why a program did not run: which file it was, and that no other took its place. */
#ifndef CORDON_CLI_REFUSED_PROGRAM_H
#define CORDON_CLI_REFUSED_PROGRAM_H

/*
 * Of a command whose argv[0] is `program`, found by `path` (a value of PATH or NULL), that may not
 * be executed: what people are told. NULL: no memory; caller frees.
 */
char *refused_program_text(const char *program, const char *path);

#endif
