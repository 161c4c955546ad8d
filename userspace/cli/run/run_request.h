/* SPDX-License-Identifier: Apache-2.0 */
/* What `cordon run` asks the daemon for, made from its options and the host. */
#ifndef CORDON_CLI_RUN_REQUEST_H
#define CORDON_CLI_RUN_REQUEST_H

#include "adopt/code.h"
#include "cli/run/run_options.h"
#include "control/client.h"
#include "launch/launch.h"
#include "launch/owner_files.h"

struct run_request {
	const struct run_options *options; /* not owned */
	struct launch_identity identity;
	int workdir_fd;
	char *workdir; /* real path */
	int home_fd;   /* -1: the user has none */
	char *home;
	/* Those of options->binds, then those that were found. */
	const char *bind_names[RUN_MAX_BINDS]; /* not owned */
	int bind_fds[RUN_MAX_BINDS];
	char *bind_paths[RUN_MAX_BINDS];
	size_t bind_count;
	size_t found_count;	  /* so many of the last ones were found */
	struct owner_files owner; /* of whom the command runs as */
	struct code code;
	const char *language; /* or NULL */
	char *policy;	      /* name or absolute path */
	char *log;	      /* absolute path, or NULL */
};

/* Nothing but what must be released. */
void run_request_init(struct run_request *request);
void run_request_release(struct run_request *request);

/*
 * Opens and resolves everything that the options name. -errno with `failure` of what cannot be
 * used; -EINVAL: also where there is no policy to choose. The request refers to `options`.
 */
int run_request_make(const struct run_options *options, struct run_request *request,
		     struct failure *failure);

/* Asks the daemon, as client_prepare() does. */
int run_request_send(const struct run_request *request, int socket,
		     struct client_prepared *ret_prepared, char **ret_message,
		     struct failure *failure);

#endif
