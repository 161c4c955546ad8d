/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects without a path that the setup of an attack makes for the host: their numbers and names.
 */
#ifndef CORDON_TESTS_REDTEAM_IPC_H
#define CORDON_TESTS_REDTEAM_IPC_H

#include <libgen.h>
#include <mqueue.h>

#include "tests/redteam/attack.h"

static inline void keep_number(int number)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", number);
	make_file("number", text, 0644);
}

static inline int kept_number(void)
{
	char text[32] = {};
	int fd = NEED(open("number", O_RDONLY | O_CLOEXEC));

	NEED(read(fd, text, sizeof(text) - 1));
	close(fd);
	return atoi(text);
}

/* One for each attack, user and run: the directory's name made into one. */
static inline const char *queue_name(void)
{
	static char name[PATH_SIZE];

	if (!getcwd(name, sizeof(name)))
		broken("getcwd");
	for (char *at = name + 1; *at; at++)
		if (*at == '/')
			*at = '-';
	return name;
}

/* The attacker's own. Of the smallest kind: a user's share of the memory for queues is small. */
static inline void leave_queue(void)
{
	struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = 64};

	NEED(fchown(NEED(mq_open(queue_name(), O_CREAT | O_RDWR, 0600, &small)), attacker(),
		    attacker()));
}

#endif
