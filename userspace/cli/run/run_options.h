/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `cordon run`. */
#ifndef CORDON_CLI_RUN_OPTIONS_H
#define CORDON_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "policy/compile/compile.h"

/* As many descriptors as the control protocol has room for beside work directory, home and code. */
#define RUN_MAX_BINDS 5

struct run_bind {
	char *name; /* owned: cut out of NAME=DIR */
	const char *directory;
};

/* Strings belong to argv unless said otherwise; NULL: not given. */
struct run_options {
	bool help;
	const char *policy;
	const char *workdir; /* never NULL */
	const char *session;
	const char *agent;
	const char *executor; /* never NULL */
	const char *language;
	const char *user;
	const char *log;
	const char *report;
	bool observe;
	bool no_input;		     /* standard input is /dev/null */
	struct policy_limits limits; /* 0: not given */
	struct run_bind binds[RUN_MAX_BINDS];
	size_t bind_count;
	char **argv; /* the command, NULL-terminated */
	size_t argc; /* 0 only with help */
};

extern const char run_help[];

/* -EINVAL with `failure`: not a command line that makes sense; -ENOMEM. */
int run_options_parse(int argc, char **argv, struct run_options *ret_options,
		      struct failure *failure);

void run_options_release(struct run_options *options);

#endif
