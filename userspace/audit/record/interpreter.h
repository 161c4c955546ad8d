/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that run code given to them, and the part of their command line syntax that says where
 * that code is. Also programs that run another program given to them (env, timeout, ...).
 *
 * Sources: the manual pages of each program; for CPython also Python/getopt.c, for perl
 * perlrun(1), for Node.js src/node_options.cc, for PowerShell about_Pwsh.
 */
#ifndef CORDON_AUDIT_INTERPRETER_H
#define CORDON_AUDIT_INTERPRETER_H

#include <stdbool.h>

enum interpreter_syntax {
	SYNTAX_GETOPT,	   /* -abc VALUE, -abcVALUE, --long VALUE, --long=VALUE */
	SYNTAX_SHELL,	   /* -c is a flag: the code is the first operand behind all options */
	SYNTAX_POWERSHELL, /* -Command, abbreviated at will, in any case, takes all that follows */
};

/* Option letters as strings; long options as NULL-terminated lists. NULL: none. */
struct interpreter {
	const char *names;    /* separated by spaces, versions ("3.11") left out */
	const char *language; /* as in records, or NULL */
	enum interpreter_syntax syntax;
	const char *code;     /* value is code */
	const char *optional; /* value is code, unless more letters or an option follow */
	const char *value;    /* value is something else */
	const char *rest;     /* takes what is left of the argument, never the next one */
	const char *file;     /* value is the script */
	const char *none;     /* no code is run: version, help, a module by name */
	const char *const *long_code;
	const char *const *long_value;
	const char *const *long_file;
	const char *const *long_none;
	const char *eval_word;	/* subcommand whose operand is code: deno eval */
	const char *run_word;	/* subcommand whose operand is the script: deno run */
	bool code_ends_options; /* what follows the code belongs to the code */
	bool operand_is_code;	/* awk */
};

struct wrapper {
	const char *name;
	const char *value;     /* short options with a value */
	const char *code;      /* short options whose value is a command line: env -S */
	unsigned int operands; /* own operands before the program: timeout 5 */
	bool assignments;      /* NAME=VALUE may come before the program */
};

/* By the last component of `program`; a login shell's leading '-' is no part of the name. */
const struct interpreter *interpreter_find(const char *program);
const struct wrapper *wrapper_find(const char *program);

#endif
