/* SPDX-License-Identifier: Apache-2.0 */
/* Makes entries of cordon.yaml for the agents that were found. Existing entries take precedence. */
#ifndef CORDON_CLI_SETUP_PLAN_H
#define CORDON_CLI_SETUP_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/setup/agent_homes.h"
#include "config/config.h"

struct setup_plan {
	const struct config *config; /* of the file; NULL: there is none */
	const struct agent_home *homes;
	size_t home_count;
	const char
		*work; /* directory of projects: the agents' own processes are confined; or NULL */
	bool containers; /* runtimes of containers get an entry, too */
	/*
	 * Array of objects: `agent` (title), `found` (path), `user` (absent: every user), `state`
	 * ("new", "present", "none"), `reason` (unless "new"), and of a new one `entry`, an object
	 * with the keys of cordon.yaml in their order.
	 */
	json_t *items;
};

/* Adds agents of a home directory, or of the system (`home` NULL). Returns 0 or -ENOMEM. */
int setup_plan_add(struct setup_plan *plan, const struct agent_home *home, json_t *agents);

/* Number of new entries. */
size_t setup_plan_new(const struct setup_plan *plan);

/* Writes an entry as one item of a block list of YAML, each line behind `indent` spaces. */
void setup_entry_write(FILE *out, const json_t *entry, unsigned int indent);

#endif
