/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches home directories, and the directories of the system, for agents: each in one worker
 * process with a deadline, and a home directory with the rights of its user.
 */
#ifndef CORDON_CLI_AGENT_HOMES_H
#define CORDON_CLI_AGENT_HOMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define AGENT_HOMES_MAX 64u

struct agent_home {
	char user[65];
	char path[256];
	uid_t uid;
	gid_t gid;
};

/*
 * The users of this host who log in, root among them; for a caller other than root, the caller
 * alone with $HOME. Returns their number.
 */
size_t agent_homes_list(struct agent_home homes[AGENT_HOMES_MAX]);

struct agent_found {
	json_t *agents; /* array of agent_search()'s objects */
	bool exists;	/* the directory could be opened */
	bool cut;	/* not all of it was searched */
};

/* `home` NULL: the system below `root` ("" for /). Returns 0 or -errno. Caller owns `agents`. */
int agent_homes_search(const struct agent_home *home, const char *root,
		       struct agent_found *ret_found);

#endif
