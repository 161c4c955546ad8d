/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the agents of agent_forms.h below one directory: a home directory, or /. */
#ifndef CORDON_CLI_AGENT_SEARCH_H
#define CORDON_CLI_AGENT_SEARCH_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/setup/tree.h"

struct agent_search {
	struct tree tree;
	const char *base; /* path of the tree's directory; "" for / */
	bool home;
	/* Takes the reference. Another value than 0 ends the search. */
	int (*found)(void *context, json_t *agent);
	void *context;
};

/*
 * Reports each agent as an object: `form` (its row), `program` (path of the file that was found),
 * `interpreter` (path, for scripts and libraries), `script` (name of a script that imports the
 * library) and `place` (the node_modules, Python environment or base directory). Returns 0;
 * -ENOSPC if the tree is too large to be searched whole; or what `found` returned.
 */
int agent_search(struct agent_search *search);

#endif
